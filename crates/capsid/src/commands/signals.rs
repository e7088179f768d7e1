//! `capsid signals`: what the engine sees.

use super::inputs::InputArguments;
use super::workspace;
use crate::cli::Json;
use crate::output::{self, DIM, NAME, paint};
use capsid_engine::cycle::sight;
use capsid_model::signal::{is_control, is_cosmetic, signal_key};
use capsid_model::text::inert_line;
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// Show the signals in the logs, notes and sessions of this repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid signals                      what the next cycle would see
  capsid signals --log build.log      what it would see in a log
  npm test 2>&1 | capsid signals --log - --json")]
pub struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let sight = sight::look(&workspace, &arguments.inputs.sources()?)?;
    let key = signal_key(&sight.signals);
    if arguments.json.json {
        output::document(&json!({"signals": sight.signals, "signal_key": key}));
        return Ok(0);
    }
    for signal in &sight.signals {
        let kind = match signal.as_str() {
            signal if is_control(signal) => "  steers the engine",
            signal if is_cosmetic(signal) => "  an input is absent",
            _ => "",
        };
        output::line(format_args!("{}{}", paint(NAME, inert_line(signal)), paint(DIM, kind)));
    }
    output::talk(paint(DIM, format_args!("key: {}", inert_line(&key))));
    for source in &sight.inputs.sources {
        output::talk(paint(DIM, format_args!("read: {} ({} bytes)", inert_line(&source.name), source.bytes)));
    }
    Ok(0)
}
