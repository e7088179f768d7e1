//! How a node gets its secret, shows it, loses it and asks for another, against a hub that follows a script.

use crate::common::{Hands, Request, Server, enveloped, json_reply, node_with, snapshot};
use capsid_client::identity::KnownHub;
use capsid_model::{Clock, Code, Object, Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A hub in miniature: it knows one node by one secret.
#[derive(Debug, Clone, Default)]
struct HubState {
    secret: Option<String>,
    version: u64,
    bound: bool,
    rotates: bool,
    /// Sent to every hello instead of an answer.
    hello: Option<String>,
}

impl HubState {
    fn fresh(&mut self) -> String {
        self.version += 1;
        let secret = format!("{:064x}", self.version + 0xabc);
        self.secret = Some(secret.clone());
        secret
    }

    fn answer(&mut self, request: &Request) -> String {
        let shown = request.bearer();
        let right = shown.is_some() && shown == self.secret.as_deref();
        if request.path() == "/a2a/hello" {
            return self.hello(request, shown.is_some(), right);
        }
        if self.secret.is_none() && request.path() == "/a2a/heartbeat" {
            return json_reply(200, &json!({"status": "unknown_node"}));
        }
        match (shown, right) {
            (Some(_), true) => self.bound = true,
            (Some(_), false) => return json_reply(403, &json!({"error": "node_secret_invalid"})),
            (None, _) if self.bound => return json_reply(401, &json!({"error": "node_secret_required"})),
            (None, _) => {}
        }
        match request.path() {
            "/a2a/heartbeat" => json_reply(200, &json!({"status": "ok"})),
            _ => enveloped("report", "hub_1", &json!({"status": "recorded"})),
        }
    }

    fn hello(&mut self, request: &Request, shown: bool, right: bool) -> String {
        if let Some(scripted) = &self.hello {
            return scripted.clone();
        }
        let mut payload = json!({"status": "acknowledged", "hub_node_id": "hub_1", "claim_code": "REEF-4X7K",
            "claim_url": "https://hub.example/claim/REEF-4X7K"});
        if request.body["payload"]["rotate_secret"] == true {
            if !right && !self.rotates {
                return json_reply(
                    401,
                    &json!({"error": "node_secret_required", "reason": "rotation_requires_current_secret"}),
                );
            }
            payload["node_secret"] = self.fresh().into();
        } else if shown && !right {
            return json_reply(403, &json!({"error": "node_secret_invalid"}));
        } else if self.secret.is_none() || (!self.bound && !shown) {
            payload["node_secret"] = self.secret.clone().unwrap_or_else(|| self.fresh()).into();
        } else {
            self.bound |= right;
            payload["node_secret_status"] = "active".into();
        }
        payload["node_secret_version"] = self.version.into();
        enveloped("hello", "hub_1", &payload)
    }
}

struct Hub {
    server: Server,
    state: Arc<Mutex<HubState>>,
}

impl Hub {
    fn start(state: HubState) -> Self {
        let state = Arc::new(Mutex::new(state));
        let inside = state.clone();
        let server = Server::start(move |_, request, stream| {
            let answer = inside.lock().unwrap().answer(request);
            let _ = stream.write_all(answer.as_bytes());
        });
        Self { server, state }
    }

    /// The paths of all requests so far; a rotation is named.
    fn paths(&self) -> Vec<String> {
        let name = |request: &Request| {
            let rotates = request.body["payload"]["rotate_secret"] == true;
            let shows = if request.bearer().is_some() { "+" } else { "" };
            let path = request.path().trim_start_matches("/a2a/");
            format!("{}{shows}", if rotates { "rotate" } else { path })
        };
        self.server.seen().iter().map(name).collect()
    }

    fn node(&self, home: &Path, clock: &Hands) -> capsid_client::NodeClient {
        node_with(home, &self.server.url(), 0, &[], clock)
    }

    fn change(&self, change: impl FnOnce(&mut HubState)) {
        change(&mut self.state.lock().unwrap());
    }
}

fn lose_secret(home: &Path) {
    std::fs::remove_file(home.join(".evomap/hubs.json")).unwrap();
    std::fs::remove_file(home.join(".evomap/node_secret")).unwrap();
}

fn report(node: &capsid_client::NodeClient) -> capsid_model::Result<Object> {
    node.report("sha256:x", &json!({"overall_ok": true}))
}

#[test]
fn a_secret_is_given_shown_and_kept() {
    let (hub, home, clock) = (Hub::start(HubState::default()), tempfile::tempdir().unwrap(), Hands::new());
    let node = hub.node(home.path(), &clock);
    let greeting =
        node.hello(json!({"gene_count": 3, "capsule_count": 1}).as_object().unwrap().clone()).unwrap();
    assert_eq!(greeting.claim_url.as_deref(), Some("https://hub.example/claim/REEF-4X7K"));
    assert_eq!(greeting.claim_code.as_deref(), Some("REEF-4X7K"));
    assert_eq!(greeting.claim_expires_at.unwrap().0, clock.now().0 + 24 * 3_600_000);
    assert!(!Value::from(greeting.payload).to_string().contains("abc"), "the secret is not in it");
    assert!(hub.state.lock().unwrap().bound, "it was shown at once");
    let (first, second) = (&hub.server.seen()[0], &hub.server.seen()[1]);
    assert_eq!(second.body["payload"].get("gene_count"), None, "showing it says no more than that");
    let payload = &first.body["payload"];
    assert_eq!((&payload["gene_count"], &payload["capsule_count"]), (&json!(3), &json!(1)));
    assert_eq!(payload["capabilities"], json!({}));
    let print = &payload["env_fingerprint"];
    for name in ["platform", "arch", "client", "client_version", "device_id"] {
        assert!(print[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {print}");
    }
    assert!(first.bearer().is_none());
    // Receiving the same code again does not extend it.
    clock.forward(60);
    let again = hub.node(home.path(), &clock).hello(Object::new()).unwrap();
    assert_eq!(again.claim_expires_at, greeting.claim_expires_at);
    report(&hub.node(home.path(), &clock)).unwrap();
    assert_eq!(hub.paths(), ["hello", "hello+", "hello+", "report+"]);
    let last = hub.server.seen().pop().unwrap();
    assert!(last.head.to_ascii_lowercase().contains("x-evomap-node-secret-version: 1"), "{}", last.head);
}

#[test]
fn a_hub_that_asks_for_a_secret_is_greeted_and_asked_again() {
    let (hub, home) =
        (Hub::start(HubState { bound: true, ..HubState::default() }), tempfile::tempdir().unwrap());
    let node = hub.node(home.path(), &Hands::new());
    report(&node).unwrap();
    assert_eq!(hub.paths(), ["report", "hello", "hello+", "report+"]);
    let seen = hub.server.seen();
    assert_eq!(seen[0].body, seen[3].body, "the same message under the same id");
}

#[test]
fn an_unknown_node_says_hello_and_is_heard() {
    let (hub, home) = (Hub::start(HubState::default()), tempfile::tempdir().unwrap());
    let node = hub.node(home.path(), &Hands::new());
    assert_eq!(node.heartbeat(Object::new()).unwrap()["status"], "ok");
    assert_eq!(hub.paths(), ["heartbeat", "hello", "hello+", "heartbeat+"]);
    assert_eq!(hub.server.seen()[0].body["node_id"], node.id());
}

#[test]
fn a_secret_that_is_not_taken_is_renewed_with_the_present_one() {
    let (hub, home) =
        (Hub::start(HubState { rotates: true, ..HubState::default() }), tempfile::tempdir().unwrap());
    let node = hub.node(home.path(), &Hands::new());
    node.hello(Object::new()).unwrap();
    hub.change(|state| {
        state.fresh();
    });
    assert_eq!(node.heartbeat(Object::new()).unwrap()["status"], "ok");
    assert_eq!(hub.paths()[2..], ["heartbeat+", "rotate+", "heartbeat+"]);
    assert_eq!(node.known().unwrap().secret, hub.state.lock().unwrap().secret);
}

#[test]
fn a_lost_secret_is_renewed_without_one() {
    let (hub, home) =
        (Hub::start(HubState { rotates: true, ..HubState::default() }), tempfile::tempdir().unwrap());
    let node = hub.node(home.path(), &Hands::new());
    node.hello(Object::new()).unwrap();
    lose_secret(home.path());
    report(&node).unwrap();
    assert_eq!(hub.paths()[2..], ["report", "hello", "rotate", "report+"]);
    assert_eq!(node.known().unwrap().secret_version, Some(2));
}

#[test]
fn a_refused_renewal_is_not_repeated_for_a_while_and_says_who_can_help() {
    let (hub, home, clock) = (Hub::start(HubState::default()), tempfile::tempdir().unwrap(), Hands::new());
    hub.node(home.path(), &clock).hello(Object::new()).unwrap();
    hub.change(|state| {
        state.fresh();
    });
    // Every time as another process would.
    let try_it = || report(&hub.node(home.path(), &clock)).unwrap_err();
    let rotations = || hub.paths().iter().filter(|path| *path == "rotate+").count();
    let (mut minutes, mut expected) = (2, 1);
    for _ in 0..9 {
        let problem = try_it();
        assert_eq!(problem.code, Code::NodeSecretRefused);
        assert!(
            problem.fix.as_ref().unwrap().contains("owner") && problem.message.contains("before"),
            "{problem:?}"
        );
        assert_eq!(rotations(), expected);
        clock.forward(minutes - 1);
        let resting = try_it();
        assert_eq!(resting.code, Code::NodeSecretRefused);
        assert!(resting.retry_after.is_some(), "{resting:?}");
        assert_eq!(rotations(), expected, "it was asked again after {minutes} minutes less one");
        clock.forward(1);
        (minutes, expected) = ((minutes * 2).min(240), expected + 1);
    }
    // The owner has reset the secret and gives it to the node.
    let reset = hub.state.lock().unwrap().fresh();
    hub.node(home.path(), &clock).accept_secret(&reset).unwrap();
    report(&hub.node(home.path(), &clock)).unwrap();
    assert_eq!(hub.node(home.path(), &clock).known().unwrap().rests_until, None);
}

#[test]
fn a_claimed_node_whose_secret_is_lost_needs_its_owner() {
    let (hub, home, clock) = (Hub::start(HubState::default()), tempfile::tempdir().unwrap(), Hands::new());
    let node = hub.node(home.path(), &clock);
    node.hello(Object::new()).unwrap();
    let rejected = json!({"status": "rejected", "reason": "node_id_already_claimed: it has an owner"});
    hub.change(|state| {
        state.fresh();
        state.hello = Some(enveloped("hello", "hub_1", &rejected));
    });
    let problem = report(&node).unwrap_err();
    assert_eq!(problem.code, Code::NodeSecretRefused);
    assert_eq!(problem.hub_code.as_deref(), Some("node_id_already_claimed"));
    assert!(problem.fix.unwrap().contains("reset"));
    assert!(node.known().unwrap().secret.is_some(), "the old secret is kept, in case the hub is wrong");
}

#[test]
fn a_secret_from_the_environment_is_not_replaced() {
    let (hub, home) =
        (Hub::start(HubState { rotates: true, ..HubState::default() }), tempfile::tempdir().unwrap());
    let clock = Hands::new();
    hub.node(home.path(), &clock).hello(Object::new()).unwrap();
    let before = snapshot(home.path());
    let wrong = "f".repeat(64);
    let node = node_with(home.path(), &hub.server.url(), 0, &[("A2A_NODE_SECRET", &wrong)], &clock);
    let problem = report(&node).unwrap_err();
    assert_eq!(problem.code, Code::NodeSecretRefused);
    assert!(problem.fix.unwrap().contains("A2A_NODE_SECRET") && !problem.message.contains(&wrong));
    let refusal = node.hello(json!({"rotate_secret": true}).as_object().unwrap().clone()).unwrap_err();
    assert_eq!(refusal.code, Code::IdentityInvalid);
    assert_eq!(hub.paths().last().unwrap(), "report+", "no new one was asked for");
    let after = snapshot(home.path());
    let differ: Vec<_> = after.iter().filter(|(path, content)| before.get(*path) != Some(content)).collect();
    assert!(differ.iter().all(|(path, _)| path.ends_with(".renewing")), "{differ:?}");
}

#[test]
fn a_hub_that_has_had_enough_hellos_is_left_alone() {
    let mut state = HubState { bound: true, ..HubState::default() };
    state.fresh();
    state.hello = Some(json_reply(429, &json!({"error": "hello_rate_limit", "retry_after_ms": 1_800_000})));
    let (hub, home, clock) = (Hub::start(state), tempfile::tempdir().unwrap(), Hands::new());
    let try_it = || report(&hub.node(home.path(), &clock)).unwrap_err();
    assert_eq!(try_it().code, Code::HubBusy);
    clock.forward(29);
    assert_eq!(try_it().code, Code::NodeSecretRefused);
    assert_eq!(hub.paths(), ["report", "hello", "report"]);
    clock.forward(2);
    assert_eq!(try_it().code, Code::HubBusy);
}

#[test]
fn processes_that_lose_the_secret_together_end_with_one() {
    let (hub, home) =
        (Hub::start(HubState { rotates: true, ..HubState::default() }), tempfile::tempdir().unwrap());
    let clock = Hands::new();
    hub.node(home.path(), &clock).hello(Object::new()).unwrap();
    hub.change(|state| {
        state.fresh();
    });
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| report(&hub.node(home.path(), &clock)).unwrap());
        }
    });
    let rotations = hub.paths().iter().filter(|path| path.starts_with("rotate")).count();
    assert_eq!(rotations, 1);
    assert_eq!(hub.node(home.path(), &clock).known().unwrap().secret, hub.state.lock().unwrap().secret);
}

#[test]
fn a_secret_that_another_tool_renewed_is_taken_over() {
    let (hub, home, clock) = (Hub::start(HubState::default()), tempfile::tempdir().unwrap(), Hands::new());
    let url = hub.server.url();
    let node = node_with(home.path(), &url, 0, &[("A2A_HUB_URL", &url)], &clock);
    node.hello(Object::new()).unwrap();
    let renewed = hub.state.lock().unwrap().fresh();
    std::fs::write(home.path().join(".evomap/node_secret"), &renewed).unwrap();
    report(&node).unwrap();
    assert_eq!(hub.paths()[2..], ["report+", "report+"], "none was asked for");
    assert_eq!(node.known().unwrap().secret, Some(renewed));
}

#[test]
fn an_answer_that_comes_late_does_not_undo_what_another_process_got() {
    let home = tempfile::tempdir().unwrap();
    let other = capsid_client::Identity::open(home.path(), &|_| None).unwrap();
    let newer = KnownHub { secret: Some("d".repeat(64)), secret_version: Some(9), ..KnownHub::default() };
    let stored = newer.clone();
    // While the hub still writes its answer, another process stores the secret that it requested after this one.
    let slow = Server::start(move |number, request, stream| {
        let host = request.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        other.save_hub(&format!("http://{host}"), &newer).unwrap();
        let late = json!({"status": "acknowledged", "node_secret": "e".repeat(64), "node_secret_version": 3});
        let known = json!({"status": "acknowledged", "node_secret_version": 9});
        let answer = if number == 0 { late } else { known };
        let _ = stream.write_all(enveloped("hello", "hub_1", &answer).as_bytes());
    });
    let node = node_with(home.path(), &slow.url(), 0, &[], &Hands::new());
    node.hello(Object::new()).unwrap();
    assert_eq!(node.known().unwrap().secret, stored.secret);
}

#[test]
fn no_hub_sees_another_hubs_secret() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (Hub::start(HubState::default()), Hub::start(HubState::default()));
    two.change(|state| state.version = 100);
    let clock = Hands::new();
    for hub in [&one, &two] {
        hub.node(home.path(), &clock).hello(Object::new()).unwrap();
    }
    for hub in [&one, &two] {
        report(&hub.node(home.path(), &clock)).unwrap();
    }
    let shown = |hub: &Hub| -> Vec<String> {
        hub.server.seen().iter().filter_map(|request| request.bearer().map(str::to_owned)).collect()
    };
    assert!(!shown(&one).is_empty() && !shown(&two).is_empty());
    assert!(shown(&one).iter().all(|secret| !shown(&two).contains(secret)));
}
