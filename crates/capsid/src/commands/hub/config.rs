//! `capsid hub config`: the settings of a hub, and where each comes from.

use super::HubLocation;
use crate::output::{self, DIM, NAME, paint};
use capsid_hub::config::{LoadedConfig, SAMPLE};
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use clap::Args;

/// Show the settings that a hub would run with. Passwords are not shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub config
  capsid hub config --origin               and whether a file, a variable or nobody set each
  capsid hub config --sample > hub.toml    a file that explains every setting

The command line wins over variables, they win over the file, and the file over the defaults. The variable of
`server.listen` is CAPSID_HUB_LISTEN, that of `limits.hello` is CAPSID_HUB_LIMITS_HELLO; --json names them all.")]
pub struct HubConfigArgs {
    /// Show where each value comes from.
    #[arg(long)]
    origin: bool,

    /// Print a commented file of settings instead.
    #[arg(long, conflicts_with_all = ["origin", "json"])]
    sample: bool,

    #[command(flatten)]
    location: HubLocation,
}

/// Runs the command.
pub fn run(arguments: &HubConfigArgs) -> Result<u8> {
    if arguments.sample {
        output::print(SAMPLE);
        return Ok(0);
    }
    let loaded = arguments.location.load(Vec::new())?;
    if output::is_json() {
        output::document(&as_json(&loaded));
        return Ok(0);
    }
    output::line(format_args!(
        "{} {}",
        paint(DIM, "# data:"),
        inert_line(&loaded.config.data.to_string_lossy())
    ));
    let rows: Vec<Vec<String>> = loaded
        .each()
        .map(|(key, value, origin)| {
            let mut row = vec![paint(NAME, key.name), format!("= {}", inert_line(&format_value(&value)))];
            if arguments.origin {
                row.push(paint(DIM, inert_line(&origin.to_string())));
            }
            row
        })
        .collect();
    output::print(&output::table(&rows));
    Ok(0)
}

fn format_value(value: &Value) -> String {
    if value.is_null() { "(not set)".to_owned() } else { value.to_string() }
}

fn as_json(loaded: &LoadedConfig) -> Value {
    let settings: Vec<Value> = loaded
        .each()
        .map(|(key, value, origin)| {
            json!({"name": key.name, "value": value, "origin": origin.to_string(), "variable": key.variable()})
        })
        .collect();
    json!({"data": loaded.config.data, "settings": settings})
}
