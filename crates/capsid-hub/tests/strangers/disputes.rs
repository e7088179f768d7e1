//! A creator reads an answer, rejects it and wants the credits back.

use super::{DAY, balances, claim as claim_node, pay_out, public, run_jobs, user};
use crate::common::economy::{admin, all_is_well, complete, detail, offer, solve};
use crate::common::{Bundle, TestHub, both_with};
use capsid_rules::credits::CreditSource;
use capsid_store::assets::id::AssetId;
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;

/// A bounty of ten credits by ann, with an answer of a node.
struct Answered<'h> {
    hub: &'h TestHub,
    ann: String,
    account: String,
    bounty: String,
    asset: String,
    secret: String,
}

impl<'h> Answered<'h> {
    fn new(hub: &'h TestHub) -> Self {
        let (ann, id) = user(hub, "ann");
        let account = format!("user:{id}");
        pay_out(hub, &account, 10, CreditSource::Earned);
        let secret = hub.register("node_w");
        let (bounty, task) = offer(hub, &ann, 10.0);
        let asset = solve(hub, "node_w", &task, 1);
        Self { hub, ann, account, bounty, asset, secret }
    }

    fn path(&self, verb: &str) -> String {
        format!("/bounty/{}/{verb}", self.bounty)
    }

    fn open(&self) -> Value {
        self.hub.get_as(&self.ann, &format!("/bounty/{}?open=true", self.bounty)).expect(200)
    }

    /// The creator reads the answer and rejects it.
    fn read_and_reject(&self) {
        self.open();
        let why = json!({"reason": "It does not help me."});
        let rejected = self.hub.post_as(&self.ann, &self.path("reject"), &why).expect(200);
        assert_eq!(rejected["status"], "rejected", "{rejected}");
    }

    fn dispute(&self) {
        let why = json!({"node_id": "node_w", "reason": "It does what the task asks."});
        let disputed = self.hub.post_as(&self.secret, &self.path("dispute"), &why).expect(200);
        assert_eq!(disputed["status"], "disputed", "{disputed}");
    }

    /// What the creator and the node that did the task have earned or got back.
    fn earned(&self) -> (i64, i64) {
        (balances(self.hub, &self.account).1, balances(self.hub, "node:node_w").1)
    }

    #[track_caller]
    fn assert_ended(&self, status: &str, earned: (i64, i64)) {
        assert_eq!(detail(self.hub, &self.bounty)["status"], status);
        assert_eq!(self.earned(), earned);
        all_is_well(self.hub);
    }
}

#[test]
fn a_creator_who_reads_the_answer_and_rejects_it_cannot_cancel_and_be_refunded() {
    both_with(public, |hub| {
        let trial = Answered::new(hub);
        // Before it is opened or accepted, the creator sees what it is, not what it says.
        let shown = detail(hub, &trial.bounty);
        let preview = &shown["preview"];
        assert_eq!(preview["asset_id"], trial.asset.as_str());
        assert!(preview["summary"].as_str().unwrap().len() > 10 && preview["bytes"].as_i64().unwrap() > 100);
        assert_eq!((&preview["scan"]["verdict"], &preview["opened_at"]), (&json!("clean"), &Value::Null));
        assert!(preview.get("body").is_none(), "{preview}");
        let payload = |path: &str| hub.get_as(&trial.ann, path).expect(200)["payload"].clone();
        let whole = format!("/a2a/assets/{}?detailed=true", trial.asset);
        assert_eq!(payload(&whole), Value::Null);

        let opened = trial.open();
        assert_eq!(opened["preview"]["body"]["asset_id"], trial.asset.as_str());
        assert!(opened["preview"]["opened_at"].is_string());
        assert_eq!(payload(&whole)["asset_id"], trial.asset.as_str());
        hub.post_as(&trial.ann, &trial.path("reject"), &json!({})).refused(400, "validation_error");
        trial.read_and_reject();
        hub.post_as(&trial.ann, &trial.path("cancel"), &json!({})).refused(409, "bounty_state");
        let root = admin(hub);
        hub.post_as(&root, &trial.path("cancel"), &json!({})).refused(409, "bounty_state");
        assert_eq!(trial.earned(), (0, 0), "the escrow stays");
        // Nobody disputes it: the bounty is open again, and still not the creator's to cancel.
        hub.clock.advance(72 * HOUR);
        run_jobs(hub);
        let status = detail(hub, &trial.bounty)["status"].clone();
        assert!(status == "open" || status == "expired", "{status}");
        hub.post_as(&trial.ann, &trial.path("cancel"), &json!({})).refused(409, "bounty_state");
        all_is_well(hub);
    });
}

#[test]
fn whoever_reads_the_answer_and_says_nothing_pays_for_it() {
    both_with(public, |hub| {
        let trial = Answered::new(hub);
        trial.open();
        hub.clock.advance(60 * DAY);
        run_jobs(hub);
        trial.assert_ended("accepted", (0, 10));
    });
}

#[test]
fn an_arbiter_decides_a_dispute_for_either_side_or_shares() {
    for (decision, status, earned) in
        [("solver", "accepted", (0, 10)), ("split", "accepted", (5, 5)), ("creator", "open", (0, 0))]
    {
        both_with(public, |hub| {
            let trial = Answered::new(hub);
            let (bob, _) = user(hub, "bob");
            let resolve = json!({"decision": decision, "reason": "I ran it."});
            let root = admin(hub);
            hub.post_as(&root, &trial.path("resolve"), &resolve).refused(409, "bounty_state");
            trial.read_and_reject();
            let why = json!({"reason": "It is mine."});
            hub.post_as(&bob, &trial.path("dispute"), &why).refused(403, "not_task_claimer");
            hub.post_as(&trial.ann, &trial.path("dispute"), &why).refused(403, "not_task_claimer");
            trial.dispute();
            hub.post_as(&bob, &trial.path("resolve"), &resolve).refused(403, "admin_required");
            hub.post_as(&root, &trial.path("resolve"), &resolve).expect(200);
            trial.assert_ended(status, earned);
            hub.post_as(&root, &trial.path("resolve"), &resolve).refused(409, "bounty_state");
        });
    }
}

#[test]
fn a_dispute_that_nobody_decides_ends_by_the_rule() {
    for (reproduced, earned) in [(true, (0, 10)), (false, (5, 5))] {
        both_with(public, |hub| {
            let trial = Answered::new(hub);
            trial.read_and_reject();
            trial.dispute();
            let (other, _) = user(hub, "other");
            claim_node(hub, &other, "node_other");
            if reproduced {
                report(hub, &trial.asset, "node_other", 0.65);
            } else {
                // Neither the solver's own report counts, nor one whose sender has no weight.
                report(hub, &trial.asset, "node_w", 1.0);
                report(hub, &trial.asset, "node_other", 0.0);
            }
            hub.clock.advance(7 * DAY - HOUR);
            run_jobs(hub);
            assert_eq!(detail(hub, &trial.bounty)["status"], "disputed");
            hub.clock.advance(HOUR);
            run_jobs(hub);
            trial.assert_ended("accepted", earned);
        });
    }
}

/// A node reproduces an asset.
fn report(hub: &TestHub, asset: &str, node: &str, weight: f64) {
    let (id, node, now) = (AssetId::parse(asset).unwrap(), node.to_owned(), hub.hub.now());
    let sql =
        "INSERT INTO reports (report_id, asset_id, node_id, overall_ok, weight, label, grade, body, created_at)
        VALUES ($1, $2, $1, 1, $3, 'assigned', 'reproduced', '{}', $4)";
    hub.hub.store.write_now(move |tx| tx.run(sql, capsid_store::params![&node, &id, weight, now])).unwrap();
}

#[test]
fn a_creator_who_publishes_a_near_copy_of_what_it_rejected_pays() {
    both_with(public, |hub| {
        let trial = Answered::new(hub);
        claim_node(hub, &trial.ann, "node_of_ann");
        trial.read_and_reject();
        hub.clock.advance(HOUR);
        // The same text with another number is a near copy.
        let copy = Bundle::new(1).with(|bundle| bundle.capsule["confidence"] = json!(0.8));
        hub.publish("node_of_ann", &copy);
        hub.clock.advance(72 * HOUR);
        run_jobs(hub);
        trial.assert_ended("accepted", (0, 10));
    });
}

#[test]
fn a_creator_whose_node_fetches_what_it_rejected_pays() {
    both_with(public, |hub| {
        let trial = Answered::new(hub);
        let (root, fetch) = (admin(hub), json!({"asset_ids": [trial.asset]}));
        claim_node(hub, &trial.ann, "node_of_ann");
        let path = format!("/admin/assets/{}/promote", trial.asset);
        hub.post_as(&root, &path, &json!({})).expect(200);
        // What was fetched before the rejection was fetched to be judged.
        assert_eq!(hub.message("node_of_ann", "fetch", fetch.clone()).expect(200)["count"], 1);
        hub.runtime.block_on(hub.hub.usage.flush()).unwrap();
        trial.read_and_reject();
        hub.clock.advance(HOUR);
        assert_eq!(hub.message("node_of_ann", "fetch", fetch).expect(200)["count"], 1);
        hub.clock.advance(72 * HOUR);
        run_jobs(hub);
        trial.assert_ended("accepted", (0, 10));
    });
}

#[test]
fn a_creator_on_a_private_hub_reads_and_rejects_as_ever() {
    both_with(
        |config| config.promotion.interval_ms = 0,
        |hub| {
            let (ann, _) = user(hub, "ann");
            hub.register("node_w");
            let (bounty, task) = offer(hub, &ann, 10.0);
            crate::common::economy::claim(hub, "node_w", &task);
            complete(hub, "node_w", &task, 1);
            hub.get_as(&ann, &format!("/bounty/{bounty}?open=true")).expect(200);
            hub.post_as(&ann, &format!("/bounty/{bounty}/reject"), &json!({})).expect(200);
            assert_eq!(detail(hub, &bounty)["status"], "open");
            hub.post_as(&ann, &format!("/bounty/{bounty}/cancel"), &json!({})).expect(200);
            all_is_well(hub);
        },
    );
}
