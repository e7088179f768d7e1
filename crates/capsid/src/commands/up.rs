//! `capsid up`: a hub on this machine, with a few words for whoever starts it.

use crate::commands::demo::{background::BackgroundDemo, hub::config as story_config, scratch_folder};
use crate::commands::hub::serve::{self, ServeOptions};
use crate::output::{self, DIM, HEAD, NAME, WARN, paint};
use capsid_hub::runtime::starter::pack;
use capsid_hub::state::Hub;
use capsid_model::Result;
use capsid_model::text::inert_line;
use capsid_store::{accounts, assets};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Start a hub on this machine, where your agents share what they learned. Ctrl-C stops it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid up                            at http://127.0.0.1:4000, with its data in your home
  capsid up --listen 127.0.0.1:0       on a port that is free
  capsid up --data ./hub               with its data here
  capsid up --demo                     a scratch hub that a story fills, to look around
  CAPSID_LOG=info capsid up            with a line for each request")]
pub struct UpArgs {
    #[command(flatten)]
    options: ServeOptions,

    /// Start a scratch hub and let a story with real nodes fill it. Your own hub and its data are left alone.
    #[arg(long, conflicts_with_all = ["data", "database", "config"])]
    demo: bool,
}

/// Runs the command.
pub fn run(arguments: &UpArgs) -> Result<u8> {
    if arguments.demo {
        return demo(&arguments.options);
    }
    let status = serve::start(&arguments.options, "warn", |hub| {
        output::talk(welcome(hub));
        if let Err(problem) = greet_newcomer(hub) {
            output::caution("first time", &problem);
        }
    })?;
    output::talk("The hub has stopped. Nothing is lost; `capsid up` starts it again.");
    Ok(status)
}

/// A hub in a scratch folder, and a story that runs on it meanwhile.
fn demo(options: &ServeOptions) -> Result<u8> {
    let folder = scratch_folder(None)?;
    let config = story_config(&folder.join("hub"), options.listen())?;
    let mut story = None;
    let status = serve::run_hub(config, options, "warn", |hub| {
        output::talk(welcome(hub));
        story = Some(BackgroundDemo::begin(folder.clone(), hub.config.base_url()));
    })?;
    drop(story);
    output::talk(format_args!("The hub has stopped. Its data is in {}.", folder.display()));
    Ok(status)
}

/// What the operator of a hub without an admin or without assets can do first.
fn greet_newcomer(hub: &Hub) -> Result<()> {
    let (has_admin, has_assets) =
        hub.store.read_now(|tx| Ok((accounts::has_admin(tx)?, assets::is_any(tx)?)))?;
    if let Some(address) = loopback_address(hub.config.listen).filter(|_| !has_admin) {
        let scheme = if hub.config.tls.is_some() { "https" } else { "http" };
        let key = hub.welcome.issue(hub.random.as_ref(), hub.now());
        let link = format!("{scheme}://{address}/welcome#k={key}");
        output::talk(format_args!("{} {}", paint(HEAD, "first time:"), paint(NAME, link)));
        output::talk(paint(
            DIM,
            "            makes you the admin; works once, for ten minutes, on this machine",
        ));
    }
    if !has_assets {
        let count = pack::entries()?.len();
        output::talk(format_args!(
            "{} {} adds {count} solutions; each is tested on this machine before it is promoted",
            paint(HEAD, "empty:"),
            paint(NAME, "capsid hub load starter")
        ));
    }
    Ok(())
}

/// How this machine reaches the hub by its loopback; nothing where it does not listen there.
fn loopback_address(listen: SocketAddr) -> Option<SocketAddr> {
    match listen.ip() {
        ip if ip.is_loopback() => Some(listen),
        IpAddr::V4(ip) if ip.is_unspecified() => {
            Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listen.port()))
        }
        IpAddr::V6(ip) if ip.is_unspecified() => {
            Some(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), listen.port()))
        }
        _ => None,
    }
}

fn welcome(hub: &Hub) -> String {
    let config = &hub.config;
    let base = config.base_url();
    let row = |name: &str, text: String| format!("  {}  {text}\n", paint(DIM, format_args!("{name:<8}")));
    let database = if config.database.is_some() { "PostgreSQL" } else { "SQLite" };
    let mut text = format!("\n{}\n\n", paint(HEAD, "Your hub is up."));
    text += &row("address", paint(NAME, &base));
    text += &row("data", format!("{} ({database})", inert_line(&config.data.to_string_lossy())));
    text += &row("pages", "open the address in a browser".to_owned());
    text += &row("guide", format!("{base}/skill.md, all that an agent has to read"));
    text += &format!("\nConnect an agent:\n\n  export A2A_HUB_URL={base}\n");
    if base.starts_with("http://") {
        text += "  export EVOMAP_HUB_ALLOW_INSECURE=1    # clients ask for this where there is no TLS\n";
    }
    if hub.is_exposed {
        text += &format!("\n{} {}\n", paint(WARN, "warning:"), serve::EXPOSED);
    }
    if serve::is_exposed(config) {
        let warning =
            "Other machines can reach this hub, and without TLS they send their secrets in the clear.";
        text += &format!("\n{} {warning}\n", paint(WARN, "warning:"));
    }
    text + "\nStop it with Ctrl-C.\n"
}
