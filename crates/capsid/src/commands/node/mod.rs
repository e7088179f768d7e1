//! `capsid node`: share with a hub, and with other nodes. One file an action.

mod decide;
mod fetch;
pub mod files;
mod heartbeat;
mod hello;
mod outward;
mod place;
mod publish;
mod purse;
mod report;
mod revoke;
mod search;
mod show;
mod status;
mod sync;
mod tasks;
mod validator;
mod vote;

pub(crate) use place::HubArguments;

use capsid_model::Result;
use clap::{Args, Subcommand};
use std::path::Path;

/// Share what worked and find what worked for others: over a hub, or over files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node hello --hub http://127.0.0.1:4000    register, and see where to claim the node
  capsid node search log_error TimeoutError        look for proven solutions
  capsid node publish --dry-run                    see what would be sent
  capsid node tasks                                see what there is to do
  capsid node validator --once                     validate what others published")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Hello(hello::Arguments),
    Status(status::Arguments),
    Publish(publish::Arguments),
    Fetch(fetch::Arguments),
    Search(search::Arguments),
    Report(report::Arguments),
    Decide(decide::Arguments),
    Revoke(revoke::Arguments),
    Heartbeat(heartbeat::Arguments),
    Tasks(tasks::Arguments),
    Claim(crate::commands::node::tasks::claim::Arguments),
    Release(crate::commands::node::tasks::release::Arguments),
    Complete(crate::commands::node::tasks::complete::Arguments),
    Propose(crate::commands::node::tasks::propose::Arguments),
    Swarm(crate::commands::node::tasks::swarm::Arguments),
    Ask(crate::commands::node::tasks::ask::Arguments),
    Bounty(crate::commands::node::tasks::bounty::Arguments),
    Vote(vote::Arguments),
    Sync(sync::Arguments),
    Export(crate::commands::node::files::export::Arguments),
    Ingest(crate::commands::node::files::ingest::Arguments),
    Promote(crate::commands::node::files::promote::Arguments),
    Validator(validator::Arguments),
}

impl Arguments {
    /// Whether problems are to be told as JSON too.
    pub fn json(&self) -> bool {
        match &self.action {
            Action::Hello(arguments) => arguments.json.json,
            Action::Status(arguments) => arguments.json.json,
            Action::Publish(arguments) => arguments.json.json,
            Action::Fetch(arguments) => arguments.json.json,
            Action::Search(arguments) => arguments.json.json,
            Action::Report(arguments) => arguments.json.json,
            Action::Decide(arguments) => arguments.json.json,
            Action::Revoke(arguments) => arguments.json.json,
            Action::Heartbeat(arguments) => arguments.json.json,
            Action::Tasks(arguments) => arguments.json.json,
            Action::Claim(arguments) => arguments.json.json,
            Action::Release(arguments) => arguments.json.json,
            Action::Complete(arguments) => arguments.json.json,
            Action::Propose(arguments) => arguments.json.json,
            Action::Swarm(arguments) => arguments.json.json,
            Action::Ask(arguments) => arguments.json.json,
            Action::Bounty(arguments) => arguments.json(),
            Action::Vote(arguments) => arguments.json.json,
            Action::Sync(arguments) => arguments.json.json,
            Action::Export(arguments) => arguments.json.json,
            Action::Ingest(arguments) => arguments.json.json,
            Action::Promote(arguments) => arguments.json.json,
            Action::Validator(arguments) => arguments.json.json,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    match &arguments.action {
        Action::Hello(arguments) => hello::run(arguments, folder),
        Action::Status(arguments) => status::run(arguments, folder),
        Action::Publish(arguments) => publish::run(arguments, folder),
        Action::Fetch(arguments) => fetch::run(arguments, folder),
        Action::Search(arguments) => search::run(arguments, folder),
        Action::Report(arguments) => report::run(arguments, folder),
        Action::Decide(arguments) => decide::run(arguments, folder),
        Action::Revoke(arguments) => revoke::run(arguments, folder),
        Action::Heartbeat(arguments) => heartbeat::run(arguments, folder),
        Action::Tasks(arguments) => tasks::run(arguments, folder),
        Action::Claim(arguments) => crate::commands::node::tasks::claim::run(arguments, folder),
        Action::Release(arguments) => crate::commands::node::tasks::release::run(arguments, folder),
        Action::Complete(arguments) => crate::commands::node::tasks::complete::run(arguments, folder),
        Action::Propose(arguments) => crate::commands::node::tasks::propose::run(arguments, folder),
        Action::Swarm(arguments) => crate::commands::node::tasks::swarm::run(arguments, folder),
        Action::Ask(arguments) => crate::commands::node::tasks::ask::run(arguments, folder),
        Action::Bounty(arguments) => crate::commands::node::tasks::bounty::run(arguments, folder),
        Action::Vote(arguments) => vote::run(arguments, folder),
        Action::Sync(arguments) => sync::run(arguments, folder),
        Action::Export(arguments) => crate::commands::node::files::export::run(arguments, folder),
        Action::Ingest(arguments) => crate::commands::node::files::ingest::run(arguments, folder),
        Action::Promote(arguments) => crate::commands::node::files::promote::run(arguments, folder),
        Action::Validator(arguments) => validator::run(arguments, folder),
    }
}
