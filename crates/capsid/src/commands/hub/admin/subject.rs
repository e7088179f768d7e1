//! Actions on whatever is named: a node, an account or an asset.

use super::{AdminOutcome, ReasonArgs, assets, not_found, refused, users};
use crate::output;
use capsid_model::{Result, json};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::Store;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::NodeStatus;
use capsid_store::accounts::{self, UserRow};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, ForgetSummary};
use capsid_store::ledger::{node_account, user_account};
use capsid_store::nodes::{self, NodeRow};
use clap::Args;

/// Keep a node, or an account with all its nodes, from doing anything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin ban node_e5f6a7b8c9d0e1f2 --reason spam\n  \
                  capsid hub admin ban eve@example.org --reason 'sold votes'")]
pub struct BanArgs {
    /// The node or the account's e-mail address.
    #[arg(value_name = "NODE|EMAIL")]
    who: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Let a banned node or account back.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin unban node_e5f6a7b8c9d0e1f2 --reason 'it was a mistake'"
)]
pub struct UnbanArgs {
    /// The node or the account's e-mail address.
    #[arg(value_name = "NODE|EMAIL")]
    who: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Hold back an asset, or keep a node from publishing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin quarantine sha256:0edc0349... --reason 'asks for secrets'\n  \
                  capsid hub admin quarantine node_e5f6a7b8c9d0e1f2"
)]
pub struct QuarantineArgs {
    /// The node or the asset's id.
    #[arg(value_name = "NODE|ASSET_ID")]
    what: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Let a quarantined asset be a candidate again, or a quarantined node publish.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin release sha256:0edc0349... --reason 'harmless'")]
pub struct ReleaseArgs {
    /// The node or the asset's id.
    #[arg(value_name = "NODE|ASSET_ID")]
    what: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Who is meant.
// One is made for each command.
#[allow(clippy::large_enum_variant)]
pub enum AdminSubject {
    User(UserRow),
    Node(NodeRow),
}

/// Finds the account or the node that a text names. Only accounts are looked for by an address.
pub fn find(tx: &mut dyn Tx, text: &str) -> Result<AdminSubject> {
    if let Some((user, _)) =
        users::email(text).ok().map(|email| accounts::by_email(tx, &email)).transpose()?.flatten()
    {
        return Ok(AdminSubject::User(user));
    }
    if let Some(user) = accounts::get(tx, text)? {
        return Ok(AdminSubject::User(user));
    }
    nodes::get(tx, text)?.map(AdminSubject::Node).ok_or_else(|| not_found("node or account", text))
}

/// Bans a node or an account.
pub fn ban(store: &Store, asked: &BanArgs) -> Result<AdminOutcome> {
    set_banned(store, &asked.who, true, &asked.why)
}

/// Lets a node or an account back.
pub fn unban(store: &Store, asked: &UnbanArgs) -> Result<AdminOutcome> {
    set_banned(store, &asked.who, false, &asked.why)
}

fn set_banned(store: &Store, text: &str, banned: bool, why: &ReasonArgs) -> Result<AdminOutcome> {
    let (named, why) = (text.trim().to_owned(), why.clone());
    let (action, status) = if banned { ("ban", NodeStatus::Banned) } else { ("unban", NodeStatus::Active) };
    let teller = store.write_now(move |tx| {
        let teller = match find(tx, &named)? {
            AdminSubject::User(user) if !banned && user.banned_at.is_none() => {
                return Err(not_banned(&named));
            }
            AdminSubject::Node(node) if !banned && node.status != "banned" => return Err(not_banned(&named)),
            AdminSubject::User(user) => {
                admin::set_user_banned(tx, &user.user_id, banned, why.by())?;
                user_account(&user.user_id)
            }
            AdminSubject::Node(node) => {
                admin::set_node_status(tx, &node.node_id, status, action, why.by())?;
                node_account(&node.node_id)
            }
        };
        let has_told = graph::count_statements_by(tx, &teller)? != ForgetSummary::default();
        Ok(has_told.then_some(teller))
    })?;
    if let Some(teller) = teller.filter(|_| banned) {
        output::talk(format_args!(
            "What it told the knowledge graph stays; `capsid hub admin graph forget {teller}` takes it back."
        ));
    }
    let word = if banned { "banned" } else { "active" };
    Ok(AdminOutcome {
        line: format!("{} is {word}.", text.trim()),
        value: json!({"ok": true, "subject": text.trim(), "status": word}),
    })
}

fn not_banned(name: &str) -> capsid_model::Problem {
    refused(format!("`{name}` is not banned."))
}

/// Holds back an asset or a node.
pub fn quarantine(store: &Store, asked: &QuarantineArgs) -> Result<AdminOutcome> {
    match AssetId::parse(asked.what.trim()) {
        Some(id) => assets::change(store, id, AssetEvent::Quarantine, &asked.why),
        None => set_held(store, &asked.what, true, &asked.why),
    }
}

/// Lets an asset or a node go on.
pub fn release(store: &Store, asked: &ReleaseArgs) -> Result<AdminOutcome> {
    match AssetId::parse(asked.what.trim()) {
        Some(id) => assets::change(store, id, AssetEvent::Release, &asked.why),
        None => set_held(store, &asked.what, false, &asked.why),
    }
}

fn set_held(store: &Store, text: &str, held: bool, why: &ReasonArgs) -> Result<AdminOutcome> {
    let (named, why) = (text.trim().to_owned(), why.clone());
    let (from, to, action) = if held {
        (NodeStatus::Active, NodeStatus::Quarantined, "quarantine")
    } else {
        (NodeStatus::Quarantined, NodeStatus::Active, "release")
    };
    store.write_now(move |tx| {
        let node = nodes::lock(tx, &named)?.ok_or_else(|| not_found("node", &named))?;
        if node.status != from.as_str() {
            return Err(refused(format!("The node `{named}` is {}, not {}.", node.status, from.as_str())));
        }
        admin::set_node_status(tx, &named, to, action, why.by()).map(drop)
    })?;
    Ok(AdminOutcome {
        line: format!("{} is {}.", text.trim(), to.as_str()),
        value: json!({"ok": true, "node_id": text.trim(), "status": to.as_str()}),
    })
}
