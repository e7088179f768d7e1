//! What was told can be taken back by who told it, and by nobody else.

use super::{fill, graph_dump};
use crate::common::economy::{balance, trusting, user};
use crate::common::{both, both_with};
use capsid_rules::rate_limit::RateLimit;
use serde_json::{Value, json};

fn pool() -> Value {
    json!({
        "entities": [
            {"name": "Connection pool", "entity_type": "technique", "properties": {"size": 10}},
            {"name": "TimeoutError", "entity_type": "signal"},
        ],
        "relations": [{"source_name": "Connection pool", "target_name": "TimeoutError", "target_type": "signal",
            "type": "prevents"}],
    })
}

#[test]
fn what_was_told_is_taken_back_as_it_was_told() {
    both(|hub| {
        let [timeouts, _] = fill(hub);
        let before = graph_dump(hub);
        let (ann, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        hub.post_as(&ann, "/kg/ingest", &pool()).expect(200);
        let of_ann = graph_dump(hub);
        hub.post_as(&bob, "/kg/ingest", &pool()).expect(200);
        let gone = hub.post_as(&bob, "/kg/forget", &pool()).expect(200);
        assert_eq!(gone, json!({"forgotten": {"entities": 2, "relations": 1}, "not_told": 0}));
        assert_eq!(graph_dump(hub), of_ann, "what another one told stays");
        let again = hub.post_as(&bob, "/kg/forget", &pool()).expect(200);
        assert_eq!(again, json!({"forgotten": {"entities": 0, "relations": 0}, "not_told": 3}));
        // What was said of an asset can be taken back after it was withdrawn.
        let uses = json!({"relations": [{"source_name": "Connection pool", "target_name": timeouts.capsule_id(), "type": "used_in"}]});
        hub.post_as(&ann, "/kg/ingest", &uses).expect(200);
        hub.message("node_maker", "revoke", json!({"target_asset_id": timeouts.capsule_id()})).expect(200);
        let gone = hub.post_as(&ann, "/kg/forget", &uses).expect(200);
        assert_eq!(gone["forgotten"]["relations"], 1, "{gone}");
        let all = hub.post_as(&ann, "/kg/forget", &json!({"everything": true})).expect(200);
        assert_eq!(all, json!({"forgotten": {"entities": 2, "relations": 1}, "not_told": 0}));
        assert_eq!(hub.get_as(&ann, "/kg/my-graph").expect(200)["count"], 0);
        let left = graph_dump(hub);
        assert!(!left.contains("connection pool") && before.contains("timeout_error"), "{left}");
    });
}

#[test]
fn only_who_told_takes_back() {
    both_with(
        |config| {
            trusting(config);
            config.graph.ingest_price = 250;
            config.graph.most_told = 3;
            config.limits.graph_ingest = RateLimit { count: 6, window_ms: 60_000 };
        },
        |hub| {
            let (ann, account) = user(hub, "ann");
            hub.post_as(&ann, "/kg/ingest", &pool()).expect(200);
            let more = json!({"entities": [{"name": "More", "entity_type": "concept"}]});
            let full = hub.post_as(&ann, "/kg/ingest", &more).refused(409, "state_conflict");
            assert!(full.to_string().contains("/kg/forget"), "{full}");
            let (before, paid) = (graph_dump(hub), balance(hub, &account));
            hub.post("/kg/forget", &json!({"everything": true})).refused(401, "unauthorized");
            hub.register("node_b");
            hub.post("/kg/forget", &json!({"everything": true, "sender_id": "node_b"})).expect(200);
            for body in [
                json!({"everything": true, "entities": []}),
                json!({"everything": "all"}),
                json!({"entities": [{"name": "x"}]}),
                json!({"entities": [{"name": "x", "entity_type": "tool", "odd": 1}]}),
                json!({"all": true}),
                json!({}),
            ] {
                hub.post_as(&ann, "/kg/forget", &body).refused(400, "validation_error");
            }
            assert_eq!(graph_dump(hub), before);
            hub.post_as(&ann, "/kg/forget", &json!({"everything": true})).expect(200);
            assert_eq!(balance(hub, &account), paid, "it costs nothing");
            hub.post_as(&ann, "/kg/ingest", &more).expect(200);
            for _ in 0..2 {
                hub.post_as(&ann, "/kg/forget", &more).expect(200);
            }
            hub.post_as(&ann, "/kg/forget", &more).refused(429, "rate_limited");
        },
    );
}
