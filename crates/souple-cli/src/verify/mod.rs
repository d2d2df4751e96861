//! `souple verify`: the engine against numbers that it did not make: closed forms and conservation laws only.
//!
//! Each case is a few lines of scene that a reader can check, with the formula beside it and a tolerance that follows
//! from the method (its order, the number of segments, the accuracy of the solve), never from the result. What merely
//! looks right belongs to the scenes and their `expect` tables.

mod bending;
mod conservation;
mod contact;
mod inside;
mod integrators;
mod statics;

use std::process::ExitCode;

use serde::Serialize;

use crate::args::VerifyArgs;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::report::{note, say, say_json};

/// One number that the engine must reproduce.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Name, as in `group/case`.
    pub name: String,
    /// Where the expected number comes from.
    pub formula: String,
    /// The number.
    pub expected: f64,
    /// What the engine gives.
    pub measured: f64,
    /// Largest difference that the method allows, absolute.
    pub tolerance: f64,
    /// Whether it is within.
    pub pass: bool,
}

impl Case {
    /// A case with an absolute tolerance.
    pub fn new(
        name: impl Into<String>,
        formula: impl Into<String>,
        expected: f64,
        measured: f64,
        tolerance: f64,
    ) -> Case {
        // NaN passes nothing.
        let pass = (measured - expected).abs() <= tolerance;
        Case { name: name.into(), formula: formula.into(), expected, measured, tolerance, pass }
    }

    /// A case with a tolerance relative to the expected number.
    pub fn relative(
        name: impl Into<String>,
        formula: impl Into<String>,
        expected: f64,
        measured: f64,
        share: f64,
    ) -> Case {
        Case::new(name, formula, expected, measured, share * expected.abs())
    }
}

/// A group of cases that are computed together.
type Group = (&'static str, fn() -> Vec<Case>);

const GROUPS: [Group; 17] = [
    ("integrators/amplification", integrators::amplification),
    ("integrators/bounded", integrators::bounded),
    ("integrators/convergence", integrators::convergence),
    ("integrators/pendulum", integrators::pendulum),
    ("chains/springs", statics::chain_of_springs),
    ("chains/catenary", statics::catenary),
    ("strips/hanging", statics::hanging_strip),
    ("bending/cantilever", bending::cantilever),
    ("bending/elastica", bending::elastica),
    ("inside/pressure", inside::pressure),
    ("inside/volume", inside::volume),
    ("inside/work", inside::work),
    ("wind/terminal", statics::terminal_speed),
    ("friction", contact::friction),
    ("contact", contact::collisions),
    ("momentum", conservation::momentum),
    ("energy", conservation::energy),
];

/// All cases of the groups whose name begins with one of `wanted`; all groups without any.
pub fn cases(wanted: &[String], mut starting: impl FnMut(&str)) -> Vec<Case> {
    let chosen = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w.as_str()) || w.starts_with(name))
    };
    let mut all = Vec::new();
    for (name, compute) in GROUPS {
        if chosen(name) {
            starting(name);
            all.extend(compute());
        }
    }
    all.retain(|c| wanted.is_empty() || wanted.iter().any(|w| c.name.starts_with(w.as_str())));
    all
}

/// Runs the command.
pub fn run(args: &VerifyArgs) -> Outcome {
    let cases = cases(&args.cases, |group| {
        if !args.json {
            note(&format!("checking {group}"));
        }
    });
    if cases.is_empty() {
        let known = GROUPS.map(|(name, _)| name).join(", ");
        return Err(Failure::input(
            format!("no case is called {}", args.cases.join(" or ")),
            format!("known groups: {known}"),
        ));
    }
    let failed = cases.iter().filter(|c| !c.pass).count();
    let passed = cases.len() - failed;
    if args.json {
        say_json(&serde_json::json!({ "cases": cases, "passed": passed, "failed": failed }))?;
    } else {
        say(&format!("{:<52} {:>14} {:>14} {:>10}", "case", "expected", "measured", "tolerance"))?;
        for c in &cases {
            let verdict = if c.pass { "ok" } else { "FAILED" };
            say(&format!(
                "{:<52} {:>14.7} {:>14.7} {:>10.1e}  {verdict}",
                c.name, c.expected, c.measured, c.tolerance
            ))?;
        }
        say(&format!("{passed} passed, {failed} failed"))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_passes() {
        let cases = super::cases(&[], |_| ());
        let failed: Vec<_> = cases.iter().filter(|c| !c.pass).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(cases.len() > 50);
    }
}
