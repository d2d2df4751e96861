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
mod paper;
mod plastic;
mod skin;
mod solids;
mod statics;
mod surfaces;
mod wrinkles;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The largest of some numbers from 0 up; not a number if one of them is not.
pub fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most })
}

/// A group of cases that are computed together.
type Group = (&'static str, fn() -> Vec<Case>);

const GROUPS: &[Group] = &[
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
    ("skin/global", skin::global),
    ("skin/order", skin::order),
    ("skin/weights", skin::weights),
    ("skin/faces", skin::faces),
    ("skin/area", skin::area),
    ("skin/apart", skin::apart),
    ("skin/stretch", skin::stretch),
    ("paper/developable", paper::developable),
    ("paper/crease", paper::crease),
    ("paper/stretched", paper::stretched),
    ("wrinkles/section", wrinkles::section),
    ("wrinkles/field", wrinkles::field),
    ("wrinkles/length", wrinkles::length),
    ("wrinkles/sheet", wrinkles::sheet),
    ("momentum", conservation::momentum),
    ("energy", conservation::energy),
];

/// All cases of the groups whose name begins with one of `wanted`; all groups without any. Groups are computed at once, one on each
/// core, and told in the order of [`GROUPS`].
pub fn cases(wanted: &[String], starting: impl Fn(&str) + Sync) -> Vec<Case> {
    let chosen = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w.as_str()) || w.starts_with(name))
    };
    let groups: Vec<Group> = GROUPS.iter().copied().filter(|(name, _)| chosen(name)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((name, compute)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            starting(name);
            done.push((*name, compute()));
        }
        done
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(&str, Vec<Case>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(name, _)| GROUPS.iter().position(|(group, _)| group == name));
    let mut all: Vec<Case> = done.into_iter().flat_map(|(_, cases)| cases).collect();
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
        let known = GROUPS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
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
    use super::{Case, GROUPS, Verdict};

    /// All groups are the business of `souple verify`, which `.ci/run` calls.
    #[test]
    fn groups_come_in_their_order_and_pass() {
        let wanted = ["skin".to_owned(), "integrators/amplification".to_owned(), "chains".to_owned()];
        let cases = super::cases(&wanted, |_| ());
        let failed: Vec<_> = cases.iter().filter(|c| c.verdict() == Verdict::Failed).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        let place = |case: &Case| GROUPS.iter().position(|(name, _)| case.name.starts_with(name));
        assert!(cases.len() > 20 && cases.is_sorted_by_key(place), "{cases:#?}");
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
