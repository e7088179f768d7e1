//! A solution proven by one agent is found, checked and reused by another: a hub, three nodes and two repositories, every
//! one a process of its own. And the same story as a person watches it.
#![cfg(unix)]

mod demo;
#[path = "../../src/commands/demo/scenes.rs"]
#[allow(dead_code)]
mod scenes;

use crate::common::program;
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::test_repo::TestRepo;
use std::process::Command;
use std::time::Duration;

const SETTINGS: &str = "[promotion]\ninterval_seconds = 1\n";

#[test]
fn a_solution_goes_from_one_agent_to_another_on_sqlite() {
    story(None);
}

#[test]
fn a_solution_goes_from_one_agent_to_another_on_postgresql() {
    story(Some(&TestPostgres::empty_database()));
}

#[test]
fn the_story_can_be_watched() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let told = program.command(folder.path(), &["demo", "--network", "--dir", "story"]).output().unwrap();
    let told = ProgramOutput::from_output(told);
    assert_status(0, &told);
    for sign in ["promoted:", "invoices$ capsid evolve", "no agent was needed", "nobody copied a file"] {
        assert!(told.stdout.contains(sign), "{sign} is missing\n{told}");
    }
    assert!(!told.stdout.contains("nobody should have called me"), "{told}");
    let log = std::fs::read_to_string(folder.path().join("story/invoices/assets/gep/events.jsonl")).unwrap();
    assert!(log.contains(r#""source_type":"reused""#), "{log}");
}

/// On a hub that takes its time, and that heard the story before.
#[test]
fn the_story_can_be_told_on_a_hub_that_runs_already() {
    let operator = program();
    let scratch = crate::common::Scratch::sqlite().with("[promotion]\ninterval_seconds = 4\n");
    let hub = HubProcess::start(&operator, &scratch.place);
    let ann = json!({ "email": "ann@example.org", "password": "a password of hers" }).to_string();
    let (status, answer) = ask(&hub.address, "POST", "/auth/register", Some(&ann)).unwrap();
    assert!((200..300).contains(&status), "{answer}");
    let url = format!("http://{}", hub.address);
    let folder = tempfile::tempdir().unwrap();
    let words = ["demo", "--network", "--hub", &url, "--fast", "--dir", "story"];
    let told = ProgramOutput::from_output(operator.command(folder.path(), &words).output().unwrap());
    assert_status(0, &told);
    assert!(told.stdout.contains("ann-") && told.stdout.contains("What you saw"), "{told}");
    let steps: Vec<&str> = told.stdout.split("/8 ").skip(1).collect();
    assert_eq!(steps.len(), 8, "{told}");
    for step in &steps[..7] {
        // A heading, the reason, at most 8 lines, and an empty line with the number of the next step.
        assert!(step.lines().count() <= 2 + 8 + 2, "{step}");
    }
    let log = std::fs::read_to_string(folder.path().join("story/story.log")).unwrap();
    assert!(log.lines().count() > 100 && log.contains("validator"), "{log}");
    let words = ["demo", "--network", "--hub", &url, "--fast", "--dir", "again"];
    let again = ProgramOutput::from_output(operator.command(folder.path(), &words).output().unwrap());
    assert_eq!((again.status, again.code()), (1, "change_refused"), "{again}");
    assert_eq!(hub.stop(), Some(0));
}

/// A node: its program with a home of its own, and its repository.
struct TestNode {
    program: TestProgram,
    repo: TestRepo,
    hub: String,
}

impl TestNode {
    fn new(name: &str, hub: &HubProcess) -> Self {
        let program = program();
        Self { program, repo: TestRepo::named(name), hub: format!("http://{}", hub.address) }
    }

    fn project(&self, sources: &[(&str, &str)], test: &str) {
        for (name, content) in [("service.js", scenes::SERVICE)].iter().chain(sources) {
            self.repo.write(name, content);
        }
        let policy = format!("[validation]\ncommands = [\"{test}\"]\n[cycle]\nsessions = false\n");
        self.repo.write("capsid.toml", policy);
        self.capsid(&["init"]);
    }

    fn commit(&self) {
        self.repo.git(&["add", "-A"]);
        self.repo.git(&["commit", "-q", "-m", "A first version"]);
    }

    fn run(&self, words: &[&str]) -> ProgramOutput {
        let mut command = self.program.command(self.repo.path(), words);
        ProgramOutput::from_output(command.env("A2A_HUB_URL", &self.hub).output().unwrap())
    }

    #[track_caller]
    fn capsid(&self, words: &[&str]) -> ProgramOutput {
        let ran = self.run(words);
        assert_eq!(ran.status, 0, "capsid {words:?}\n{ran}");
        ran
    }

    #[track_caller]
    fn evolve(&self, check: &str, agent: &str) -> Value {
        let home = self.program.home();
        let (log, script) = (home.join("check.log"), home.join("agent.sh"));
        let shell = format!("{check} 2>&1");
        let ran = Command::new("sh").args(["-c", &shell]).current_dir(self.repo.path()).output().unwrap();
        assert!(!ran.status.success(), "`{check}` passes");
        std::fs::write(&log, format!("$ {check}\n{}", String::from_utf8_lossy(&ran.stdout))).unwrap();
        std::fs::write(&script, agent).unwrap();
        let (log, script) = (log.to_str().unwrap(), script.to_str().unwrap());
        self.capsid(&["evolve", "--json", "--log", log, "--agent", "sh", script]).json()
    }

    fn node_id(&self) -> String {
        std::fs::read_to_string(self.program.home().join(".evomap/node_id")).unwrap().trim().to_owned()
    }
}

fn get(hub: &HubProcess, path: &str) -> Value {
    let (status, body) = ask(&hub.address, "GET", path, None).unwrap();
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Waits for something that the loops of the nodes bring about.
#[track_caller]
fn wait<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    capsid_testkit::wait::until_some(what, Duration::from_secs(90), look)
}

fn story(database: Option<&TestDatabase>) {
    let folder = tempfile::tempdir().unwrap();
    let place = TestHubLocation {
        data: folder.path().join("hub"),
        database: database.map(|database| database.url.clone()),
    };
    std::fs::create_dir_all(&place.data).unwrap();
    std::fs::write(place.data.join("hub.toml"), SETTINGS).unwrap();
    let operator = program();
    let hub = HubProcess::start(&operator, &place);
    let [a, validator, b] = ["shop", "validator", "invoices"].map(|name| TestNode::new(name, &hub));

    // A's repository fails. A scripted agent finds the way; when the problem comes back, the stored solution is enough.
    a.project(&[("shop.js", scenes::SHOP), ("shop.test.js", scenes::SHOP_TEST)], scenes::SHOP_CHECK);
    a.repo.write("assets/gep/genes.jsonl", format!("{}\n", scenes::GENE));
    a.commit();
    for (n, agent) in [scenes::FIX, scenes::NOT_NEEDED, scenes::NOT_NEEDED].iter().enumerate() {
        if n > 0 {
            a.repo.write("shop.js", scenes::SHOP);
            std::fs::remove_file(a.repo.file("retry.js")).unwrap();
            std::fs::remove_file(a.repo.file("retry.test.js")).unwrap();
        }
        let settled = a.evolve(scenes::SHOP_CHECK, agent);
        assert_eq!(settled["capsule"]["success_streak"], n + 1, "{settled}");
        assert_eq!(settled["capsule"]["title"], "Call the service again after a timeout", "{settled}");
        assert_eq!(settled["proof"]["grade"], "fail_to_pass_reverts", "{settled}");
        assert_eq!(settled["event"]["genes_used"], json!(["gene_retry_after_timeout"]));
    }
    a.capsid(&["node", "hello"]);
    a.capsid(&["node", "publish", "--json"]);

    // A validator on another node reproduces it, and the hub promotes it.
    validator.capsid(&["node", "hello"]);
    wait("a reproduction", || {
        let round = validator.capsid(&["node", "validator", "--once", "--stake", "100", "--json"]);
        round.stdout.contains("\"overall_ok\":true").then_some(())
    });
    let asset = wait("a promotion", || {
        let listed = get(&hub, "/a2a/assets?type=Capsule&status=promoted");
        Some(listed["assets"][0]["asset_id"].as_str()?.to_owned())
    });
    let path = format!("/a2a/assets/{}", asset.replace(':', "%3A"));
    let before = get(&hub, &path);
    let credits = get(&hub, &format!("/a2a/nodes/{}", a.node_id()));

    // B's repository is another one with the same problem. What A found is in its prompt, and B's agent uses it.
    b.project(
        &[("invoices.js", scenes::INVOICES), ("invoices.test.js", scenes::INVOICES_TEST)],
        scenes::INVOICES_CHECK,
    );
    b.commit();
    let settled = b.evolve(scenes::INVOICES_CHECK, scenes::APPLY);
    assert_eq!(settled["event"]["source_type"], "reused", "{settled}");
    assert_eq!(settled["event"]["reused_asset_id"], asset.as_str());
    assert_eq!(settled["capsule"]["reused_asset_id"], asset.as_str());
    assert_eq!(settled["proof"]["grade"], "fail_to_pass_reverts", "{settled}");
    assert_eq!(settled["event"]["outcome"]["status"], "success");
    assert!(b.repo.file("retry.js").exists());

    // The hub shows the report, the raised usage and A's credits.
    let reports = wait("B's report", || {
        let reports = get(&hub, &format!("/a2a/validation-reports?asset_id={}", asset.replace(':', "%3A")));
        let by_b = reports["reports"]
            .as_array()?
            .iter()
            .find(|one| one["validator_node_id"] == b.node_id().as_str())?
            .clone();
        Some(by_b)
    });
    assert_eq!(reports["overall_ok"], true, "{reports}");
    assert_eq!(reports["reproduction_score"], 1.0, "{reports}");
    let after = wait("the raised usage", || {
        let now = get(&hub, &path);
        (now["reuse_count"].as_u64() > before["reuse_count"].as_u64()).then_some(now)
    });
    assert!(after["call_count"].as_u64() > before["call_count"].as_u64(), "{after}");
    let paid = a.capsid(&["node", "status", "--json"]).json();
    assert!(paid["credit_balance"].as_f64().unwrap() > 500.0, "{paid} {credits}");

    for node in [&a, &b] {
        node.capsid(&["events", "verify"]);
    }
    assert_eq!(hub.stop(), Some(0));
    assert_status(0, &place.run(&operator, &["fsck"]));
}
