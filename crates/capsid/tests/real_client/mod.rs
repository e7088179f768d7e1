//! The real client, unchanged from its registry, against the built hub, with no way to anywhere else.
//!
//! Without the client this test fails: compatibility that nobody tried is no promise.
#![cfg(target_os = "linux")]

mod evolver;
mod http;
mod hub;
mod identity;
mod keyless;
mod loopback;
mod memory;
mod proxy_tasks;
mod recall;
mod relay;
mod reuse_choice;
mod secrets;
mod tasks;

use crate::common::program;
use capsid_testkit::postgres::TestPostgres;
use capsid_testkit::program::TestProgram;
use evolver::{Evolver, wait_for};
use hub::Hub;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_real_client_works_with_the_hub_and_still_does_after_a_restart() {
    match loopback::inside() {
        Some(_) => {
            let program = program();
            let folder = tempfile::tempdir().unwrap();
            let (author, published) = first_day(&program, folder.path(), &["--data", "data"]);
            let secret = author.secret();
            let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
            publishes(&author, &published);
            a_day(&hub, &author, &Evolver::new("second", hub::ADDRESS), &published);
            assert_eq!(author.secret(), secret);
            hub.stop();
        }
        None => loopback::run_inside("the_real_client_works_with_the_hub_and_still_does_after_a_restart", ""),
    }
}

#[test]
fn the_real_client_works_with_a_hub_on_postgresql() {
    match loopback::inside() {
        Some(url) => {
            let folder = tempfile::tempdir().unwrap();
            first_day(&program(), folder.path(), &["--data", "data", "--database", &url]);
        }
        // The server's socket is a file, which can be reached from within.
        None => {
            let database = TestPostgres::empty_database();
            loopback::run_inside("the_real_client_works_with_a_hub_on_postgresql", &database.url);
        }
    }
}

/// An author publishes on a new hub, and another one reuses that. Gives the author and the assets.
fn first_day(program: &TestProgram, folder: &Path, options: &[&str]) -> (Evolver, BTreeMap<String, String>) {
    let author = Evolver::new("author", hub::ADDRESS);
    let hub = Hub::start(program, folder, options);
    author.register();
    let secret = author.secret();
    assert!(secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
    let published = author.preview();
    assert_eq!(published.len(), 3);
    publishes(&author, &published);
    for asset in published.keys() {
        hub.promote(asset);
    }
    a_day(&hub, &author, &Evolver::new("first", hub::ADDRESS), &published);
    hub.stop();
    (author, published)
}

/// What clients do all day; `other` is new to the hub.
fn a_day(hub: &Hub<'_>, author: &Evolver, other: &Evolver, published: &BTreeMap<String, String>) {
    other.register();
    let (gene, capsule) = (of_type(published, "Gene"), of_type(published, "Capsule"));
    other.reuse(gene);
    other.reuse(capsule);
    let stored = other.stored();
    for asset in [gene, capsule] {
        assert_eq!(hub.served(asset), published[asset]);
        assert_eq!(stored[asset], published[asset]);
    }

    let told = author.sync();
    assert!(told.contains("purchased: 0 asset(s)") && told.contains("published: 3 asset(s)"), "{told}");
    let told = other.sync();
    assert!(told.contains("purchased: 2 asset(s)") && told.contains("published: 0 asset(s)"), "{told}");
    assert!(told.contains("synced=2") && told.contains("errors=0"), "{told}");

    let serving = other.serve();
    wait_for("the event stream", || serving.log().contains("[SSE] Event stream connected").then_some(()));
    let message = serving.write_to(&author.node_id(), "Three times is not enough.");
    wait_for("the hub to take the message", || {
        serving.noted(&message).filter(|fields| fields["status"] == "synced")
    });
    drop(serving);
    let serving = author.serve();
    let letter = wait_for("the message to arrive", || serving.letters().pop());
    assert_eq!(letter["payload"]["content"], "Three times is not enough.", "{letter}");
    for (method, route) in [
        ("GET", "/a2a/events/stream"),
        ("POST", "/a2a/heartbeat"),
        ("POST", "/a2a/mailbox/outbound"),
        ("POST", "/a2a/mailbox/inbound"),
    ] {
        // The log may tell a moment later than the client.
        wait_for(&format!("{method} {route} in the log"), || hub.answered(method, route, 200).then_some(()));
    }
}

/// Publishing again is as good as publishing.
fn publishes(author: &Evolver, published: &BTreeMap<String, String>) {
    let mut ids = author.publish();
    ids.sort();
    assert!(ids.iter().eq(published.keys()), "{ids:?}");
}

fn of_type<'a>(assets: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    let mark = format!("{{\"type\":\"{name}\",");
    assets.iter().find(|(_, text)| text.starts_with(&mark)).map(|(id, _)| id).unwrap()
}
