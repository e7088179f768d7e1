//! What is over is forgotten in the end, unless credits moved for it; and nobody can ask without end.

use crate::common::economy::{DAY, all_is_well, claim, offer, quiet, user};
use crate::common::{TestHub, both_with};
use capsid_store::params;
use capsid_store::work::tasks::{claim, cleanup};
use serde_json::json;

fn count(hub: &TestHub, sql: &'static str) -> i64 {
    hub.hub.store.read_now(move |tx| tx.count(sql, &[])).unwrap()
}

fn tidy_after(hub: &TestHub, days: i64) {
    hub.clock.advance(days * DAY);
    hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
}

const TASKS: &str = "SELECT COUNT(*) FROM tasks";
const RELEASED: &str = "SELECT COUNT(*) FROM submissions WHERE status = 'released'";

fn release(hub: &TestHub, node: &str, task: &str) {
    let (node, task, now) = (node.to_owned(), task.to_owned(), hub.hub.now());
    hub.hub
        .store
        .write_now(move |tx| {
            let node = capsid_store::nodes::lock(tx, &node)?.unwrap();
            claim::release(tx, &node, &task, now)
        })
        .unwrap();
}

#[test]
fn tasks_that_paid_nothing_are_forgotten_and_others_stay() {
    both_with(quiet, |hub| {
        hub.register("node_w");
        let (ann, _) = user(hub, "ann");
        let (free, task) = offer(hub, &ann, 0.0);
        claim(hub, "node_w", &task);
        release(hub, "node_w", &task);
        let (paid, other) = offer(hub, &ann, 5.0);
        claim(hub, "node_w", &other);
        release(hub, "node_w", &other);
        for bounty in [&free, &paid] {
            hub.post_as(&ann, &format!("/bounty/{bounty}/cancel"), &json!({})).expect(200);
        }
        tidy_after(hub, 89);
        assert_eq!((count(hub, TASKS), count(hub, RELEASED)), (2, 2));
        tidy_after(hub, 1);
        assert_eq!((count(hub, TASKS), count(hub, RELEASED)), (2, 0));
        tidy_after(hub, 180);
        assert_eq!(count(hub, TASKS), 1);
        assert_eq!(hub.get(&format!("/bounty/{free}")).status, 404);
        hub.get(&format!("/bounty/{paid}")).expect(200);
        all_is_well(hub);
    });
}

#[test]
fn claim_codes_that_nobody_used_are_forgotten() {
    both_with(quiet, |hub| {
        hub.register("node_w");
        let codes = "SELECT COUNT(*) FROM claims";
        let now = hub.hub.now();
        hub.hub
            .store
            .write_now(move |tx| {
                capsid_store::accounts::claim_codes::current_or_new(
                    tx,
                    "node_w",
                    "CODE-1",
                    &Default::default(),
                    now,
                )
            })
            .unwrap();
        let made = count(hub, codes);
        assert!(made > 0);
        tidy_after(hub, 30);
        assert_eq!(count(hub, codes), made);
        tidy_after(hub, 1);
        assert_eq!(count(hub, codes), 0);
    });
}

#[test]
fn an_asker_has_only_so_many_tasks_open() {
    both_with(quiet, |hub| {
        let (ann, account) = user(hub, "ann");
        let fill = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            for n in 1..cleanup::MAX_OPEN {
                tx.run(
                    "INSERT INTO tasks (task_id, asker, title, body, signals, status, amount, min_reputation,
                        created_at, expires_at) VALUES ($1, $2, 'T', '', '', 'open', 0, 0.0, 0, $3)",
                    params![&format!("task_x{n}"), &account, i64::MAX],
                )?;
            }
            Ok::<_, capsid_model::problem::Problem>(())
        };
        hub.hub.store.write_now(fill).unwrap();
        let (last, _) = offer(hub, &ann, 0.0);
        let body = json!({"title": "Fix the timeout", "signals": ["TimeoutError"]});
        hub.post_as(&ann, "/bounty/create", &body).refused(409, "too_many_open_tasks");
        hub.post_as(&ann, &format!("/bounty/{last}/cancel"), &json!({})).expect(200);
        offer(hub, &ann, 0.0);
        let (bob, _) = user(hub, "bob");
        offer(hub, &bob, 0.0);
    });
}
