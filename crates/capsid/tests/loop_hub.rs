//! The loop and its hub: the heartbeat, tasks within a budget, sync, and hubs that are away.
#![cfg(unix)]

use crate::common::program;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::logged_child::LoggedChild;
use capsid_testkit::program::{TestProgram, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store::{self, repair_bundle};
use capsid_testkit::wait;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const GOOD: &str = "echo good-$CAPSID_RUN_ID > state.txt";
const BAD: &str = "echo bad > state.txt";

struct Market {
    hub: HubProcess,
    place: TestHubLocation,
    program: TestProgram,
    folder: tempfile::TempDir,
}

impl Market {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = program();
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        Self { hub: HubProcess::start(&program, &place), place, program, folder }
    }

    fn url(&self) -> String {
        format!("http://{}", self.hub.address)
    }

    fn node(&self, home: &Path) -> NodeClient {
        let settings = ClientConfig::new(&self.url(), false).unwrap();
        let identity = Identity::open(home, &|_| None).unwrap();
        let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        node.hello(Object::new()).unwrap();
        node
    }

    /// Somebody asks for something and puts credits aside for it.
    fn task(&self) -> String {
        let asker = self.node(&self.folder.path().join("asker"));
        let question = json!({
            "sender_id": asker.id(), "question": "The reader fails with a TypeError now and then",
            "amount": 5, "signals": ["log_error"],
        });
        asker.post("/a2a/ask", &question).unwrap()["task_id"].as_str().unwrap().to_owned()
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = ask(&self.hub.address, "GET", path, None).unwrap();
        assert_eq!(status, 200, "{path} {body}");
        body.parse().unwrap()
    }

    fn task_status(&self, task: &str) -> String {
        let told = self.get(&format!("/task/{task}"));
        let task = told.get("task").unwrap_or(&told);
        task["status"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
    }
}

fn desk(hub: &str, more: &str) -> ProgramRepo {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    desk.repo.write("capsid.toml", format!("[hub]\nurl = \"{hub}\"\n{more}"));
    desk.repo.commit("Name a hub");
    desk
}

/// A loop that runs beside the test.
fn start_loop(desk: &ProgramRepo, agent: &str, more: &[&str]) -> LoggedChild {
    let agent = desk.agent(agent);
    let mut words = vec!["evolve", "--loop", "--no-sessions", "--log", "app.log"];
    words.extend(more);
    words.extend(["--agent", &agent]);
    let mut command = desk.program.command(desk.repo.path(), &words);
    command.env("EVOLVER_MIN_SLEEP_MS", "100").env("EVOLVER_MAX_SLEEP_MS", "400");
    LoggedChild::start(command)
}

/// Looks until it is there; gives whether it came.
fn comes(look: impl FnMut() -> bool) -> bool {
    wait::happens(Duration::from_secs(60), look)
}

#[test]
fn a_task_is_taken_solved_published_and_handed_in() {
    let market = Market::open();
    let task = market.task();
    let desk = desk(&market.url(), "tasks = true\nreuse = \"off\"\n");
    let running = start_loop(&desk, GOOD, &[]);
    let done = comes(|| market.task_status(&task) == "completed");
    let ran = running.stop();
    assert!(done, "{ran}");
    assert_status(0, &ran);
    assert!(ran.stderr.contains("taken:") && ran.stderr.contains("left today"), "{ran}");
    let node = std::fs::read_to_string(desk.program.home().join(".evomap/node_id")).unwrap();
    let node = market.get(&format!("/a2a/nodes/{}", node.trim()));
    assert_eq!((&node["online"], &node["total_published"]), (&json!(true), &json!(1)), "{node}");
    let budget = std::fs::read_to_string(desk.state_file("task_budget.json")).unwrap();
    let budget: Value = budget.parse().unwrap();
    assert!(budget["runs"] == 1 && budget["time_ms"].as_u64().unwrap() > 0, "{budget}");
}

#[test]
fn a_task_that_is_not_solved_is_given_back_and_left_to_others() {
    let market = Market::open();
    let task = market.task();
    let desk = desk(&market.url(), "tasks = true\nreuse = \"off\"\n");
    let running = start_loop(&desk, BAD, &[]);
    let work = || std::fs::read_to_string(desk.state_file("task_work.json")).unwrap_or_default();
    let over = comes(|| work().contains("\"over\""));
    let ran = running.stop();
    assert!(over, "{}\n{ran}", work());
    assert_eq!(market.task_status(&task), "open", "{ran}");
    // The next start does not take it again.
    let again = start_loop(&desk, BAD, &["--max-cycles", "1", "--force"]).end();
    assert!(!again.stderr.contains("taken:"), "{again}");
    assert_eq!(market.task_status(&task), "open");
}

#[test]
fn a_budget_that_is_spent_takes_no_task_and_stops_no_cycle() {
    let market = Market::open();
    let task = market.task();
    let desk = desk(&market.url(), "tasks = true\ntask_runs_per_day = 0\nreuse = \"off\"\n");
    let running = start_loop(&desk, GOOD, &[]);
    let settled = comes(|| desk.repo.read("state.txt").starts_with("good"));
    running.wait_for("[budget_spent]", 1);
    running.wait_for("next look in", 2);
    let ran = running.stop();
    assert!(settled, "{ran}");
    assert_eq!(market.task_status(&task), "open");
}

#[test]
fn a_hub_that_is_away_stops_no_cycle() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let desk = desk(&format!("http://127.0.0.1:{port}"), "tasks = true\npublish = true\nreuse = \"off\"\n");
    let start = Instant::now();
    let ran = start_loop(&desk, GOOD, &["--max-cycles", "1"]).end();
    assert_status(0, &ran);
    assert!(desk.repo.read("state.txt").starts_with("good"));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}\n{ran}", start.elapsed());
}

#[test]
fn what_was_published_before_a_power_cut_is_handed_in_by_the_next_start() {
    let market = Market::open();
    let task = market.task();
    let desk = desk(&market.url(), "tasks = true\nreuse = \"off\"\n");
    let node = market.node(desk.program.home());
    node.post("/task/claim", &json!({"task_id": task, "node_id": node.id()})).unwrap();
    let bundle = repair_bundle(3, "reader");
    node.publish(&bundle).unwrap();
    let work = json!({"version": 1, "tasks": [{"task_id": task, "stage": "published", "asset_id": bundle[1]["asset_id"]}]});
    desk.repo.write(".git/capsid/task_work.json", work.to_string());
    let running = start_loop(&desk, GOOD, &[]);
    let done = comes(|| market.task_status(&task) == "completed");
    let ran = running.stop();
    assert!(done, "{ran}");
}

#[test]
fn a_sync_stages_what_is_new_once_and_publishes_what_is_eligible() {
    let market = Market::open();
    let desk = desk(&market.url(), "publish = true\n");
    store::write_list(&desk.repo, "capsules", &[store::proven_capsule("capsule_1", "gene_repair", 2)]);
    let successes = ["evt_1", "evt_2"].map(|id| store::proven_success(id, "gene_repair", "capsule_1"));
    store::append_events(&desk.repo, &successes);
    let author = market.node(&market.folder.path().join("author"));
    let bundle = repair_bundle(3, "reader");
    author.publish(&bundle).unwrap();
    let capsule = bundle[1]["asset_id"].as_str().unwrap();
    for asset in &bundle {
        let id = asset["asset_id"].as_str().unwrap();
        let ran = market.place.run(&market.program, &["admin", "promote", id, "--reason", "tried"]);
        assert!(ran.status == 0 || ran.stderr.contains("promoted"), "{ran}");
    }
    let staged = || {
        std::fs::read_to_string(desk.repo.file("assets/gep/external_candidates.jsonl")).unwrap_or_default()
    };
    let sync = |more: &[&str]| {
        let words = [&["node", "sync", "--json"], more].concat();
        desk.program.expect(0, &desk.repo, &words).json()
    };
    let dry = sync(&["--dry-run"]);
    assert!(dry["came"].to_string().contains(capsule), "{dry}");
    assert_eq!(dry["waiting"].as_array().unwrap().len(), 1, "{dry}");
    assert_eq!(staged(), "");
    let synced = sync(&[]);
    assert!(synced["came"].to_string().contains(capsule) && staged().contains(capsule), "{synced}");
    assert_eq!(synced["published"].as_array().unwrap().len(), 1, "{synced}");
    assert_eq!(synced["reputation"], 50.0, "{synced}");
    let again = sync(&[]);
    assert_eq!((&again["came"], &again["published"]), (&json!([]), &json!([])), "{again}");
}

/// A hub that knows nobody at first, and writes down what it is asked.
fn forgetful_hub() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let seen = Arc::clone(&seen);
            std::thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                let read = stream.read(&mut buffer).unwrap_or(0);
                let head = String::from_utf8_lossy(&buffer[..read]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = match path.as_str() {
                    "/a2a/heartbeat" => {
                        let first = !seen.lock().unwrap().iter().any(|path| path == "/a2a/heartbeat");
                        json!({"status": if first { "unknown_node" } else { "ok" }})
                    }
                    _ => json!({"status": "ok", "payload": {"status": "acknowledged"}}),
                };
                seen.lock().unwrap().push(path);
                let text = body.to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    text.len()
                );
                let _gone = stream.write_all(format!("{head}{text}").as_bytes());
            });
        }
    });
    (url, asked)
}

#[test]
fn the_heartbeat_says_hello_first_and_again_to_a_hub_that_forgot() {
    let (url, asked) = forgetful_hub();
    let desk = desk(&url, "reuse = \"off\"\n");
    let running = start_loop(&desk, GOOD, &[]);
    let spoken = || -> Vec<String> {
        let all = asked.lock().unwrap().clone();
        all.into_iter().filter(|path| matches!(path.as_str(), "/a2a/hello" | "/a2a/heartbeat")).collect()
    };
    let wanted = ["/a2a/hello", "/a2a/heartbeat", "/a2a/hello", "/a2a/heartbeat"];
    let came = comes(|| spoken().len() >= 4);
    let start = Instant::now();
    let ran = running.stop();
    assert!(came && spoken()[..4] == wanted, "{:?}\n{ran}", spoken());
    assert!(start.elapsed() < Duration::from_secs(5), "it did not stop at once: {:?}", start.elapsed());
    assert_status(0, &ran);
}

#[test]
fn a_task_that_the_hub_assigns_is_begun_at_once() {
    let market = Market::open();
    let desk = desk(&market.url(), "tasks = true\nreuse = \"off\"\n");
    let node = market.node(desk.program.home());
    // What the loop itself would look for is looked for once a minute, and the next heartbeat is later still.
    let running = start_loop(&desk, GOOD, &[]);
    assert!(comes(|| desk.repo.read("state.txt").starts_with("good")));
    running.wait_for("next look in", 2);
    let task = market.task();
    node.task_claim(&task, None).unwrap();
    let start = Instant::now();
    let done =
        comes(|| market.task_status(&task) == "completed" || start.elapsed() > Duration::from_secs(20));
    let took = start.elapsed();
    let ran = running.stop();
    assert!(done && market.task_status(&task) == "completed", "{took:?}\n{ran}");
}
