//! Looking: who and what there is, and what happened to it.

use super::subject::{AdminSubject, find};
use super::{assets, users};
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_rules::{credits, lifecycle};
use capsid_store::accounts::UserRow;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::{AdminAssetRow, AdminNodeRow};
use capsid_store::assets::id::AssetId;
use capsid_store::work::{bounties, tasks};
use capsid_store::{Store, audit};
use clap::{Args, ValueEnum};

/// List accounts, nodes or assets; nodes and assets the newest first.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin list users\n  capsid hub admin list nodes --status banned\n  \
                  capsid hub admin list assets --status quarantined --json\n\n\
                  Bounties, tasks, webhooks and the ledger have commands of their own."
)]
pub struct AdminListArgs {
    /// What to list.
    what: AdminListKind,

    /// Only those: active or banned accounts; active, quarantined, banned or flagged nodes; assets of a status.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum AdminListKind {
    /// Accounts.
    Users,
    /// Nodes.
    Nodes,
    /// Assets.
    Assets,
}

/// Tell who did what to a node, an account, an asset, a bounty or a task, the oldest first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin audit node_e5f6a7b8c9d0e1f2\n  \
                  capsid hub admin audit ann@example.org --json")]
pub struct AuditArgs {
    /// The node, the account's e-mail address, or the id of the asset, the bounty or the task.
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

/// Lists accounts, nodes or assets.
pub fn list(store: &Store, asked: &AdminListArgs, as_json: bool) -> Result<u8> {
    let (status, limit) = (asked.status.clone(), one_more(asked.limit));
    asked.what.check(status.as_deref())?;
    match asked.what {
        AdminListKind::Users => {
            let wanted = status.map(|status| status == "banned");
            let found = store.read_now(move |tx| admin::list_users(tx, wanted, limit))?;
            show(
                "users",
                &LimitedList::from_limited(found, asked.limit),
                as_json,
                users::user_json,
                user_row,
            );
        }
        AdminListKind::Nodes => {
            let found = store.read_now(move |tx| admin::list_nodes(tx, status.as_deref(), limit))?;
            show("nodes", &LimitedList::from_limited(found, asked.limit), as_json, node_value, node_row);
        }
        AdminListKind::Assets => {
            let found = store.read_now(move |tx| admin::list_assets(tx, status.as_deref(), limit))?;
            show("assets", &LimitedList::from_limited(found, asked.limit), as_json, asset_value, asset_row);
        }
    }
    Ok(0)
}

impl AdminListKind {
    /// A word that no status has would find nothing, and look like an answer.
    fn check(self, status: Option<&str>) -> Result<()> {
        let words: Vec<&str> = match self {
            Self::Users => vec!["active", "banned"],
            Self::Nodes => vec!["active", "quarantined", "banned", "flagged"],
            Self::Assets => lifecycle::AssetStatus::ALL.iter().map(|status| status.as_str()).collect(),
        };
        match status {
            Some(status) if !words.contains(&status) => {
                Err(Problem::new(Code::InputInvalid, format!("There is no status `{status}` of these."))
                    .fix(format!("Use one of {}.", words.join(", "))))
            }
            _ => Ok(()),
        }
    }
}

/// What was found, at most so many as were asked for, and whether there is more.
pub(super) struct LimitedList<T> {
    pub(super) items: Vec<T>,
    pub(super) has_more: bool,
}

impl<T> LimitedList<T> {
    /// Cuts what was found to a limit. One more than the limit was looked for.
    pub(super) fn from_limited(mut items: Vec<T>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Self { items, has_more }
    }

    /// Says so when there is more than was shown.
    pub(super) fn hint(&self) {
        if self.has_more {
            output::talk("… and more; use --limit");
        }
    }
}

/// How many to look for, so as to know whether there is more than was asked for.
pub(super) fn one_more(limit: u32) -> i64 {
    i64::from(limit) + 1
}

pub(super) fn show<T>(
    name: &str,
    found: &LimitedList<T>,
    as_json: bool,
    value: impl Fn(&T) -> Value,
    row: impl Fn(&T) -> Vec<String>,
) {
    if as_json {
        let values: Vec<Value> = found.items.iter().map(value).collect();
        output::document(&json!({"count": values.len(), "has_more": found.has_more, name: values}));
        return;
    }
    if found.items.is_empty() {
        output::talk(format_args!("There are no such {name}."));
    }
    output::print(&output::table(&found.items.iter().map(row).collect::<Vec<_>>()));
    found.hint();
}

fn user_row(user: &UserRow) -> Vec<String> {
    let status = if user.banned_at.is_some() { "banned" } else { "active" };
    vec![
        paint(NAME, inert_line(&user.email)),
        user.role.as_str().to_owned(),
        coloured(status),
        user.user_id.clone(),
        day(user.created_at),
    ]
}

fn node_row(node: &AdminNodeRow) -> Vec<String> {
    let mut told = coloured(&node.status);
    if node.flag.is_some() {
        told = format!("{told} {}", paint(WARN, "flagged"));
    }
    vec![
        paint(NAME, inert_line(&node.node_id)),
        told,
        format!("reputation {}{}", node.reputation, if node.reputation_set { " (set)" } else { "" }),
        format!("{} published", node.total_published),
        node.owner.clone().unwrap_or_else(|| paint(DIM, "unclaimed")),
        format!("seen {}", day(node.last_seen_at)),
    ]
}

fn node_value(node: &AdminNodeRow) -> Value {
    let moment = |at: i64| Time(at).iso();
    json!({
        "node_id": node.node_id, "name": node.name, "status": node.status, "flag": node.flag,
        "secret_state": node.secret_state, "owner": node.owner, "reputation": node.reputation,
        "reputation_set": node.reputation_set, "cooldown_until": node.cooldown_until.map(moment),
        "total_published": node.total_published, "credit_balance": credits::to_decimal(node.balance),
        "granted_balance": credits::to_decimal(node.granted),
        "earned_balance": credits::to_decimal(node.balance - node.granted),
        "created_at": moment(node.created_at), "last_seen_at": moment(node.last_seen_at),
        "claimed_at": node.claimed_at.map(moment),
    })
}

fn asset_row(asset: &AdminAssetRow) -> Vec<String> {
    vec![
        paint(NAME, asset.asset_id),
        asset.asset_type.clone(),
        coloured(&asset.status),
        format!("{:.2}", asset.gdi),
        inert_line(&asset.node_id),
        day(asset.created_at),
        inert_line(asset.safety.as_deref().unwrap_or_default()),
    ]
}

fn asset_value(asset: &AdminAssetRow) -> Value {
    json!({
        "asset_id": asset.asset_id.to_string(), "asset_type": asset.asset_type, "status": asset.status,
        "node_id": asset.node_id, "gdi_score": asset.gdi, "safety": asset.safety,
        "created_at": Time(asset.created_at).iso(),
    })
}

pub(super) fn coloured(status: &str) -> String {
    let style = match status {
        "active" | "promoted" | "accepted" | "completed" | "delivered" => GOOD,
        "banned" | "rejected" | "revoked" | "dead" | "expired" | "off" => BAD,
        _ => WARN,
    };
    paint(style, inert_line(status))
}

pub(super) fn day(at: i64) -> String {
    Time(at).date()
}

/// Tells what happened to a thing.
pub fn audit(store: &Store, asked: &AuditArgs, as_json: bool) -> Result<u8> {
    let (named, limit) = (asked.subject.trim().to_owned(), one_more(asked.limit));
    let entries = store.read_now(move |tx| {
        let (kind, subject) = match AssetId::parse(&named) {
            Some(id) => ("asset", id.to_string()),
            None if named.starts_with("sha256:") => ("asset", assets::id(&named)?.to_string()),
            None if bounties::get(tx, &named)?.is_some() => ("bounty", named.clone()),
            None if tasks::get(tx, &named)?.is_some() => ("task", named.clone()),
            None => match find(tx, &named)? {
                AdminSubject::User(user) => ("user", user.user_id),
                AdminSubject::Node(node) => ("node", node.node_id),
            },
        };
        audit::list_for_subject(tx, kind, &subject, limit)
    })?;
    let found = LimitedList::from_limited(entries, asked.limit);
    let entries = &found.items;
    if as_json {
        let values: Vec<Value> = entries
            .iter()
            .map(|entry| {
                json!({
                    "at": Time(entry.at).iso(), "actor": entry.actor, "action": entry.action,
                    "before": entry.before, "after": entry.after, "reason": entry.reason,
                })
            })
            .collect();
        output::document(&json!({"count": values.len(), "has_more": found.has_more, "entries": values}));
        return Ok(0);
    }
    if entries.is_empty() {
        output::talk("Nothing was done to it.");
    }
    let text = |value: &Option<String>| inert_line(value.as_deref().unwrap_or("-"));
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|entry| {
            vec![
                paint(DIM, Time(entry.at).iso()),
                inert_line(&entry.actor),
                paint(NAME, inert_line(&entry.action)),
                format!("{} -> {}", text(&entry.before), text(&entry.after)),
                inert_line(entry.reason.as_deref().unwrap_or_default()),
            ]
        })
        .collect();
    output::print(&output::table(&rows));
    found.hint();
    Ok(0)
}
