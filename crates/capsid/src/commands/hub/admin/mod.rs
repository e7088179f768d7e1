//! `capsid hub admin`: what an operator decides, beside a hub that may run. Every change is in the audit.

mod assets;
mod graph;
mod ledger;
mod list;
mod nodes;
mod subject;
mod users;
mod webhooks;
mod work;

use super::HubLocation;
use crate::output::{self, GOOD, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::accounts::admin::AdminAction;
use clap::{Args, Subcommand};

/// How the audit names whoever uses this command.
const OPERATOR: &str = "operator";

/// Make accounts, decide about assets, hold back nodes, look at money and work, and see who did what. Works while the hub runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin create-user ann@example.org --admin
  capsid hub admin list assets --status candidate
  capsid hub admin promote sha256:0edc0349... --reason 'read and tried'
  capsid hub admin ban node_e5f6a7b8c9d0e1f2 --reason spam
  capsid hub admin ledger
  capsid hub admin bounties --status matched
  capsid hub admin graph forget node:node_e5f6a7b8c9d0e1f2 --reason spam
  capsid hub admin audit node_e5f6a7b8c9d0e1f2 --data /var/lib/capsid/hub")]
pub struct HubAdminArgs {
    #[command(subcommand)]
    action: AdminCommand,
}

#[derive(Debug, Subcommand)]
enum AdminCommand {
    CreateUser(WithCommon<users::CreateUserArgs>),
    GrantAdmin(WithCommon<users::GrantAdminArgs>),
    RevokeAdmin(WithCommon<users::RevokeAdminArgs>),
    Appoint(WithCommon<users::AppointArgs>),
    ResetPassword(WithCommon<users::ResetPasswordArgs>),
    List(WithCommon<list::AdminListArgs>),
    Ban(WithCommon<subject::BanArgs>),
    Unban(WithCommon<subject::UnbanArgs>),
    Quarantine(WithCommon<subject::QuarantineArgs>),
    Release(WithCommon<subject::ReleaseArgs>),
    Promote(WithCommon<assets::PromoteAssetArgs>),
    Reject(WithCommon<assets::RejectAssetArgs>),
    Unflag(WithCommon<nodes::UnflagNodeArgs>),
    Fraud(WithCommon<nodes::FraudArgs>),
    ResetSecret(WithCommon<nodes::ResetSecretArgs>),
    SetReputation(WithCommon<nodes::SetReputationArgs>),
    Audit(WithCommon<list::AuditArgs>),
    Ledger(WithCommon<ledger::LedgerArgs>),
    GrantCredits(WithCommon<ledger::GrantCreditsArgs>),
    Bounties(WithCommon<work::AdminBountiesArgs>),
    Tasks(WithCommon<work::AdminTasksArgs>),
    Webhooks(WithCommon<webhooks::AdminWebhooksArgs>),
    #[command(subcommand)]
    Graph(graph::GraphCommand),
}

// An action with what all of them take. What is flattened last describes the command, and a comment for the
// documentation here would take its place.
#[derive(Debug, Args)]
struct WithCommon<T: Args> {
    #[command(flatten)]
    common: AdminCommonArgs,

    #[command(flatten)]
    what: T,
}

#[derive(Debug, Args)]
struct AdminCommonArgs {
    #[command(flatten)]
    place: HubLocation,
}

/// Why something is done.
#[derive(Debug, Args, Clone)]
struct ReasonArgs {
    /// Why, for the audit.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl ReasonArgs {
    fn by(&self) -> AdminAction<'_> {
        AdminAction { actor: OPERATOR, reason: self.reason.as_deref(), now: SystemClock.now() }
    }
}

impl AdminCommand {
    fn common(&self) -> &AdminCommonArgs {
        match self {
            Self::CreateUser(with) => &with.common,
            Self::GrantAdmin(with) => &with.common,
            Self::RevokeAdmin(with) => &with.common,
            Self::Appoint(with) => &with.common,
            Self::ResetPassword(with) => &with.common,
            Self::List(with) => &with.common,
            Self::Ban(with) => &with.common,
            Self::Unban(with) => &with.common,
            Self::Quarantine(with) => &with.common,
            Self::Release(with) => &with.common,
            Self::Promote(with) => &with.common,
            Self::Reject(with) => &with.common,
            Self::Unflag(with) => &with.common,
            Self::Fraud(with) => &with.common,
            Self::ResetSecret(with) => &with.common,
            Self::SetReputation(with) => &with.common,
            Self::Audit(with) => &with.common,
            Self::Ledger(with) => &with.common,
            Self::GrantCredits(with) => &with.common,
            Self::Bounties(with) => &with.common,
            Self::Tasks(with) => &with.common,
            Self::Webhooks(with) => &with.common,
            Self::Graph(graph::GraphCommand::Forget(with)) => &with.common,
        }
    }
}

/// What an action did: a sentence for a person, and the same for a program.
struct AdminOutcome {
    line: String,
    value: Value,
}

/// Runs the command.
pub fn run(arguments: &HubAdminArgs) -> Result<u8> {
    let common = arguments.action.common();
    let as_json = output::is_json();
    let store = common.place.open_beside()?;
    let done = match &arguments.action {
        AdminCommand::CreateUser(with) => users::create(&store, &with.what, &common.place)?,
        AdminCommand::GrantAdmin(with) => users::grant(&store, &with.what)?,
        AdminCommand::RevokeAdmin(with) => users::revoke(&store, &with.what)?,
        AdminCommand::Appoint(with) => users::appoint(&store, &with.what)?,
        AdminCommand::ResetPassword(with) => users::reset_password(&store, &with.what)?,
        AdminCommand::Ban(with) => subject::ban(&store, &with.what)?,
        AdminCommand::Unban(with) => subject::unban(&store, &with.what)?,
        AdminCommand::Quarantine(with) => subject::quarantine(&store, &with.what)?,
        AdminCommand::Release(with) => subject::release(&store, &with.what)?,
        AdminCommand::Promote(with) => {
            let rewards = common.place.load(Vec::new())?.config.rewards();
            assets::promote(&store, assets::id(&with.what.asset)?, &with.what.why, rewards)?
        }
        AdminCommand::Reject(with) => {
            assets::change(&store, assets::id(&with.what.asset)?, AssetEvent::Reject, &with.what.why)?
        }
        AdminCommand::Unflag(with) => nodes::unflag(&store, &with.what)?,
        AdminCommand::Fraud(with) => nodes::punish_fraud(&store, &with.what)?,
        AdminCommand::ResetSecret(with) => nodes::reset_secret(&store, &with.what)?,
        AdminCommand::SetReputation(with) => nodes::set_reputation(&store, &with.what)?,
        AdminCommand::GrantCredits(with) => ledger::grant(&store, &with.what)?,
        AdminCommand::Bounties(with) if with.what.decides() => {
            work::decide(&store, &with.what, &common.place.load(Vec::new())?.config)?
        }
        AdminCommand::Webhooks(with) if with.what.changes() => webhooks::change(&store, &with.what)?,
        AdminCommand::Graph(graph::GraphCommand::Forget(with)) => graph::forget(&store, &with.what)?,
        AdminCommand::Ledger(with) => return ledger::ledger(&store, &with.what, as_json),
        AdminCommand::Bounties(with) => return work::list_bounties(&store, &with.what, as_json),
        AdminCommand::Tasks(with) => return work::list_tasks(&store, &with.what, as_json),
        AdminCommand::Webhooks(with) => return webhooks::list(&store, &with.what, as_json),
        AdminCommand::List(with) => return list::list(&store, &with.what, as_json),
        AdminCommand::Audit(with) => return list::audit(&store, &with.what, as_json),
    };
    if as_json {
        output::document(&done.value);
    } else {
        output::line(format_args!("{} {}", paint(GOOD, "ok"), inert_line(&done.line)));
    }
    Ok(0)
}

/// A thing that is not there.
fn not_found(what: &str, name: &str) -> Problem {
    Problem::new(Code::NotFound, format!("The hub has no {what} `{name}`.")).fix(
        "`capsid hub admin list users|nodes|assets` and `capsid hub admin bounties|tasks|webhooks|ledger` show what it \
         has.",
    )
}

/// A thing that is not in a state for what was asked.
fn refused(message: impl Into<String>) -> Problem {
    Problem::new(Code::ChangeRefused, message).fix("`capsid hub admin audit` shows how it came to its state.")
}
