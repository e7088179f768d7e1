//! Work and what is paid for it: what is put aside is what the bounties say, states fit together, and what was earned is
//! what the ledger moved.

use super::FsckReport;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::work::bounties::BountyStatus;

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    words(tx, report)?;
    sum_escrow(tx, report)?;
    find_orphan_escrow(tx, report)?;
    claims(tx, report)?;
    pairs(tx, report)?;
    parts(tx, report)?;
    earned(tx, report)
}

/// Lists of words and where they stand: a query of the words that are there, and those that may be.
const WORDS: &[(&str, &str, &[&str])] = &[
    (
        "tasks",
        "SELECT status, COUNT(*) FROM tasks GROUP BY status",
        &["open", "claimed", "completed", "expired", "cancelled"],
    ),
    (
        "tasks",
        "SELECT swarm_role, COUNT(*) FROM tasks WHERE swarm_role IS NOT NULL GROUP BY swarm_role",
        &["solver", "aggregator"],
    ),
    (
        "submissions",
        "SELECT status, COUNT(*) FROM submissions GROUP BY status",
        &["working", "pending", "accepted", "rejected", "released", "overdue", "expired"],
    ),
    (
        "bounties",
        "SELECT status, COUNT(*) FROM bounties GROUP BY status",
        &["open", "claimed", "matched", "rejected", "disputed", "accepted", "expired", "cancelled"],
    ),
    ("bounties", "SELECT source, COUNT(*) FROM bounties GROUP BY source", &["bounty", "question", "service"]),
    (
        "deliveries",
        "SELECT state, COUNT(*) FROM deliveries GROUP BY state",
        &["queued", "delivering", "retrying", "delivered", "dead"],
    ),
    (
        "announcements",
        "SELECT kind, COUNT(*) FROM announcements GROUP BY kind",
        &["high_value_task", "swarm_subtask_available", "swarm_aggregation_available", "task_available"],
    ),
    (
        "earnings",
        "SELECT source, COUNT(*) FROM earnings GROUP BY source",
        &["promotion", "reuse", "validation", "bounty", "swarm", "service", "sale", "referral"],
    ),
];

fn words(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    for &(table, sql, known) in WORDS {
        for (word, count) in tx.query_all::<(String, i64)>(sql, params![])? {
            if !known.contains(&word.as_str()) {
                let problem = format!("{count} of the {table} are `{word}`, which nothing can be.");
                report.lost("word_unknown", table, problem);
            }
        }
    }
    Ok(())
}

/// What is put aside for a bounty is its amount until it ends, and nothing afterwards.
fn sum_escrow(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let all = "SELECT b.bounty_id, b.status, b.amount, COALESCE(a.balance, 0), b.settled_at FROM bounties b
        LEFT JOIN accounts a ON a.account = 'hold:bounty:' || b.bounty_id ORDER BY b.seq";
    type Columns = (String, String, i64, i64, Option<i64>);
    tx.query_each(all, params![], |(id, status, amount, held, settled_at): Columns| {
        let is_held = BountyStatus::parse(&status).is_some_and(BountyStatus::is_held);
        let due = if is_held { amount } else { 0 };
        if held != due {
            let problem =
                format!("The bounty of {amount} is {status}, so {due} should be put aside, and {held} are.");
            report.lost("bounty_not_held", id.clone(), problem);
        }
        if is_held == settled_at.is_some() {
            let problem = format!("The bounty is {status}, which does not fit when it was settled.");
            report.lost("bounty_state_wrong", id, problem);
        }
        Ok(())
    })
}

/// Nothing is put aside for what is not there.
fn find_orphan_escrow(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let stray = "SELECT account, balance FROM accounts WHERE account LIKE 'hold:%' AND balance <> 0
            AND NOT EXISTS (SELECT 1 FROM bounties b WHERE 'hold:bounty:' || b.bounty_id = account)
            AND NOT EXISTS (SELECT 1 FROM stakes s WHERE 'hold:stake:' || s.node_id = account)
            AND NOT EXISTS (SELECT 1 FROM held_rewards h WHERE 'hold:reward:' || h.reference = account)
        ORDER BY account";
    tx.query_each(stray, params![], |(account, balance): (String, i64)| {
        let problem = format!("{balance} are held, and there is no bounty, no stake and no reward for it.");
        report.lost("hold_stray", account, problem);
        Ok(())
    })
}

/// A claimed task has a node that works on it, and a submission that says so; an open one has neither.
fn claims(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let wrong = "SELECT t.task_id, t.status, t.claimed_by, s.node_id, s.status FROM tasks t
            LEFT JOIN submissions s ON s.submission_id = t.submission_id AND s.task_id = t.task_id
        WHERE (t.status = 'open' AND (t.claimed_by IS NOT NULL OR t.submission_id IS NOT NULL))
            OR (t.status IN ('claimed', 'completed') AND t.claimed_by IS NOT NULL
                AND (s.node_id IS NULL OR s.node_id <> t.claimed_by))
            OR (t.status = 'claimed' AND (t.claimed_by IS NULL OR s.status IS NULL
                OR s.status <> 'working'))
            OR (t.status = 'completed' AND t.completed_at IS NULL)
            OR (t.status IN ('open', 'claimed') AND t.completed_at IS NOT NULL)
        ORDER BY t.seq";
    type Columns = (String, String, Option<String>, Option<String>, Option<String>);
    tx.query_each(wrong, params![], |(task_id, status, claimed_by, node_id, submission): Columns| {
        let problem = format!(
            "The task is {status}, claimed by {}, with a submission of {} that is {}, which does not fit together.",
            claimed_by.as_deref().unwrap_or("nobody"),
            node_id.as_deref().unwrap_or("nobody"),
            submission.as_deref().unwrap_or("missing"),
        );
        report.lost("task_state_wrong", task_id, problem);
        Ok(())
    })
}

/// A task and its bounty stand alike. One that was completed may also have been given back: because nobody decided, or
/// because an admin withdrew the bounty, which the audit says.
fn pairs(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let wrong = "SELECT b.bounty_id, b.status, t.status FROM bounties b JOIN tasks t ON t.task_id = b.task_id
        WHERE NOT ((t.status = 'open' AND b.status = 'open') OR (t.status = 'claimed' AND b.status = 'claimed')
            OR (t.status = 'completed' AND b.status = 'cancelled' AND EXISTS (SELECT 1 FROM audit u
                WHERE u.kind = 'bounty' AND u.subject = b.bounty_id AND u.action = 'withdraw'))
            OR (t.status = 'completed' AND b.status IN ('matched', 'rejected', 'disputed', 'accepted', 'expired'))
            OR (t.status = 'expired' AND b.status = 'expired')
            OR (t.status = 'cancelled' AND b.status = 'cancelled'))
            OR t.bounty_id IS NULL OR t.bounty_id <> b.bounty_id OR t.amount <> b.amount
        ORDER BY b.seq";
    tx.query_each(wrong, params![], |(bounty_id, bounty, task): (String, String, String)| {
        let problem = format!("The bounty is {bounty} while its task is {task}, or they differ otherwise.");
        report.lost("bounty_state_wrong", bounty_id, problem);
        Ok(())
    })?;
    let lone = "SELECT t.task_id, t.bounty_id FROM tasks t WHERE t.bounty_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM bounties b WHERE b.bounty_id = t.bounty_id) ORDER BY t.seq";
    tx.query_each(lone, params![], |(task_id, bounty_id): (String, String)| {
        let problem = format!("The task's bounty {bounty_id} is not there.");
        report.lost("task_state_wrong", task_id, problem);
        Ok(())
    })
}

/// A part belongs to a task that was cut into parts.
fn parts(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let wrong = "SELECT t.task_id FROM tasks t LEFT JOIN tasks p ON p.task_id = t.parent_task_id
        WHERE (t.parent_task_id IS NOT NULL AND (p.task_id IS NULL OR p.decomposed_at IS NULL
                OR t.swarm_role IS NULL OR t.weight IS NULL))
            OR (t.parent_task_id IS NULL AND t.swarm_role IS NOT NULL)
        ORDER BY t.seq";
    tx.query_each(wrong, params![], |task_id: String| {
        let problem = "The task is part of another one that was not cut into parts, or has no role in it.";
        report.lost("task_state_wrong", task_id, problem);
        Ok(())
    })
}

/// What an account earned by what is what the ledger moved to it for that.
fn earned(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let differing = "SELECT account, source, CAST(SUM(noted) AS BIGINT), CAST(SUM(entered) AS BIGINT) FROM (
            SELECT account, source, amount AS noted, 0 AS entered FROM earnings
            UNION ALL
            SELECT e.account, t.kind, 0, e.delta FROM entries e JOIN transfers t ON t.seq = e.transfer
            WHERE e.delta > 0 AND t.kind IN
                ('promotion', 'reuse', 'validation', 'bounty', 'swarm', 'service', 'sale', 'referral')) x
        GROUP BY account, source HAVING SUM(noted) <> SUM(entered) ORDER BY account, source";
    tx.query_each(differing, params![], |(account, source, noted, entered): (String, String, i64, i64)| {
        let problem = format!("It earned {noted} by {source} as noted, but the ledger moved {entered}.");
        report.lost("earnings_wrong", account, problem);
        Ok(())
    })
}
