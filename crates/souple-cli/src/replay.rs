//! `souple replay`: plays a recording again and compares the state after every step.

use std::process::ExitCode;

use serde::Serialize;
use souple::Simulation;
use souple_files::{Difference, Played, Replay};

use crate::args::ReplayArgs;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::report::{Progress, count, say, say_json};

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Outcome {
    let mut replay = Replay::open(&args.recording, args.threads.count())?;
    let start = replay.simulation.state().step;
    let difference = play(&mut replay, |_| {})?;
    let steps = replay.steps();
    if args.json {
        let recording = args.recording.display().to_string();
        say_json(&ReplayReport {
            recording,
            start,
            steps,
            same: difference.is_none(),
            difference: difference.as_ref(),
        })?;
    } else {
        match &difference {
            None => say(&format!("{}, all the same", count(steps, "step", "steps")))?,
            Some(d) => say(&format!(
                "step {} differs: the state is {}, the recording says {}",
                d.step, d.found, d.recorded
            ))?,
        }
    }
    Ok(if difference.is_some() { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

#[derive(Serialize)]
struct ReplayReport<'a> {
    recording: String,
    /// Step that the recording begins at.
    start: u64,
    steps: usize,
    same: bool,
    difference: Option<&'a Difference>,
}

/// Plays all steps, telling of each, up to the first that differs.
pub fn play(
    replay: &mut Replay,
    mut after_step: impl FnMut(&Simulation),
) -> Result<Option<Difference>, Failure> {
    let mut progress = Progress::new("step", replay.steps() as u64);
    loop {
        match replay.step()? {
            Played::Same => after_step(&replay.simulation),
            Played::Differs(difference) => return Ok(Some(difference)),
            Played::End => return Ok(None),
        }
        progress.advance();
    }
}
