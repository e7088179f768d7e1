//! A node and the built hub: how it becomes known, keeps its secret, loses it and comes back, and what it is handed.
#![cfg(unix)]

use crate::common::program;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::asset::stamp;
use capsid_model::{Code, Object, Problem, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation};
use capsid_testkit::program::{TestProgram, assert_status};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

/// A hub with an empty store.
struct RunningHub {
    hub: HubProcess,
    folder: tempfile::TempDir,
    program: TestProgram,
}

fn start() -> RunningHub {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let place = TestHubLocation { data: folder.path().to_owned(), database: None };
    RunningHub { hub: HubProcess::start(&program, &place), folder, program }
}

fn node_at(url: &str, home: &Path, env: &[(&str, &str)]) -> NodeClient {
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let identity = Identity::open(home, &env).unwrap();
    NodeClient::new(&ClientConfig::resolve(Some(url), &env).unwrap(), identity, Arc::new(SystemClock))
        .unwrap()
}

impl RunningHub {
    fn url(&self) -> String {
        format!("http://{}", self.hub.address)
    }

    fn node(&self, home: &Path) -> NodeClient {
        node_at(&self.url(), home, &[])
    }

    /// What the operator gets who gives a node another secret.
    fn reset_secret(&self, node: &str) -> String {
        let place = TestHubLocation { data: self.folder.path().to_owned(), database: None };
        let ran = place
            .run(&self.program, &["admin", "reset-secret", node, "--reason", "its disk was lost", "--json"]);
        assert_status(0, &ran);
        ran.json()["node_secret"].as_str().unwrap().to_owned()
    }
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn bundle(topic: &str) -> [Object; 2] {
    let stamped = |value: Value| {
        let mut asset = value.as_object().unwrap().clone();
        stamp(&mut asset);
        asset
    };
    let gene = stamped(json!({
        "type": "Gene", "schema_version": "1.5.0", "category": "repair", "signals_match": [topic],
        "summary": format!("Retry what {topic} broke, with a bound."), "validation": ["node check.js"],
    }));
    let capsule = stamped(json!({
        "type": "Capsule", "schema_version": "1.5.0", "trigger": [topic], "gene": gene["asset_id"],
        "summary": format!("A bounded retry repaired what {topic} had broken."), "confidence": 0.9,
        "blast_radius": {"files": 1, "lines": 10}, "outcome": {"status": "success", "score": 0.9},
        "env_fingerprint": {"platform": "linux", "arch": "x64"}, "success_streak": 3,
        "content": format!("Wrap the call that meets {topic} in a loop of three tries with a growing pause."),
    }));
    [gene, capsule]
}

fn id(asset: &Object) -> &str {
    asset["asset_id"].as_str().unwrap()
}

#[test]
fn a_node_is_known_by_its_secret_and_comes_back_after_losing_it() {
    let (place, home) = (start(), home());
    let node = place.node(home.path());
    let greeting = node.hello(json!({"gene_count": 2}).as_object().unwrap().clone()).unwrap();
    let claim = greeting.claim_url.as_deref().unwrap();
    assert!(claim.starts_with("http") && claim.ends_with(greeting.claim_code.as_deref().unwrap()), "{claim}");
    let known = node.known().unwrap();
    let secret = known.secret.clone().unwrap();
    assert!(known.hub_node_id.as_deref().unwrap().starts_with("hub_"));
    let file = home.path().join(".evomap/node_secret");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!format!("{greeting:?}{node:?}").contains(&secret));

    // Bound: a stranger who says hello in its name is told neither the secret nor the code.
    let stranger = tempfile::tempdir().unwrap();
    let env = [("A2A_NODE_ID", node.id()), ("EVOMAP_DEVICE_ID", "00000000000000ff")];
    let other = node_at(&place.url(), stranger.path(), &env);
    let problem = other.hello(Object::new()).unwrap_err();
    assert_eq!(problem.code, Code::NodeSecretRefused, "{problem:?}");
    assert!(problem.fix.as_deref().unwrap().contains("owner"), "{problem:?}");
    assert_eq!(other.known().unwrap().secret, None);
    let resting = other.report("sha256:x", &json!({})).unwrap_err();
    assert!(resting.message.contains("before"), "{resting:?}");

    // Later greetings keep the secret and the code.
    let again = place.node(home.path()).hello(Object::new()).unwrap();
    assert_eq!(again.claim_code, greeting.claim_code);
    assert_eq!(again.claim_expires_at, greeting.claim_expires_at);
    assert_eq!(again.payload["node_secret_status"], "active");
    assert_eq!(node.known().unwrap().secret.as_ref(), Some(&secret));

    // The files are lost. The secret was in use a moment ago, so the hub replaces it for nobody, this machine included.
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(home.path().join(".evomap/hubs.json")).unwrap();
    assert_eq!(node.heartbeat(Object::new()).unwrap_err().code, Code::NodeSecretRefused);
    // The operator does, and the old one is worth nothing.
    node.hello_with(&place.reset_secret(node.id()), Object::new()).unwrap();
    assert_eq!(node.heartbeat(Object::new()).unwrap()["status"], "ok");
    let renewed = node.known().unwrap();
    assert_ne!(renewed.secret.as_ref(), Some(&secret));
    assert_eq!(renewed.secret_version, Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), renewed.secret.unwrap());
    let env = [("A2A_NODE_SECRET", &*secret)];
    let old = node_at(&place.url(), home.path(), &env).heartbeat(Object::new()).unwrap_err();
    assert_eq!((old.code, old.hub_code.as_deref()), (Code::NodeSecretRefused, Some("node_secret_invalid")));

    // A wrong secret in the files is not replaced either.
    node.accept_secret(&secret).unwrap();
    assert_eq!(node.heartbeat(Object::new()).unwrap_err().code, Code::NodeSecretRefused);
}

#[test]
fn the_first_call_of_an_unknown_node_is_a_hello() {
    let (place, home) = (start(), home());
    let node = place.node(home.path());
    let answer = node.heartbeat(json!({"worker_enabled": false}).as_object().unwrap().clone()).unwrap();
    assert_eq!((&answer["status"], &answer["your_node_id"]), (&json!("ok"), &json!(node.id())));
    assert!(node.known().unwrap().secret.is_some());
}

#[test]
fn what_is_published_comes_back_checked() {
    let (place, author_home, reader_home) = (start(), home(), home());
    let (author, reader) = (place.node(author_home.path()), place.node(reader_home.path()));
    author.hello(Object::new()).unwrap();
    reader.hello(Object::new()).unwrap();
    let assets = bundle("TimeoutError");
    assert_eq!(author.validate(&assets).unwrap()["valid"], true);
    assert_eq!(author.publish(&assets).unwrap()["decision"], "accept");
    let fetched = author.fetch(&[id(&assets[0]), id(&assets[1])]).unwrap();
    assert!(fetched.refused.is_empty(), "{:?}", fetched.refused);
    let mut came = fetched.assets;
    came.sort_by_key(|asset| asset["type"].as_str().map(str::to_owned));
    assert_eq!(came, [assets[1].clone(), assets[0].clone()]);
    let candidates = reader.search(&["TimeoutError".to_owned()], Some("Capsule"), 5).unwrap();
    assert!(candidates.is_empty(), "what is not promoted is not offered");
    let told = reader.report(id(&assets[1]), &json!({"report_id": "r1", "overall_ok": true})).unwrap();
    assert_eq!(told["target_asset_id"], assets[1]["asset_id"]);
    assert!(reader.decide(id(&assets[1]), "accept", Some("It works here.")).unwrap().contains_key("status"));
    let refused = reader.revoke(id(&assets[1]), None).unwrap_err();
    assert_eq!((refused.code, refused.hub_code.as_deref()), (Code::HubRefused, Some("not_asset_owner")));
    assert!(author.revoke(id(&assets[1]), Some("It was wrong.")).unwrap().contains_key("status"));
    let mut tampered = assets;
    tampered[1].insert("summary".to_owned(), "Another summary that is long enough.".into());
    let problem = author.publish(&tampered).unwrap_err();
    assert!(problem.hub_code.as_deref().is_some_and(|code| code.contains("asset_id")), "{problem:?}");
    assert!(problem.fix.is_some());
}

#[test]
fn tasks_are_taken_cut_done_and_given_back() {
    let (place, asker_home, worker_home) = (start(), home(), home());
    let (asker, worker) = (place.node(asker_home.path()), place.node(worker_home.path()));
    asker.hello(Object::new()).unwrap();
    worker.hello(Object::new()).unwrap();
    let ask = |question: &str| {
        let body = json!({"sender_id": asker.id(), "question": question, "signals": ["TimeoutError"]});
        asker.post("/a2a/ask", &body).unwrap()["task_id"].as_str().unwrap().to_owned()
    };
    let tasks = [ask("Why does it time out?"), ask("Why does it crash at start?"), ask("Why is it so slow?")];
    let listed = worker.task_list(50).unwrap();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 3, "{listed}");
    for task in &tasks {
        assert_eq!(worker.task_claim(task, None).unwrap()["status"], "claimed");
    }
    assert_eq!(worker.task_claim(&tasks[0], None).unwrap()["status"], "claimed", "again changes nothing");
    assert_eq!(worker.task_my(50).unwrap()["tasks"].as_array().unwrap().len(), 3);
    worker.task_release(&tasks[1]).unwrap();
    let parts = json!([{"title": "Find it", "weight": 0.4}, {"title": "Mend it", "weight": 0.4}]);
    assert_eq!(worker.propose(&tasks[2], &parts).unwrap()["status"], "decomposed");
    assert_eq!(worker.swarm(&tasks[2]).unwrap()["subtasks"].as_array().unwrap().len(), 2);
    let assets = bundle("TimeoutError");
    worker.publish(&assets).unwrap();
    assert_eq!(worker.task_complete(&tasks[0], id(&assets[1])).unwrap()["status"], "completed");
    let missing = worker.task_claim("task_no/such?one", None).unwrap_err();
    assert_eq!(missing.hub_code.as_deref(), Some("task_not_found"));
    assert_eq!(worker.swarm("task_no/such?one").unwrap_err().hub_code.as_deref(), Some("task_not_found"));
    let answer = worker.events_poll_after(Duration::from_millis(200), None).unwrap();
    let events = answer["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event["type"] == "task_assigned"), "{events:?}");
    let answer = worker.events_poll_after(Duration::ZERO, Some(&json!("0"))).unwrap();
    assert!(!answer["events"].as_array().unwrap().is_empty() && answer["cursor"].is_string());
    assert_eq!(worker.validation_tasks().unwrap(), Vec::<Value>::new());
    let staked = worker.stake(100.0);
    let status = worker.validator_status().unwrap();
    match staked {
        Ok(stake) => assert_eq!(stake["stake"]["status"], "active"),
        Err(problem) => assert_eq!(problem.hub_code.as_deref(), Some("insufficient_credits")),
    }
    assert_eq!(status["stake"]["node_id"], worker.id());
    if status["stake"]["status"] == "active" {
        assert_ne!(worker.unstake().unwrap()["stake"]["status"], "active");
    }
    let unknown =
        worker.report_assignment(&json!({"task_id": "t", "nonce": "n", "overall_ok": true})).unwrap_err();
    assert_eq!(unknown.hub_code.as_deref(), Some("assignment_not_open"));
}

/// Runs openssl; false where it is not installed.
fn openssl(folder: &Path, words: &str) -> bool {
    let ran = Command::new("openssl").current_dir(folder).args(words.split(' ')).output();
    match ran {
        Ok(ran) => {
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            true
        }
        Err(_) => false,
    }
}

/// An authority `ca.pem` and a certificate of it for this machine.
fn certificates(folder: &Path) -> bool {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    openssl(folder, &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority"))
        && openssl(folder, &format!("req {key} -keyout hub.key -out hub.csr -subj /CN=hub"))
        && {
            std::fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1\n").unwrap();
            openssl(
                folder,
                "x509 -req -in hub.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out hub.pem",
            )
        }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_hub_with_a_certificate_of_ones_own_is_reached_by_naming_the_authority() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        eprintln!("openssl is not installed: nothing was tried");
        return;
    }
    let program = program();
    let data = folder.path().join("data");
    let words = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
    let mut command = program.command(folder.path(), &words);
    command.env("CAPSID_HUB_TLS_CERTIFICATE", "hub.pem").env("CAPSID_HUB_TLS_KEY", "hub.key");
    let mut child = Killed(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    assert!(url.starts_with("https://127.0.0.1:"), "{line}");
    let home = home();
    let problem: Problem = node_at(&url, home.path(), &[]).hello(Object::new()).unwrap_err();
    assert_eq!(problem.code, Code::HubUnreachable);
    assert!(problem.message.contains("No safe connection"), "{problem:?}");
    assert!(problem.fix.unwrap().contains("CAPSID_CA_FILE"));
    let authority = folder.path().join("ca.pem");
    let node = node_at(&url, home.path(), &[("CAPSID_CA_FILE", authority.to_str().unwrap())]);
    node.hello(Object::new()).unwrap();
    assert_eq!(node.heartbeat(Object::new()).unwrap()["status"], "ok");
}
