//! `souple studio`: starts the studio, which is a program of its own, so that this one needs no window.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use souple_files::find_program;

use crate::args::StudioArgs;
use crate::failure::{Failure, Outcome};

const PROGRAM: &str = "souple-studio";

/// Runs the command.
pub fn run(args: &StudioArgs) -> Outcome {
    let Some(program) = beside_this_one().or_else(|| find_program(PROGRAM)) else {
        return Err(Failure::input(
            format!("the program {PROGRAM} is neither beside this one nor on the PATH"),
            format!(
                "build it with `cargo build --release -p {PROGRAM}`, or draw without a window: `souple render SCENE -o OUT`"
            ),
        ));
    };
    let status = Command::new(&program).args(&args.arguments).status().map_err(|error| {
        Failure::file(&program, format!("cannot start it: {error}"), "build or install it again")
    })?;
    // A program that was ended by a signal has no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn beside_this_one() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    let program = here.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}
