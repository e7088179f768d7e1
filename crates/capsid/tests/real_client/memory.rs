//! The real client keeps its memory graph at the hub too, with an account's token: it asks for advice before it chooses a
//! gene, and tells what it saw, expects, attempts and what came of it.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use crate::common::program;
use serde_json::json;

const NAME: &str = "memory::the_real_client_shares_its_memory_through_the_hub";

#[test]
fn the_real_client_shares_its_memory_through_the_hub() {
    match loopback::inside() {
        Some(_) => story(),
        None => loopback::run_inside(NAME, ""),
    }
}

fn story() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let login = json!({"email": "ann@example.org", "password": "correct horse"});
    let token = hub.post("/auth/register", None, &login)["token"].as_str().unwrap().to_owned();
    let evolver = Evolver::new("author", hub::ADDRESS);
    evolver.write("work/MEMORY.md", "error: TypeError: x is not a function\n");
    let variables = [
        ("MEMORY_GRAPH_PROVIDER", "remote"),
        ("MEMORY_GRAPH_REMOTE_URL", hub::ADDRESS),
        ("MEMORY_GRAPH_REMOTE_KEY", token.as_str()),
    ];
    // What came of a cycle is told at the beginning of the next one.
    evolver.run_well_with(&variables, &["run"]);
    evolver.write("work/MEMORY.md", "error: ReferenceError: y is not defined\n");
    evolver.run_well_with(&variables, &["run"]);
    for route in ["/kg/advice", "/kg/ingest"] {
        wait_for(&format!("{route} in the log"), || hub.answered("POST", route, 200).then_some(()));
        assert!(!hub.answered("POST", route, 400), "{route}");
    }
    let gene = "gene_gep_repair_from_errors";
    let asked =
        json!({"signals": ["log_error"], "genes": [{"id": gene, "category": "repair", "type": "Gene"}]});
    let advice = hub.post("/kg/advice", Some(&token), &asked);
    assert_eq!(advice["basis"]["own"], 1, "{advice}");
    hub.stop();
}
