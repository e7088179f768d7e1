//! A hub's database.

use super::{clock, compare, read_json, text, tree, versions};
use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask_as};
use capsid_testkit::program::{TestProgram, assert_status};
use std::path::Path;
use std::process::Command;

#[test]
fn a_hub_on_sqlite_is_opened_with_everything_in_it() {
    for version in versions() {
        let (scratch, story) = sqlite(&version);
        Upgraded::new(&scratch.place, &story).check();
    }
}

#[test]
fn a_hub_on_postgresql_is_opened_with_everything_in_it() {
    for version in versions() {
        let (scratch, story) = postgres(&version);
        Upgraded::new(&scratch.place, &story).check();
    }
}

#[test]
fn a_backup_of_an_older_hub_is_restored() {
    for version in versions() {
        let (scratch, story) = sqlite(&version);
        let (program, backup) = (program(), scratch.place.data.join("hub.db"));
        let place = TestHubLocation { data: scratch.folder.path().join("restored"), database: None };
        assert_status(0, &place.run(&program, &["restore", backup.to_str().unwrap()]));
        compare::assert_shows("fsck", &story["fsck"], &fsck(&program, &place));
    }
}

#[test]
fn an_upgraded_hub_keeps_no_secret_and_no_machine_in_plain_text() {
    for version in versions() {
        let (scratch, _) = sqlite(&version);
        let plain = || {
            let database = rusqlite::Connection::open(scratch.place.data.join("hub.db")).unwrap();
            let sql = "SELECT count(issued_secret), count(device_id), sum(env_fingerprint LIKE '%device_id%') FROM nodes";
            database.query_row(sql, [], |row| Ok([row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?])).unwrap()
        };
        assert_eq!(plain(), [1, 1, 1]);
        assert_status(0, &scratch.place.run(&program(), &["migrate"]));
        assert_eq!(plain(), [0, 0, 0]);
    }
}

/// A copy of a version's hub on SQLite, and what its story tells.
pub fn sqlite(version: &Path) -> (Scratch, Value) {
    let (stored, scratch) = (version.join("hub-sqlite"), Scratch::sqlite());
    let data = &scratch.place.data;
    std::fs::create_dir_all(data).unwrap();
    tree::copy_private(&stored.join("hub.db"), &data.join("hub.db"));
    std::fs::copy(stored.join("hub.toml"), data.join("hub.toml")).unwrap();
    let database = rusqlite::Connection::open(data.join("hub.db")).unwrap();
    let last = database.query_row("SELECT max(created_at) FROM messages", [], |row| row.get(0)).unwrap();
    let mut columns = database.prepare(clock::SQLITE_COLUMNS).unwrap();
    let columns: Vec<String> =
        columns.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    database.execute_batch(&clock::move_to_now(&columns.join("\n"), last)).unwrap();
    (scratch, read_json(&stored.join("story.json")))
}

fn postgres(version: &Path) -> (Scratch, Value) {
    let (stored, scratch) = (version.join("hub-postgres"), Scratch::postgres());
    std::fs::create_dir_all(&scratch.place.data).unwrap();
    std::fs::copy(stored.join("hub.toml"), scratch.place.data.join("hub.toml")).unwrap();
    let url = scratch.place.database.as_deref().unwrap();
    let dump = stored.join("hub.sql");
    psql(url, &["--single-transaction", "-f", dump.to_str().unwrap()]);
    let last = psql(url, &["-c", "SELECT max(created_at) FROM messages"]).trim().parse().unwrap();
    let columns = psql(url, &["-c", clock::POSTGRES_COLUMNS]);
    psql(url, &["-c", &clock::move_to_now(&columns, last)]);
    (scratch, read_json(&stored.join("story.json")))
}

fn psql(url: &str, words: &[&str]) -> String {
    let ran = Command::new("psql").args(["-XqAt", "-v", "ON_ERROR_STOP=1", url]).args(words).output();
    let ran = ran.expect("psql: see scripts/setup");
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn fsck(program: &TestProgram, place: &TestHubLocation) -> Value {
    let ran = place.run(program, &["fsck", "--json"]);
    assert_status(0, &ran);
    ran.json()
}

/// A hub of an older version that runs with this one.
struct Upgraded<'a> {
    program: TestProgram,
    place: &'a TestHubLocation,
    story: &'a Value,
    hub: HubProcess,
}

impl<'a> Upgraded<'a> {
    fn new(place: &'a TestHubLocation, story: &'a Value) -> Self {
        let program = program();
        assert_status(0, &place.run(&program, &["migrate"]));
        compare::assert_shows("fsck", &story["fsck"], &fsck(&program, place));
        let hub = HubProcess::start(&program, place);
        Self { program, place, story, hub }
    }

    fn check(self) {
        self.tells_granted_from_earned();
        self.shows_what_it_showed();
        self.answers_stored_messages_again();
        self.gives_assets_byte_for_byte();
        self.knows_people();
        self.knows_nodes();
        self.goes_on_with_work();
        self.recalls();
        self.does_its_jobs();
        assert_eq!(self.hub.stop(), Some(0));
        fsck(&self.program, self.place);
    }

    /// What a node holds is granted up to its grant, and the rest is earned.
    fn tells_granted_from_earned(&self) {
        let ledger = |account: &[&str]| {
            let ran = self.place.run(&self.program, &[&["admin", "ledger", "--json"], account].concat());
            assert_status(0, &ran);
            ran.json()
        };
        let all = ledger(&[]);
        assert_eq!(all["sum"], 0);
        let accounts = all["accounts"].as_array().unwrap();
        let nodes = accounts.iter().map(|it| text(&it["account"])).filter(|name| name.starts_with("node:"));
        let mut granted_nodes = 0;
        for name in nodes {
            let shown = ledger(&[name]);
            let number = |key: &str| shown[key].as_f64().unwrap();
            let (balance, granted) = (number("balance"), number("granted"));
            assert!((granted - balance.min(500.0)).abs() < 1e-9, "{name}: {granted} of {balance}");
            assert!((number("earned") - (balance - granted)).abs() < 1e-9);
            granted_nodes += 1;
        }
        assert!(granted_nodes > 0, "{all}");
    }

    fn send(&self, bearer: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = (!body.is_null()).then(|| body.to_string());
        let (status, text) =
            ask_as(&self.hub.address, bearer, method, path, body.as_deref()).expect("an answer");
        (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}")))
    }

    #[track_caller]
    fn post(&self, status: u16, bearer: &str, path: &str, body: &Value) -> Value {
        let (got, answer) = self.send(bearer, "POST", path, body);
        assert_eq!(got, status, "{path}: {answer:#}");
        answer
    }

    #[track_caller]
    fn get(&self, bearer: &str, path: &str) -> Value {
        let (got, answer) = self.send(bearer, "GET", path, &Value::Null);
        assert_eq!(got, 200, "{path}: {answer:#}");
        answer
    }

    fn message(&self, status: u16, node: &str, kind: &str, payload: &Value) -> Value {
        let body = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": format!("msg_upgrade_{:016x}", fastrand::u64(..)), "sender_id": node,
            "timestamp": "2026-11-17T00:00:00Z", "payload": payload,
        });
        self.post(status, text(&self.story["secrets"][node]), &format!("/a2a/{kind}"), &body)
    }

    fn token(&self, name: &str) -> &str {
        text(&self.story["tokens"][name])
    }

    fn asset(&self, name: &str) -> &str {
        text(&self.story["assets"][name][1])
    }

    fn shows_what_it_showed(&self) {
        let seen = self.story["seen"].as_array().unwrap();
        assert!(seen.len() > 80);
        for seen in seen {
            let path = text(&seen["path"]);
            compare::assert_shows(path, &seen["answer"], &self.get(text(&seen["bearer"]), path));
        }
    }

    fn answers_stored_messages_again(&self) {
        let stored = self.story["stored"].as_array().unwrap();
        assert_eq!(stored.len(), 6);
        for stored in stored {
            let [path, bearer, body] = ["path", "bearer", "body"].map(|name| text(&stored[name]));
            let (status, answer) = ask_as(&self.hub.address, bearer, "POST", path, Some(body)).unwrap();
            assert_eq!((status, answer.as_str()), (200, text(&stored["answer"])), "{path}");
            // The same message with another body is still told apart.
            if path == "/a2a/publish" {
                let other = body.replace("TimeoutError", "OtherError").replace("summary", "summary ");
                let (status, _) = ask_as(&self.hub.address, bearer, "POST", path, Some(&other)).unwrap();
                assert_ne!(status, 200, "{path}");
            }
        }
    }

    fn gives_assets_byte_for_byte(&self) {
        let id = self.asset("typed");
        let stored = self.story["stored"].as_array().unwrap().iter().map(|stored| text(&stored["body"]));
        let published =
            stored.filter(|body| body.contains(id)).find(|body| body.contains("\"assets\"")).unwrap();
        let start = published.find(r#"{ "type":"Capsule" ,"#).unwrap();
        let end =
            start + published[start..].find(&format!(r#""asset_id":"{id}" }}"#)).unwrap() + id.len() + 15;
        let typed = &published[start..end];
        let body = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "fetch",
            "message_id": "msg_upgrade_fetch", "sender_id": "node_shop", "timestamp": "2026-11-17T00:00:00Z",
            "payload": {"asset_ids": [id]},
        });
        let secret = text(&self.story["secrets"]["node_shop"]);
        let (status, fetched) =
            ask_as(&self.hub.address, secret, "POST", "/a2a/fetch", Some(&body.to_string())).unwrap();
        assert_eq!(status, 200, "{fetched}");
        assert!(fetched.contains(typed), "{typed}\n{fetched}");
        let verified = self.program.run_with_input_in(Path::new("/"), &["asset", "verify", "-"], typed);
        assert_status(0, &verified);
        let id = self.program.run_with_input_in(Path::new("/"), &["asset", "id", "-"], typed);
        assert_eq!(id.stdout.trim(), self.asset("typed"));
    }

    fn knows_people(&self) {
        let key = text(&self.story["api_key"]);
        for bearer in [key, self.token("ann")] {
            assert_eq!(self.get(bearer, "/account/me")["email"], "ann@example.org");
        }
        let login = |password: &str| json!({"email": "ben@example.org", "password": password});
        let session = self.post(200, "", "/auth/login", &login(text(&self.story["password"])));
        assert_eq!(self.get(text(&session["token"]), "/account/me")["email"], "ben@example.org");
        self.post(401, "", "/auth/login", &login("another password"));
        assert_eq!(self.send("ek_0000", "GET", "/account/me", &Value::Null).0, 401);
        assert_eq!(self.send(self.token("ann"), "GET", "/admin/users", &Value::Null).0, 403);
    }

    fn knows_nodes(&self) {
        for (node, secret) in self.story["secrets"].as_object().unwrap() {
            let beat = json!({"node_id": node});
            let (status, answer) = self.send(text(secret), "POST", "/a2a/heartbeat", &beat);
            if node == "node_banned" {
                assert_eq!(status, 403, "{answer:#}");
                continue;
            }
            assert_eq!((status, &answer["status"]), (200, &json!("ok")), "{node}: {answer:#}");
            let (status, answer) = self.send(&"0".repeat(64), "POST", "/a2a/heartbeat", &beat);
            assert!([401, 403].contains(&status), "{node}: {answer:#}");
        }
        let published = self.message(200, "node_shop", "publish", &Bundle::new(1).payload());
        assert_eq!(published["payload"]["decision"], "accept", "{published:#}");
    }

    /// What was under way is brought to its end.
    fn goes_on_with_work(&self) {
        let (work, ben) = (&self.story["work"], self.token("ben"));
        let bounty = |name: &str| format!("/bounty/{}", text(&work[name]["bounty_id"]));
        let secret = |node: &str| text(&self.story["secrets"][node]);
        let balance = || self.get(ben, "/account/me")["credit_balance"].as_f64().unwrap();
        let before = balance();
        self.post(200, ben, &format!("{}/accept", bounty("matched")), &json!({}));
        let task = &work["claimed"]["task_id"];
        let done = json!({"task_id": task, "node_id": "node_shop", "asset_id": self.asset("promoted")});
        self.post(200, secret("node_shop"), "/task/complete", &done);
        self.post(200, ben, &format!("{}/accept", bounty("claimed")), &json!({}));
        for name in ["matched", "claimed"] {
            assert_eq!(self.get("", &bounty(name))["status"], "accepted");
        }
        assert_eq!(balance(), before, "both were held in escrow");
        let part = format!("{}_s2", text(&work["swarm"]["task_id"]));
        let claim = json!({"task_id": part, "node_id": "node_deaf"});
        self.post(200, secret("node_deaf"), "/task/claim", &claim);
        let ann = self.token("ann");
        self.post(200, ann, &format!("{}/cancel", bounty("open")), &json!({}));
    }

    /// What nodes left for themselves and for each other.
    fn recalls(&self) {
        let shop = text(&self.story["secrets"]["node_shop"]);
        let recall = json!({"sender_id": "node_shop", "signals": ["TimeoutError"], "limit": 5});
        let recalled = self.post(200, shop, "/a2a/memory/recall", &recall);
        assert!(recalled.to_string().contains("Waited, then tried again."), "{recalled:#}");
        let skill = self.get(shop, "/a2a/skill/store/retry/download");
        assert!(skill.to_string().contains("再试一次。"), "{skill:#}");
        let invoices = text(&self.story["secrets"]["node_invoices"]);
        let inbound = json!({"sender_id": "node_invoices", "cursor": null, "limit": 10});
        let mail = self.post(200, invoices, "/a2a/mailbox/inbound", &inbound);
        let letters: Vec<&Value> =
            mail["messages"].as_array().unwrap().iter().filter(|m| m["type"] == "dm").collect();
        assert_eq!(letters.len(), 1, "the first one is acknowledged: {mail:#}");
        assert_eq!(letters[0]["payload"]["content"], "It is quick again, 好了.");
        let asked = json!({"query": "price service", "limit": 10});
        let graph = self.post(200, self.token("ann"), "/kg/query", &asked);
        assert!(graph.to_string().contains("exchange rates"), "{graph:#}");
        let found = self.get("", "/a2a/assets/semantic-search?q=calls%20that%20wait%20without%20a%20bound");
        assert!(found.to_string().contains(self.asset("promoted")), "{found:#}");
    }

    /// What a hub does by itself from time to time, at once: among others, validators are paid.
    fn does_its_jobs(&self) {
        let earned = || {
            let earned = self.get(self.token("admin"), "/billing/earnings/node_validator");
            earned["by_source"]["validation"].as_f64().unwrap()
        };
        assert_eq!(earned(), 0.0);
        self.post(200, self.token("admin"), "/admin/promote-now", &json!({}));
        assert_eq!(earned(), 30.0);
    }
}
