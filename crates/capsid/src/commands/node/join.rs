//! `capsid node join`.

use super::connection::{HubConnectionArgs, node};
use super::hello;
use crate::commands::variable;
use crate::output::{self, GOOD, NAME, paint};
use capsid_client::ClientConfig;
use capsid_client::joined::JoinedHub;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value};
use clap::Args;
use std::path::Path;

/// Use a hub from now on: register this node there and store the address in your own settings.
///
/// Every repository of yours uses the hub then, unless its capsid.toml or A2A_HUB_URL names another one. The address is
/// stored in ~/.evomap after the hub has answered, so a wrong one changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node join http://127.0.0.1:4000           register, and see where to claim the node
  capsid node join http://hub.lan:4000 --allow-insecure
                                                   a hub without TLS in a network that you trust
  capsid node join --leave                         use no hub any more; your node's name and secret stay")]
pub struct NodeJoinArgs {
    /// The hub's address.
    #[arg(value_name = "URL", required_unless_present = "leave")]
    url: Option<String>,
    /// Send secrets without TLS to a hub that is not this machine.
    #[arg(long)]
    allow_insecure: bool,
    /// What people call this node; at most 32 characters.
    #[arg(long)]
    name: Option<String>,
    /// Forget the address instead.
    #[arg(long, conflicts_with_all = ["url", "allow_insecure", "name"])]
    leave: bool,
}

/// Runs the command.
pub fn run(arguments: &NodeJoinArgs, folder: &Path) -> Result<u8> {
    let Some(url) = &arguments.url else { return leave_hub() };
    let joined = JoinedHub {
        url: url.trim().trim_end_matches('/').to_owned(),
        allow_insecure: arguments.allow_insecure,
    };
    let settings = ClientConfig::for_joined(&joined, &variable)?;
    let node = node(&settings)?;
    let greeting = node.hello(hello::introduction(arguments.name.as_deref(), folder))?;
    joined.save(&variable)?;
    if output::is_json() {
        let mut response = hello::to_json(&node, &greeting);
        response.insert("joined".to_owned(), true.into());
        output::document(&Value::Object(response));
    } else {
        hello::print(&node, &greeting, false);
        print_other_hub(folder, node.hub_url());
    }
    Ok(0)
}

/// Another hub may win here, which would be a surprise.
fn print_other_hub(folder: &Path, joined: &str) {
    match HubConnectionArgs::default().settings(folder) {
        Ok(settings) if settings.url != joined => super::print::print_note(format_args!(
            "Here {} is used, which A2A_HUB_URL or capsid.toml names.",
            inert_line(&settings.url)
        )),
        _ => {}
    }
}

fn leave_hub() -> Result<u8> {
    let left = JoinedHub::forget(&variable)?;
    let url = left.as_ref().map(|joined| joined.url.clone());
    match (output::is_json(), url) {
        (true, url) => output::document(&capsid_model::json!({"ok": true, "left": url})),
        (false, Some(url)) => output::line(format_args!(
            "{} {} is not used any more",
            paint(GOOD, "✓"),
            paint(NAME, inert_line(&url))
        )),
        (false, None) => output::line("No hub was joined, so nothing changed."),
    }
    Ok(0)
}
