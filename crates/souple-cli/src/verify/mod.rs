//! `souple verify`: the engine against numbers that it did not make: closed forms and conservation laws only.
//!
//! Each case is a few lines of scene that a reader can check, with the formula beside it and a tolerance that follows
//! from the method (its order, the number of segments, the accuracy of the solve), never from the result. What merely
//! looks right belongs to the scenes and their `expect` tables.
//!
//! A number that the engine is known to miss stays in the list with the tolerance it ought to meet, as [`Verdict::Missed`]:
//! printed with its reason and counted, but the command does not fail, so that nobody is tempted to widen a tolerance.
//! It does fail once the miss grows.

mod bending;
mod conservation;
mod contact;
mod inside;
mod integrators;
mod joints;
mod mixed;
mod ordering;
mod plastic;
mod skin;
mod solids;
mod statics;
mod surfaces;

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
    /// What is known if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_miss: Option<KnownMiss>,
}

/// A tolerance that is known not to be met.
#[derive(Clone, Debug, Serialize)]
pub struct KnownMiss {
    /// Why.
    pub reason: String,
    /// Largest difference that is known; more is a failure.
    pub at_most: f64,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Passed,
    /// Not, as is known.
    Missed,
    /// Not.
    Failed,
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
        let (name, formula) = (name.into(), formula.into());
        Case { name, formula, expected, measured, tolerance, pass, known_miss: None }
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

    /// The same case, whose tolerance is known not to be met; the difference is `at_most` that.
    pub fn known_miss(self, at_most: f64, reason: impl Into<String>) -> Case {
        Case { known_miss: Some(KnownMiss { reason: reason.into(), at_most }), ..self }
    }

    /// What became of it.
    pub fn verdict(&self) -> Verdict {
        let difference = (self.measured - self.expected).abs();
        match &self.known_miss {
            _ if self.pass => Verdict::Passed,
            Some(known) if difference <= known.at_most => Verdict::Missed,
            _ => Verdict::Failed,
        }
    }
}

/// A group of cases that are computed together.
type Group = (&'static str, fn() -> Vec<Case>);

const GROUPS: [Group; 41] = [
    ("integrators/amplification", integrators::amplification),
    ("integrators/bounded", integrators::bounded),
    ("integrators/convergence", integrators::convergence),
    ("integrators/pendulum", integrators::pendulum),
    ("chains/springs", statics::chain_of_springs),
    ("chains/catenary", statics::catenary),
    ("strips/hanging", statics::hanging_strip),
    ("strips/ordering", ordering::strip),
    ("bending/cantilever", bending::cantilever),
    ("bending/elastica", bending::elastica),
    ("bending/mesh", bending::mesh),
    ("bending/roll-up", bending::roll_up),
    ("bending/frequency", bending::frequency),
    ("inside/pressure", inside::pressure),
    ("inside/volume", inside::volume),
    ("inside/work", inside::work),
    ("wind/terminal", statics::terminal_speed),
    ("friction", contact::friction),
    ("contact", contact::collisions),
    ("surfaces/slope", surfaces::slope),
    ("surfaces/capstan", surfaces::capstan),
    ("surfaces/collision", surfaces::collision),
    ("surfaces/rest", surfaces::rest),
    ("solids/patch", solids::patch),
    ("solids/mixed", mixed::cases),
    ("solids/beam", solids::beam),
    ("solids/frequency", solids::frequency),
    ("joints/pendulum", joints::pendulum),
    ("solids/plastic/held", plastic::held),
    ("solids/plastic/creep", plastic::creep),
    ("solids/pieces", solids::pieces),
    ("solids/recovery", solids::recovery),
    ("skin/twist", skin::twist),
    ("skin/volume", skin::bent_tube),
    ("skin/order", skin::order),
    ("skin/faces", skin::faces),
    ("skin/area", skin::area),
    ("skin/apart", skin::apart),
    ("skin/stretch", skin::stretch),
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
    let count = |verdict| cases.iter().filter(|c| c.verdict() == verdict).count();
    let [passed, missed, failed] = [Verdict::Passed, Verdict::Missed, Verdict::Failed].map(count);
    if args.json {
        let counted =
            serde_json::json!({ "cases": cases, "passed": passed, "missed": missed, "failed": failed });
        say_json(&counted)?;
    } else {
        say(&format!("{:<52} {:>14} {:>14} {:>10}", "case", "expected", "measured", "tolerance"))?;
        for c in &cases {
            let verdict = match c.verdict() {
                Verdict::Passed => "ok",
                Verdict::Missed => "MISSED",
                Verdict::Failed => "FAILED",
            };
            say(&format!(
                "{:<52} {:>14.7} {:>14.7} {:>10.1e}  {verdict}",
                c.name, c.expected, c.measured, c.tolerance
            ))?;
            if let Some(known) = c.known_miss.as_ref().filter(|_| !c.pass) {
                say(&format!("    known: {}; off by at most {:.2e}", known.reason, known.at_most))?;
            }
        }
        say(&format!("{passed} passed, {missed} missed as known, {failed} failed"))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

#[cfg(test)]
mod tests {
    use super::{Case, Verdict};

    #[test]
    fn every_case_passes_or_is_known() {
        let cases = super::cases(&[], |_| ());
        let failed: Vec<_> = cases.iter().filter(|c| c.verdict() == Verdict::Failed).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(cases.len() > 50);
    }

    #[test]
    fn a_known_miss_is_a_failure_once_it_grows() {
        let case = |measured: f64| Case::new("c", "", 1.0, measured, 0.1).known_miss(0.3, "reason");
        assert_eq!(case(1.05).verdict(), Verdict::Passed);
        assert_eq!(case(1.25).verdict(), Verdict::Missed);
        assert_eq!(case(0.65).verdict(), Verdict::Failed);
        assert_eq!(case(f64::NAN).verdict(), Verdict::Failed);
        assert_eq!(Case::new("c", "", 1.0, 1.2, 0.1).verdict(), Verdict::Failed);
    }
}
