//! Lists of tasks: those that may be taken, and those that a node took.

use super::Task;
use super::submissions::Submission;
use crate::listing::Position;
use crate::nodes::{self, Node};
use crate::params;
use crate::tx::Tx;
use crate::workers::Worker;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::reputation;
use capsid_rules::tasks::TaskStatus;

/// Which open tasks are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Those for which this reputation is enough; all where it is missing.
    pub reputation: Option<f64>,
    /// Those that pay at least so much, in milli-credits.
    pub min_amount: i64,
    /// Also those that are kept for this node, and none that it asked itself.
    pub node_id: Option<String>,
    /// None that this account or one of its nodes asked: that of the node.
    pub owner: Option<String>,
}

impl Wanted {
    fn reputation(&self) -> f64 {
        self.reputation.unwrap_or(f64::MAX)
    }

    fn node_id(&self) -> &str {
        self.node_id.as_deref().unwrap_or_default()
    }

    fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or_default()
    }
}

/// What was not asked by the node $4, nor by the account $5 or one of its nodes.
macro_rules! not_own {
    () => {
        "t.asker <> 'node:' || $4 AND t.asker <> 'user:' || $5 AND ($5 = '' OR NOT EXISTS (SELECT 1 FROM nodes n
            WHERE t.asker LIKE 'node:%' AND n.node_id = substr(t.asker, 6) AND n.owner = $5))"
    };
}

/// Tasks that may be taken: what pays most first, and of those the oldest. The position is the amount and the place of
/// the last one.
pub fn open(tx: &mut dyn Tx, wanted: &Wanted, after: Position, limit: i64, now: Time) -> Result<Vec<Task>> {
    tx.all(
        concat!(
            "SELECT ",
            task_columns!(),
            " FROM tasks t WHERE t.status = 'open' AND t.expires_at > $1 AND t.min_reputation <= $2
                AND t.amount >= $3 AND (t.reserved_for IS NULL OR t.reserved_for = $4)
                AND (t.amount < $6 OR (t.amount = $6 AND t.seq > $7)) AND ",
            not_own!(),
            " ORDER BY t.amount DESC, t.seq LIMIT $8"
        ),
        params![
            now,
            wanted.reputation(),
            wanted.min_amount,
            wanted.node_id(),
            wanted.owner(),
            after.key,
            after.seq,
            limit
        ],
        Task::read,
    )
}

/// How many tasks [`open`] lists in all.
pub fn count_open(tx: &mut dyn Tx, wanted: &Wanted, now: Time) -> Result<i64> {
    tx.number(
        concat!(
            "SELECT COUNT(*) FROM tasks t WHERE t.status = 'open' AND t.expires_at > $1 AND t.min_reputation <= $2
                AND t.amount >= $3 AND (t.reserved_for IS NULL OR t.reserved_for = $4) AND ",
            not_own!()
        ),
        params![now, wanted.reputation(), wanted.min_amount, wanted.node_id(), wanted.owner()],
    )
}

/// A task that a node took, with what became of it, and where the list goes on after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The task.
    pub task: Task,
    /// The node's last try.
    pub submission: Submission,
    /// Its place in the list.
    pub position: Position,
}

/// The tasks that a node took and did not give back: those it works on first, then the others, the newest first.
pub fn taken_by(tx: &mut dyn Tx, node_id: &str, after: Position, limit: i64) -> Result<Vec<Taken>> {
    tx.all(
        concat!(
            "SELECT ",
            task_columns!(),
            ", s.submission_id, s.task_id, s.node_id, s.status, s.asset_id, s.created_at, s.updated_at, s.rank, s.seq
             FROM (SELECT x.*, CASE WHEN x.status = 'working' THEN 1 ELSE 0 END AS rank FROM submissions x
                   WHERE x.node_id = $1 AND x.status <> 'released' AND x.seq =
                       (SELECT MAX(y.seq) FROM submissions y WHERE y.task_id = x.task_id AND y.node_id = $1)) s
             JOIN tasks t ON t.task_id = s.task_id
             WHERE s.rank < $2 OR (s.rank = $2 AND s.seq < $3) ORDER BY s.rank DESC, s.seq DESC LIMIT $4"
        ),
        params![node_id, after.key, after.seq, limit],
        |row| {
            let from = super::COLUMNS;
            Ok(Taken {
                task: Task::read(row)?,
                submission: Submission::read_from(row, from)?,
                position: Position { key: row.int(from + 7)?, seq: row.int(from + 8)? },
            })
        },
    )
}

/// The tasks that a node works on, those promised soonest first.
pub fn working_on(tx: &mut dyn Tx, node_id: &str, limit: i64, now: Time) -> Result<Vec<Task>> {
    tx.all(
        concat!(
            "SELECT ",
            task_columns!(),
            " FROM tasks t WHERE t.claimed_by = $1 AND t.status = 'claimed' AND t.expires_at > $2
             ORDER BY COALESCE(t.commitment_deadline, t.expires_at), t.seq LIMIT $3"
        ),
        params![node_id, now, limit],
        Task::read,
    )
}

/// How many active nodes have a reputation, by the model they run on.
pub fn nodes_by_model(tx: &mut dyn Tx, reputation: f64) -> Result<Vec<(Option<String>, i64)>> {
    tx.all(
        "SELECT model, COUNT(*) FROM nodes WHERE status = 'active' AND COALESCE(reputation_override, reputation) >= $1
         GROUP BY model ORDER BY model",
        params![reputation],
        |row| Ok((row.string_or(0)?, row.int(1)?)),
    )
}

/// How many tasks are looked at in one step, and in how many steps at most, to find some that suit a node.
const STEP: i64 = 100;
const MOST_STEPS: usize = 10;

/// Tasks that a node could take now: others asked them, its reputation and its model are good enough, and where it is a
/// worker it is good at them. A node that the hub does not know counts as a new one.
pub fn open_for(
    tx: &mut dyn Tx,
    node: Option<&Node>,
    worker: Option<&Worker>,
    tiers: &[(String, i64)],
    most: usize,
    now: Time,
) -> Result<Vec<Task>> {
    let node_id = node.map(|node| node.node_id.clone());
    let model = match &node_id {
        Some(node_id) => nodes::model(tx, node_id)?,
        None => None,
    };
    let reputation = Some(node.map_or(reputation::START, |node| node.reputation));
    let owner = node.and_then(|node| node.owner.clone());
    let wanted = Wanted { reputation, min_amount: 0, node_id, owner };
    let (mut found, mut after) = (Vec::new(), Position::START);
    for _ in 0..MOST_STEPS {
        let page = open(tx, &wanted, after, STEP, now)?;
        let Some(last) = page.last() else { break };
        after = Position { key: last.amount, seq: last.seq };
        let is_last = (page.len() as i64) < STEP;
        let suits = |task: &Task| {
            task.takes_model(model.as_deref(), tiers)
                && worker.is_none_or(|worker| worker.is_good_at(&task.signals))
        };
        found.extend(page.into_iter().filter(suits));
        if is_last || found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    Ok(found)
}

/// Tasks of a status, or all of them, the newest first.
pub fn newest(tx: &mut dyn Tx, status: Option<TaskStatus>, limit: i64) -> Result<Vec<Task>> {
    match status {
        Some(status) => tx.all(
            concat!(
                "SELECT ",
                task_columns!(),
                " FROM tasks t WHERE t.status = $1 ORDER BY t.seq DESC LIMIT $2"
            ),
            params![status.as_str(), limit],
            Task::read,
        ),
        None => tx.all(
            concat!("SELECT ", task_columns!(), " FROM tasks t ORDER BY t.seq DESC LIMIT $1"),
            params![limit],
            Task::read,
        ),
    }
}
