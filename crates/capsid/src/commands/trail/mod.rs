//! `capsid trail`: what the coding agents did, sealed.

mod canonical;
mod chains;
mod compact;
mod disclose;
mod explore;
mod export;
mod hook;
mod import;
mod inspect;
mod install;
mod list;
mod migrate;
mod otlp;
mod repository;
mod requirement;
pub(super) mod seal;
pub(super) mod signer;
mod verdict_text;
mod verdicts;
mod verify;
mod verify_meta;

pub(super) use explore::TrailViewer;
pub(super) use hook::stdin as hook_payload;
pub(super) use install::{home_words, install_paths, program as own_path};
pub(super) use seal::{cline_folders, session_paths};

use capsid_model::{Code, Problem, Result};
use capsid_seal::TrailHome;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Record what coding agents do in sealed, tamper-evident chains, and prove it to anyone.
#[derive(Debug, Args)]
#[command(after_help = "\
First steps:
  capsid trail install claude-code       seal every turn from now on
  capsid trail seal --all                seal what is there already
  capsid trail list                      what was sealed in this repository
  capsid trail verify --signatures       check every chain: content, links, who signed
  capsid trail explore                   look at them in the browser
  capsid trail export --out bundle       a folder that anybody can verify

The trail lives in --home, else $AGENT_CAPSULE_HOME, else ~/.agent-capsule where that exists, else in the data folder.")]
pub struct TrailArgs {
    #[command(subcommand)]
    action: TrailCommand,

    /// The trail's folder.
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,

    /// For tests: all of the signing service is in this folder, and nothing of the machine's own is asked.
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    signer_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum TrailCommand {
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Hook(hook::TrailHookArgs),
    Seal(seal::TrailSealArgs),
    List(list::TrailListArgs),
    Inspect(inspect::TrailInspectArgs),
    Verify(verify::TrailVerifyArgs),
    VerifyMeta(verify_meta::TrailVerifyMetaArgs),
    Explore(explore::TrailExploreArgs),
    Export(export::TrailExportArgs),
    Compact(compact::TrailCompactArgs),
    Import(import::TrailImportArgs),
    Migrate(migrate::TrailMigrateArgs),
    Canonical(canonical::TrailCanonicalArgs),
    Disclose(disclose::TrailDiscloseArgs),
    Signer(signer::SignerArgs),
}

impl TrailArgs {
    /// Whether what to do next is printed when it is done.
    pub fn has_hints(&self) -> bool {
        matches!(self.action, TrailCommand::Seal(_) | TrailCommand::Verify(_))
    }
}

/// Whether a command line calls the hook, as a tool would.
pub fn is_hook_call(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.by_ref().any(|word| word == "trail") && arguments.any(|word| word == "hook")
}

/// Runs the command. `folder` is where the user works.
pub fn run(arguments: &TrailArgs, folder: &Path) -> Result<u8> {
    if let Some(folder) = &arguments.signer_dir {
        signer::set_test_folder(folder);
    }
    // A hook must not fail, whatever the environment is.
    if let TrailCommand::Hook(hook) = &arguments.action {
        hook::run(hook, arguments.home.as_deref());
        return Ok(0);
    }
    let named = arguments.home.as_deref();
    let home = TrailHome::find(named, &super::variable)?;
    if home.root().exists() && !home.root().is_dir() {
        let message =
            format!("`{}` is not a folder, so it cannot be the trail's home.", home.root().display());
        return Err(Problem::new(Code::InputInvalid, message).fix("Name a folder, or a file after `verify`."));
    }
    match &arguments.action {
        TrailCommand::Hook(_) => Ok(0),
        TrailCommand::Install(arguments) => install::install(arguments, &home, named),
        TrailCommand::Uninstall(arguments) => install::uninstall(arguments),
        TrailCommand::Seal(arguments) => seal::run(arguments, &home),
        TrailCommand::List(arguments) => list::run(arguments, &home, folder),
        TrailCommand::Inspect(arguments) => inspect::run(arguments, &home),
        TrailCommand::Verify(arguments) => verify::run(arguments, &home, named.is_some()),
        TrailCommand::VerifyMeta(arguments) => verify_meta::run(arguments, &home),
        TrailCommand::Explore(arguments) => explore::run(arguments, &home, named.is_some()),
        TrailCommand::Export(arguments) => export::run(arguments, &home, folder),
        TrailCommand::Compact(arguments) => compact::run(arguments, &home),
        TrailCommand::Import(arguments) => import::run(arguments, &home),
        TrailCommand::Migrate(arguments) => migrate::run(arguments, &home),
        TrailCommand::Canonical(arguments) => canonical::run(arguments),
        TrailCommand::Disclose(arguments) => disclose::run(arguments, &home),
        TrailCommand::Signer(signer) => signer::run(signer, &home, arguments.home.as_ref()),
    }
}
