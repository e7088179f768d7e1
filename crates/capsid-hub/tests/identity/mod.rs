//! Who may act for a node when anybody may register: secrets, claims, keys and names, from several networks.

mod answers;
mod claims;
mod findings;
mod keyless;
mod keys;
mod names;
mod recovery;
mod windows;

use crate::common::{On, TestHub};
use capsid_hub::config::{HubConfig, HubProfile};
use serde_json::Value;

const NODE: &str = "node_e5f6a7b8c9d0e1f2";
/// Where the node says hello first, and two addresses in other networks.
const HOME: &str = "192.0.2.10";
const NEIGHBOUR: &str = "192.0.2.99";
const ELSEWHERE: &str = "198.51.100.7";

const SECOND: i64 = 1000;
const HOUR: i64 = 3_600_000;

/// Runs a test with the identity settings of each profile, on both databases. All other settings are private.
fn with_each_identity(test: impl Fn(&TestHub)) {
    for profile in [HubProfile::Private, HubProfile::Public] {
        for on in [On::Sqlite, On::Postgres] {
            println!("{profile:?} on {on:?}");
            test(&TestHub::start(on, |config| config.identity = HubConfig::for_profile(profile).identity));
        }
    }
}

/// Runs a test with the identity settings of the public profile, on both databases. All other settings are private.
fn with_public_identity(test: impl Fn(&TestHub)) {
    crate::common::both_with(
        |config| config.identity = HubConfig::for_profile(HubProfile::Public).identity,
        test,
    );
}

#[track_caller]
fn secret_in(answer: &Value) -> String {
    let secret = answer["node_secret"].as_str().unwrap_or_else(|| panic!("no secret in {answer}"));
    assert_eq!(secret.len(), 64);
    secret.to_owned()
}

/// Panics if an answer holds a secret or a claim code, anywhere in its text.
#[track_caller]
fn holds_nothing(answer: &Value) {
    let text = answer.to_string();
    for word in ["\"node_secret\"", "claim_code", "claim_url", "/claim/"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// Makes an account and gives its session.
fn account(hub: &TestHub, email: &str) -> String {
    let login = serde_json::json!({"email": email, "password": "correct horse battery"});
    hub.post("/auth/register", &login).expect(201)["token"].as_str().unwrap().to_owned()
}

/// Changes the database directly.
fn run_sql(hub: &TestHub, sql: &'static str) {
    hub.hub.store.write_now(move |tx| tx.run(sql, &[]).map(drop)).unwrap();
}

/// The number that a query gives.
fn count(hub: &TestHub, sql: &'static str) -> i64 {
    hub.hub.store.read_now(move |tx| tx.count(sql, &[])).unwrap()
}

/// Lets the jobs do what is due.
fn run_jobs(hub: &TestHub) {
    hub.runtime.block_on(capsid_hub::jobs::run_due(&hub.hub));
}
