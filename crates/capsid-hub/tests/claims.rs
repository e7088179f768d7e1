//! Two hundred claims at once over 64 tasks: each task has exactly one winner, and every loser is told how it stands.
//! `CAPSID_SEED=n` repeats a run, `CAPSID_SOAK=1` makes it ten times as long.

use crate::common::{On, TestHub, request, send};
use capsid_rules::rate_limit::RateLimit;
use capsid_testkit::rounds::{rounds, seeded_rng};
use serde_json::json;
use std::collections::BTreeMap;

const TASKS: usize = 64;
const CLAIMS: usize = 200;
const NODES: usize = 50;

#[test]
fn one_of_many_gets_a_task_on_sqlite() {
    claim_at_once(On::Sqlite);
}

#[test]
fn one_of_many_gets_a_task_on_postgresql() {
    claim_at_once(On::Postgres);
}

fn claim_at_once(on: On) {
    let endless = RateLimit { count: 1_000_000_000, window_ms: 60_000 };
    let hub = TestHub::start(on, |config| {
        config.limits.hello = endless;
        config.limits.other = endless;
    });
    for node in 0..NODES {
        hub.register(&format!("node_{node}"));
    }
    let mut rng = seeded_rng();
    for round in 0..rounds(10, 100) {
        for task in 0..TASKS {
            hub.offer(&format!("r{round}_t{task}"), 1);
        }
        // Every task is asked for at least once, and by no node twice.
        let mut claims: Vec<(usize, usize)> =
            (0..CLAIMS).map(|n| (n % TASKS, (n / TASKS * 13 + n * 7) % NODES)).collect();
        rng.shuffle(&mut claims);
        let answers = hub.runtime.block_on(async {
            let calls = claims.iter().map(|(task, node)| {
                let body = json!({"task_id": format!("r{round}_t{task}"), "node_id": format!("node_{node}")});
                let request = request("POST", "/task/claim", None, Some(body.to_string().into_bytes()));
                tokio::spawn(send(hub.router(), request))
            });
            let calls: Vec<_> = calls.collect();
            let mut answers = Vec::new();
            for call in calls {
                answers.push(call.await.unwrap());
            }
            answers
        });
        let mut winners: BTreeMap<usize, usize> = BTreeMap::new();
        for ((task, node), answer) in claims.iter().zip(&answers) {
            if answer.status == 200 {
                let before = winners.insert(*task, *node);
                assert!(before.is_none_or(|before| before == *node), "two have the task {task}: {answer}");
            }
        }
        assert_eq!(winners.len(), TASKS, "every task has a winner");
        for ((task, _), answer) in claims.iter().zip(&answers).filter(|(_, answer)| answer.status != 200) {
            let body = answer.refused(409, "task_not_open");
            assert_eq!(body["task_status"], "claimed", "{answer}");
            assert_eq!(body["claimed_by"], format!("node_{}", winners[task]), "{answer}");
        }
        let kept = hub.hub.store.read_now(|tx| {
            let tries = tx.count("SELECT COUNT(*) FROM submissions", &[])?;
            let told = tx.count("SELECT COUNT(*) FROM events WHERE kind = 'task_assigned'", &[])?;
            Ok::<_, capsid_model::problem::Problem>((tries, told))
        });
        let expected = ((round + 1) * TASKS) as i64;
        assert_eq!(kept.unwrap(), (expected, expected), "one try and one notice for each winner");
    }
}
