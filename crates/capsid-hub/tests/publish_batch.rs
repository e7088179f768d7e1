//! Publishes that are stored together have the effects and the responses that they have one by one.
//! `CAPSID_SEED=n` repeats a run.

use crate::common::{Bundle, On, TestHub, TestResponse, both, request, send};
use capsid_hub::ops::assets::bundle::{PublishRequest, check_bundle};
use capsid_model::problem::{Problem, Result};
use capsid_model::time::{Clock, Time};
use capsid_rules::evaluation::trust_policy::TrustPolicy;
use capsid_store::db::raw_row::RawRow;
use capsid_store::db::tx::{Dialect, Param, Tx};
use capsid_store::nodes;
use capsid_store::registry::batch::{BatchItem, BatchPlan, PublishBatch, PublishTerms, publish_batch};
use capsid_store::registry::publish::{NewBundle, PublishOutcome, publish};
use capsid_store::system::responses::{MessageKey, StoredResponse};
use capsid_testkit::rounds::seeded_rng;
use fastrand::Rng;
use futures_util::future::join_all;
use serde_json::{Value, json};

const NODES: [&str; 3] = ["node_a", "node_b", "node_c"];

fn new_bundle(hub: &TestHub, bundle: &Bundle, receipt: &str) -> NewBundle {
    let text = bundle.payload().to_string();
    let request: PublishRequest<'_> = serde_json::from_str(&text).unwrap();
    let config = &hub.hub.config;
    let checked =
        check_bundle(&request, &config.command_policy(), config.quotas.asset_bytes, receipt.to_owned());
    checked.unwrap().bundle
}

/// A bundle whose capsule says nearly the same as another one's.
fn near_duplicate(of: &Bundle, n: u64) -> Bundle {
    of.clone().with(|bundle| {
        bundle.gene["summary"] = json!(format!("A gene of its own with the number {n}."));
        bundle.capsule["confidence"] = json!(0.5 + (n % 40) as f64 / 100.0);
        bundle.event["total_cycles"] = json!(1000 + n);
    })
}

/// Bundles in random order: new ones, the same again, the same of another node, near duplicates, weak ones, and ones that
/// share a gene with one of the same node.
fn random_bundles(rng: &mut Rng, count: u64) -> Vec<(&'static str, Bundle)> {
    let mut made: Vec<(&'static str, Bundle)> = Vec::new();
    for n in 0..count {
        let node = NODES[rng.usize(0..NODES.len())];
        let earlier = rng.choice(&made).cloned();
        made.push(match (rng.u8(0..10), earlier) {
            (0, Some(same)) => same,
            (1, Some((_, bundle))) => (node, bundle),
            (2, Some((publisher, bundle))) => {
                (if rng.bool() { publisher } else { node }, near_duplicate(&bundle, n))
            }
            (3, Some((publisher, other))) => {
                let new = Bundle::new(rng.u64(1_000..1_000_000_000));
                (publisher, Bundle::from_assets(other.gene, new.capsule, new.event))
            }
            (4, _) => (
                node,
                Bundle::new(rng.u64(1_000..1_000_000_000))
                    .with(|bundle| bundle.capsule["confidence"] = json!(0.1)),
            ),
            _ => (node, Bundle::new(rng.u64(1_000..1_000_000_000))),
        });
    }
    made
}

/// In which order the bundles of a batch have their effects: those that are written together come first.
fn order_of_effects(plans: &[bool]) -> impl Iterator<Item = usize> {
    let with = |kept: bool| plans.iter().enumerate().filter(move |(_, is)| **is == kept).map(|(at, _)| at);
    with(true).chain(with(false)).collect::<Vec<_>>().into_iter()
}

/// Which bundles are written with the batch.
fn find_kept(tx: &mut dyn Tx, items: &[BatchItem<'_>], now: Time) -> Result<Vec<bool>> {
    let mut batch = PublishBatch::load(tx, items.to_vec(), now)?;
    let mut kept = Vec::new();
    for at in 0..items.len() {
        let plan = batch.plan(tx, at, PublishTerms::default())?;
        kept.push(matches!(plan, BatchPlan::Kept(_)));
    }
    Ok(kept)
}

#[test]
fn bundles_that_are_published_together_leave_the_same_rows_as_one_by_one() {
    let mut rng = seeded_rng();
    for on in [On::Sqlite, On::Postgres] {
        for size in [1, 2, 64] {
            let (together, apart) = (TestHub::start(on, |_| {}), TestHub::start(on, |_| {}));
            for hub in [&together, &apart] {
                NODES.iter().for_each(|node| drop(hub.register(node)));
            }
            let bundles = random_bundles(&mut rng, 130);
            let (mut kept_together, mut left) = (0, 0);
            for (start, chunk) in bundles.chunks(size).enumerate() {
                let new: Vec<(&'static str, NewBundle)> = chunk
                    .iter()
                    .enumerate()
                    .map(|(n, (node, bundle))| {
                        (*node, new_bundle(&together, bundle, &format!("rcpt_{start}_{n}")))
                    })
                    .collect();
                let (written, now) = (new.clone(), together.clock.now());
                let outcomes = together.hub.store.write_now(move |tx| {
                    let items = items(&written);
                    let kept = find_kept(tx, &items, now)?;
                    Ok((kept, publish_batch(tx, &items, now)?))
                });
                let (kept, outcomes) = outcomes.unwrap();
                kept_together += kept.iter().filter(|kept| **kept).count();
                left += kept.iter().filter(|kept| !**kept).count();
                for at in order_of_effects(&kept) {
                    let (node_id, bundle) = new[at].clone();
                    let outcome: PublishOutcome = apart
                        .hub
                        .store
                        .write_now(move |tx| {
                            let node = nodes::lock(tx, node_id)?.unwrap();
                            publish(tx, &node, &bundle, now)
                        })
                        .unwrap();
                    assert_eq!(outcomes[at], outcome, "{size}: {at} of {start}");
                }
            }
            assert!(kept_together > 40 && left > 10, "{kept_together} together, {left} apart");
            let (one, other) = (together.dump(), apart.dump());
            let differ = one.lines().zip(other.lines()).find(|(a, b)| a != b);
            assert!(differ.is_none(), "{on:?} {size}: {differ:#?}");
            assert_eq!(one.lines().count(), other.lines().count());
        }
    }
}

fn items<'a>(bundles: &'a [(&'static str, NewBundle)]) -> Vec<BatchItem<'a>> {
    bundles.iter().map(|(node_id, bundle)| BatchItem { node_id, bundle, message: None }).collect()
}

/// Sends messages at once.
fn send_at_once(hub: &TestHub, messages: &[Value]) -> Vec<TestResponse> {
    let sent = messages.iter().map(|message| {
        let body = message.to_string().into_bytes();
        send(hub.router(), request("POST", "/a2a/publish", None, Some(body)))
    });
    hub.runtime.block_on(join_all(sent))
}

/// A response without what the hub draws for it.
fn without_drawn(response: &TestResponse) -> Value {
    let mut value = response.json();
    for name in ["message_id", "receipt_id"] {
        value[name] = json!("drawn");
        if value["payload"].is_object() && name == "receipt_id" {
            value["payload"][name] = json!("drawn");
        }
    }
    value
}

#[test]
fn publishes_that_come_at_once_get_the_responses_that_they_get_one_by_one() {
    for on in [On::Sqlite, On::Postgres] {
        let (together, apart) = (TestHub::start(on, |_| {}), TestHub::start(on, |_| {}));
        for hub in [&together, &apart] {
            NODES.iter().for_each(|node| drop(hub.register(node)));
        }
        let bundles: Vec<Bundle> = (0..90).map(Bundle::new).collect();
        let mut messages = Vec::new();
        for (n, bundle) in bundles.iter().enumerate() {
            let message = together.envelope(NODES[n % 3], "publish", bundle.payload());
            // Some clients send a message twice before they have its response.
            messages.extend(std::iter::repeat_n(message, if n % 10 == 0 { 2 } else { 1 }));
        }
        let answers = send_at_once(&together, &messages);
        for (message, answer) in messages.iter().zip(&answers) {
            answer.expect(200);
            let again = together.post("/a2a/publish", message);
            assert_eq!(again.text, answer.text, "a repeated message gets the same bytes");
            assert_eq!(without_drawn(answer), without_drawn(&apart.post("/a2a/publish", message)));
        }
        let stats = together.get("/a2a/stats").expect(200);
        assert_eq!(stats["total_assets"], 90, "each is stored once");
        let own: i64 = together
            .hub
            .store
            .read_now(|tx| tx.count("SELECT CAST(SUM(total_published) AS BIGINT) FROM nodes", &[]))
            .unwrap();
        assert_eq!(own, 90);
        assert_eq!(dump_without_drawn(&together), dump_without_drawn(&apart));
    }
}

/// Everything in the database but responses and what was drawn.
fn dump_without_drawn(hub: &TestHub) -> Vec<String> {
    let dump = hub.dump();
    let mut lines: Vec<String> = dump
        .lines()
        .filter(|line| !line.contains(" body_hash="))
        .map(|line| {
            let words = line.split(' ').filter(|word| !word.starts_with("receipt_id="));
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_publish_that_is_refused_harms_none_that_comes_with_it() {
    both(|hub| {
        NODES.iter().for_each(|node| drop(hub.register(node)));
        hub.hub
            .store
            .write_now(|tx| tx.run("UPDATE nodes SET status = 'banned' WHERE node_id = 'node_b'", &[]))
            .unwrap();
        let messages: Vec<Value> = (0..30)
            .map(|n| hub.envelope(NODES[n as usize % 3], "publish", Bundle::new(n).payload()))
            .collect();
        for (n, answer) in send_at_once(hub, &messages).iter().enumerate() {
            match n % 3 {
                1 => drop(answer.refused(403, "node_banned")),
                _ => drop(answer.expect(200)),
            }
        }
        assert_eq!(hub.get("/a2a/stats").expect(200)["total_assets"], 20);
    });
}

#[test]
fn a_quota_counts_what_is_published_at_once() {
    for on in [On::Sqlite, On::Postgres] {
        let hub = TestHub::start(on, |config| config.quotas.publish_bundles = vec![7]);
        hub.register("node_a");
        let messages: Vec<Value> =
            (0..20).map(|n| hub.envelope("node_a", "publish", Bundle::new(n).payload())).collect();
        let answers = send_at_once(&hub, &messages);
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 7);
        assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 13);
        let used = |tx: &mut dyn Tx| tx.count("SELECT bundles FROM publish_days", &[]);
        assert_eq!(hub.hub.store.read_now(used).unwrap(), 7);
    }
}

/// Counts statements, and keeps their texts.
struct CountingTx<'t> {
    tx: &'t mut dyn Tx,
    texts: Vec<&'static str>,
}

impl Tx for CountingTx<'_> {
    fn dialect(&self) -> Dialect {
        self.tx.dialect()
    }
    fn trust(&self) -> TrustPolicy {
        self.tx.trust()
    }
    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.texts.push(sql);
        self.tx.run(sql, params)
    }
    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.texts.push(sql);
        self.tx.each(sql, params, visit)
    }
    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.texts.push(sql);
        self.tx.one(sql, params, visit)
    }
}

/// Publishes new bundles in one group as the hub does, with responses and quotas. Gives the texts of all statements.
fn publish_group(hub: &TestHub, numbers: std::ops::Range<u64>) -> Vec<&'static str> {
    let bundles: Vec<(&str, NewBundle)> =
        numbers.map(|n| ("node_a", new_bundle(hub, &Bundle::new(n), &format!("rcpt_{n}")))).collect();
    let now = hub.clock.now();
    let texts = hub.hub.store.write_now(move |tx| {
        let mut counting = CountingTx { tx, texts: Vec::new() };
        let keys: Vec<MessageKey> = bundles
            .iter()
            .map(|(node, bundle)| MessageKey::new(node, "/a2a/publish", &bundle.receipt_id, "body"))
            .collect();
        let items = bundles.iter().zip(&keys);
        let items = items.map(|((node_id, bundle), key)| BatchItem { node_id, bundle, message: Some(key) });
        let mut batch = PublishBatch::load(&mut counting, items.collect(), now)?;
        let quota = capsid_store::registry::quotas::PublishQuota { bytes: Some(1 << 30), bundles: None };
        for at in 0..bundles.len() {
            let terms =
                PublishTerms { counted_for: Some("node:node_a"), quota: Some(quota), signed_by: None };
            let plan = batch.plan(&mut counting, at, terms)?;
            assert!(matches!(plan, BatchPlan::Kept(_)), "{plan:?}");
            batch.keep_response(at, 200, &StoredResponse::Facts(vec![b'x'; 250]))?;
        }
        batch.write(&mut counting)?;
        Ok::<_, Problem>(counting.texts)
    });
    texts.unwrap()
}

#[test]
fn a_publish_takes_few_statements_and_none_that_needs_a_journal() {
    for (on, most) in [(On::Sqlite, 16 * 24), (On::Postgres, 20)] {
        let hub = TestHub::start(on, |_| {});
        hub.register("node_a");
        publish_group(&hub, 0..24);
        let texts = publish_group(&hub, 24..48);
        assert!(texts.len() <= most, "{} statements on {on:?}", texts.len());
        if on == On::Sqlite {
            for text in texts {
                let is_insert = text.trim_start().starts_with("INSERT");
                assert!(!text.contains("RETURNING"), "{text}");
                assert!(!(is_insert && text.contains("SELECT")), "{text}");
            }
        }
    }
}

#[test]
fn publishes_in_groups_of_24_write_at_most_40_kb_each_to_the_log() {
    let hub = TestHub::start(On::Sqlite, |_| {});
    hub.register("node_a");
    let log = hub.hub.config.data.join("hub.db-wal");
    let before = std::fs::metadata(&log).unwrap().len();
    for group in 0..10 {
        publish_group(&hub, group * 24..(group + 1) * 24);
    }
    let written = std::fs::metadata(&log).unwrap().len() - before;
    println!("{} bytes for each publish", written / 240);
    assert!(written / 240 <= 40 * 1024, "{} bytes for each publish", written / 240);
}
