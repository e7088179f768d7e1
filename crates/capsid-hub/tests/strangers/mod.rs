//! A hub that strangers use: what free nodes can take, store and smuggle in, on both databases.

mod arbitration;
mod audits;
mod content;
mod credits;
mod disputes;
mod moderation;
mod quotas;
mod runner;
mod vacuous;

use crate::common::TestHub;
use crate::common::economy::text;
use capsid_hub::config::{HubConfig, HubProfile};
use capsid_rules::credits::CreditSource;
use capsid_rules::evaluation::owners::OwnerPolicy;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::accounts::admin::{self, AdminAction};
use capsid_store::evaluation::owners;
use capsid_store::ledger::{self, MINT, Transfer};
use serde_json::json;

pub const DAY: i64 = 86_400_000;

/// The rules of a public hub about credits, quotas and content. Limits of calls are not what these tests are about.
pub fn public(config: &mut HubConfig) {
    let defaults = HubConfig::for_profile(HubProfile::Public);
    config.profile = HubProfile::Public;
    (config.node_grant, config.account_grant) = (defaults.node_grant, defaults.account_grant);
    (config.credits, config.work) = (defaults.credits, defaults.work);
    (config.quotas, config.hold_warned) = (defaults.quotas, defaults.hold_warned);
    let endless = RateLimit { count: 1_000_000, window_ms: 60_000 };
    (config.limits.hello, config.limits.register) = (endless, endless);
    config.promotion.interval_ms = 0;
    // An account has level 1 at once; how levels are earned is tested elsewhere.
    config.owners = OwnerPolicy { min_age_days: 0.0, min_days_seen: 0, ..defaults.owners };
}

/// Makes an account; gives its token and its id.
pub fn user(hub: &TestHub, name: &str) -> (String, String) {
    let (token, account) = crate::common::economy::user(hub, name);
    let id = account.strip_prefix("user:").unwrap().to_owned();
    let (user_id, now) = (id.clone(), hub.hub.now());
    hub.hub.store.write_now(move |tx| owners::assess_account(tx, &user_id, now)).unwrap();
    (token, id)
}

/// The operator appoints an account.
pub fn appoint(hub: &TestHub, user_id: &str) {
    let (user_id, now) = (user_id.to_owned(), hub.hub.now());
    hub.hub
        .store
        .write_now(move |tx| {
            let by = AdminAction { actor: "operator", reason: None, now };
            admin::appoint(tx, &user_id, true, by)
        })
        .unwrap();
}

/// An account claims a node that says hello for the first time.
pub fn claim(hub: &TestHub, token: &str, node: &str) {
    let hello = hub.message(node, "hello", json!({})).expect(200);
    let code = text(&hello["claim_code"]);
    hub.post_as(token, &format!("/claim/{code}"), &json!({})).expect(200);
}

/// Gives an account credits that it earned, or was granted.
pub fn pay_out(hub: &TestHub, account: &str, credits: i64, source: CreditSource) {
    let (account, now) = (account.to_owned(), hub.hub.now());
    let reference = hub.hub.new_id("test");
    let moved = hub.hub.store.write_now(move |tx| {
        let amount = credits * 1000;
        let gift = Transfer { reference: &reference, kind: "grant", from: MINT, to: &account, amount };
        ledger::transfer_from(tx, gift, source, now)
    });
    assert_eq!(moved.unwrap(), ledger::TransferOutcome::Done);
}

/// What an account holds: granted and earned credits.
pub fn balances(hub: &TestHub, account: &str) -> (i64, i64) {
    let account = account.to_owned();
    let held = hub.hub.store.read_now(move |tx| ledger::balances(tx, &account)).unwrap();
    (held.granted / 1000, held.earned() / 1000)
}

pub fn run_jobs(hub: &TestHub) {
    hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
}
