//! The hook of the real client finds an asset of the hub by the words of a prompt, and shows it to the agent.

use super::evolver::Evolver;
use super::hub::{self, Hub};
use super::loopback;
use crate::common::program;
use capsid_testkit::wait;
use std::time::Duration;

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
    // The hook gives up after three seconds, and a busy machine needs longer to start it. It shows the best match alone, and has
    // genes of its own, so what it shows has to be ours.
    let told = wait::until_some("the asset of the hub", Duration::from_secs(300), || {
        let told = reader.recall("timeout_error econnreset: try the request again");
        let text = told["additionalContext"].as_str()?.to_owned();
        published.keys().any(|id| text.contains(id.as_str())).then_some(text)
    });
    println!("{told}");
    hub.stop();
}
