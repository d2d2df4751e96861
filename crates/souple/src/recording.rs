//! Recordings: what was simulated, what was done to it, and the hash after each step.
//!
//! A recording holds the scene (as text of the caller's choice), the snapshot it began from, the control log, and one
//! hash per step. Played again, it names the first step that differs. Every bug report can be one.

use crate::bytes::{Reader, Writer};
use crate::command::Command;
use crate::error::Error;

const MAGIC: &[u8; 8] = b"SOUPRECD";
const VERSION: u32 = 1;

/// A command and the step before which it was given.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedCommand {
    /// Step before which the command takes effect.
    pub step: u64,
    /// The command.
    #[serde(rename = "do")]
    pub command: Command,
}

/// A run that can be played again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The scene, complete: mesh files are inlined.
    pub scene: String,
    /// The state it began from; see [`crate::snapshot`].
    pub snapshot: Vec<u8>,
    /// What was done to it, in order.
    pub commands: Vec<LoggedCommand>,
    /// Hash of the state after each step.
    pub hashes: Vec<u64>,
}

impl Recording {
    /// As bytes. `write_commands` turns the control log into text.
    pub fn to_bytes(&self, write_commands: impl Fn(&[LoggedCommand]) -> String) -> Vec<u8> {
        let mut w = Writer::new(MAGIC, VERSION);
        w.block(self.scene.as_bytes());
        w.block(&self.snapshot);
        w.block(write_commands(&self.commands).as_bytes());
        w.list(&self.hashes, |w, h| w.u64(*h));
        w.finish()
    }

    /// From bytes. `read_commands` turns text into the control log.
    pub fn from_bytes(
        bytes: &[u8],
        read_commands: impl Fn(&str) -> Result<Vec<LoggedCommand>, String>,
    ) -> Result<Recording, Error> {
        let mut r = Reader::new("recording", MAGIC, VERSION..=VERSION, bytes)?;
        let text = |r: &mut Reader, name: &str| match std::str::from_utf8(r.block()?) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => r.fail(format!("its {name} is not text")),
        };
        let scene = text(&mut r, "scene")?;
        let snapshot = r.block()?.to_vec();
        let log = text(&mut r, "control log")?;
        let commands = match read_commands(&log) {
            Ok(commands) => commands,
            Err(problem) => return r.fail(format!("its control log is damaged: {problem}")),
        };
        let hashes = r.list(8, Reader::u64)?;
        r.finish()?;
        Ok(Recording { scene, snapshot, commands, hashes })
    }
}
