//! Control logs: what a person or a program does to a running scene, as JSON lines (GRI-10, GRI-11).
//!
//! One command per line, with the step before which it takes effect:
//!
//! ```text
//! {"step":10,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.01,0]}}}
//! {"step":10,"do":{"move_pin":{"body":"cloth","pin":"right","by":[0,-0.01,0]}}}
//! ```
//!
//! The keys that moved supports (GRI-10), one, both or in opposite directions (GRI-11), are such lines: two commands at
//! one step. The commands are those of [`souple::Command`]; one without numbers is a bare name, `{"step":40,"do":
//! "stop_blowing"}` on one line. A selection of many particles is one command with a list. Blank lines are skipped; steps must not decrease.
//!
//! Promises, for any text at all: no panic, memory in proportion to the text, and an error that names the line. Reading
//! what [`write_control_log`] wrote gives the same commands, bit for bit. It does not know the scene: whether a body or a
//! pin exists is checked by the simulation when the command is given.

use souple::LoggedCommand;
use thiserror::Error;

/// Largest control log that is read, bytes.
pub const MAX_CONTROL_LOG_BYTES: usize = 1 << 30;
/// Longest line that is read, bytes. Most commands need a few hundred; one that names as many particles as a simulation
/// takes ([`souple::MAX_SELECTION`]) needs 11 MB at most.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// Most commands that are read: an hour at 60 steps per second with 40 commands each has fewer.
pub const MAX_COMMANDS: usize = 10_000_000;

/// Why a text is not a control log.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("control log, line {line}: {message}")]
pub struct ControlLogError {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong there and what would be right.
    pub message: String,
}

/// A command and the line it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedCommand {
    /// Line, counted from 1.
    pub line: usize,
    /// The command and its step.
    pub logged: LoggedCommand,
}

/// Reads a control log.
///
/// ```
/// use souple_formats::control_log::{read_control_log, write_control_log};
/// let text = r#"{"step":3,"do":{"set_wind":{"velocity":[1,0,0]}}}"#;
/// let log = read_control_log(text).unwrap();
/// assert_eq!(log[0].step, 3);
/// assert_eq!(read_control_log(&write_control_log(&log)).unwrap(), log);
/// ```
pub fn read_control_log(text: &str) -> Result<Vec<LoggedCommand>, ControlLogError> {
    Ok(read_numbered_commands(text)?.into_iter().map(|command| command.logged).collect())
}

/// Reads a control log and keeps the line of each command, so that one the simulation refuses can be found.
pub fn read_numbered_commands(text: &str) -> Result<Vec<NumberedCommand>, ControlLogError> {
    let fail = |line: usize, message: String| Err(ControlLogError { line, message });
    if text.len() > MAX_CONTROL_LOG_BYTES {
        let bytes = text.len();
        return fail(
            1,
            format!("the log has {bytes} bytes; at most {MAX_CONTROL_LOG_BYTES} are read: split it"),
        );
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut commands: Vec<NumberedCommand> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() {
            continue;
        }
        if content.len() > MAX_LINE_BYTES {
            let bytes = content.len();
            return fail(
                line,
                format!(
                    "the line has {bytes} bytes; at most {MAX_LINE_BYTES} are read: one command per line"
                ),
            );
        }
        if commands.len() == MAX_COMMANDS {
            return fail(line, format!("at most {MAX_COMMANDS} commands are read: split the log"));
        }
        let logged: LoggedCommand = match serde_json::from_str(content) {
            Ok(logged) => logged,
            Err(error) => return fail(line, explain(&error)),
        };
        if let Some(last) = commands.last().filter(|last| last.logged.step > logged.step) {
            let (step, before, above) = (logged.step, last.logged.step, last.line);
            return fail(
                line,
                format!(
                    "step {step} comes after step {before} of line {above}: put the lines in the order of their steps"
                ),
            );
        }
        commands.push(NumberedCommand { line, logged });
    }
    Ok(commands)
}

/// Writes a control log, one command per line.
///
/// Numbers that are not finite cannot be written in JSON and become `null`, which no reader takes; a simulation refuses
/// them long before.
pub fn write_control_log(commands: &[LoggedCommand]) -> String {
    let mut text = String::new();
    for command in commands {
        // Fails only for maps whose keys are not text; there are none.
        if let Ok(line) = serde_json::to_string(command) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// What serde_json says, with the column and what a line looks like.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // Its own line number counts from this line alone.
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!(
        "{what} (column {}); a line looks like \
         {{\"step\":10,\"do\":{{\"move_pin\":{{\"body\":\"cloth\",\"pin\":\"left\",\"by\":[0,0.01,0]}}}}}}",
        error.column()
    )
}
