//! The program: reads the command line, calls the library that does the work, prints what came of it.

mod cli;
mod commands;
mod output;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    cli.color.apply();
    let json = cli.command.wants_json();
    match commands::run(cli) {
        Ok(status) => ExitCode::from(status),
        Err(problem) => output::problem(&problem, json),
    }
}
