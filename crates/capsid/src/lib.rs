//! The program: reads the command line, calls the library that does the work, prints what came of it.

pub mod cli;
pub mod commands;
pub mod help;
pub mod output;
pub mod reference;
pub mod renamed;

use std::process::ExitCode;

/// What `capsid --version` prints after the name.
const fn version() -> &'static str {
    if capsid_web::HAS_PAGES {
        env!("CARGO_PKG_VERSION")
    } else {
        concat!(env!("CARGO_PKG_VERSION"), " without pages")
    }
}

/// The whole program.
pub fn main() -> ExitCode {
    // Answers a shell that completes a command line, and ends the program; does nothing otherwise.
    clap_complete::CompleteEnv::with_factory(cli::command).complete();
    let cli = match cli::parse() {
        Ok(cli) => cli,
        // Tools take a hook's failure for a reason to stop the agent.
        Err(error)
            if error.use_stderr()
                && (commands::trail::is_hook_call(std::env::args())
                    || commands::recall::is_hook_call(std::env::args())) =>
        {
            return ExitCode::SUCCESS;
        }
        Err(error) => return output::usage(&error),
    };
    cli.color.apply();
    output::set_json(cli.json);
    match cli.run() {
        Ok(status) => ExitCode::from(status),
        Err(problem) => output::problem(&problem),
    }
}
