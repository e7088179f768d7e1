//! The hub is killed while it calls webhooks. Every event that it acknowledged arrives at least once, rightly signed.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.
#![cfg(unix)]

use crate::common::program;
use capsid_hub::webhooks::sign;
use capsid_model::{Clock, SystemClock, Value, json};
use capsid_store::notifications::deliveries;
use capsid_store::{Store, StoreOptions};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use capsid_testkit::program::assert_status;
use capsid_testkit::rounds::{rounds, seeded_rng};
use capsid_testkit::wait;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How many nodes have a webhook; each asks for events in turn with the others.
const NODES: usize = 6;

/// Short pauses, so that a trial sees many tries. The longest a call is held is the timeout and some seconds.
const SETTINGS: &str = "\
[webhooks]
allow_local = true
timeout_seconds = 0.3
first_retry_seconds = 0.1
longest_retry_seconds = 0.4
[limits]
other = \"1000000/second\"
hello = \"1000000/second\"
";

#[test]
fn no_acknowledged_event_is_lost_on_sqlite() {
    kill_many(None);
}

#[test]
fn no_acknowledged_event_is_lost_on_postgresql() {
    kill_many(Some(&TestPostgres::empty_database()));
}

fn kill_many(database: Option<&TestDatabase>) {
    let (rounds, mut rng) = (rounds(10, 100), seeded_rng());
    let program = program();
    let folder = capsid_testkit::disk::tempdir();
    let url = database.map(|database| database.url.clone());
    let place = TestHubLocation { data: folder.path().join("hub"), database: url };
    std::fs::create_dir_all(&place.data).unwrap();
    std::fs::write(place.data.join("hub.toml"), SETTINGS).unwrap();
    let receiver = Receiver::start(rng.u64(..));
    let hub = HubProcess::start(&program, &place);
    let nodes: Vec<_> = (0..NODES).map(|n| Node::register(&hub.address, n, &receiver)).collect();
    hub.kill();
    let mut acknowledged: Vec<String> = Vec::new();
    for _ in 0..rounds {
        let hub = HubProcess::start(&program, &place);
        acknowledged.extend(ask_until_killed(hub, &nodes, Duration::from_millis(rng.u64(0..600))));
    }
    assert!(acknowledged.len() > rounds, "nearly no event was acknowledged");
    let hub = HubProcess::start(&program, &place);
    let began = Instant::now();
    wait::until("every acknowledged event is delivered", Duration::from_secs(300), || {
        receiver.lacks(&acknowledged) == 0
    });
    let took = began.elapsed();
    wait_until_settled(&place);
    assert_eq!(hub.stop(), Some(0));
    assert_status(0, &place.run(&program, &["fsck"]));
    let (calls, taken, wrong) = receiver.counts();
    assert_eq!(wrong, 0, "calls with a wrong signature or body");
    println!(
        "{rounds} kills, {} events acknowledged, {calls} calls, {taken} events taken; the rest arrived in {took:?}",
        acknowledged.len()
    );
}

/// Whatever was queued is delivered in the end: nothing is held by a process that is gone, and nothing is given up.
fn wait_until_settled(place: &TestHubLocation) {
    let options = StoreOptions::new(&place.data, place.database.clone()).shared();
    let store = Store::open(&options, SystemClock.now()).unwrap();
    wait::until("nothing is queued", Duration::from_secs(120), || {
        let counts = store.read_now(|tx| deliveries::counts(tx, None)).unwrap();
        counts.iter().all(|(state, _)| state == "delivered")
    });
}

/// Nodes ask for events until the hub is killed. Gives the events that were acknowledged.
fn ask_until_killed(hub: HubProcess, nodes: &[Node], after: Duration) -> Vec<String> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (address, over) = (hub.address.clone(), &over);
        let asking: Vec<_> = nodes
            .iter()
            .map(|node| {
                let address = address.clone();
                scope.spawn(move || node.ask_for_events(&address, over))
            })
            .collect();
        std::thread::sleep(after);
        hub.kill();
        over.store(true, Ordering::SeqCst);
        asking.into_iter().flat_map(|asking| asking.join().unwrap()).collect()
    })
}

/// A node with a webhook.
struct Node {
    node_id: String,
    secret: String,
}

impl Node {
    fn register(address: &str, n: usize, receiver: &Receiver) -> Self {
        let node_id = format!("node_{n}");
        let hello = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello",
            "message_id": format!("msg_{n}"), "sender_id": node_id, "timestamp": "2026-01-01T00:00:00Z",
            "payload": {"webhook_url": format!("http://127.0.0.1:{}/{node_id}", receiver.port)},
        });
        let (status, body) = ask(address, "POST", "/a2a/hello", Some(&hello.to_string())).unwrap();
        let told: Value = body.parse().unwrap();
        assert_eq!((status, &told["webhook_status"]), (200, &json!("registered")), "{told}");
        let text = |key: &str| told[key].as_str().unwrap().to_owned();
        receiver.log.secrets.lock().unwrap().insert(format!("/{node_id}"), text("webhook_secret"));
        Self { node_id, secret: text("node_secret") }
    }

    fn ask_for_events(&self, address: &str, over: &AtomicBool) -> Vec<String> {
        let asked = json!({"node_id": self.node_id, "node_secret": self.secret}).to_string();
        let mut acknowledged = Vec::new();
        while !over.load(Ordering::SeqCst) {
            let Some((status, body)) = ask(address, "POST", "/a2a/webhook/test", Some(&asked)) else { break };
            let told: Value = body.parse().unwrap();
            assert_eq!(status, 200, "{told}");
            acknowledged.push(told["delivery_id"].as_str().unwrap().to_owned());
            // One host is not called without bound, so what is asked for has to stay within what can be called.
            std::thread::sleep(Duration::from_millis(60));
        }
        acknowledged
    }
}

/// A receiver that is not always well, and remembers which events it took.
struct Receiver {
    port: u16,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    /// By path.
    secrets: Mutex<HashMap<String, String>>,
    /// Events that were answered with success, and how often.
    taken: Mutex<HashMap<String, usize>>,
    calls: Mutex<(usize, usize)>,
}

impl Receiver {
    fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            let mut rng = fastrand::Rng::with_seed(seed);
            for stream in listener.incoming() {
                let (log, mood) = (Arc::clone(&log), rng.u32(0..100));
                // A hub that was killed while it spoke is no concern of the receiver's.
                std::thread::spawn(move || log.answer(stream.unwrap(), mood));
            }
        });
        Self { port, log: kept }
    }

    fn lacks(&self, ids: &[String]) -> usize {
        let taken = self.log.taken.lock().unwrap();
        ids.iter().filter(|id| !taken.contains_key(*id)).count()
    }

    fn counts(&self) -> (usize, usize, usize) {
        let (calls, wrong) = *self.log.calls.lock().unwrap();
        (calls, self.log.taken.lock().unwrap().len(), wrong)
    }
}

impl Log {
    fn answer(&self, mut stream: TcpStream, mood: u32) -> Option<()> {
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let (path, headers, body) = read(&mut stream)?;
        let id = headers.get("webhook-id").cloned().unwrap_or_default();
        let right = self.is_right(&path, &headers, &body);
        {
            let mut calls = self.calls.lock().unwrap();
            calls.0 += 1;
            calls.1 += usize::from(!right);
        }
        let status = match mood {
            0..3 => return None,
            3..6 => {
                std::thread::sleep(Duration::from_millis(450));
                "500 Too Late"
            }
            6..12 => "503 Not Now",
            _ => "200 OK",
        };
        std::thread::sleep(Duration::from_millis(u64::from(mood) / 5));
        if status == "200 OK" {
            *self.taken.lock().unwrap().entry(id).or_default() += 1;
        }
        write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").ok()
    }

    fn is_right(&self, path: &str, headers: &HashMap<String, String>, body: &str) -> bool {
        let secrets = self.secrets.lock().unwrap();
        let header = |name: &str| headers.get(name).map(String::as_str).unwrap_or_default();
        let (Some(secret), Ok(time)) = (secrets.get(path), header("webhook-timestamp").parse::<i64>()) else {
            return false;
        };
        let Ok(said) = body.parse::<Value>() else { return false };
        let id = header("webhook-id");
        header("webhook-signature") == sign::standard(secret, id, time, body)
            && header("x-evomap-signature") == sign::plain(secret, time, body)
            && said["event_id"] == id
            && said["type"] == "ping"
            && path == format!("/{}", said["node_id"].as_str().unwrap_or_default())
    }
}

fn read(stream: &mut TcpStream) -> Option<(String, HashMap<String, String>, String)> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let headers: HashMap<String, String> = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length: usize = headers.get("content-length")?.parse().ok()?;
            if bytes.len() >= end + 4 + length {
                let path = head.split(' ').nth(1)?.to_owned();
                return Some((path, headers, String::from_utf8(bytes[end + 4..].to_vec()).ok()?));
            }
        }
        match stream.read(&mut part).ok()? {
            0 => return None,
            count => bytes.extend(&part[..count]),
        }
    }
}
