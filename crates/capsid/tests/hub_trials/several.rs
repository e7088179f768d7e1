//! Several hubs at once: on one PostgreSQL they work as one, on one SQLite file the second is refused. And a hub that
//! is killed while it makes its database makes it the next time.

use super::kill::message;
use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, ask};
use capsid_testkit::program::assert_status;
use capsid_testkit::rounds::{rounds, seeded_rng};
use std::collections::HashSet;
use std::time::Duration;

#[test]
fn one_message_sent_to_three_hubs_at_once_has_one_effect_and_one_answer() {
    let (program, scratch) = (program(), Scratch::postgres());
    let hubs: Vec<_> = std::thread::scope(|scope| {
        // Started together, so that they also make the database together.
        let starting: Vec<_> =
            (0..3).map(|_| scope.spawn(|| HubProcess::start(&program, &scratch.place))).collect();
        starting.into_iter().map(|hub| hub.join().unwrap()).collect()
    });
    for round in 0..4 {
        let message = message("node_a", &format!("msg_{round}"), &Bundle::new(round));
        let answers: HashSet<(u16, String)> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..50)
                .map(|n| {
                    let (address, message) = (&hubs[n % 3].address, &message);
                    scope.spawn(move || ask(address, "POST", "/a2a/publish", Some(message)).unwrap())
                })
                .collect();
            asked.into_iter().map(|answer| answer.join().unwrap()).collect()
        });
        assert_eq!(answers.len(), 1, "{answers:#?}");
        assert_eq!(answers.iter().next().unwrap().0, 200, "{answers:?}");
    }
    for hub in &hubs {
        let (_, stats) = ask(&hub.address, "GET", "/a2a/nodes/node_a", None).unwrap();
        let stats: Value = stats.parse().unwrap();
        assert_eq!(stats["total_published"], 4, "{stats}");
    }
    drop(hubs);
    assert_status(0, &scratch.place.run(&program, &["fsck"]));
}

#[test]
fn one_message_id_with_many_bodies_is_taken_once() {
    let (program, scratch) = (program(), Scratch::postgres());
    let hubs = [0, 1, 2].map(|_| HubProcess::start(&program, &scratch.place));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..30)
            .map(|n| {
                let (address, message) =
                    (&hubs[n % 3].address, message("node_a", "msg_1", &Bundle::new(n as u64)));
                scope.spawn(move || ask(address, "POST", "/a2a/publish", Some(&message)).unwrap().0)
            })
            .collect();
        asked.into_iter().map(|status| status.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 29, "{statuses:?}");
}

#[test]
fn hubs_that_share_a_database_know_the_same_nodes() {
    let (program, scratch) = (program(), Scratch::postgres());
    let hubs = [0, 1].map(|_| HubProcess::start(&program, &scratch.place));
    let hello = json!({
        "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello", "message_id": "msg_1",
        "sender_id": "node_a", "timestamp": "2026-01-01T00:00:00Z", "payload": {},
    })
    .to_string();
    let [one, other] = hubs.each_ref().map(|hub| {
        let (status, body) = ask(&hub.address, "POST", "/a2a/hello", Some(&hello)).unwrap();
        assert_eq!(status, 200, "{body}");
        body.parse::<Value>().unwrap()
    });
    for same in ["node_secret", "claim_code", "hub_node_id", "credit_balance"] {
        assert_eq!(one[same], other[same], "{same}");
    }
}

#[test]
fn a_second_hub_on_one_sqlite_file_is_refused() {
    let (program, scratch) = (program(), Scratch::sqlite());
    let first = HubProcess::start(&program, &scratch.place);
    let said = HubProcess::try_start(&program, &scratch.place).unwrap_err();
    assert!(said.contains("store_locked") && said.contains("Another hub"), "{said}");
    assert_eq!(ask(&first.address, "GET", "/health", None).unwrap().0, 200);
    first.kill();
    HubProcess::start(&program, &scratch.place);
}

#[test]
fn a_hub_killed_while_it_makes_its_database_makes_it_the_next_time() {
    let (rounds, mut rng) = (rounds(3, 50), seeded_rng());
    let program = program();
    for round in 0..rounds {
        for scratch in [Scratch::sqlite(), Scratch::postgres()] {
            for _ in 0..3 {
                let words =
                    [&["hub", "serve", "--listen", "127.0.0.1:0"], &scratch.place.arguments()[..]].concat();
                let mut child = program.command(scratch.folder.path(), &words).spawn().unwrap();
                std::thread::sleep(Duration::from_micros(rng.u64(0..60_000)));
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let hub = HubProcess::start(&program, &scratch.place);
            let message = message("node_a", "msg_1", &Bundle::new(round as u64));
            let (status, body) = ask(&hub.address, "POST", "/a2a/publish", Some(&message)).unwrap();
            assert_eq!(status, 200, "{body}");
            assert_eq!(hub.stop(), Some(0));
            assert_status(0, &scratch.place.run(&program, &["fsck"]));
        }
    }
}
