//! The graph follows what is published, reported, withdrawn and solved: at any moment it is what a rebuild makes.
//! `CAPSID_SEED=n` repeats a run, `CAPSID_SOAK=1` makes it longer.

use crate::common::{Bundle, TestHub, both};
use capsid_model::time::Clock;
use capsid_rules::graph::ingest;
use capsid_rules::lifecycle::AssetEvent;
use capsid_rules::meaning::SemanticQuestion;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use capsid_store::graph::ForgetSelection;
use capsid_store::work::bounties::{assign, settle};
use capsid_store::{fsck, graph};
use capsid_testkit::rounds::{rounds, seeded_rng};
use fastrand::Rng;
use serde_json::{Value, json};
use tower::ServiceExt;

/// The rows of the graph.
fn graph_dump(hub: &TestHub) -> String {
    hub.follow();
    hub.hub.store.read_now(graph::dump).unwrap()
}

/// Checks that a rebuild changes nothing, and gives what is there.
#[track_caller]
fn same_after_rebuild(hub: &TestHub, log: &[String]) -> String {
    let before = graph_dump(hub);
    hub.hub.store.rebuild_index(hub.clock.now(), &mut |_, _, _| {}).unwrap();
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

#[test]
fn assets_are_found_by_what_hangs_together_with_them() {
    both(|hub| {
        let bundle = |n: u64, signals: &[&str]| {
            let signals = json!(signals);
            Bundle::new(n).with(|bundle| {
                bundle.gene["signals_match"] = signals.clone();
                bundle.capsule["trigger"] = signals;
            })
        };
        let near = bundle(1, &["upload_failed", "socket_hangup"]);
        let far = bundle(2, &["socket_hangup"]);
        for (node, bundle) in [("node_a", &near), ("node_b", &far)] {
            hub.publish(node, bundle).expect(200);
        }
        let find = || {
            hub.follow();
            let question = SemanticQuestion::parse("upload failed", &[]);
            hub.hub.store.read_now(move |tx| graph::related(tx, &question, 10)).unwrap()
        };
        let found = find();
        let ids: Vec<String> = found.iter().map(|related| related.asset_id.to_string()).collect();
        assert_eq!(ids[0], near.capsule_id(), "{ids:?}");
        let way =
            &found.iter().find(|related| related.asset_id.to_string() == far.capsule_id()).unwrap().path;
        let kinds: Vec<&str> = way.iter().map(|hop| hop.relation.kind.as_str()).collect();
        assert_eq!(kinds, ["co_occurs", "solved_by"]);
        assert_eq!(way[0].from.name, "upload_failed");
        assert_eq!(way[1].to.name, far.capsule["summary"].as_str().unwrap());
        hub.message("node_b", "revoke", json!({"target_asset_id": far.capsule_id()})).expect(200);
        assert!(find().iter().all(|related| related.asset_id.to_string() != far.capsule_id()));
    });
}

#[test]
fn what_strangers_tell_never_hides_what_the_hub_says() {
    both(|hub| {
        let bundle = |n: u64, signal: &str| {
            let signals = json!([signal]);
            Bundle::new(n).with(|bundle| {
                bundle.gene["signals_match"] = signals.clone();
                bundle.capsule["trigger"] = signals;
            })
        };
        let (own, pushed) = (bundle(1, "upload_failed"), bundle(2, "garden_hose"));
        for (node, bundle) in [("node_a", &own), ("node_b", &pushed)] {
            hub.publish(node, bundle).expect(200);
        }
        let relation = |name: &str, kind: &str| {
            json!({"source_name": "upload_failed", "source_type": "signal", "target_name": name,
                "target_type": kind, "type": "solved_by", "confidence": 1.0})
        };
        let names: Vec<String> = (0..200).map(|n| format!("junk {n}")).collect();
        let entities: Vec<Value> =
            names.iter().map(|name| json!({"name": name, "entity_type": "junk"})).collect();
        let relations: Vec<Value> = names.iter().map(|name| relation(name, "junk")).collect();
        hub.clock.advance(1_000);
        let junk = json!({"entities": entities, "relations": relations});
        let praise = json!({"relations": [relation(pushed.capsule_id(), "capsule")]});
        for body in [junk, praise] {
            run_step(hub, &Step::Tell { who: "user:stranger".to_owned(), body });
        }
        let id = |kind: &str, key: &str| capsid_rules::graph::names::entity_id(kind, key);
        hub.follow();
        let (signal, capsule) = (id("signal", "upload_failed"), id("capsule", own.capsule_id()));
        for bounds in [(20, 500), (300, 30)] {
            let bounds = graph::WalkBounds { depth: 1, fan_out: bounds.0, most: bounds.1 };
            let steps = hub.hub.store.read_now(move |tx| graph::walk(tx, &[signal], bounds)).unwrap().steps;
            assert!(steps.iter().any(|step| step.relation.is_told), "{bounds:?}");
            assert!(steps.iter().any(|step| step.relation.target == capsule), "{bounds:?}");
        }
        let question = SemanticQuestion::parse("upload failed", &[]);
        let found = hub.hub.store.read_now(move |tx| graph::related(tx, &question, 10)).unwrap();
        let ids: Vec<String> = found.iter().map(|related| related.asset_id.to_string()).collect();
        assert_eq!(ids[0], own.capsule_id(), "{ids:?}");
        assert!(ids.iter().any(|id| id == pushed.capsule_id()), "{ids:?}");
        same_after_rebuild(hub, &[]);
        let report = hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
        assert!(!report.counts.contains_key("graph_differs"), "{:#?}", report.findings);
    });
}

#[test]
fn a_thing_that_was_withdrawn_is_on_no_way() {
    both(|hub| {
        let (one, two) = (Bundle::new(1), Bundle::new(2));
        let two = Bundle::from_assets(one.gene.clone(), two.capsule, two.event);
        hub.publish("node_a", &one).expect(200);
        hub.publish("node_b", &two).expect(200);
        let id = |asset: &str| capsid_rules::graph::names::entity_id("capsule", asset);
        let (from, to) = (id(one.capsule_id()), id(two.capsule_id()));
        let bounds = graph::WalkBounds { depth: 4, fan_out: 20, most: 1000 };
        let way = || {
            hub.follow();
            hub.hub.store.read_now(move |tx| graph::path(tx, from, to, bounds)).unwrap()
        };
        assert_eq!(way().unwrap().len(), 2);
        hub.message("node_b", "revoke", json!({"target_asset_id": two.capsule_id()})).expect(200);
        assert!(way().is_none());
        let gone = hub.hub.store.read_now(move |tx| graph::entities(tx, &[to, from])).unwrap();
        assert_eq!(gone.len(), 1);
    });
}

#[test]
fn fsck_sees_whatever_was_changed_in_the_graph() {
    both(|hub| {
        hub.fill(3);
        let check = || {
            hub.follow();
            let report = hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
            assert!(report.not_compared.is_empty(), "{:?}", report.not_compared);
            report
        };
        assert!(check().is_clean(), "{:#?}", check().findings);
        for sql in [
            "UPDATE entities SET mentions = mentions + 1 WHERE kind = 'signal'",
            "UPDATE edges SET confidence = 123000 WHERE lane = 2",
            "UPDATE edges SET asserted_at = asserted_at - 1 WHERE lane IN (8, 9)",
            "UPDATE edges SET lane = 198 WHERE lane = 8",
            "UPDATE edges SET claims = claims + 1 WHERE lane = 9",
            "DELETE FROM edges WHERE lane IN (10, 11)",
            "DELETE FROM edges WHERE lane = 11",
            "DELETE FROM entity_terms WHERE entity = (SELECT MIN(id) FROM entities WHERE kind = 'signal')",
            "UPDATE entity_terms SET mentions_class = mentions_class + 1",
            "UPDATE kind_counts SET count = count + 1 WHERE kind = 'signal'",
            "UPDATE sources SET name = 'node:nobody' WHERE id = (SELECT MIN(id) FROM sources WHERE name LIKE 'node:%')",
            "DELETE FROM entities WHERE kind = 'node'",
            "UPDATE entities SET told = told + 1 WHERE kind = 'gene'",
            "DELETE FROM said WHERE subject = 'asset 1'",
            "UPDATE said SET facts = replace(facts, 'node_', 'edon_') WHERE subject = 'asset 2'",
        ] {
            hub.change_index(sql);
            let report = check();
            assert!(report.counts.contains_key("graph_differs"), "{sql}: {:#?}", report.findings);
            assert!(report.findings.iter().any(|finding| finding.fix.contains("--rebuild-graph")));
            hub.hub.store.rebuild_index(hub.clock.now(), &mut |_, _, _| {}).unwrap();
            assert!(check().is_clean(), "{sql}: {:#?}", check().findings);
        }
    });
}

#[test]
fn a_hub_without_an_index_makes_one_while_it_serves() {
    both(|hub| {
        hub.fill(4);
        let filled = graph_dump(hub);
        hub.hub.store.reset_index().unwrap();
        assert_eq!(hub.hub.store.read_now(graph::dump).unwrap(), "");
        hub.get("/kg/graph").expect(200);
        assert_eq!(hub.hub.store.read_now(graph::dump).unwrap(), filled, "a question waited for it");
    });
}

#[test]
fn many_that_publish_and_withdraw_at_once_are_counted_rightly() {
    both(|hub| {
        let bundles: Vec<Bundle> = (0..24)
            .map(|n| {
                Bundle::new(n).with(|bundle| {
                    let signals = json!([
                        "popular",
                        format!("signal_{}", n % 3),
                        "also popular",
                        format!("other_{}", n % 5)
                    ]);
                    bundle.gene["signals_match"] = signals.clone();
                    bundle.capsule["trigger"] = signals;
                })
            })
            .collect();
        let at_once = |kind: &'static str, payload: &dyn Fn(&Bundle) -> Value| {
            let calls: Vec<_> = bundles
                .iter()
                .enumerate()
                .map(|(n, bundle)| {
                    let message = hub.envelope(&format!("node_{}", n % 6), kind, payload(bundle));
                    let body = serde_json::to_vec(&message).unwrap();
                    let request = crate::common::request("POST", &format!("/a2a/{kind}"), None, Some(body));
                    hub.runtime.spawn(hub.router().oneshot(request))
                })
                .collect();
            hub.runtime.block_on(async {
                for call in calls {
                    let answer = call.await.unwrap().unwrap();
                    let status = answer.status().as_u16();
                    let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
                    assert_eq!(status, 200, "{kind}: {}", String::from_utf8_lossy(&body));
                }
            });
        };
        at_once("publish", &Bundle::payload);
        let full = same_after_rebuild(hub, &[]);
        assert!(full.contains("mentions=48"), "{full}");
        at_once("revoke", &|bundle| json!({"target_asset_id": bundle.capsule_id()}));
        let left = same_after_rebuild(hub, &[]);
        assert!(!left.contains("solved_by"), "{left}");
    });
}

const NODES: [&str; 4] = ["node_a", "node_b", "node_c", "node_d"];
const SIGNALS: [&str; 7] = [
    "TimeoutError",
    "timeout_error",
    "retry|backoff",
    "errsig:Error: cannot open /tmp/x1",
    "errsig:Error: cannot open /var/y2",
    "slow",
    "user_missing",
];
const CHANGES: [AssetEvent; 7] = [
    AssetEvent::Promote,
    AssetEvent::Reject,
    AssetEvent::Quarantine,
    AssetEvent::Release,
    AssetEvent::GrowStale,
    AssetEvent::Archive,
    AssetEvent::Revive,
];

/// One step of a random story.
#[derive(Debug, Clone)]
enum Step {
    Publish {
        node: &'static str,
        payload: Value,
    },
    Report {
        node: &'static str,
        asset: String,
        ok: bool,
        place: &'static str,
    },
    Revoke {
        node: &'static str,
        asset: String,
    },
    Change {
        asset: String,
        change: AssetEvent,
    },
    Offer {
        task: String,
    },
    Solve {
        node: &'static str,
        task: String,
        asset: String,
    },
    Match {
        task: String,
        asset: String,
    },
    Reject {
        task: String,
    },
    Tell {
        who: String,
        body: Value,
    },
    /// Everything, or what is named.
    Forget {
        who: String,
        body: Option<Value>,
    },
    Wait,
}

/// Steps over few assets, nodes and tasks, so that they meet.
struct Story {
    rng: Rng,
    tasks: usize,
    known: Vec<String>,
}

impl Story {
    fn any<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.rng.usize(0..choices.len())].clone()
    }

    fn asset(&mut self) -> String {
        let known = self.known.clone();
        if known.is_empty() { Bundle::new(0).capsule_id().to_owned() } else { self.any(&known) }
    }

    fn task(&mut self) -> String {
        format!("task_{}", self.rng.usize(0..=self.tasks))
    }

    fn bundle(&mut self) -> Value {
        let n = self.rng.u64(0..6);
        let (first, second) = (SIGNALS[n as usize], SIGNALS[(n as usize * 3 + 1) % SIGNALS.len()]);
        let origin = (n == 5 && self.rng.bool()).then(|| self.asset());
        let bundle = Bundle::new(n).with(|bundle| {
            bundle.gene["signals_match"] = json!([first]);
            bundle.capsule["trigger"] = json!([first, second]);
            if let Some(origin) = origin {
                bundle.capsule["reused_asset_id"] = json!(origin);
            }
        });
        // A capsule that names no gene may be put beside another.
        let mut capsule = bundle.capsule.clone();
        let gene = match self.rng.u8(0..3) {
            0 => {
                capsule.as_object_mut().unwrap().shift_remove("gene");
                crate::common::bundle::set_id(&mut capsule);
                Bundle::new(self.rng.u64(0..3)).gene
            }
            _ => bundle.gene.clone(),
        };
        for asset in [&gene, &capsule, &bundle.event] {
            let id = asset["asset_id"].as_str().unwrap().to_owned();
            if !self.known.contains(&id) {
                self.known.push(id);
            }
        }
        match self.rng.u8(0..3) {
            0 => json!({"assets": [gene, capsule]}),
            _ => json!({"assets": [gene, capsule, bundle.event]}),
        }
    }

    fn next(&mut self) -> Step {
        let node = self.any(&NODES);
        match self.rng.u8(0..32) {
            0..=8 => Step::Publish { node, payload: self.bundle() },
            9..=13 => {
                let (asset, ok) = (self.asset(), self.rng.bool());
                Step::Report { node, asset, ok, place: self.any(&["linux_x64", "Darwin_ARM64", "win32"]) }
            }
            14 | 15 => Step::Revoke { node, asset: self.asset() },
            16..=20 => Step::Change { asset: self.asset(), change: self.any(&CHANGES) },
            21 | 22 => {
                self.tasks += 1;
                Step::Offer { task: format!("task_{}", self.tasks) }
            }
            23 | 24 => Step::Solve { node, task: self.task(), asset: self.asset() },
            25 => Step::Match { task: self.task(), asset: self.asset() },
            26 => Step::Reject { task: self.task() },
            27 | 28 => Step::Tell { who: format!("node:{node}"), body: self.random_statements() },
            29 => Step::Forget { who: format!("node:{node}"), body: Some(self.random_statements()) },
            30 => Step::Forget { who: format!("node:{node}"), body: None },
            _ => Step::Wait,
        }
    }

    fn random_statements(&mut self) -> Value {
        let name = self.any(&["Redis", "redis ", "Pool", "slow", "TimeoutError"]);
        let kind = self.any(&["tool", "signal", "concept"]);
        let target = self.any(&["slow", "timeout_error", "Pool"]);
        json!({
            "entities": [{"name": name, "entity_type": kind, "confidence": self.any(&[0.5, 0.25])}],
            "relations": [{"source_name": name, "source_type": kind, "target_name": target, "target_type": "signal",
                "type": self.any(&["causes", "solved_by"])}],
        })
    }
}

/// Does a step. Whether it is refused does not matter, only what it leaves.
fn run_step(hub: &TestHub, step: &Step) {
    let now = hub.clock.now();
    let id = |asset: &str| AssetId::parse(asset).unwrap();
    match step.clone() {
        Step::Publish { node, payload } => drop(hub.message(node, "publish", payload)),
        Step::Report { node, asset, ok, place } => {
            let report = json!({"overall_ok": ok, "env_fingerprint_key": place});
            let _refused =
                hub.message(node, "report", json!({"target_asset_id": asset, "validation_report": report}));
        }
        Step::Revoke { node, asset } => drop(hub.message(node, "revoke", json!({"target_asset_id": asset}))),
        Step::Change { asset, change } => {
            let id = id(&asset);
            hub.hub
                .store
                .write_now(move |tx| lifecycle::change(tx, &id, change, "operator", None, now))
                .unwrap();
        }
        Step::Offer { task } => hub.offer(&task, 0),
        Step::Solve { node, task, asset } => {
            let _refused = hub.post("/task/claim", &json!({"task_id": task, "node_id": node}));
            let solved = json!({"task_id": task, "node_id": node, "asset_id": asset});
            let _refused = hub.post("/task/complete", &solved);
        }
        Step::Match { task, asset } => {
            let (bounty, id) = (format!("b_{task}"), id(&asset));
            let submission = format!("s_{}_{task}", now.0);
            hub.hub
                .store
                .write_now(move |tx| {
                    assign::match_asset(tx, &bounty, &id, &submission, "user:admin", 1000, now)
                })
                .unwrap();
        }
        Step::Reject { task } => {
            let (bounty, terms) = (format!("b_{task}"), hub.hub.config.settlement_terms());
            hub.hub
                .store
                .write_now(move |tx| settle::reject(tx, &bounty, "user:admin", None, &terms, now))
                .unwrap();
        }
        Step::Tell { who, body } => {
            let told = ingest::read(body.as_object().unwrap()).unwrap();
            hub.follow();
            hub.hub.store.write_now(move |tx| graph::ingest(tx, &who, &told, graph::MAX_TOLD, now)).unwrap();
        }
        Step::Forget { who, body } => {
            let which = match body {
                Some(body) => ForgetSelection::Some(ingest::read(body.as_object().unwrap()).unwrap()),
                None => ForgetSelection::Everything,
            };
            hub.follow();
            hub.hub.store.write_now(move |tx| graph::forget_statements(tx, &who, &which, now)).unwrap();
        }
        Step::Wait => hub.run_jobs(),
    }
    hub.clock.advance(61_000);
}

#[test]
fn whatever_happens_the_graph_is_what_a_rebuild_makes() {
    let mut rng = seeded_rng();
    for _ in 0..rounds(2, 12) {
        let (sqlite, postgres) = (TestHub::sqlite(), TestHub::postgres());
        let mut story = Story { rng: rng.fork(), tasks: 0, known: Vec::new() };
        let mut log = Vec::new();
        for n in 0..90 {
            let step = story.next();
            log.push(format!("{step:?}").chars().take(300).collect::<String>());
            run_step(&sqlite, &step);
            run_step(&postgres, &step);
            // However much is followed at once, it is the same in the end.
            for hub in [&sqlite, &postgres] {
                let most = story.any(&[1, 7, 2_000]);
                hub.hub.store.follow_graph_part(most, hub.clock.now()).unwrap();
            }
            if n % 10 == 9 {
                let (one, other) = (same_after_rebuild(&sqlite, &log), same_after_rebuild(&postgres, &log));
                let differ = one.lines().zip(other.lines()).find(|(a, b)| a != b);
                assert!(one == other, "{differ:#?}\n{}", log.join("\n"));
            }
        }
        let full = graph_dump(&sqlite);
        println!(
            "{} lines: {:?}",
            full.lines().count(),
            full.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>()
        );
        sqlite.follow();
        let report = sqlite.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
        assert!(!report.counts.contains_key("graph_differs"), "{:#?}", report.findings);
    }
}
