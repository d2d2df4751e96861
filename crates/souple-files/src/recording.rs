//! Recordings from the disk, played step by step (ESSI-16).
//!
//! Every step is compared with the hash that was recorded. One that differs is told and played all the same: what to do
//! about it is up to the program.

use std::path::Path;

use serde::Serialize;
use souple::scene::Scene;
use souple::{Recording, Simulation};
use souple_formats::control_log::read_control_log;
use souple_formats::scene::{MAX_SCENE_BYTES, read_scene};

use crate::error::FileError;
use crate::load::{Loaded, build};
use crate::{disk, size};

/// Largest snapshot or recording that is read, bytes.
pub const MAX_STATE_BYTES: usize = 4 << 30;

const WHOLE_FILE: &str = "give a whole file made by `souple run --record`";

/// A recording that is being played.
pub struct Replay {
    /// The scene that was recorded, with its meshes inside.
    pub scene: Scene,
    /// The simulation, at the start of the recording or as far as it has been played.
    pub simulation: Simulation,
    recording: Recording,
    name: String,
    /// Steps that were played.
    played: usize,
    /// Commands that were given.
    given: usize,
}

/// What came of one step of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Played {
    /// A step that came out as it was recorded.
    Same,
    /// A step that came out differently.
    Differs(Difference),
    /// No step: the recording is at its end.
    End,
}

/// A step whose state is not the one of the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Number of the step.
    pub step: u64,
    /// Hash of the state after it.
    pub found: String,
    /// Hash that was recorded.
    pub recorded: String,
}

impl Replay {
    /// Reads a recording and rebuilds what it was made of. `threads` is 0 for one per core.
    pub fn open(path: &Path, threads: usize) -> Result<Replay, FileError> {
        let name = path.display().to_string();
        let bytes = disk::read(path, MAX_STATE_BYTES, "recording")?;
        let read_log = |text: &str| read_control_log(text).map_err(|error| error.to_string());
        let damaged = |error: souple::Error| FileError::file(path, error, WHOLE_FILE);
        let recording = Recording::from_bytes(&bytes, read_log).map_err(damaged)?;
        drop(bytes);
        let Loaded { scene, model, .. } =
            build(read_scene(&recording.scene, &format!("{name} (its scene).json"))?)?;
        let mut simulation = Simulation::new(model)
            .with_threads(threads)
            .map_err(|error| FileError::new("", error, "ask for fewer threads"))?;
        simulation.restore(&recording.snapshot).map_err(damaged)?;
        let (start, steps) = (simulation.state().step, recording.hashes.len() as u64);
        let within = start..start.saturating_add(steps);
        if let Some(stray) = recording.commands.iter().find(|c| !within.contains(&c.step)) {
            let held = match steps {
                0 => "no steps".to_owned(),
                _ => format!("steps {start} to {}", within.end - 1),
            };
            let problem = format!("it holds a command for step {}, but {held}", stray.step);
            return Err(FileError::file(path, problem, WHOLE_FILE));
        }
        Ok(Replay { scene, simulation, recording, name, played: 0, given: 0 })
    }

    /// Number of steps it holds.
    pub fn steps(&self) -> usize {
        self.recording.hashes.len()
    }

    /// Number of steps that were played.
    pub fn played(&self) -> usize {
        self.played
    }

    /// Gives the commands of the next step, takes it, and compares the state with the recording.
    pub fn step(&mut self) -> Result<Played, FileError> {
        let Some(&recorded) = self.recording.hashes.get(self.played) else { return Ok(Played::End) };
        let step = self.simulation.state().step;
        while let Some(logged) = self.recording.commands.get(self.given).filter(|logged| logged.step == step)
        {
            self.simulation.command(logged.command.clone()).map_err(|error| {
                let help = "the recording was changed or belongs to another version of the program";
                FileError::new(format!("{}, step {step}", self.name), error, help)
            })?;
            self.given += 1;
        }
        self.simulation.step();
        self.played += 1;
        let found = self.simulation.state_hash();
        if found == recorded {
            return Ok(Played::Same);
        }
        let [found, recorded] = [found, recorded].map(|hash| format!("{hash:016x}"));
        Ok(Played::Differs(Difference { step, found, recorded }))
    }

    /// Goes back to the start.
    pub fn rewind(&mut self) -> Result<(), FileError> {
        let restored = self.simulation.restore(&self.recording.snapshot);
        restored.map_err(|error| FileError::new(self.name.clone(), error, WHOLE_FILE))?;
        (self.played, self.given) = (0, 0);
        Ok(())
    }
}

/// The scene as text that a recording keeps; refused when it could not be read back. `path` is named in errors.
pub fn scene_for_recording(scene: &Scene, path: &Path) -> Result<String, FileError> {
    let text = serde_json::to_string(scene)
        .map_err(|error| FileError::file(path, format!("cannot be kept in a recording: {error}"), ""))?;
    if text.len() > MAX_SCENE_BYTES {
        let (bytes, limit) = (size(text.len() as u128), size(MAX_SCENE_BYTES as u128));
        return Err(FileError::file(
            path,
            format!("the scene with its meshes is {bytes} of text; a recording holds {limit}"),
            "use coarser meshes",
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use souple::scene::{Body, Pin, Select};
    use souple::{Command, ModelBuilder};
    use souple_formats::control_log::write_control_log;

    use super::*;

    const STEPS: usize = 5;

    /// A cloth whose pin is moved at step 2, recorded.
    fn recording() -> Recording {
        let pin = Pin { name: "corner".into(), select: Select::Near([0.0; 3]), ..Pin::default() };
        let body =
            Body { name: "cloth".into(), fabric: Some("cotton".into()), pins: vec![pin], ..Body::default() };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        let mut simulation = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        simulation.start_recording(scene_for_recording(&scene, Path::new("a.toml")).unwrap()).unwrap();
        for step in 0..STEPS {
            if step == 2 {
                let (body, pin) = ("cloth".into(), "corner".into());
                simulation.command(Command::MovePin { body, pin, by: [0.0, 0.1, 0.0] }).unwrap();
            }
            simulation.step();
        }
        simulation.finish_recording().unwrap()
    }

    fn open(recording: &Recording) -> Result<Replay, FileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.souprec");
        disk::write(&path, &recording.to_bytes(write_control_log)).unwrap();
        Replay::open(&path, 1)
    }

    #[test]
    fn a_recording_plays_to_its_end_and_again() {
        let recording = recording();
        let mut replay = open(&recording).unwrap();
        assert_eq!((replay.steps(), replay.scene.bodies[0].name.as_str()), (STEPS, "cloth"));
        for _ in 0..2 {
            for step in 0..STEPS {
                assert_eq!((replay.played(), replay.step()), (step, Ok(Played::Same)));
            }
            assert_eq!(replay.step(), Ok(Played::End));
            assert_eq!(replay.simulation.state_hash(), recording.hashes[STEPS - 1]);
            replay.rewind().unwrap();
        }
    }

    #[test]
    fn a_step_that_differs_is_told_and_played() {
        let mut recording = recording();
        recording.hashes[3] ^= 1;
        let mut replay = open(&recording).unwrap();
        let played: Vec<Played> = (0..STEPS).map(|_| replay.step().unwrap()).collect();
        let differs: Vec<usize> =
            (0..STEPS).filter(|&s| matches!(&played[s], Played::Differs(d) if d.step == 3)).collect();
        assert_eq!(differs, [3]);
        assert_eq!(replay.simulation.state_hash(), recording.hashes[STEPS - 1]);
    }

    #[test]
    fn commands_that_do_not_belong_are_refused() {
        let mut stray = recording();
        stray.commands[0].step = STEPS as u64;
        let refused = open(&stray).err().unwrap().to_string();
        assert!(refused.contains("it holds a command for step 5, but steps 0 to 4"), "{refused}");
        stray.hashes.clear();
        let refused = open(&stray).err().unwrap().to_string();
        assert!(refused.contains("it holds a command for step 5, but no steps"), "{refused}");
        let mut unknown = recording();
        unknown.commands[0].command =
            Command::MovePin { body: "cloth".into(), pin: "other".into(), by: [0.0; 3] };
        let mut replay = open(&unknown).unwrap();
        assert_eq!((replay.step(), replay.step()), (Ok(Played::Same), Ok(Played::Same)));
        let refused = replay.step().unwrap_err();
        assert!(refused.message().contains("a.souprec, step 2: "), "{refused}");
    }
}
