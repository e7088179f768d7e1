//! Lists of tasks: those that may be taken, and those that a node took.

use super::TaskRow;
use super::submissions::SubmissionRow;
use crate::assets::list::ListPosition;
use crate::db::row::{joined, select};
use crate::db::tx::Tx;
use crate::nodes::{self, NodeRow};
use crate::params;
use crate::work::workers::WorkerRow;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation;
use capsid_rules::work::tasks::TaskStatus;

/// Which open tasks are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenTaskFilter {
    /// Those for which this reputation is enough; all where it is missing.
    pub reputation: Option<f64>,
    /// Those that pay at least so much, in milli-credits.
    pub min_amount: i64,
    /// Also those that are kept for this node, and none that it asked itself.
    pub node_id: Option<String>,
    /// None that this account or one of its nodes asked: that of the node.
    pub owner: Option<String>,
}

impl OpenTaskFilter {
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
pub fn open(
    tx: &mut dyn Tx,
    wanted: &OpenTaskFilter,
    after: ListPosition,
    limit: i64,
    now: Time,
) -> Result<Vec<TaskRow>> {
    tx.query_all(
        select!(
            TaskRow,
            concat!(
                "FROM tasks t WHERE t.status = 'open' AND t.expires_at > $1 AND t.min_reputation <= $2
                AND t.amount >= $3 AND (t.reserved_for IS NULL OR t.reserved_for = $4)
                AND (t.amount < $6 OR (t.amount = $6 AND t.seq > $7)) AND ",
                not_own!(),
                " ORDER BY t.amount DESC, t.seq LIMIT $8"
            )
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
    )
}

/// How many tasks [`open`] lists in all.
pub fn count_open(tx: &mut dyn Tx, wanted: &OpenTaskFilter, now: Time) -> Result<i64> {
    tx.count(
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
pub struct TakenTaskRow {
    pub task: TaskRow,
    pub submission: SubmissionRow,
    /// Its place in the list.
    pub position: ListPosition,
}

/// One of the two parts of [`taken_by`]. Each walks an index from the newest submission on and ends with the page,
/// however much the node has taken.
macro_rules! taken_sql {
    ($status:literal) => {
        joined!(
            " ",
            "SELECT",
            TaskRow::COLUMNS,
            ",",
            SubmissionRow::COLUMNS,
            concat!(
                ", s.seq FROM submissions s JOIN tasks t ON t.task_id = s.task_id
             WHERE s.node_id = $1 AND ",
            $status,
            " AND s.seq < $2 AND NOT EXISTS
                (SELECT 1 FROM submissions y WHERE y.node_id = $1 AND y.task_id = s.task_id AND y.seq > s.seq)
             ORDER BY s.seq DESC LIMIT $3"
            )
        )
    };
}

const TAKEN_WORKING: &str = taken_sql!("s.status = 'working'");
const TAKEN_OTHERS: &str = taken_sql!("s.status NOT IN ('released', 'working')");

/// The tasks that a node took and did not give back: those it works on first, then the others, the newest first.
pub fn list_taken_by(
    tx: &mut dyn Tx,
    node_id: &str,
    after: ListPosition,
    limit: i64,
) -> Result<Vec<TakenTaskRow>> {
    let mut taken = Vec::new();
    for (key, sql) in [(1, TAKEN_WORKING), (0, TAKEN_OTHERS)] {
        let left = limit - taken.len() as i64;
        let before = if after.key == key { after.seq } else { i64::MAX };
        if after.key < key || left <= 0 {
            continue;
        }
        for (task, submission, seq) in tx.query_all(sql, params![node_id, before, left])? {
            taken.push(TakenTaskRow { task, submission, position: ListPosition { key, seq } });
        }
    }
    Ok(taken)
}

/// The tasks that a node works on, those promised soonest first.
pub fn working_on(tx: &mut dyn Tx, node_id: &str, limit: i64, now: Time) -> Result<Vec<TaskRow>> {
    tx.query_all(
        select!(
            TaskRow,
            "FROM tasks t WHERE t.claimed_by = $1 AND t.status = 'claimed' AND t.expires_at > $2
             ORDER BY COALESCE(t.commitment_deadline, t.expires_at), t.seq LIMIT $3"
        ),
        params![node_id, now, limit],
    )
}

/// How many active nodes have a reputation, by the model they run on.
pub fn nodes_by_model(tx: &mut dyn Tx, reputation: f64) -> Result<Vec<(Option<String>, i64)>> {
    tx.query_all::<(Option<String>, i64)>("SELECT model, COUNT(*) FROM nodes WHERE status = 'active' AND COALESCE(reputation_override, reputation) >= $1
         GROUP BY model ORDER BY model", params![reputation])
}

/// How many tasks are looked at in one step, and in how many steps at most, to find some that suit a node.
const STEP: i64 = 100;
const MAX_STEPS: usize = 10;

/// Tasks that a node could take now: others asked them, its reputation and its model are good enough, and where it is a
/// worker it is good at them. A node that the hub does not know counts as a new one.
pub fn open_for(
    tx: &mut dyn Tx,
    node: Option<&NodeRow>,
    worker: Option<&WorkerRow>,
    tiers: &[(String, i64)],
    most: usize,
    now: Time,
) -> Result<Vec<TaskRow>> {
    let node_id = node.map(|node| node.node_id.clone());
    let model = match &node_id {
        Some(node_id) => nodes::model(tx, node_id)?,
        None => None,
    };
    let reputation = Some(node.map_or(reputation::START, |node| node.reputation));
    let owner = node.and_then(|node| node.owner.clone());
    let wanted = OpenTaskFilter { reputation, min_amount: 0, node_id, owner };
    let (mut tasks, mut after) = (Vec::new(), ListPosition::START);
    for _ in 0..MAX_STEPS {
        let page = open(tx, &wanted, after, STEP, now)?;
        let Some(last) = page.last() else { break };
        after = ListPosition { key: last.amount, seq: last.seq };
        let is_last = (page.len() as i64) < STEP;
        let suits = |task: &TaskRow| {
            task.allows_model(model.as_deref(), tiers)
                && worker.is_none_or(|worker| worker.is_good_at(&task.signals))
        };
        tasks.extend(page.into_iter().filter(suits));
        if is_last || tasks.len() >= most {
            break;
        }
    }
    tasks.truncate(most);
    Ok(tasks)
}

/// Tasks of a status, or all of them, the newest first.
pub fn newest(tx: &mut dyn Tx, status: Option<TaskStatus>, limit: i64) -> Result<Vec<TaskRow>> {
    match status {
        Some(status) => tx.query_all(
            select!(TaskRow, "FROM tasks t WHERE t.status = $1 ORDER BY t.seq DESC LIMIT $2"),
            params![status.as_str(), limit],
        ),
        None => tx.query_all(select!(TaskRow, "FROM tasks t ORDER BY t.seq DESC LIMIT $1"), params![limit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions};
    use capsid_testkit::postgres::TestPostgres;

    const NOW: Time = Time(1_767_225_600_000);
    const MANY: i64 = 5_000;

    /// A node that took a task again and again, works on the last one but two, and gave one back.
    fn busy(store: &Store) {
        let fill = |tx: &mut dyn Tx| {
            tx.run(
                "INSERT INTO nodes (node_id, created_at, last_seen_at)
                 VALUES ('node_a', 0, 0)",
                params![],
            )?;
            for n in 1..=MANY {
                let (task, submission) = (format!("task_{n}"), format!("sub_{n}"));
                tx.run(
                    "INSERT INTO tasks (task_id, asker, title, body, signals, status, amount, min_reputation,
                        created_at, expires_at) VALUES ($1, 'user:u', 'T', '', '', 'open', 0, 0.0, 0, 9)",
                    params![&task],
                )?;
                let status = match MANY - n {
                    2 => "working",
                    1 => "released",
                    _ => "accepted",
                };
                super::super::submissions::begin(tx, &submission, &task, "node_a", NOW)?;
                super::super::submissions::begin(tx, &format!("{submission}_again"), &task, "node_a", NOW)?;
                tx.run("UPDATE submissions SET status = $2 WHERE task_id = $1", params![&task, status])?;
            }
            Ok(())
        };
        store.write_now(fill).unwrap();
    }

    fn page(store: &Store, after: ListPosition, limit: i64) -> Vec<TakenTaskRow> {
        store.read_now(move |tx| list_taken_by(tx, "node_a", after, limit)).unwrap()
    }

    #[test]
    fn what_a_node_took_is_listed_in_order_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let database = TestPostgres::database();
        for url in [None, Some(database.url.clone())] {
            let store = Store::open(&StoreOptions::new(folder.path(), url), NOW).unwrap();
            busy(&store);
            let (mut after, mut tasks) = (ListPosition::START, Vec::new());
            for limit in [1, 1, 1, 100, MANY] {
                let page = page(&store, after, limit);
                after = page.last().unwrap().position;
                tasks.extend(page);
            }
            assert!(page(&store, after, 1).is_empty());
            let ids: Vec<&str> = tasks.iter().map(|taken| taken.submission.submission_id.as_str()).collect();
            assert_eq!(ids[..3], ["sub_4998_again", "sub_5000_again", "sub_4997_again"]);
            assert_eq!(ids.len() as i64, MANY - 1);
        }
    }

    #[test]
    fn a_page_of_what_a_node_took_is_found_by_indexes_alone() {
        const WORKING: &str = joined!(" ", "EXPLAIN QUERY PLAN", taken_sql!("s.status = 'working'"));
        const OTHERS: &str =
            joined!(" ", "EXPLAIN QUERY PLAN", taken_sql!("s.status NOT IN ('released', 'working')"));
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap();
        busy(&store);
        for (sql, index) in [(WORKING, "submissions_working"), (OTHERS, "submissions_by_node")] {
            let plan = store
                .read_now(move |tx| {
                    tx.query_all::<(i64, i64, i64, String)>(sql, params!["node_a", i64::MAX, 1])
                })
                .unwrap();
            let plan: Vec<String> = plan.into_iter().map(|(.., line)| line).collect();
            let text = plan.join("\n");
            println!("{text}");
            assert!(plan[0].contains(index), "{text}");
            assert!(
                text.contains("submissions_by_node_and_task (node_id=? AND task_id=? AND seq>?)"),
                "{text}"
            );
            assert!(!text.contains("SCAN") && !text.contains("TEMP B-TREE"), "{text}");
        }
    }
}
