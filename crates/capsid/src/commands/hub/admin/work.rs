//! Bounties and tasks: how they stand, and an operator's word where their creators cannot be had.

use super::list::{LimitedList, coloured, day, one_more, show};
use super::{AdminOutcome, OPERATOR, not_found, refused};
use crate::output::{DIM, NAME, paint};
use capsid_hub::config::HubConfig;
use capsid_hub::ops::bounties::decide::{BountyDecision, decide_in};
use capsid_hub::ops::tasks::view::TaskView;
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::credits;
use capsid_rules::work::bounties::{BountyActor, BountyStatus};
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::Store;
use capsid_store::accounts::{self, UserRow};
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::list as bountie_list;
use capsid_store::work::bounties::list::BountyFilter;
use capsid_store::work::bounties::settle::BountyDecisionOutcome;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use clap::Args;

/// List bounties, the newest first, or decide on one in its creator's place.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin bounties --status matched
  capsid hub admin bounties --accept bounty_1767225600000_a1b2c3 --reason 'the creator is away'")]
pub struct AdminBountiesArgs {
    /// Only those: open, claimed, matched, accepted, expired or cancelled.
    #[arg(long, value_name = "STATUS", value_parser = bounty_status)]
    status: Option<BountyStatus>,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,

    /// Pay for what was handed in.
    #[arg(long, value_name = "BOUNTY", conflicts_with_all = ["reject", "cancel"])]
    accept: Option<String>,

    /// Send back what was handed in; others may try.
    #[arg(long, value_name = "BOUNTY", conflicts_with = "cancel")]
    reject: Option<String>,

    /// Give the credits back and end the task, whoever works on it.
    #[arg(long, value_name = "BOUNTY")]
    cancel: Option<String>,

    /// Why, for the audit.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// List tasks, the newest first.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin tasks --status claimed\n  capsid hub admin tasks --json"
)]
pub struct AdminTasksArgs {
    /// Only those: open, claimed, completed, expired or cancelled.
    #[arg(long, value_name = "STATUS", value_parser = task_status)]
    status: Option<TaskStatus>,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

fn bounty_status(word: &str) -> Result<BountyStatus, String> {
    BountyStatus::parse(word).ok_or_else(|| words(&BountyStatus::ALL.map(BountyStatus::as_str)))
}

fn task_status(word: &str) -> Result<TaskStatus, String> {
    TaskStatus::parse(word).ok_or_else(|| words(&TaskStatus::ALL.map(TaskStatus::as_str)))
}

fn words(words: &[&str]) -> String {
    format!("use one of {}", words.join(", "))
}

/// What an operator wants done.
enum BountyCommand<'a> {
    Accept(&'a str),
    Reject(&'a str),
    Cancel(&'a str),
}

impl AdminBountiesArgs {
    fn parse_command(&self) -> Option<BountyCommand<'_>> {
        let accept = self.accept.as_deref().map(BountyCommand::Accept);
        let reject = self.reject.as_deref().map(BountyCommand::Reject);
        accept.or(reject).or(self.cancel.as_deref().map(BountyCommand::Cancel))
    }

    /// Whether something is to be done, and not only looked at.
    pub fn decides(&self) -> bool {
        self.parse_command().is_some()
    }
}

/// Lists bounties.
pub fn list_bounties(store: &Store, asked: &AdminBountiesArgs, as_json: bool) -> Result<u8> {
    let (filter, limit) = (BountyFilter { status: asked.status, creator: None }, one_more(asked.limit));
    let found = store.read_now(move |tx| {
        let found = bountie_list::list(tx, &filter, i64::MAX, limit)?;
        found.into_iter().map(|(bounty, task)| BountyLine::load(tx, bounty, task)).collect::<Result<Vec<_>>>()
    })?;
    show("bounties", &LimitedList::from_limited(found, asked.limit), as_json, bounty_value, bounty_row);
    Ok(0)
}

/// A bounty as it is listed.
struct BountyLine {
    bounty: BountyRow,
    task: TaskRow,
    /// The creator, where it is an account.
    user: Option<UserRow>,
}

impl BountyLine {
    fn load(tx: &mut dyn Tx, bounty: BountyRow, task: TaskRow) -> Result<Self> {
        let user = match bounty.creator.strip_prefix("user:") {
            Some(user_id) => accounts::get(tx, user_id)?,
            None => None,
        };
        Ok(Self { bounty, task, user })
    }
}

/// Decides on a bounty.
pub fn decide(store: &Store, asked: &AdminBountiesArgs, config: &HubConfig) -> Result<AdminOutcome> {
    let terms = config.settlement_terms();
    let now = SystemClock.now();
    let reason = asked.reason.clone();
    let command = asked
        .parse_command()
        .ok_or_else(|| Problem::new(Code::InputInvalid, "Nothing is to be done.").fix("Name a bounty."))?;
    let (id, decision) = match command {
        BountyCommand::Accept(id) => (id, BountyDecision::Accept(terms)),
        BountyCommand::Reject(id) => (id, BountyDecision::Reject(terms)),
        BountyCommand::Cancel(id) => (id, BountyDecision::Cancel),
    };
    let named = id.to_owned();
    let decided = store.write_now(move |tx| {
        decide_in(tx, &named, &decision, (OPERATOR, BountyActor::Operator), reason.as_deref(), now)
    })?;
    match decided {
        BountyDecisionOutcome::NotFound => Err(not_found("bounty", id)),
        BountyDecisionOutcome::Refused(bounty) => {
            Err(refused(format!("The bounty `{id}` is {}, so this cannot be done.", bounty.status.as_str())))
        }
        BountyDecisionOutcome::Done(bounty) => Ok(AdminOutcome {
            line: format!("{id} is {}.", bounty.status.as_str()),
            value: json!({"ok": true, "bounty_id": id, "status": bounty.status.as_str(), "outcome": bounty.outcome}),
        }),
    }
}

fn bounty_row(BountyLine { bounty, task, user }: &BountyLine) -> Vec<String> {
    let when = match (bounty.settled_at, bounty.decide_by) {
        (Some(at), _) => format!("ended {}", day(at)),
        (None, Some(by)) => format!("decide by {}", day(by)),
        (None, None) => format!("until {}", day(bounty.expires_at)),
    };
    let title = match &bounty.outcome {
        Some(outcome) => format!("{}  {}", inert_line(&task.title), paint(DIM, inert_line(outcome))),
        None => inert_line(&task.title),
    };
    vec![
        paint(NAME, inert_line(&bounty.bounty_id)),
        coloured(bounty.status.as_str()),
        credits::text(bounty.amount),
        inert_line(user.as_ref().map_or(&bounty.creator, |user| &user.email)),
        when,
        title,
    ]
}

fn bounty_value(BountyLine { bounty, task, user }: &BountyLine) -> Value {
    let moment = |at: Option<i64>| at.map(|at| Time(at).iso());
    json!({
        "bounty_id": bounty.bounty_id, "task_id": bounty.task_id, "title": task.title, "source": bounty.source,
        "creator": bounty.creator, "creator_user_id": user.as_ref().map(|user| &user.user_id),
        "creator_email": user.as_ref().map(|user| &user.email), "amount": credits::to_decimal(bounty.amount), "status": bounty.status.as_str(),
        "task_status": task.status.as_str(), "matched_node_id": bounty.matched_node,
        "matched_asset_id": bounty.matched_asset.map(|id| id.to_string()), "decide_by": moment(bounty.decide_by),
        "outcome": bounty.outcome, "settled_at": moment(bounty.settled_at),
        "created_at": Time(bounty.created_at).iso(), "expires_at": Time(bounty.expires_at).iso(),
    })
}

/// Lists tasks.
pub fn list_tasks(store: &Store, asked: &AdminTasksArgs, as_json: bool) -> Result<u8> {
    let (status, limit, now) = (asked.status, one_more(asked.limit), SystemClock.now());
    let found = store.read_now(move |tx| tasks::list::newest(tx, status, limit))?;
    let found = LimitedList::from_limited(found, asked.limit);
    let to_value = |task: &TaskRow| json!(TaskView::from_row(task, now));
    show("tasks", &found, as_json, to_value, |task| task_line(task, now));
    Ok(0)
}

fn task_line(task: &TaskRow, now: Time) -> Vec<String> {
    let role = task.role.map_or("whole", capsid_rules::work::tasks::SubtaskRole::as_str);
    vec![
        paint(NAME, inert_line(&task.task_id)),
        coloured(task.status_at(now).as_str()),
        credits::text(task.amount),
        role.to_owned(),
        inert_line(task.claimed_by.as_deref().unwrap_or("-")),
        format!("until {}", day(task.expires_at)),
        inert_line(&task.title),
    ]
}
