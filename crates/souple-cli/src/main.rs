//! The `souple` command: run, draw, check, convert and replay scenes from the command line.
//!
//! Exit codes: 0 done, 1 the scene or the input is wrong, 2 wrong usage, 3 a check failed.

mod args;
mod bake;
mod bench;
mod check;
mod convert;
mod drawing;
mod failure;
mod library;
mod outputs;
mod paper;
mod render;
mod replay;
mod report;
mod run;
mod run_pictures;
mod studio;
mod styles;
mod verify;
mod wrinkle;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, CompletionsArgs};
use failure::Outcome;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let outcome = match &command {
        Command::Run(args) => run::run(args),
        Command::Render(args) => render::run(args),
        Command::Studio(args) => studio::run(args),
        Command::Check(args) => check::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Bake(args) => bake::run(args),
        Command::Paper(args) => paper::run(args),
        Command::Wrinkle(args) => wrinkle::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Scenes(args) => library::run(args),
        Command::Styles(args) => styles::run(args),
        Command::Schema => schema(),
        Command::Completions(args) => completions(args),
    };
    outcome.unwrap_or_else(|failure| {
        report::fail(&failure, command.wants_json());
        failure.exit_code()
    })
}

/// Prints the JSON schema of scene files.
fn schema() -> Outcome {
    report::say_json(&souple_formats::scene::scene_schema())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a script that completes the command in a shell.
fn completions(args: &CompletionsArgs) -> Outcome {
    // Into memory first: the generator panics when its writer fails, as a closed pipe does.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "souple", &mut script);
    report::say(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
