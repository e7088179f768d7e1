//! What questions and tellings cost, to the thousandth, and that nobody pays for what fails.

use super::fill;
use crate::common::economy::{all_is_well, balance, node_balance, quiet, text, user};
use crate::common::{TestHub, both_with};
use capsid_hub::config::HubConfig;
use serde_json::{Value, json};

fn priced(config: &mut HubConfig) {
    quiet(config);
    config.graph.query_price = 1_500;
    config.graph.ingest_price = 250;
}

fn entity(name: &str) -> Value {
    json!({"entities": [{"name": name, "entity_type": "concept"}]})
}

/// The entries of a statement: kind, delta and balance.
fn entries(hub: &TestHub, token: &str) -> Vec<(String, f64, f64)> {
    let statement = hub.get_as(token, "/account/statement?limit=100").expect(200);
    let entry = |entry: &Value| {
        (text(&entry["kind"]), entry["delta"].as_f64().unwrap(), entry["balance_after"].as_f64().unwrap())
    };
    statement["entries"].as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn an_account_pays_for_what_it_gets_and_for_nothing_else() {
    both_with(priced, |hub| {
        fill(hub);
        let (token, account) = user(hub, "ann");
        let asked = json!({"query": "timeout"});
        assert_eq!(balance(hub, &account), 200_000);
        let answer = hub.post_as(&token, "/kg/query", &asked).expect(200);
        assert_eq!(answer["credits_charged"], 1.5);
        assert_eq!(balance(hub, &account), 198_500);
        let answer = hub.post_as(&token, "/kg/ingest", &entity("backoff")).expect(200);
        assert_eq!(answer["credits_charged"], 0.25);
        assert_eq!(balance(hub, &account), 198_250);
        assert_eq!(hub.get_as(&token, "/kg/graph?q=timeout").expect(200)["credits_charged"], 1.5);
        assert_eq!(balance(hub, &account), 196_750);
        for refused in [
            hub.post_as(&token, "/kg/query", &json!({"query": ""})),
            hub.post_as(&token, "/kg/query", &json!({"query": "x", "filters": {"odd": 1}})),
            hub.post_as(&token, "/kg/ingest", &json!({"entities": []})),
            hub.post_as(&token, "/kg/ingest", &json!({"entities": [{"name": ""}]})),
            hub.post_as(
                &token,
                "/kg/ingest",
                &json!({"relations": [{"source_name": "nothing", "target_name": "nowhere", "type": "x"}]}),
            ),
            hub.get_as(&token, "/kg/path?from=nothing&to=nowhere"),
            hub.get_as(&token, "/kg/graph?around=e_0000000000000000"),
        ] {
            assert!((400..500).contains(&refused.status), "{refused}");
            assert_eq!(balance(hub, &account), 196_750, "{refused}");
        }
        assert_eq!(balance(hub, "hub"), 3_250);
        let kinds = entries(hub, &token);
        assert_eq!(kinds[0], ("graph_query".to_owned(), -1.5, 196.75));
        assert_eq!(kinds[1], ("graph_ingest".to_owned(), -0.25, 198.25));
        let status = hub.get_as(&token, "/kg/status").expect(200);
        assert_eq!(status["usage_30d"], json!({"query_count": 2, "ingest_count": 1, "total_credits": 3.25}));
        assert_eq!(
            (&status["balance"], &status["pricing"]),
            (&json!(196.75), &json!({"query": 1.5, "ingest": 0.25}))
        );
        let prices = hub.get("/a2a/credit/price").expect(200);
        assert_eq!(
            (&prices["prices"]["graph_query"], &prices["prices"]["graph_ingest"]),
            (&json!(1.5), &json!(0.25))
        );
        all_is_well(hub);
    });
}

#[test]
fn a_node_pays_with_its_secret_and_its_own_credits() {
    both_with(priced, |hub| {
        let secret = hub.register("node_a");
        let mut asked = json!({"query": "timeout", "sender_id": "node_a"});
        // While nobody has shown the secret anybody may speak for the node, but not spend what it holds.
        hub.post("/kg/query", &asked).refused(401, "node_secret_required");
        hub.post(
            "/kg/ingest",
            &json!({"sender_id": "node_a", "entities": [{"name": "x", "entity_type": "concept"}]}),
        )
        .refused(401, "node_secret_required");
        assert_eq!(node_balance(hub, "node_a"), 500_000);
        hub.post_as(&secret, "/kg/query", &asked).expect(200);
        assert_eq!(node_balance(hub, "node_a"), 498_500);
        asked["sender_id"] = json!("node_a");
        let body = json!({"sender_id": "node_a", "node_secret": secret, "entities": [{"name": "x", "entity_type": "concept"}]});
        hub.post("/kg/ingest", &body).expect(200);
        assert_eq!(node_balance(hub, "node_a"), 498_250);
        hub.get("/kg/graph?q=timeout").refused(401, "unauthorized");
        hub.get_as(&secret, "/kg/graph?q=timeout&node_id=node_a").expect(200);
        assert_eq!(node_balance(hub, "node_a"), 496_750);
        all_is_well(hub);
    });
}

#[test]
fn whoever_cannot_pay_is_told_what_is_missing_and_gets_nothing() {
    let dear = |config: &mut HubConfig| {
        quiet(config);
        config.graph.query_price = 150_000;
        config.graph.ingest_price = 120_000;
    };
    both_with(dear, |hub| {
        let (token, account) = user(hub, "ann");
        let asked = json!({"query": "timeout"});
        hub.post_as(&token, "/kg/query", &asked).expect(200);
        assert_eq!(balance(hub, &account), 50_000);
        let refused = hub.post_as(&token, "/kg/query", &asked).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(150), &json!(50)));
        let before = super::graph_dump(hub);
        let refused =
            hub.post_as(&token, "/kg/ingest", &entity("backoff")).refused(402, "insufficient_credits");
        assert_eq!((&refused["required"], &refused["available"]), (&json!(120), &json!(50)));
        assert_eq!(super::graph_dump(hub), before, "what is not paid for is not kept");
        hub.get_as(&token, "/kg/graph?q=x").refused(402, "insufficient_credits");
        assert_eq!(balance(hub, &account), 50_000);
        all_is_well(hub);
    });
}

#[test]
fn many_at_once_cannot_spend_more_than_there_is() {
    let dear = |config: &mut HubConfig| {
        quiet(config);
        config.graph.query_price = 60_000;
    };
    both_with(dear, |hub| {
        let (token, account) = user(hub, "ann");
        let answered = hub.runtime.block_on(async {
            let calls = (0..8).map(|_| {
                let body = json!({"query": "timeout"}).to_string().into_bytes();
                tokio::spawn(crate::common::send(
                    hub.router(),
                    crate::common::request("POST", "/kg/query", Some(&token), Some(body)),
                ))
            });
            let mut statuses = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                statuses.push(call.await.unwrap().status);
            }
            statuses
        });
        assert_eq!(answered.iter().filter(|status| **status == 200).count(), 3, "{answered:?}");
        assert!(answered.iter().all(|status| [200, 402].contains(status)), "{answered:?}");
        assert_eq!(balance(hub, &account), 20_000);
        all_is_well(hub);
    });
}
