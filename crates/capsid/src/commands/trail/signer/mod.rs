//! `capsid trail signer`: the signing service.

mod install;
mod layout;
mod manage;
mod privileges;
mod root;
mod serve;
mod user;
mod witness;

pub(in crate::commands) use layout::{layout, set_test_folder};
pub(in crate::commands) use privileges::passwordless_root;
pub(in crate::commands) use witness::{active_service, add_keys_of_service};
pub(in crate::commands::trail) use witness::{
    ask_witness, key_of_service, print_witness, require_signed_home, witness_json,
};

use capsid_model::Result;
use capsid_seal::TrailHome;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Have the trail signed by a service that keeps the key away from your account.
///
/// An agent that owns your account can then add records, and cannot change, remove or reorder signed ones unseen. It can
/// still seal false content in order, read everything, and replace the program in your PATH: verify with
/// `/usr/local/lib/capsid/capsid trail verify`. See docs/how-to/use-the-signing-service.md.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo capsid trail signer install           root, once: program, account, key, units
  capsid trail signer adopt                  you, once: hand the chains that you have over
  capsid trail signer status                 what is signed, and what waits
  capsid trail signer flush                  sign what waits
  sudo capsid trail signer backup /root/capsid-signer")]
pub(super) struct SignerArgs {
    #[command(subcommand)]
    action: SignerCommand,
}

#[derive(Debug, Subcommand)]
enum SignerCommand {
    Install(install::SignerInstallArgs),
    Serve(serve::SignerServeArgs),
    /// Hand the chains of your home over, once. From then on only the service signs them.
    ///
    /// Verifies every chain and sends its length and head. Old keys count for these records only. It fixes the state of
    /// that moment: what was rewritten before is not found. The first signature closes it for good.
    #[command(after_help = "Examples:\n  capsid trail signer adopt")]
    Adopt,
    /// Show the service's key, what it signed, and what waits. Exits 1 when it does not answer.
    #[command(after_help = "Examples:\n  capsid trail signer status\n  capsid trail signer status --json")]
    Status,
    /// Sign the records that wait. Exits 1 when some still do.
    #[command(after_help = "Examples:\n  capsid trail signer flush")]
    Flush,
    RestartChain(manage::SignerRestartArgs),
    /// Root: put a new key in the place of the present one, which signs its successor and is removed.
    #[command(after_help = "Examples:\n  sudo capsid trail signer rotate --user ada")]
    Rotate(root::SignerUserArgs),
    /// Root: copy key and journal of a user into a folder.
    #[command(after_help = "Examples:\n  sudo capsid trail signer backup /root/capsid-signer --user ada")]
    Backup(manage::SignerFolderArgs),
    /// Root: put a copy back. `flush` then sends what was signed since.
    #[command(after_help = "Examples:\n  sudo capsid trail signer restore /root/capsid-signer --user ada")]
    Restore(manage::SignerFolderArgs),
    /// Root: begin with a new key where the old one is lost. Chains stay at the counts that the journal knows.
    #[command(after_help = "Examples:\n  sudo capsid trail signer reset --user ada")]
    Reset(root::SignerUserArgs),
    /// Root: stop the service. Its state and public keys stay, so that what it signed verifies.
    #[command(after_help = "Examples:\n  sudo capsid trail signer uninstall")]
    Uninstall,
}

pub(super) fn run(arguments: &SignerArgs, home: &TrailHome, named: Option<&PathBuf>) -> Result<u8> {
    let layout = layout();
    match &arguments.action {
        SignerCommand::Install(arguments) => install::install(arguments, &layout, named),
        SignerCommand::Serve(arguments) => serve::run(arguments, &layout),
        SignerCommand::Adopt => user::adopt(home, &layout),
        SignerCommand::Status => user::status(home, &layout),
        SignerCommand::Flush => user::flush(home, &layout),
        SignerCommand::RestartChain(arguments) => manage::restart_chain(arguments, &layout),
        SignerCommand::Rotate(arguments) => manage::rotate(arguments, &layout),
        SignerCommand::Backup(arguments) => manage::backup(arguments, &layout),
        SignerCommand::Restore(arguments) => manage::restore(arguments, &layout),
        SignerCommand::Reset(arguments) => manage::reset(arguments, &layout),
        SignerCommand::Uninstall => install::uninstall(&layout),
    }
}
