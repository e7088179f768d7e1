//! `capsid hub`: run a hub and look after it. One file an action.

mod admin;
mod backup;
mod config;
mod fsck;
mod migrate;
mod place;
mod progress;
mod restore;
pub(crate) mod serve;

pub(crate) use place::Place;

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
  capsid hub backup FILE                   copy it while the hub runs; `restore` brings it back
  capsid hub admin --help                  accounts, assets and nodes, beside a hub that runs")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
// One is made a process, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Action {
    Serve(serve::Arguments),
    Config(config::Arguments),
    Migrate(migrate::Arguments),
    Fsck(fsck::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Admin(admin::Arguments),
}

impl Arguments {
    /// Whether problems are to be told as JSON too.
    pub fn json(&self) -> bool {
        match &self.action {
            Action::Serve(_) => false,
            Action::Config(arguments) => arguments.json.json,
            Action::Migrate(arguments) => arguments.json.json,
            Action::Fsck(arguments) => arguments.json.json,
            Action::Backup(arguments) => arguments.json.json,
            Action::Restore(arguments) => arguments.json.json,
            Action::Admin(arguments) => arguments.json(),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<u8> {
    match &arguments.action {
        Action::Serve(arguments) => serve::run(arguments),
        Action::Config(arguments) => config::run(arguments),
        Action::Migrate(arguments) => migrate::run(arguments),
        Action::Fsck(arguments) => fsck::run(arguments),
        Action::Backup(arguments) => backup::run(arguments),
        Action::Restore(arguments) => restore::run(arguments),
        Action::Admin(arguments) => admin::run(arguments),
    }
}
