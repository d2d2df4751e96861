//! `souple replay`: plays a recording again and compares the state after every step.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use souple::{Recording, Simulation};
use souple_formats::control_log::read_control_log;
use souple_formats::scene::read_scene;

use crate::args::ReplayArgs;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::files;
use crate::load::build;
use crate::report::{Progress, count, say, say_json};
use crate::run::MAX_STATE_BYTES;

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Outcome {
    let mut replay = Replay::open(&args.recording, args.threads.count())?;
    let start = replay.simulation.state().step;
    let difference = replay.play(|_| {})?;
    let steps = replay.recording.hashes.len();
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

/// The first step whose state is not the one of the recording.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// Number of the step.
    pub step: u64,
    /// Hash of the state after it.
    pub found: String,
    /// Hash that was recorded.
    pub recorded: String,
}

/// A recording that is ready to be played.
pub struct Replay {
    /// The simulation at the start of the recording.
    pub simulation: Simulation,
    recording: Recording,
    name: String,
}

impl Replay {
    /// Reads a recording and rebuilds what it was made of.
    pub fn open(path: &Path, threads: usize) -> Result<Replay, Failure> {
        let name = path.display().to_string();
        let bytes = files::read(path, MAX_STATE_BYTES, "recording")?;
        let read_log = |text: &str| read_control_log(text).map_err(|error| error.to_string());
        let damaged = |error: souple::Error| {
            Failure::file(path, error, "give a whole file made by `souple run --record`")
        };
        let recording = Recording::from_bytes(&bytes, read_log).map_err(damaged)?;
        let loaded = build(read_scene(&recording.scene, &format!("{name} (its scene).json"))?)?;
        let mut simulation = Simulation::new(loaded.model)
            .with_threads(threads)
            .map_err(|error| Failure::input(error.to_string(), "ask for fewer threads"))?;
        simulation.restore(&recording.snapshot).map_err(damaged)?;
        let (start, steps) = (simulation.state().step, recording.hashes.len() as u64);
        let within = start..start.saturating_add(steps);
        if let Some(stray) = recording.commands.iter().find(|c| !within.contains(&c.step)) {
            let problem =
                format!("it holds a command for step {}, but steps {start} to {}", stray.step, within.end);
            return Err(Failure::file(path, problem, "give a whole file made by `souple run --record`"));
        }
        Ok(Replay { simulation, recording, name })
    }

    /// Number of steps it holds.
    pub fn steps(&self) -> usize {
        self.recording.hashes.len()
    }

    /// Plays all steps, telling of each, up to the first that differs.
    pub fn play(&mut self, mut after_step: impl FnMut(&Simulation)) -> Result<Option<Difference>, Failure> {
        let Replay { simulation, recording, name } = self;
        let mut progress = Progress::new("step", recording.hashes.len() as u64);
        let mut commands = recording.commands.iter().peekable();
        for &recorded in &recording.hashes {
            let step = simulation.state().step;
            while let Some(logged) = commands.next_if(|logged| logged.step == step) {
                simulation.command(logged.command.clone()).map_err(|error| {
                    let help = "the recording was changed or belongs to another version of the program";
                    Failure::input(format!("{name}, step {step}: {error}"), help)
                })?;
            }
            simulation.step();
            after_step(simulation);
            let found = simulation.state_hash();
            if found != recorded {
                let [found, recorded] = [found, recorded].map(|hash| format!("{hash:016x}"));
                return Ok(Some(Difference { step, found, recorded }));
            }
            progress.advance();
        }
        Ok(None)
    }
}
