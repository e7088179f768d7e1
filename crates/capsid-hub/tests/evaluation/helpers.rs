//! What these tests ask of a hub again and again.

use crate::common::{TestHub, TestResponse};
use capsid_model::time::Clock;
use capsid_store::accounts::{self, AccountRole, NewUser, sessions};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::{self, AssetRow};
use capsid_store::audit::{self, AuditEntry};
use capsid_store::nodes::{self, NodeRow};
use capsid_store::{fsck, params};
use serde_json::{Value, json};

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

pub fn id(text: &str) -> AssetId {
    AssetId::parse(text).unwrap()
}

pub fn asset(hub: &TestHub, text: &str) -> AssetRow {
    let id = id(text);
    hub.hub.store.read_now(move |tx| assets::get(tx, &id)).unwrap().unwrap()
}

pub fn status(hub: &TestHub, text: &str) -> &'static str {
    asset(hub, text).status.as_str()
}

pub fn node(hub: &TestHub, node_id: &str) -> NodeRow {
    let node_id = node_id.to_owned();
    hub.hub.store.read_now(move |tx| nodes::get(tx, &node_id)).unwrap().unwrap()
}

pub fn audited(hub: &TestHub, kind: &'static str, subject: &str) -> Vec<AuditEntry> {
    let subject = subject.to_owned();
    hub.hub.store.read_now(move |tx| audit::list_for_subject(tx, kind, &subject, 1000)).unwrap()
}

/// A report in the shape of a node that took an asset and tried it by itself.
pub fn report(hub: &TestHub, sender: &str, asset: &str, ok: bool) -> TestResponse {
    hub.take_on_trial(sender, asset);
    blind_report(hub, sender, asset, ok)
}

/// The same by a node that never had the asset.
pub fn blind_report(hub: &TestHub, sender: &str, asset: &str, ok: bool) -> TestResponse {
    hub.message(
        sender,
        "report",
        json!({"target_asset_id": asset, "validation_report": {
            "report_id": "report_001", "overall_ok": ok, "env_fingerprint_key": "linux_x64"}}),
    )
}

pub fn decide(hub: &TestHub, sender: &str, asset: &str, word: &str) -> TestResponse {
    hub.message(
        sender,
        "decision",
        json!({"target_asset_id": asset, "decision": word, "reason": "looked at it"}),
    )
}

/// Does all jobs at once, due or not. Whatever they do, what is kept stays consistent.
pub fn run_jobs(hub: &TestHub) -> Value {
    let done = hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap().into();
    let report = hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    done
}

/// An account, and a session of it.
pub fn account(hub: &TestHub, name: &str, role: AccountRole) -> String {
    let (now, token) = (hub.clock.now(), format!("sess_{name}"));
    let new = NewUser {
        user_id: format!("user_{name}"),
        email: format!("{name}@example.org"),
        password_hash: "none".to_owned(),
        role,
        grant: 0,
    };
    let session = token.clone();
    hub.hub
        .store
        .write_now(move |tx| {
            accounts::create(tx, &new, "operator", now)?;
            sessions::open(tx, &new.user_id, &session, now)
        })
        .unwrap();
    token
}

/// Makes an account own a node.
pub fn own(hub: &TestHub, name: &str, node_id: &str) {
    let (user, node_id) = (format!("user_{name}"), node_id.to_owned());
    hub.hub
        .store
        .write_now(move |tx| {
            tx.run("UPDATE nodes SET owner = $2 WHERE node_id = $1", params![&node_id, &user])
        })
        .unwrap();
}

pub fn set_reputation(hub: &TestHub, node_id: &str, value: f64) {
    let node_id = node_id.to_owned();
    hub.hub
        .store
        .write_now(move |tx| {
            tx.run("UPDATE nodes SET reputation_override = $2 WHERE node_id = $1", params![&node_id, value])
        })
        .unwrap();
}

/// Registers a node and has it put credits aside.
pub fn validator(hub: &TestHub, node_id: &str) {
    hub.register(node_id);
    hub.post("/a2a/validator/stake", &json!({"sender_id": node_id})).expect(200);
}
