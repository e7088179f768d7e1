//! Owners, ranking and promotion where nobody is known, and where everybody is.

use super::helpers::*;
use crate::common::{Bundle, TestHub, both, both_with, on_sqlite_with};
use capsid_hub::config::{HubConfig, HubProfile};
use capsid_model::time::Clock;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_store::accounts::AccountRole;
use capsid_store::evaluation::owners::{self, outcomes};
use capsid_store::evaluation::scoring;
use capsid_store::params;
use serde_json::{Value, json};

/// The defaults of the public profile, without what is about rates.
pub(super) fn public(config: &mut HubConfig) {
    let defaults = HubConfig::for_profile(HubProfile::Public);
    config.profile = HubProfile::Public;
    config.owners = defaults.owners;
    config.promotion = defaults.promotion;
    config.ranking = defaults.ranking;
}

/// A node that an account claimed and that showed its secret.
pub(super) fn claimed(hub: &TestHub, name: &str) -> String {
    let node_id = format!("node_{name}");
    account(hub, name, AccountRole::User);
    hub.register(&node_id);
    own(hub, name, &node_id);
    node_id
}

/// Gives an account a level and a weight, as if it had earned them.
pub(super) fn trust(hub: &TestHub, name: &str, level: i64, weight: f64) {
    let (owner, now) = (format!("user:user_{name}"), hub.clock.now());
    hub.hub
        .store
        .write_now(move |tx| {
            tx.run(
                "INSERT INTO owners (owner, level, weight, settled, agreed, conditions, assessed_at)
                 VALUES ($1, $2, $3, 0, 0, '[]', $4)
                 ON CONFLICT (owner) DO UPDATE SET level = excluded.level, weight = excluded.weight",
                params![&owner, level, weight, now],
            )
        })
        .unwrap();
}

/// Reports on an asset, with a report of this grade and weight.
fn graded(hub: &TestHub, node_id: &str, asset: &str, ok: bool, grade: EvidenceGrade, weight: f64) {
    report(hub, node_id, asset, ok).expect(200);
    let (node_id, id, now) = (node_id.to_owned(), id(asset), hub.clock.now());
    hub.hub
        .store
        .write_now(move |tx| {
            tx.run(
                "UPDATE reports SET grade = $3, weight = $4 WHERE node_id = $1 AND asset_id = $2",
                params![&node_id, &id, grade.as_str(), weight],
            )?;
            scoring::rescore(tx, &id, now)
        })
        .unwrap();
}

/// An owner that has had an asset from now on; gives its node. With `reports`, it reports that the asset works.
pub(super) fn give_use(hub: &TestHub, name: &str, capsule: &str, level: i64, reports: bool) -> String {
    let node_id = claimed(hub, name);
    trust(hub, name, level, 0.9);
    let (node, id, now) = (node_id.clone(), id(capsule), hub.clock.now());
    hub.hub
        .store
        .write_now(move |tx| {
            tx.run(
                "INSERT INTO fetches (asset_id, node_id, counts, calls, first_at, last_at)
                 VALUES ($1, $2, 1, 3, $3, $3)",
                params![&id, &node, now],
            )?;
            tx.run(
                "UPDATE assets SET reuse_count = reuse_count + 1, call_count = call_count + 3 WHERE asset_id = $1",
                params![&id],
            )?;
            tx.run(
                "INSERT INTO fetch_days (asset_id, day, calls) VALUES ($1, $2, 3)
                 ON CONFLICT (asset_id, day) DO UPDATE SET calls = fetch_days.calls + 3",
                params![&id, now.0 / DAY],
            )
        })
        .unwrap();
    if reports {
        graded(hub, &node_id, capsule, true, EvidenceGrade::Used, 0.225);
    }
    node_id
}

fn fetch(hub: &TestHub, node_id: &str, asset: &str) {
    hub.message(node_id, "fetch", json!({"asset_ids": [asset]})).expect(200);
}

fn decide_as_operator(hub: &TestHub, asset: &str, passed: bool) {
    let (id, now) = (id(asset), hub.clock.now());
    hub.hub.store.write_now(move |tx| outcomes::record_outcome(tx, &id, passed, "operator", now)).unwrap();
}

fn obstacles(hub: &TestHub, asset: &str) -> Value {
    hub.get(&format!("/a2a/assets/{asset}")).expect(200)["why_not_promoted"].clone()
}

pub(super) fn codes(hub: &TestHub, asset: &str) -> Vec<String> {
    let found = obstacles(hub, asset);
    found.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

/// A bundle that declares as much as it can, with a test that cannot fail.
fn junk(n: u64) -> Bundle {
    Bundle::new(n).with(|bundle| {
        bundle.gene["validation"] = json!(["node --version"]);
        bundle.capsule["confidence"] = json!(1.0);
        bundle.capsule["success_streak"] = json!(99);
        bundle.capsule["trigger"] = json!(["Signal1Error", "timeout", "refused", "missing", "flaky"]);
        bundle.capsule["blast_radius"] = json!({"files": 1, "lines": 1});
    })
}

fn score(hub: &TestHub, asset_id: &str) -> f64 {
    asset(hub, asset_id).gdi as f64 / 100.0
}

#[test]
fn free_nodes_do_not_outrank_assets_with_nine_passing_reports() {
    both_with(public, |hub| {
        let honest = Bundle::new(1);
        let publisher = claimed(hub, "honest");
        hub.publish(&publisher, &honest).expect(200);
        trust(hub, "honest", 1, 0.8);
        for n in 0..9 {
            let name = format!("member{n}");
            let node_id = claimed(hub, &name);
            trust(hub, &name, 1, 0.7);
            graded(hub, &node_id, honest.capsule_id(), true, EvidenceGrade::Assigned, 0.35);
        }
        let junk = junk(2);
        hub.publish("node_attacker", &junk).expect(200);
        let id = id(junk.capsule_id());
        hub.hub
            .store
            .write_now(move |tx| {
                tx.run("UPDATE assets SET status = 'promoted' WHERE asset_id = $1", params![&id])
            })
            .unwrap();
        for n in 0..25 {
            let node_id = format!("node_free{n}");
            hub.register(&node_id);
            fetch(hub, &node_id, junk.capsule_id());
            graded(hub, &node_id, junk.capsule_id(), true, EvidenceGrade::Fetched, 0.0);
        }
        let (good, bad) = (score(hub, honest.capsule_id()), score(hub, junk.capsule_id()));
        assert!(good > bad + 5.0, "{good} and {bad}");
        assert!(bad < 13.0, "{bad}");
    });
}

#[test]
fn four_free_nodes_do_not_hold_a_good_candidate_back() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1);
        let publisher = claimed(hub, "honest");
        trust(hub, "honest", 1, 0.8);
        hub.publish(&publisher, &bundle).expect(200);
        for n in 0..3 {
            let name = format!("member{n}");
            let node_id = claimed(hub, &name);
            trust(hub, &name, 1, 0.7);
            graded(hub, &node_id, bundle.capsule_id(), true, EvidenceGrade::Reproduced, 0.7);
        }
        for n in 0..4 {
            let node_id = format!("node_free{n}");
            hub.register(&node_id);
            graded(hub, &node_id, bundle.capsule_id(), false, EvidenceGrade::Fetched, 0.0);
        }
        assert_eq!(codes(hub, bundle.capsule_id()), ["waiting_for_arbiter"]);
        decide_as_operator(hub, bundle.capsule_id(), true);
        hub.run_jobs();
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn the_report_of_a_staked_validator_weighs_enough_in_the_private_profile() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_evolver");
        report(hub, "node_evolver", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn self_declared_values_do_not_outrank_honest_work_after_one_friendly_pass() {
    both(|hub| {
        let honest = Bundle::new(1);
        let inflated = junk(2);
        hub.publish("node_a", &honest).expect(200);
        hub.publish("node_b", &inflated).expect(200);
        for n in 0..3 {
            graded(hub, &format!("node_u{n}"), honest.capsule_id(), true, EvidenceGrade::Applied, 1.0);
        }
        graded(hub, "node_friend", inflated.capsule_id(), true, EvidenceGrade::Assigned, 1.0);
        let (good, bad) = (score(hub, honest.capsule_id()), score(hub, inflated.capsule_id()));
        assert!(good > bad + 5.0, "{good} and {bad}");
    });
}

#[test]
fn a_bundle_with_one_pass_is_promoted_in_the_private_profile() {
    both(|hub| {
        for (n, bundle) in [Bundle::new(1), junk(2)].iter().enumerate() {
            hub.publish("node_a", bundle).expect(200);
            graded(hub, &format!("node_b{n}"), bundle.capsule_id(), true, EvidenceGrade::Fetched, 0.5);
            run_jobs(hub);
            assert_eq!(status(hub, bundle.capsule_id()), "promoted");
        }
    });
}

#[test]
fn all_free_nodes_of_a_network_are_one_fetcher() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1);
        let publisher = claimed(hub, "honest");
        hub.publish(&publisher, &bundle).expect(200);
        let id = id(bundle.capsule_id());
        hub.hub
            .store
            .write_now(move |tx| {
                tx.run("UPDATE assets SET status = 'promoted' WHERE asset_id = $1", params![&id])
            })
            .unwrap();
        for n in 0..25 {
            hub.register(&format!("node_free{n}"));
            fetch(hub, &format!("node_free{n}"), bundle.capsule_id());
        }
        let asset = asset(hub, bundle.capsule_id());
        let now = hub.clock.now();
        let known = hub.hub.store.read_now(move |tx| scoring::evidence(tx, &asset, now)).unwrap();
        assert_eq!((known.unique_fetchers_30d, known.owners.fetchers_30d), (25, 0.1));
    });
}

#[test]
fn outcomes_that_strangers_alone_decided_never_raise_a_weight() {
    both_with(public, |hub| {
        let node_id = claimed(hub, "member");
        let others: Vec<String> = (0..3).map(|n| claimed(hub, &format!("other{n}"))).collect();
        let mut settled = Vec::new();
        for n in 1..=6 {
            let bundle = Bundle::new(n);
            hub.publish(&format!("node_p{n}"), &bundle).expect(200);
            for node in others.iter().chain([&node_id]) {
                graded(hub, node, bundle.capsule_id(), true, EvidenceGrade::Assigned, 0.5);
            }
            settled.push(bundle);
        }
        let weight = |hub: &TestHub| {
            hub.clock.advance(2 * DAY);
            hub.run_jobs();
            hub.hub.store.read_now(|tx| owners::load_standing(tx, "user:user_member")).unwrap().weight
        };
        assert_eq!(weight(hub), 0.0);
        for bundle in &settled[..5] {
            decide_as_operator(hub, bundle.capsule_id(), true);
        }
        let earned = weight(hub);
        assert!((earned - 0.65).abs() < 0.01, "{earned}");
        // A report that comes after the outcome settles nothing, and what it replaces was wrong all the same.
        decide_as_operator(hub, settled[5].capsule_id(), false);
        let wrong_once = weight(hub);
        assert!(wrong_once < earned, "{wrong_once}");
        graded(hub, &node_id, settled[5].capsule_id(), false, EvidenceGrade::Assigned, 0.5);
        assert_eq!(weight(hub), wrong_once);
    });
}

#[test]
fn levels_are_assessed_daily_and_shown_with_reasons() {
    both_with(public, |hub| {
        let node_id = claimed(hub, "member");
        let secret = hub.register("node_second");
        own(hub, "member", "node_second");
        let shown =
            |hub: &TestHub| hub.get(&format!("/a2a/nodes/{node_id}/reputation")).expect(200)["owner"].clone();
        assert_eq!(shown(hub)["owner_level"], 0);
        for _ in 0..7 {
            hub.clock.advance(DAY);
            hub.message_as("node_second", &secret, "heartbeat", json!({"node_id": "node_second"}))
                .expect(200);
        }
        run_jobs(hub);
        let owner = shown(hub);
        assert_eq!(owner["owner_level"], 1, "{owner}");
        let first = &owner["conditions"][1];
        assert_eq!(
            (&first["text"], &first["have"]),
            (&json!("The account is at least 7 days old."), &json!(7.0))
        );
        let now = hub.clock.now();
        hub.hub
            .store
            .write_now(move |tx| tx.run("UPDATE nodes SET last_strike_at = $1", params![now]))
            .unwrap();
        hub.clock.advance(DAY);
        run_jobs(hub);
        assert_eq!(shown(hub)["owner_level"], 0);
        let levels = audited(hub, "user", "user_member").into_iter().filter(|entry| entry.action == "level");
        assert_eq!(levels.count(), 2);
    });
}

#[test]
fn a_second_node_has_the_reputation_of_the_first() {
    both(|hub| {
        account(hub, "member", AccountRole::User);
        hub.register("node_one");
        own(hub, "member", "node_one");
        let bundle = Bundle::new(1);
        hub.publish("node_one", &bundle).expect(200);
        graded(hub, "node_b", bundle.capsule_id(), true, EvidenceGrade::Fetched, 0.5);
        run_jobs(hub);
        let first = node(hub, "node_one").reputation;
        assert!(first > 50.0, "{first}");
        hub.register("node_two");
        own(hub, "member", "node_two");
        run_jobs(hub);
        assert_eq!(node(hub, "node_two").reputation, node(hub, "node_one").reputation);
    });
}

#[test]
fn why_not_promoted_names_the_rule_the_values_and_who_could_help() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let member = claimed(hub, "member");
        trust(hub, "member", 1, 0.7);
        graded(hub, &member, bundle.capsule_id(), true, EvidenceGrade::Assigned, 0.35);
        let found = obstacles(hub, bundle.capsule_id());
        let quorum: Vec<&Value> =
            found.as_array().unwrap().iter().filter(|one| one["code"] != "gdi_too_low").collect();
        assert_eq!(
            json!(quorum),
            json!([
                {
                    "code": "too_few_owners",
                    "rule": "promotion.min_owners",
                    "text": "1 of the 3 owners that it takes reported that it works.",
                    "have": 1.0,
                    "need": 3.0,
                    "help": "Other owners: take it on trial or fetch it, run its test, and report the result."
                },
                {
                    "code": "weight_too_low",
                    "rule": "promotion.min_weight",
                    "text": "The passing reports weigh 0.35 together; it takes 1.5.",
                    "have": 0.35,
                    "need": 1.5,
                    "help": "Validators that the hub asks, and owners that reproduce it: their reports weigh most."
                },
                {
                    "code": "waiting_for_arbiter",
                    "rule": "promotion.arbiter",
                    "text": "An arbiter must be among those that passed it: it is one of its publisher's first 3 assets.",
                    "have": 0.0,
                    "need": 1.0,
                    "help": "The hub's runner, an administrator, or somebody whom an operator appointed."
                }
            ])
        );
        let low = found.as_array().unwrap().iter().find(|one| one["code"] == "gdi_too_low").unwrap();
        assert_eq!(low["rule"], "promotion.min_gdi");
        assert_eq!(low["need"], 20.0);
    });
}

#[test]
fn what_has_no_test_that_could_fail_is_promoted_by_use_and_shown_as_used() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1).with(|bundle| bundle.gene["validation"] = json!(["node --version"]));
        let publisher = claimed(hub, "publisher");
        trust(hub, "publisher", 2, 0.9);
        hub.publish(&publisher, &bundle).expect(200);
        let capsule = bundle.capsule_id();
        let give = |hub: &TestHub, name: &str, level: i64| give_use(hub, name, capsule, level, true);
        give(hub, "one", 2);
        give(hub, "two", 1);
        hub.clock.advance(DAY);
        assert_eq!(codes(hub, capsule), ["too_few_users"]);
        give(hub, "three", 1);
        assert_eq!(codes(hub, capsule), ["too_few_users"]);
        hub.clock.advance(DAY);
        hub.run_jobs();
        assert_eq!(status(hub, capsule), "promoted");
        let detail = hub.get(&format!("/a2a/assets/{capsule}")).expect(200);
        assert_eq!(detail["trust"]["level"], "used");
        assert_eq!(
            detail["trust"]["text"],
            "Used by 3 independent owners, last on 2026-01-02 (linux_x64). Its test proves nothing."
        );
    });
}

#[test]
fn rows_tell_declared_values_only_as_far_as_others_bear_them_out() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let id = id(bundle.capsule_id());
        hub.hub
            .store
            .write_now(move |tx| {
                tx.run("UPDATE assets SET status = 'promoted' WHERE asset_id = $1", params![&id])
            })
            .unwrap();
        let rows = |hub: &TestHub| {
            let ranked = hub.get("/a2a/assets/ranked?type=Capsule").expect(200)["assets"][0].clone();
            let payload = json!({"asset_ids": [bundle.capsule_id()], "search_only": true});
            let found = hub.message("node_b", "fetch", payload).expect(200)["payload"]["results"][0].clone();
            [ranked, found]
        };
        for row in rows(hub) {
            assert_eq!(row["confidence"], 0.17, "{row}");
            assert_eq!(row["success_streak"], 1);
            assert_eq!(row["reputation_score"], 30.0);
            let declared = json!({"confidence": 0.85, "success_streak": 3, "reputation_score": 50.0});
            assert_eq!(row["declared"], declared);
            assert_eq!(row["trust"]["level"], "untested");
        }
        let body = hub.message("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        assert_eq!(body["payload"]["results"][0]["confidence"], 0.85);
        let member = claimed(hub, "member");
        graded(hub, &member, bundle.capsule_id(), true, EvidenceGrade::Hub, 3.0);
        for row in rows(hub) {
            assert_eq!(row["confidence"], 0.578, "{row}");
            assert_eq!(row["success_streak"], 3);
            assert_eq!(row["trust"]["level"], "proven");
        }
    });
}

#[test]
fn an_upgrade_demotes_nothing_and_evaluates_again_within_a_week() {
    both_with(
        |_| {},
        |hub| {
            let bundles: Vec<Bundle> = (1..=3).map(Bundle::new).collect();
            for bundle in &bundles {
                let weak = bundle
                    .clone()
                    .with(|bundle| bundle.gene["validation"] = json!(["npm test --if-present"]));
                hub.publish("node_a", &weak).expect(200);
                graded(hub, "node_b", weak.capsule_id(), true, EvidenceGrade::Fetched, 0.5);
            }
            run_jobs(hub);
            // As a database looks that an earlier version filled.
            hub.hub
                .store
                .write_now(|tx| {
                    tx.run(
                        "UPDATE assets SET unproven = 1, proof = 'real' WHERE asset_type <> 'EvolutionEvent'",
                        params![],
                    )
                })
                .unwrap();
            let count = |hub: &TestHub, sql: &'static str| {
                hub.hub.store.read_now(move |tx| tx.count(sql, params![])).unwrap()
            };
            let promoted = "SELECT COUNT(*) FROM assets WHERE status = 'promoted'";
            let waiting = "SELECT COUNT(*) FROM assets WHERE unproven = 1";
            let before = (count(hub, promoted), count(hub, waiting));
            assert_eq!(before.1, 6);
            let row = hub.get("/a2a/assets/ranked?type=Capsule").expect(200)["assets"][0].clone();
            assert_eq!(row["unproven"], true);
            run_jobs(hub);
            assert_eq!(count(hub, waiting), 5, "one is due in the first minute");
            for _ in 0..5 {
                hub.clock.advance(2 * DAY);
                run_jobs(hub);
            }
            assert_eq!(count(hub, waiting), 0);
            assert_eq!(count(hub, promoted), before.0);
            assert_eq!(count(hub, "SELECT COUNT(*) FROM assets WHERE proof = 'weak'"), 6);
        },
    );
}

#[test]
fn a_weak_validation_is_real_once_somebody_showed_that_it_fails_without_the_change() {
    on_sqlite_with(public, |hub| {
        let bundle =
            Bundle::new(1).with(|bundle| bundle.gene["validation"] = json!(["npm test --if-present"]));
        hub.publish("node_a", &bundle).expect(200);
        let member = claimed(hub, "member");
        trust(hub, "member", 1, 0.8);
        graded(hub, &member, bundle.capsule_id(), true, EvidenceGrade::Assigned, 0.4);
        let weak = score(hub, bundle.capsule_id());
        graded(hub, &member, bundle.capsule_id(), true, EvidenceGrade::Reproduced, 0.8);
        assert!(score(hub, bundle.capsule_id()) > weak + 3.0);
    });
}
