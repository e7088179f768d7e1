//! The real client takes a task from the hub by itself, solves it, hands it in and is paid for it.
//!
//! What it does, seen from the hub:
//! - `run` asks for tasks with a fetch, ranks them, claims the best one with a time it promises, looks for a capsule that
//!   suits the task's signals and fetches it. It notes all of this in its repository and prints a prompt for an agent.
//! - The agent changes the repository; here the test does.
//! - `solidify` asks whether it may, runs the commands of the gene, and then sends three things at once, each on a
//!   connection of its own: it publishes what it learned, completes the task, and reviews the capsule that helped. It
//!   leaves as soon as the review is answered, whatever became of the rest. The completion names the capsule by the id
//!   that it had before the client put `parent` into it, so the hub has never heard of this id.
//!
//! Without a review it would leave before anything is sent, so somebody has to have published something that helps. And
//! it only publishes what has worked twice, so its repository remembers that it worked once before.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use super::relay::Relay;
use crate::common::program;
use capsid_testkit::postgres::TestPostgres;
use serde_json::{Value, json};
use std::process::Command;

const BEFORE: &str = "module.exports = { fetchOrders: get => get('/orders') };\n";

const AFTER: &str = "module.exports = {
  async fetchOrders(get) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await get('/orders');
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  },
};
";

/// The command of the gene.
const TEST: &str = "const { fetchOrders } = require('../src/orders');
let asked = 0;
const get = async () => { asked += 1; if (asked < 3) throw new Error('timeout'); return []; };
fetchOrders(get).then(() => process.exit(asked === 3 ? 0 : 1), () => process.exit(1));
";

const GENE: &str = include_str!("bundle/gene.json");
const CAPSULE: &str = include_str!("bundle/capsule.json");
const EVENT: &str = include_str!("bundle/event.json");

/// Where the client notes what it is at.
pub const NOTES: &str = "work/memory/evolution/evolution_solidify_state.json";

#[test]
fn the_real_client_claims_and_completes_a_task() {
    match loopback::inside() {
        Some(_) => story(&["--data", "data"]),
        None => loopback::run_inside("tasks::the_real_client_claims_and_completes_a_task", ""),
    }
}

#[test]
#[ignore = "`make soak PART=client` runs it: both databases are tried without the client"]
fn the_real_client_claims_and_completes_a_task_of_a_hub_on_postgresql() {
    match loopback::inside() {
        Some(url) => story(&["--data", "data", "--database", &url]),
        None => {
            let database = TestPostgres::empty_database();
            let name = "tasks::the_real_client_claims_and_completes_a_task_of_a_hub_on_postgresql";
            loopback::run_inside(name, &database.url);
        }
    }
}

fn story(options: &[&str]) {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::start(&program, folder.path(), options);
    something_helps(&hub);
    let relay = Relay::to(hub::ADDRESS);
    let solver = Evolver::new("solver", &relay.address);
    solver.register();
    has_experience(&solver);

    let offer = Offer::post(&hub);
    claims(&hub, &solver, &offer);
    let capsule = completes(&hub, &solver, &offer, &relay);
    is_paid(&hub, &solver, &offer, &capsule);
    helps_others(&hub, &capsule);
    hub.stop();
}

/// A bounty that somebody offers.
pub struct Offer {
    session: String,
    bounty: String,
    task: String,
}

impl Offer {
    pub fn post(hub: &Hub<'_>) -> Self {
        let login = json!({"email": "ann@example.org", "password": "correct horse"});
        let session = text(&hub.post("/auth/register", None, &login), "token");
        let wanted =
            json!({"title": "Orders time out and are lost", "signals": ["timeout_error"], "amount": 37.125});
        let bounty = hub.post("/bounty/create", Some(&session), &wanted);
        Self { session, bounty: text(&bounty, "bounty_id"), task: text(&bounty, "task_id") }
    }

    fn task(&self, hub: &Hub<'_>) -> Value {
        hub.get(&format!("/task/{}", self.task))
    }

    fn bounty(&self, hub: &Hub<'_>) -> Value {
        hub.get(&format!("/bounty/{}", self.bounty))
    }
}

fn claims(hub: &Hub<'_>, solver: &Evolver, offer: &Offer) {
    let ran = solver.run_well(&["run"]);
    let notes: Value = serde_json::from_str(&solver.file(NOTES)).unwrap();
    assert_eq!(notes["last_run"]["active_task_id"], offer.task.as_str(), "{ran}");
    assert_eq!(notes["last_run"]["source_type"], "reference", "{ran}");
    let task = offer.task(hub);
    assert_eq!((text(&task, "status"), text(&task, "claimed_by")), ("claimed".to_owned(), solver.node_id()));
    assert_eq!(task["commitment_deadline"], notes["last_run"]["commitment_deadline"], "{task}");
}

/// Solves the task; gives the capsule that the hub has for it.
fn completes(hub: &Hub<'_>, solver: &Evolver, offer: &Offer, relay: &Relay) -> String {
    solver.write("work/src/orders.js", AFTER);
    let ran = solver.run_well(&["solidify", "--summary=Orders that time out are asked for again"]);
    assert!(ran.stdout.contains("[TaskComplete] Completing task"), "{ran}");
    // It may have left before the hub was done.
    let task = wait_for("the task to be completed", || {
        Some(offer.task(hub)).filter(|task| task["status"] == "completed")
    });
    assert_eq!(text(&task, "claimed_by"), solver.node_id());
    let (capsule, sent) = (text(&task, "result_asset_id"), relay.heard());
    assert!(sent_to("/a2a/publish", &sent).contains(&capsule));
    // The day it does, the hub need no longer guess.
    assert!(
        !sent_to("/a2a/task/complete", &sent).contains(&capsule),
        "the client names its capsule as published"
    );
    let asset = hub.get(&format!("/a2a/assets/{capsule}"));
    assert_eq!(
        (text(&asset, "asset_type"), text(&asset, "source_node_id")),
        ("Capsule".to_owned(), solver.node_id())
    );
    capsule
}

fn is_paid(hub: &Hub<'_>, solver: &Evolver, offer: &Offer, capsule: &str) {
    let bounty = offer.bounty(hub);
    assert_eq!(
        (text(&bounty, "status"), &text(&bounty, "matched_asset_id")[..]),
        ("matched".to_owned(), capsule)
    );
    let before = balance(hub, solver);
    hub.post(&format!("/bounty/{}/accept", offer.bounty), Some(&offer.session), &json!({}));
    assert_eq!(offer.bounty(hub)["status"], "accepted");
    assert_eq!(balance(hub, solver) - before, 37_125);
}

/// What was paid for is of use to others. The client hashes a part of it that it does not send, and yet every client
/// that takes it finds that its id holds.
fn helps_others(hub: &Hub<'_>, capsule: &str) {
    hub.promote(capsule);
    let other = Evolver::new("other", hub::ADDRESS);
    other.register();
    other.reuse(capsule);
}

/// Another node has published a capsule that suits the task.
fn something_helps(hub: &Hub<'_>) {
    let author = Evolver::new("author", hub::ADDRESS);
    author.register();
    let [_gene, capsule, _event] = &author.publish()[..] else { panic!("a bundle has three parts") };
    hub.promote(capsule);
}

/// A repository with a fault, and what its agent remembers: one gene, and that it helped once.
pub fn has_experience(solver: &Evolver) {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (path, text) in [
        ("src/orders.js", BEFORE.to_owned()),
        ("tests/retry.test.js", TEST.to_owned()),
        (".evolver/gep/genes.json", json!({"version": 2, "genes": [parsed(GENE)]}).to_string()),
        (".evolver/gep/capsules.json", json!({"version": 1, "capsules": [parsed(CAPSULE)]}).to_string()),
        (".evolver/gep/events.jsonl", format!("{}\n", parsed(EVENT))),
    ] {
        solver.write(&format!("work/{path}"), &text);
    }
    for args in [&["add", "--all"][..], &["commit", "--quiet", "--message", "Orders"]] {
        let git = Command::new("git")
            .args(["-c", "user.name=agent", "-c", "user.email=agent@example.org"])
            .args(args)
            .current_dir(solver.work())
            .status();
        assert!(git.unwrap().success());
    }
}

/// What a node has, in thousandths of a credit.
fn balance(hub: &Hub<'_>, node: &Evolver) -> i64 {
    let beat = hub.post("/a2a/heartbeat", Some(&node.secret()), &json!({"node_id": node.node_id()}));
    (beat["credit_balance"].as_f64().unwrap() * 1000.0).round() as i64
}

/// The bodies that were sent to a path.
fn sent_to(path: &str, sent: &str) -> String {
    let mark = format!("POST {path} HTTP/1.1\r\n");
    let requests: Vec<&str> = sent.split(&mark).skip(1).collect();
    assert!(!requests.is_empty(), "nothing was sent to {path}");
    requests.iter().map(|rest| rest.split("HTTP/1.1\r\n").next().unwrap_or(rest)).collect()
}

#[track_caller]
fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}")).to_owned()
}
