//! `capsid trail`: what the coding agents did, sealed.

mod canonical;
mod chains;
mod disclose;
mod explore;
mod export;
mod hook;
mod import;
mod inspect;
mod install;
mod list;
mod seal;
mod verify;
mod verify_meta;

pub(super) use explore::Trail;
pub(super) use hook::stdin as hook_payload;
pub(super) use install::{places as install_places, program as own_path};
pub(super) use seal::places as session_places;

use crate::cli::Json;
use capsid_model::{Code, Problem, Result};
use capsid_seal::Home;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Record what coding agents do in sealed, tamper-evident chains, and prove it to anyone.
#[derive(Debug, Args)]
#[command(after_help = "\
First steps:
  capsid trail install claude-code       seal every turn from now on
  capsid trail seal --all                seal what is there already
  capsid trail list                      what was sealed
  capsid trail verify --signatures       check every chain: content, links, who signed
  capsid trail explore                   look at them in the browser
  capsid trail export --out bundle       a folder that anybody can verify

The trail lives in --home, else $AGENT_CAPSULE_HOME, else ~/.agent-capsule where that exists, else in the data folder.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,

    /// The trail's folder.
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Install(install::Install),
    Uninstall(install::Uninstall),
    Hook(hook::Arguments),
    Seal(seal::Arguments),
    List(list::Arguments),
    Inspect(inspect::Arguments),
    Verify(verify::Arguments),
    VerifyMeta(verify_meta::Arguments),
    Explore(explore::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Canonical(canonical::Arguments),
    Disclose(disclose::Arguments),
}

impl Arguments {
    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        match &self.action {
            Action::Hook(_) => false,
            Action::Install(arguments) => arguments.json.json,
            Action::Uninstall(arguments) => arguments.json.json,
            Action::Seal(arguments) => arguments.json.json,
            Action::List(arguments) => arguments.json.json,
            Action::Inspect(arguments) => arguments.json.json,
            Action::Verify(arguments) => arguments.json.json,
            Action::VerifyMeta(arguments) => arguments.json.json,
            Action::Explore(arguments) => arguments.json.json,
            Action::Export(arguments) => arguments.json.json,
            Action::Import(arguments) => arguments.json.json,
            Action::Canonical(arguments) => arguments.json.json,
            Action::Disclose(arguments) => arguments.json.json,
        }
    }
}

/// Whether a command line calls the hook, as a tool would.
pub fn is_hook_call(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.by_ref().any(|word| word == "trail") && arguments.any(|word| word == "hook")
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<u8> {
    // A hook must not fail, whatever the environment is.
    if let Action::Hook(hook) = &arguments.action {
        hook::run(hook, arguments.home.as_deref());
        return Ok(0);
    }
    let named = arguments.home.as_deref();
    let home = Home::find(named, &super::variable)?;
    if home.root().exists() && !home.root().is_dir() {
        let message =
            format!("`{}` is not a folder, so it cannot be the trail's home.", home.root().display());
        return Err(Problem::new(Code::InputInvalid, message).fix("Name a folder, or a file after `verify`."));
    }
    match &arguments.action {
        Action::Hook(_) => Ok(0),
        Action::Install(arguments) => install::install(arguments, &home, named),
        Action::Uninstall(arguments) => install::uninstall(arguments),
        Action::Seal(arguments) => seal::run(arguments, &home),
        Action::List(arguments) => list::run(arguments, &home),
        Action::Inspect(arguments) => inspect::run(arguments, &home),
        Action::Verify(arguments) => verify::run(arguments, &home),
        Action::VerifyMeta(arguments) => verify_meta::run(arguments, &home),
        Action::Explore(arguments) => explore::run(arguments, &home),
        Action::Export(arguments) => export::run(arguments, &home),
        Action::Import(arguments) => import::run(arguments, &home),
        Action::Canonical(arguments) => canonical::run(arguments),
        Action::Disclose(arguments) => disclose::run(arguments, &home),
    }
}
