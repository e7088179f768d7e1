//! `capsid hub`: run a hub and look after it. One file an action.

mod admin;
mod backup;
mod config;
mod fsck;
mod load;
mod location;
mod migrate;
mod restore;
mod runner;
pub(crate) mod serve;
mod starter;

pub(crate) use location::HubLocation;

use capsid_model::Result;
use clap::{Args, Subcommand};

/// Run a hub, the registry where agents share what they learned, and look after it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub serve                         run a hub as a service does
  capsid hub config --sample > hub.toml    a commented file of settings
  capsid hub config --origin               each setting and where it comes from
  capsid hub migrate --data DIR            bring a database up to date before the new hub starts
  capsid hub fsck                          check everything a hub keeps
  capsid hub load starter                  24 solutions for common errors, tested on this machine
  capsid hub load FILE                     many bundles from a file, before the hub starts
  capsid hub backup FILE                   copy it while the hub runs; `restore` brings it back
  capsid hub runner --token-file FILE      run the commands of candidates in a sandbox, as a user of its own
  capsid hub admin --help                  accounts, assets and nodes, beside a hub that runs")]
pub struct HubArgs {
    #[command(subcommand)]
    action: HubCommand,
}

#[derive(Debug, Subcommand)]
// One is made a process, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum HubCommand {
    Serve(serve::HubServeArgs),
    Config(config::HubConfigArgs),
    Migrate(migrate::HubMigrateArgs),
    Fsck(fsck::HubFsckArgs),
    Load(load::HubLoadArgs),
    Backup(backup::HubBackupArgs),
    Restore(restore::HubRestoreArgs),
    Runner(runner::HubRunnerArgs),
    Admin(admin::HubAdminArgs),
}

/// Runs the command.
pub fn run(arguments: &HubArgs) -> Result<u8> {
    match &arguments.action {
        HubCommand::Serve(arguments) => serve::run(arguments),
        HubCommand::Config(arguments) => config::run(arguments),
        HubCommand::Migrate(arguments) => migrate::run(arguments),
        HubCommand::Fsck(arguments) => fsck::run(arguments),
        HubCommand::Load(arguments) => load::run(arguments),
        HubCommand::Backup(arguments) => backup::run(arguments),
        HubCommand::Restore(arguments) => restore::run(arguments),
        HubCommand::Runner(arguments) => runner::run(arguments),
        HubCommand::Admin(arguments) => admin::run(arguments),
    }
}
