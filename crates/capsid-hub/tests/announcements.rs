//! Announcements: of new tasks those hear who can take them, and nobody once they are taken.

use crate::common::economy::{claim, event_kinds, offer, pass, quiet, user};
use crate::common::{TestHub, both_with};
use serde_json::json;

/// Makes a node one of an account's.
fn own(hub: &TestHub, node: &str, account: &str) {
    let owner = account.strip_prefix("user:").unwrap();
    hub.change(&format!("UPDATE nodes SET owner = '{owner}', claimed_at = 1 WHERE node_id = '{node}'"));
}

/// Lets a node say that it takes any work.
fn takes_work(hub: &TestHub, node: &str) {
    hub.post("/a2a/worker/register", &json!({"sender_id": node, "enabled": true})).expect(200);
}

fn waiting(hub: &TestHub) -> bool {
    hub.hub.store.read_now(capsid_store::work::announcements::is_waiting).unwrap()
}

#[test]
fn nobody_hears_of_a_task_that_was_taken_or_taken_back_before() {
    both_with(quiet, |hub| {
        for node in ["node_quick", "node_slow"] {
            hub.register(node);
            takes_work(hub, node);
        }
        let (ann, _) = user(hub, "ann");
        let (_, taken) = offer(hub, &ann, 20.0);
        let (cancelled, _) = offer(hub, &ann, 20.0);
        claim(hub, "node_quick", &taken);
        hub.post_as(&ann, &format!("/bounty/{cancelled}/cancel"), &json!({})).expect(200);
        pass(hub, 1000);
        assert_eq!(event_kinds(hub, "node_slow"), [""; 0]);
        assert_eq!(event_kinds(hub, "node_quick"), ["task_assigned"]);
        assert!(!waiting(hub), "what nobody is to be told is done with");

        offer(hub, &ann, 20.0);
        pass(hub, 1000);
        assert_eq!(event_kinds(hub, "node_slow"), ["high_value_task"]);
    });
}

#[test]
fn a_task_is_announced_to_models_that_may_do_it() {
    let ranked = |config: &mut capsid_hub::config::HubConfig| {
        quiet(config);
        config.work.model_tiers = vec![("large".to_owned(), 4)];
    };
    both_with(ranked, |hub| {
        for (node, model) in
            [("node_large", json!("Large")), ("node_named", json!("small")), ("node_other", json!("x"))]
        {
            hub.message(node, "hello", json!({ "model": model })).expect(200);
        }
        hub.register("node_silent");
        let (ann, _) = user(hub, "ann");
        let asked = json!({"title": "Fix the timeout", "amount": 20, "min_model_tier": 3, "allowed_models": ["small"]});
        hub.post_as(&ann, "/bounty/create", &asked).expect(201);
        pass(hub, 1000);
        for node in ["node_large", "node_named"] {
            assert_eq!(event_kinds(hub, node), ["high_value_task"], "{node}");
        }
        for node in ["node_other", "node_silent"] {
            assert_eq!(event_kinds(hub, node), [""; 0], "{node}");
        }
    });
}

#[test]
fn whoever_asked_is_not_told_nor_are_their_other_nodes() {
    both_with(quiet, |hub| {
        let (ann, account) = user(hub, "ann");
        let secret = hub.register("node_asks");
        for node in ["node_brother", "node_stranger"] {
            hub.register(node);
        }
        for node in ["node_asks", "node_brother", "node_stranger"] {
            takes_work(hub, node);
        }
        own(hub, "node_brother", &account);
        offer(hub, &ann, 20.0);
        pass(hub, 1000);
        assert_eq!(event_kinds(hub, "node_brother"), [""; 0]);
        assert_eq!(event_kinds(hub, "node_stranger"), ["high_value_task"]);
        assert_eq!(event_kinds(hub, "node_asks"), ["high_value_task"]);

        // A node that nobody owns is not told of its own question, and others that nobody owns are.
        let question = json!({"node_id": "node_asks", "question": "Why does it time out?", "amount": 20});
        hub.post_as(&secret, "/a2a/ask", &question).expect(200);
        pass(hub, 1000);
        assert_eq!(event_kinds(hub, "node_asks").len(), 1);
        assert_eq!((event_kinds(hub, "node_stranger").len(), event_kinds(hub, "node_brother").len()), (2, 1));

        own(hub, "node_asks", &account);
        let question =
            json!({"node_id": "node_asks", "question": "Why does it time out again?", "amount": 20});
        hub.post_as(&secret, "/a2a/ask", &question).expect(200);
        pass(hub, 1000);
        assert_eq!((event_kinds(hub, "node_stranger").len(), event_kinds(hub, "node_brother").len()), (3, 1));
    });
}
