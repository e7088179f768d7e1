//! How much somebody may store.

use super::{DAY, claim, public, user};
use crate::common::economy::all_is_well;
use crate::common::{Bundle, TestHub, TestResponse, both_with, on_sqlite};
use capsid_hub::config::HubConfig;
use capsid_rules::rate_limit::RateLimit;
use serde_json::json;

/// What a bundle takes, in bytes.
fn size(bundle: &Bundle) -> i64 {
    [&bundle.gene, &bundle.capsule, &bundle.event].iter().map(|asset| asset.to_string().len() as i64).sum()
}

/// A bundle with some weight that the hub takes.
fn heavy(n: u64, bytes: usize) -> Bundle {
    Bundle::new(n).with(|bundle| bundle.capsule["meta"] = json!({"note": "word ".repeat(bytes / 5)}))
}

#[test]
fn forty_eight_megabytes_are_not_stored_by_one_node_in_seconds() {
    // A small limit stands for a large one.
    let limited = |config: &mut capsid_hub::config::HubConfig| {
        config.quotas.publish_bytes = vec![200_000];
    };
    both_with(limited, |hub| {
        let mut stored = 0;
        let refused = (0..100).find_map(|n| {
            let bundle = heavy(n, 50_000);
            let answer = hub.publish("node_a", &bundle);
            if answer.status != 200 {
                return Some(answer);
            }
            stored += size(&bundle);
            None
        });
        let refused = refused.unwrap().refused(429, "rate_limited");
        assert!(stored <= 200_000 && stored > 140_000, "{stored}");
        assert_eq!(refused["retry_after_ms"], DAY);
        assert_eq!(
            (&refused["policy"]["limit"], &refused["policy"]["unit"]),
            (&json!(200_000), &json!("bytes"))
        );
        assert_eq!(refused["policy"]["used"], stored);
        // Others are not concerned, and there is a new day.
        hub.publish("node_b", &Bundle::new(900)).expect(200);
        hub.publish("node_a", &heavy(0, 50_000)).expect(200);
        hub.clock.advance(DAY);
        hub.publish("node_a", &heavy(901, 50_000)).expect(200);
        all_is_well(hub);
    });
}

#[test]
fn one_byte_above_the_limit_is_refused() {
    let bundle = Bundle::new(7);
    for (limit, status) in [(size(&bundle), 200), (size(&bundle) - 1, 429)] {
        both_with(
            |config| config.quotas.publish_bytes = vec![limit],
            |hub| assert_eq!(hub.publish("node_a", &bundle).status, status),
        );
    }
}

#[test]
fn bundles_are_counted_by_the_level_of_their_owner() {
    let few = |config: &mut capsid_hub::config::HubConfig| {
        public(config);
        config.quotas.publish_bundles = vec![1, 3];
    };
    both_with(few, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_known");
        claim(hub, &token, "node_second");
        let publish = |node: &str, n: u64| -> TestResponse { hub.publish(node, &Bundle::new(n)) };
        publish("node_free", 1).expect(200);
        let refused = publish("node_free", 2).refused(429, "rate_limited");
        assert_eq!((&refused["policy"]["limit"], &refused["policy"]["unit"]), (&json!(1), &json!("bundles")));
        // The nodes of one account share.
        for (node, n) in [("node_known", 3), ("node_second", 4), ("node_known", 5)] {
            publish(node, n).expect(200);
        }
        publish("node_second", 6).refused(429, "rate_limited");
    });
}

#[test]
fn an_asset_that_is_too_large_is_refused() {
    on_sqlite(|hub| {
        let limit = hub.hub.config.quotas.asset_bytes as usize;
        let publish = |hub: &TestHub, key: &str, bytes: usize| {
            let value = json!("word ".repeat(bytes / 5));
            hub.publish("node_a", &Bundle::new(bytes as u64).with(|bundle| bundle.capsule[key] = value))
        };
        publish(hub, "execution_trace", limit - 2_000).expect(200);
        let refused = publish(hub, "execution_trace", limit + 10).refused(413, "payload_too_large");
        assert_eq!(refused["limit_bytes"], limit);
        publish(hub, "x_payload", 16_000).expect(200);
        let refused = publish(hub, "x_payload", 17_000).refused(413, "payload_too_large");
        assert_eq!(refused["limit_bytes"], 16 * 1024);
    });
}

/// Whoever has one address often has all of its network.
#[test]
fn hellos_and_new_accounts_are_counted_for_the_network() {
    let few = |config: &mut HubConfig| {
        public(config);
        config.limits.hello = RateLimit::per_hour(2);
        config.limits.register = RateLimit::per_hour(2);
    };
    both_with(few, |hub| {
        let addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| hub.from(address));
        let elsewhere = hub.from("198.51.100.1");
        let login =
            |name: &str| json!({"email": format!("{name}@example.org"), "password": "correct horse battery"});
        for (n, address) in addresses.iter().enumerate().take(2) {
            address.hello(&format!("node_{n}"), None, json!({})).expect(200);
            address.post("/auth/register", None, &login(&format!("user{n}"))).expect(201);
        }
        addresses[2].hello("node_2", None, json!({})).refused(429, "hello_rate_limit");
        addresses[2].post("/auth/register", None, &login("user2")).refused(429, "rate_limited");
        elsewhere.hello("node_3", None, json!({})).expect(200);
        elsewhere.post("/auth/register", None, &login("user3")).expect(201);
    });
}
