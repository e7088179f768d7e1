//! The graph follows what is published, reported, withdrawn and solved: at any moment it is what a rebuild makes.
//! `CAPSID_SEED=n` repeats a run, `CAPSID_SOAK=1` makes it longer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use capsid_store::{dump, graph};
use common::{Bundle, TestHub, both};
use serde_json::json;

/// The rows of the graph's tables.
fn graph_dump(hub: &TestHub) -> String {
    let text = hub.hub.store.read_now(dump::dump).unwrap();
    let mut wanted = false;
    let keep = |line: &&str| {
        if !line.starts_with(' ') {
            wanted = line.starts_with("graph_");
        }
        wanted
    };
    text.lines().filter(keep).collect::<Vec<_>>().join("\n")
}

/// Checks that a rebuild changes nothing, and gives what is there.
#[track_caller]
fn same_after_rebuild(hub: &TestHub, log: &[String]) -> String {
    let before = graph_dump(hub);
    hub.hub.store.write_now(|tx| graph::rebuild(tx, &mut |_, _, _| {})).unwrap();
    let after = graph_dump(hub);
    let differ = before.lines().zip(after.lines()).find(|(a, b)| a != b);
    assert!(before == after, "{differ:#?}\n{}", log.join("\n"));
    after
}

#[test]
fn a_bundle_is_in_the_graph_until_it_is_withdrawn() {
    both(|hub| {
        let bundle = Bundle::new(1).with(|bundle| {
            bundle.capsule["trigger"] = json!(["TimeoutError", "retry"]);
        });
        hub.publish("node_a", &bundle).expect(200);
        let full = same_after_rebuild(hub, &[]);
        for part in ["key=\"timeout_error\"", "kind=\"solved_by\"", "kind=\"co_occurs\"", "key=\"linux_x64\""]
        {
            assert!(full.contains(part), "{part} in {full}");
        }
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id(), "reason": "wrong"}))
            .expect(200);
        let left = same_after_rebuild(hub, &[]);
        assert!(!left.contains("solved_by") && !left.contains("timeout_error"), "{left}");
    });
}
