//! A memory that repositories share through a real hub: what one learned advises the other.

use super::*;
use crate::common::program;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{SystemClock, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use std::sync::Arc;

/// A running hub.
struct RunningHub {
    hub: HubProcess,
    place: TestHubLocation,
    program: TestProgram,
    _folder: tempfile::TempDir,
}

impl RunningHub {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = program();
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        let hub = HubProcess::start(&program, &place);
        Self { hub, place, program, _folder: folder }
    }

    fn url(&self) -> String {
        format!("http://{}", self.hub.address)
    }

    /// How many memories the node of a desk has there.
    fn count_memories(&self, desk: &ProgramRepo) -> u64 {
        let settings = ClientConfig::new(&self.url(), false).unwrap();
        let identity = Identity::open(desk.program.home(), &|_| None).unwrap();
        let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        let told = node.get("/a2a/memory/status", &[("node_id", node.id())]).unwrap();
        told["total"].as_u64().unwrap()
    }
}

fn outbox(desk: &ProgramRepo) -> std::path::PathBuf {
    desk.state_file("memory_outbox.jsonl")
}

#[test]
fn what_one_repository_learned_advises_the_other() {
    let place = RunningHub::open();
    let variables = shared(&place.url());
    let first = desk("gene_a", "gene_b");
    let ran = cycle(&first, &variables, &[], GOOD);
    assert_status(0, &ran);
    assert_eq!(
        (waiting(&first), place.count_memories(&first)),
        (0, 4),
        "signal, hypothesis, attempt, outcome\n{ran}"
    );

    // The other one has never run a cycle, and would begin with its first gene.
    let other = desk("gene_b", "gene_a");
    let (_, alone) = choice(&first.program, &other.repo, &[]);
    assert_eq!((&alone["gene"], &alone["memory"]), (&json!("gene_b"), &Value::Null));
    let (ran, advised) = choice(&first.program, &other.repo, &variables);
    assert_eq!(advised["gene"], "gene_a", "{ran}");
    assert_eq!(advised["memory"]["preferred"], "gene_a");
    assert_eq!(place.count_memories(&first), 4, "a dry run tells nothing");

    let ran = run(&first.program, &other.repo, &variables, &["evolve", "--no-sessions", "--log", "app.log"]);
    assert_status(0, &ran);
    assert!(ran.stderr.contains(&format!("{} prefers gene_a", place.url())), "{ran}");
    let told = run(&first.program, &other.repo, &[], &["explain"]);
    assert_status(0, &told);
    assert!(
        told.stdout.contains("prefers gene_a") && told.stdout.contains("its words: gene_a did best"),
        "{told}"
    );
    assert!(told.stdout.contains("memory_prefer:gene_a"), "{told}");
    let doctor = run(&first.program, &other.repo, &variables, &["doctor"]);
    assert!(
        doctor.stdout.contains(&format!("shared through {} in the name of this node", place.url())),
        "{doctor}"
    );
}

#[test]
fn what_cannot_be_told_waits_and_arrives_once() {
    let place = RunningHub::open();
    let variables = shared(&place.url());
    let desk = desk("gene_a", "gene_b");
    assert_status(0, &cycle(&desk, &variables, &["--offline"], GOOD));
    assert_eq!(waiting(&desk), 4);
    let kept_back = std::fs::read(outbox(&desk)).unwrap();
    let doctor = run(&desk.program, &desk.repo, &variables, &["doctor"]);
    assert!(doctor.stdout.contains("4 record(s) wait"), "{doctor}");

    assert_status(0, &cycle(&desk, &variables, &[], "echo better > state.txt"));
    assert_eq!((waiting(&desk), place.count_memories(&desk)), (0, 8));
    // An answer that was lost on the way: the same is sent again.
    std::fs::write(outbox(&desk), kept_back).unwrap();
    assert_status(0, &cycle(&desk, &variables, &[], "echo best > state.txt"));
    assert_eq!((waiting(&desk), place.count_memories(&desk)), (0, 12));

    place.hub.kill();
    let ran = cycle(&desk, &variables, &[], "echo bester > state.txt");
    assert_status(0, &ran);
    assert!(ran.stderr.contains("this repository's own alone"), "{ran}");
    assert_eq!(waiting(&desk), 4);
    let _again = HubProcess::start(&place.program, &place.place);
}

#[test]
fn an_account_shares_with_a_key() {
    let place = RunningHub::open();
    let login = json!({"email": "ann@example.org", "password": "correct horse"}).to_string();
    let (status, made) = ask(&place.hub.address, "POST", "/auth/register", Some(&login)).unwrap();
    assert_eq!(status, 201, "{made}");
    let made: Value = made.parse().unwrap();
    let mut variables = shared("http://127.0.0.1:1");
    variables.push(("MEMORY_GRAPH_REMOTE_URL".to_owned(), place.url()));
    variables.push(("MEMORY_GRAPH_REMOTE_KEY".to_owned(), made["token"].as_str().unwrap().to_owned()));
    let (first, other) = (desk("gene_a", "gene_b"), desk("gene_b", "gene_a"));
    assert_status(0, &cycle(&first, &variables, &[], GOOD));
    assert_eq!(waiting(&first), 0);
    // Another machine, with a node of its own.
    let (ran, advised) = choice(&other.program, &other.repo, &variables);
    assert_eq!(advised["gene"], "gene_a", "{ran}");
    let doctor = run(&other.program, &other.repo, &variables, &["doctor"]);
    assert!(doctor.stdout.contains("in the name of an account"), "{doctor}");
    variables.retain(|(name, _)| name != "MEMORY_GRAPH_REMOTE_KEY");
    variables.push(("MEMORY_GRAPH_REMOTE_KEY".to_owned(), "ek_wrong".to_owned()));
    let (_, alone) = choice(&other.program, &other.repo, &variables);
    assert_eq!((&alone["gene"], &alone["memory"]["miss"]), (&json!("gene_b"), &json!("unauthorized")));
}
