//! What tests of bounties, swarms and services share: accounts, taking and handing in tasks, balances.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Bundle, TestHub};
use capsid_hub::config::HubConfig;
use capsid_store::assets::id::AssetId;
use capsid_store::notifications::events;
use capsid_store::work::tasks::claim;
use capsid_store::work::tasks::claim::ClaimOutcome;
use capsid_store::work::tasks::complete;
use capsid_store::work::tasks::complete::{CompleteOutcome, SubmittedResult};
use capsid_store::{fsck, ledger, nodes};
use serde_json::{Value, json};

pub const HOUR: i64 = 3_600_000;
pub const DAY: i64 = 24 * HOUR;

/// A hub that promotes nothing by itself, so that all credits that move are those of the test.
pub fn quiet(config: &mut HubConfig) {
    config.promotion.interval_ms = 0;
}

/// The same on a hub that asks for no secrets, for tests of other things.
pub fn trusting(config: &mut HubConfig) {
    quiet(config);
    config.require_secret = capsid_rules::identity::secrets::RequireSecret::Never;
}

/// Makes an account, and gives its token and the name of its ledger account.
pub fn user(hub: &TestHub, name: &str) -> (String, String) {
    let login = json!({"email": format!("{name}@example.org"), "password": "correct horse"});
    let made = hub.post("/auth/register", &login).expect(201);
    let token = made["token"].as_str().unwrap().to_owned();
    let email = format!("{name}@example.org");
    let id = hub
        .hub
        .store
        .read_now(move |tx| Ok(capsid_store::accounts::by_email(tx, &email)?.unwrap().0.user_id))
        .unwrap();
    (token, format!("user:{id}"))
}

/// Makes an admin, and gives its token.
pub fn admin(hub: &TestHub) -> String {
    let (token, _) = user(hub, "root");
    let made = hub
        .hub
        .store
        .write_now(|tx| tx.run("UPDATE users SET role = 'admin' WHERE email = 'root@example.org'", &[]));
    assert_eq!(made.unwrap(), 1);
    token
}

/// What an account holds, in milli-credits.
pub fn balance(hub: &TestHub, account: &str) -> i64 {
    let account = account.to_owned();
    hub.hub.store.read_now(move |tx| ledger::balance(tx, &account)).unwrap()
}

pub fn node_balance(hub: &TestHub, node: &str) -> i64 {
    balance(hub, &format!("node:{node}"))
}

/// Sets how a node stands.
pub fn stands(hub: &TestHub, node: &str, reputation: f64) {
    let node = node.to_owned();
    let set = move |tx: &mut dyn capsid_store::db::tx::Tx| {
        tx.run(
            "UPDATE nodes SET reputation_override = $2 WHERE node_id = $1",
            capsid_store::params![&node, reputation],
        )
    };
    assert_eq!(hub.hub.store.write_now(set).unwrap(), 1);
}

/// Takes a task.
pub fn try_claim(hub: &TestHub, node: &str, task: &str) -> ClaimOutcome {
    let (node, task, id, now) = (node.to_owned(), task.to_owned(), hub.hub.new_id("sub"), hub.hub.now());
    hub.hub
        .store
        .write_now(move |tx| {
            let node = nodes::lock(tx, &node)?.unwrap();
            claim::claim(tx, &node, &task, None, &id, &[], now)
        })
        .unwrap()
}

#[track_caller]
pub fn claim(hub: &TestHub, node: &str, task: &str) -> String {
    match try_claim(hub, node, task) {
        ClaimOutcome::Done(task) => task.submission_id.unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Publishes a bundle and hands its capsule in; gives the capsule's id.
#[track_caller]
pub fn complete(hub: &TestHub, node: &str, task: &str, bundle: u64) -> String {
    let bundle = Bundle::new(bundle);
    hub.publish(node, &bundle).expect(200);
    let asset = AssetId::parse(bundle.capsule_id()).unwrap();
    let (node, task, now) = (node.to_owned(), task.to_owned(), hub.hub.now());
    let terms = hub.hub.config.work.completion_terms();
    let done = hub
        .hub
        .store
        .write_now(move |tx| {
            let node = nodes::lock(tx, &node)?.unwrap();
            complete::complete(tx, &node, &task, SubmittedResult::Asset(&asset), &terms, now)
        })
        .unwrap();
    assert!(matches!(done, CompleteOutcome::Done(_)), "{done:?}");
    bundle.capsule_id().to_owned()
}

/// Claims and completes.
#[track_caller]
pub fn solve(hub: &TestHub, node: &str, task: &str, bundle: u64) -> String {
    claim(hub, node, task);
    complete(hub, node, task, bundle)
}

/// Offers a bounty, and gives its id and that of its task.
#[track_caller]
pub fn offer(hub: &TestHub, token: &str, amount: f64) -> (String, String) {
    let body = json!({"title": "Fix the timeout", "signals": ["TimeoutError"], "amount": amount});
    let made = hub.post_as(token, "/bounty/create", &body).expect(201);
    (text(&made["bounty_id"]), text(&made["task_id"]))
}

#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub fn detail(hub: &TestHub, bounty: &str) -> Value {
    hub.get(&format!("/bounty/{bounty}")).expect(200)
}

/// Lets time pass and does what is due then.
pub fn pass(hub: &TestHub, ms: i64) {
    hub.clock.advance(ms);
    hub.runtime.block_on(capsid_hub::jobs::run_due(&hub.hub));
}

/// What a node was told, oldest first.
pub fn event_kinds(hub: &TestHub, node: &str) -> Vec<String> {
    let (node, now) = (node.to_owned(), hub.hub.now());
    let found = hub.hub.store.read_now(move |tx| events::after(tx, &node, 0, 1000, now)).unwrap();
    found.into_iter().map(|event| event.kind).collect()
}

/// Nothing was made or lost, and what is put aside is what bounties that are not over say.
#[track_caller]
pub fn all_is_well(hub: &TestHub) {
    let (sum, held, promised) = hub
        .hub
        .store
        .read_now(|tx| {
            Ok((
                ledger::sum(tx)?,
                tx.count(
                    "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts
                     WHERE account LIKE 'hold:bounty:%'",
                    &[],
                )?,
                tx.count(
                    "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM bounties
                     WHERE status IN ('open', 'claimed', 'matched', 'rejected', 'disputed')",
                    &[],
                )?,
            ))
        })
        .unwrap();
    assert_eq!((sum, held), (0, promised));
    hub.follow();
    let report = hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.is_clean() && report.not_compared.is_empty(), "{report:?}");
}
