//! The hook of the real client finds an asset of the hub by the words of a prompt, and shows it to the agent.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use crate::common::program;

const NAME: &str = "recall::the_real_client_recalls_what_the_hub_has";

#[test]
fn the_real_client_recalls_what_the_hub_has() {
    match loopback::inside() {
        Some(_) => story(),
        None => loopback::run_inside(NAME, ""),
    }
}

fn story() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let author = Evolver::new("author", hub::ADDRESS);
    author.register();
    let published = author.preview();
    author.publish();
    for asset in published.keys() {
        hub.promote(asset);
    }
    let reader = Evolver::new("reader", hub::ADDRESS);
    reader.register();
    // The hook gives up after three seconds, and a busy machine needs longer to start it.
    let told = wait_for("a hit of the hub", || {
        let told =
            reader.recall("My HTTP requests fail with a timeout error, how do I retry them with backoff?");
        told["additionalContext"].as_str().map(str::to_owned)
    });
    println!("{told}");
    hub.stop();
}
