//! `capsid node`: share with a hub, and with other nodes. One file an action.

mod connection;
mod credit_balance;
mod decide;
mod fetch;
pub mod files;
mod heartbeat;
mod hello;
mod join;
mod print;
mod publish;
mod redact_outbound;
mod report;
mod revoke;
mod search;
mod status;
mod sync;
mod tasks;
mod validator;
mod vote;

pub(crate) use connection::HubConnectionArgs;
pub(in crate::commands) use print::away;

use capsid_model::Result;
use clap::{Args, Subcommand};
use std::path::Path;

/// Share what worked and find what worked for others: over a hub, or over files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node join http://127.0.0.1:4000           use this hub from now on, and see where to claim the node
  capsid node search log_error TimeoutError        look for solutions
  capsid node publish --dry-run                    see what would be sent
  capsid node tasks                                see what there is to do
  capsid node validator --once                     validate what others published")]
pub struct NodeArgs {
    #[command(subcommand)]
    action: NodeCommand,
}

#[derive(Debug, Subcommand)]
enum NodeCommand {
    Join(join::NodeJoinArgs),
    Hello(hello::NodeHelloArgs),
    Status(status::NodeStatusArgs),
    Publish(publish::NodePublishArgs),
    Fetch(fetch::NodeFetchArgs),
    Search(search::NodeSearchArgs),
    Report(report::NodeReportArgs),
    Decide(decide::NodeDecideArgs),
    Revoke(revoke::NodeRevokeArgs),
    Heartbeat(heartbeat::NodeHeartbeatArgs),
    Tasks(tasks::NodeTasksArgs),
    Claim(crate::commands::node::tasks::claim::NodeClaimArgs),
    Release(crate::commands::node::tasks::release::NodeReleaseArgs),
    Complete(crate::commands::node::tasks::complete::NodeCompleteArgs),
    Propose(crate::commands::node::tasks::propose::NodeProposeArgs),
    Swarm(crate::commands::node::tasks::swarm::NodeSwarmArgs),
    Ask(crate::commands::node::tasks::ask::NodeAskArgs),
    Bounty(crate::commands::node::tasks::bounty::NodeBountyArgs),
    Vote(vote::NodeVoteArgs),
    Sync(sync::NodeSyncArgs),
    Export(crate::commands::node::files::export::NodeExportArgs),
    Ingest(crate::commands::node::files::ingest::NodeIngestArgs),
    Promote(crate::commands::node::files::promote::NodePromoteArgs),
    Validator(validator::NodeValidatorArgs),
}

impl NodeArgs {
    /// Whether what to do next is printed when it is done.
    pub fn has_hints(&self) -> bool {
        matches!(self.action, NodeCommand::Hello(_) | NodeCommand::Join(_) | NodeCommand::Publish(_))
    }
}

/// Runs the command.
pub fn run(arguments: &NodeArgs, folder: &Path) -> Result<u8> {
    match &arguments.action {
        NodeCommand::Join(arguments) => join::run(arguments, folder),
        NodeCommand::Hello(arguments) => hello::run(arguments, folder),
        NodeCommand::Status(arguments) => status::run(arguments, folder),
        NodeCommand::Publish(arguments) => publish::run(arguments, folder),
        NodeCommand::Fetch(arguments) => fetch::run(arguments, folder),
        NodeCommand::Search(arguments) => search::run(arguments, folder),
        NodeCommand::Report(arguments) => report::run(arguments, folder),
        NodeCommand::Decide(arguments) => decide::run(arguments, folder),
        NodeCommand::Revoke(arguments) => revoke::run(arguments, folder),
        NodeCommand::Heartbeat(arguments) => heartbeat::run(arguments, folder),
        NodeCommand::Tasks(arguments) => tasks::run(arguments, folder),
        NodeCommand::Claim(arguments) => crate::commands::node::tasks::claim::run(arguments, folder),
        NodeCommand::Release(arguments) => crate::commands::node::tasks::release::run(arguments, folder),
        NodeCommand::Complete(arguments) => crate::commands::node::tasks::complete::run(arguments, folder),
        NodeCommand::Propose(arguments) => crate::commands::node::tasks::propose::run(arguments, folder),
        NodeCommand::Swarm(arguments) => crate::commands::node::tasks::swarm::run(arguments, folder),
        NodeCommand::Ask(arguments) => crate::commands::node::tasks::ask::run(arguments, folder),
        NodeCommand::Bounty(arguments) => crate::commands::node::tasks::bounty::run(arguments, folder),
        NodeCommand::Vote(arguments) => vote::run(arguments, folder),
        NodeCommand::Sync(arguments) => sync::run(arguments, folder),
        NodeCommand::Export(arguments) => crate::commands::node::files::export::run(arguments, folder),
        NodeCommand::Ingest(arguments) => crate::commands::node::files::ingest::run(arguments, folder),
        NodeCommand::Promote(arguments) => crate::commands::node::files::promote::run(arguments, folder),
        NodeCommand::Validator(arguments) => validator::run(arguments, folder),
    }
}
