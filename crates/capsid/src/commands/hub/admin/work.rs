//! Bounties and tasks: how they stand, and an operator's word where their creators cannot be had.

use super::list::{Found, coloured, day, one_more, show};
use super::{Done, OPERATOR, not_found, refused};
use crate::output::{DIM, NAME, paint};
use capsid_hub::config::Config;
use capsid_hub::ops::tasks::task_row;
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::credits;
use capsid_rules::work::bounties::{BountyStatus, By};
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::Store;
use capsid_store::accounts::{self, User};
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties::Bounty;
use capsid_store::work::bounties::listing;
use capsid_store::work::bounties::listing::Filter;
use capsid_store::work::bounties::settling;
use capsid_store::work::bounties::settling::Decided;
use capsid_store::work::tasks;
use capsid_store::work::tasks::Task;
use clap::Args;

/// List bounties, the newest first, or decide on one in its creator's place.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin bounties --status matched
  capsid hub admin bounties --accept bounty_1767225600000_a1b2c3 --reason 'the creator is away'")]
pub struct Bounties {
    /// Only those: open, claimed, matched, accepted, expired or cancelled.
    #[arg(long, value_name = "STATUS", value_parser = bounty_status)]
    status: Option<BountyStatus>,

    /// At most so many.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
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
pub struct Tasks {
    /// Only those: open, claimed, completed, expired or cancelled.
    #[arg(long, value_name = "STATUS", value_parser = task_status)]
    status: Option<TaskStatus>,

    /// At most so many.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
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
enum Wish<'a> {
    Accept(&'a str),
    Reject(&'a str),
    Cancel(&'a str),
}

impl Bounties {
    fn wish(&self) -> Option<Wish<'_>> {
        let accept = self.accept.as_deref().map(Wish::Accept);
        let reject = self.reject.as_deref().map(Wish::Reject);
        accept.or(reject).or(self.cancel.as_deref().map(Wish::Cancel))
    }

    /// Whether something is to be done, and not only looked at.
    pub fn decides(&self) -> bool {
        self.wish().is_some()
    }
}

/// Lists bounties.
pub fn list_bounties(store: &Store, asked: &Bounties, as_json: bool) -> Result<u8> {
    let (filter, limit) = (Filter { status: asked.status, creator: None }, one_more(asked.limit));
    let found = store.read_now(move |tx| {
        let found = listing::list(tx, &filter, i64::MAX, limit)?;
        found.into_iter().map(|(bounty, task)| Listed::of(tx, bounty, task)).collect::<Result<Vec<_>>>()
    })?;
    show("bounties", &Found::of(found, asked.limit), as_json, bounty_value, bounty_row);
    Ok(0)
}

/// A bounty as it is listed.
struct Listed {
    bounty: Bounty,
    task: Task,
    /// The creator, where it is an account.
    user: Option<User>,
}

impl Listed {
    fn of(tx: &mut dyn Tx, bounty: Bounty, task: Task) -> Result<Self> {
        let user = match bounty.creator.strip_prefix("user:") {
            Some(user_id) => accounts::get(tx, user_id)?,
            None => None,
        };
        Ok(Self { bounty, task, user })
    }
}

/// Decides on a bounty.
pub fn decide(store: &Store, asked: &Bounties, config: &Config) -> Result<Done> {
    let terms = config.settlement_terms();
    let now = SystemClock.now();
    let reason = asked.reason.clone();
    let (id, decided) = match asked.wish() {
        None => return Err(Problem::new(Code::InputInvalid, "Nothing is to be done.").fix("Name a bounty.")),
        Some(Wish::Accept(id)) => {
            let (named, outcome) = (id.to_owned(), By::Operator.accepted(reason.as_deref()));
            (id, store.write_now(move |tx| settling::accept(tx, &named, OPERATOR, &outcome, &terms, now))?)
        }
        Some(Wish::Reject(id)) => {
            let named = id.to_owned();
            (id, store.write_now(move |tx| settling::reject(tx, &named, OPERATOR, reason.as_deref(), now))?)
        }
        Some(Wish::Cancel(id)) => {
            let (named, outcome) = (id.to_owned(), By::Operator.cancelled(reason.as_deref()));
            (id, store.write_now(move |tx| settling::withdraw(tx, &named, OPERATOR, &outcome, now))?)
        }
    };
    match decided {
        Decided::NotFound => Err(not_found("bounty", id)),
        Decided::Refused(bounty) => {
            Err(refused(format!("The bounty `{id}` is {}, so this cannot be done.", bounty.status.as_str())))
        }
        Decided::Done(bounty) => Ok(Done {
            line: format!("{id} is {}.", bounty.status.as_str()),
            value: json!({"ok": true, "bounty_id": id, "status": bounty.status.as_str(), "outcome": bounty.outcome}),
        }),
    }
}

fn bounty_row(Listed { bounty, task, user }: &Listed) -> Vec<String> {
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

fn bounty_value(Listed { bounty, task, user }: &Listed) -> Value {
    let moment = |at: Option<i64>| at.map(|at| Time(at).iso());
    json!({
        "bounty_id": bounty.bounty_id, "task_id": bounty.task_id, "title": task.title, "source": bounty.source,
        "creator": bounty.creator, "creator_user_id": user.as_ref().map(|user| &user.user_id),
        "creator_email": user.as_ref().map(|user| &user.email), "amount": credits::shown(bounty.amount), "status": bounty.status.as_str(),
        "task_status": task.status.as_str(), "matched_node_id": bounty.matched_node,
        "matched_asset_id": bounty.matched_asset.map(|id| id.to_string()), "decide_by": moment(bounty.decide_by),
        "outcome": bounty.outcome, "settled_at": moment(bounty.settled_at),
        "created_at": Time(bounty.created_at).iso(), "expires_at": Time(bounty.expires_at).iso(),
    })
}

/// Lists tasks.
pub fn list_tasks(store: &Store, asked: &Tasks, as_json: bool) -> Result<u8> {
    let (status, limit, now) = (asked.status, one_more(asked.limit), SystemClock.now());
    let found = store.read_now(move |tx| tasks::listing::newest(tx, status, limit))?;
    let found = Found::of(found, asked.limit);
    show("tasks", &found, as_json, |task| task_row::task(task, now), |task| task_line(task, now));
    Ok(0)
}

fn task_line(task: &Task, now: Time) -> Vec<String> {
    let role = task.role.map_or("whole", capsid_rules::work::tasks::Role::as_str);
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
