//! The knowledge graph: taking back what somebody told it.

use super::subject::{AdminSubject, find};
use super::{AdminOutcome, OPERATOR, ReasonArgs, WithCommon, not_found};
use capsid_model::{Code, Problem, Result, json};
use capsid_store::Store;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, ForgetOutcome, ForgetSelection, ForgetSummary};
use capsid_store::ledger::{node_account, user_account};
use capsid_store::{accounts, nodes};
use clap::{Args, Subcommand};

/// Take back what somebody told the knowledge graph.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  capsid hub admin graph forget node:node_e5f6a7b8c9d0e1f2 --dry-run")]
pub enum GraphCommand {
    Forget(WithCommon<ForgetGraphArgs>),
}

/// Take back everything that a node or an account told the knowledge graph. What others told, and what the hub itself
/// says, stays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin graph forget node:node_e5f6a7b8c9d0e1f2 --dry-run
  capsid hub admin graph forget node:node_e5f6a7b8c9d0e1f2 --reason spam
  capsid hub admin graph forget eve@example.org --reason 'it told of people' --json")]
pub struct ForgetGraphArgs {
    /// Who told it, as the graph names it: `node:ID` or `user:ID`. Also a node's id or an account's e-mail address.
    #[arg(value_name = "WHO")]
    who: String,

    /// Only tell how much it is.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Takes back what somebody told, or tells how much that is.
pub fn forget(store: &Store, asked: &ForgetGraphArgs) -> Result<AdminOutcome> {
    let named = asked.who.trim().to_owned();
    let (teller, gone) = if asked.dry_run {
        store.read_now(move |tx| {
            let teller = find_author(tx, &named)?;
            let told = graph::count_statements_by(tx, &teller.name())?;
            Ok((teller, told))
        })?
    } else {
        let why = asked.why.clone();
        store.write_now(move |tx| {
            let teller = find_author(tx, &named)?;
            let gone = forget_statements(tx, &teller, &why)?;
            Ok((teller, gone))
        })?
    };
    let (name, much) = (teller.name(), amount(&gone));
    let line = match asked.dry_run {
        true => format!("{name} has told {much}; nothing was taken back."),
        false => format!("{much} that {name} had told were taken back."),
    };
    let value = json!({
        "ok": true, "teller": name, "dry_run": asked.dry_run, "entities": gone.entities, "relations": gone.relations,
    });
    Ok(AdminOutcome { line, value })
}

/// Who told something: what the audit calls it, and its id.
struct GraphAuthor {
    kind: &'static str,
    id: String,
}

impl GraphAuthor {
    fn node(id: impl Into<String>) -> Self {
        Self { kind: "node", id: id.into() }
    }

    fn user(id: impl Into<String>) -> Self {
        Self { kind: "user", id: id.into() }
    }

    /// How the graph names it.
    fn name(&self) -> String {
        if self.kind == "node" { node_account(&self.id) } else { user_account(&self.id) }
    }
}

fn find_author(tx: &mut dyn Tx, text: &str) -> Result<GraphAuthor> {
    if let Some(id) = text.strip_prefix("node:") {
        return nodes::get(tx, id)?.map(|_| GraphAuthor::node(id)).ok_or_else(|| not_found("node", id));
    }
    if let Some(id) = text.strip_prefix("user:") {
        return accounts::get(tx, id)?.map(|_| GraphAuthor::user(id)).ok_or_else(|| not_found("account", id));
    }
    Ok(match find(tx, text)? {
        AdminSubject::User(user) => GraphAuthor::user(user.user_id),
        AdminSubject::Node(node) => GraphAuthor::node(node.node_id),
    })
}

/// Takes back everything, and writes it down where there was anything.
fn forget_statements(tx: &mut dyn Tx, teller: &GraphAuthor, why: &ReasonArgs) -> Result<ForgetSummary> {
    let by = why.by();
    let gone = match graph::forget_statements(tx, &teller.name(), &ForgetSelection::Everything, by.now)? {
        ForgetOutcome::Done(gone) => gone,
        ForgetOutcome::Refused(_) => {
            return Err(Problem::new(Code::ChangeRefused, "What was told could not be taken back."));
        }
    };
    if gone != ForgetSummary::default() {
        let (subject, before) = (teller.id.as_str(), amount(&gone));
        let change = AuditChange {
            kind: teller.kind,
            subject,
            action: "graph_forget",
            before: Some(&before),
            after: None,
            reason: by.reason,
        };
        audit::add(tx, OPERATOR, change, by.now)?;
    }
    Ok(gone)
}

fn amount(told: &ForgetSummary) -> String {
    format!("{} notes on things and {} relations", told.entities, told.relations)
}
