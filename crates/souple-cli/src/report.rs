//! What commands print: lines or one JSON object on standard output; progress, notes and errors on standard error.
//!
//! A reader that closes its end early (`souple ... | head`) is no error: the rest of the work is still done.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use souple::{Measures, Profile, Stage};

use crate::failure::Failure;

/// How many warnings people are shown; programs get all.
const MAX_SHOWN_WARNINGS: usize = 10;

/// Prints text and a line end on standard output.
pub fn say(text: &str) -> Result<(), Failure> {
    print(&printable(text))
}

/// Text without what could move the cursor, colour the terminal or reorder the line: names come from files of others.
fn printable(text: &str) -> String {
    let reorders =
        |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmless = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || reorders(c));
    text.chars().map(|c| if harmless(c) { c } else { '\u{fffd}' }).collect()
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}"), "is the disk full?"))
        }
        _ => Ok(()),
    }
}

/// Prints warnings on standard output, and how many more there are.
pub fn say_warnings(warnings: &[String]) -> Result<(), Failure> {
    for warning in warnings.iter().take(MAX_SHOWN_WARNINGS) {
        say(&format!("warning: {warning}"))?;
    }
    match warnings.len().saturating_sub(MAX_SHOWN_WARNINGS) {
        0 => Ok(()),
        more => say(&format!("warning: and {more} more; --json gives all of them")),
    }
}

/// Prints a value as JSON on standard output.
pub fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::input(format!("cannot write the answer as JSON: {error}"), ""))?;
    print(&text)
}

/// Prints a line on standard error, for people.
pub fn note(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(stderr().lock(), "{}", printable(text));
}

/// Tells why a command could not do its work: people on standard error, programs on standard output.
pub fn fail(failure: &Failure, json: bool) {
    note(&failure.to_string());
    if json {
        // The exit code says that it failed in any case.
        let _ = say_json(&failure.to_json());
    }
}

/// How far a long piece of work has come: a bar on a terminal, ten plain lines otherwise.
pub struct Progress {
    what: &'static str,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins; `what` is counted, as in "frame".
    pub fn new(what: &'static str, total: u64) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let template = "{msg} {wide_bar} {pos}/{len}  {eta}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar()));
            bar.set_message(what);
            bar
        });
        Progress { what, total, done: 0, bar }
    }

    /// One more is done.
    pub fn advance(&mut self) {
        self.done += 1;
        match &self.bar {
            Some(bar) => bar.inc(1),
            None if self.done.is_multiple_of(self.total.div_ceil(10).max(1)) || self.done == self.total => {
                note(&format!("{} {} of {}", self.what, self.done, self.total));
            }
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Measures as they stand in JSON; numbers that are not finite become `null`.
#[derive(Debug, Serialize)]
pub struct MeasuresReport {
    kinetic_energy: f64,
    elastic_energy: f64,
    potential_energy: f64,
    momentum: [f64; 3],
    angular_momentum: [f64; 3],
    mass: f64,
    centre: [f64; 3],
    stretch_mean_percent: f64,
    stretch_max_percent: f64,
    stretch_p999_percent: f64,
    area: f64,
    volume: f64,
    lowest: f64,
}

impl From<Measures> for MeasuresReport {
    fn from(m: Measures) -> Self {
        MeasuresReport {
            kinetic_energy: m.kinetic_energy,
            elastic_energy: m.elastic_energy,
            potential_energy: m.potential_energy,
            momentum: m.momentum.to_array(),
            angular_momentum: m.angular_momentum.to_array(),
            mass: m.mass,
            centre: m.centre.to_array(),
            stretch_mean_percent: m.stretch_mean_percent,
            stretch_max_percent: m.stretch_max_percent,
            stretch_p999_percent: m.stretch_p999_percent,
            area: m.area,
            volume: m.volume,
            lowest: m.lowest,
        }
    }
}

/// Milliseconds per frame of every stage, in the order they run.
pub struct ProfileReport(pub Profile);

impl ProfileReport {
    /// Milliseconds per frame of one stage; 0 when nothing was measured.
    pub fn milliseconds(&self, stage: Stage) -> f64 {
        self.0.time(stage).as_secs_f64() * 1e3 / self.0.steps.max(1) as f64
    }
}

impl Serialize for ProfileReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Stage::ALL.map(|stage| (stage.name(), self.milliseconds(stage))))
    }
}

/// A count with its noun, as in "1 body" and "2 bodies".
pub fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
