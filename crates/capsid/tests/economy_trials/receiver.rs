//! A webhook receiver: a small server of its own that keeps what it is sent and checks who sent it.

use capsid_model::Value;
use capsid_testkit::wait;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One call.
#[derive(Debug, Clone)]
pub struct Call {
    pub headers: BTreeMap<String, String>,
    pub text: String,
    pub body: Value,
}

/// Takes calls until it goes.
pub struct Receiver {
    pub url: String,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let kept = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if let Some(call) = read_call(stream) {
                    kept.lock().unwrap().push(call);
                }
            }
        });
        Self { url, calls }
    }

    /// Waits for a call of a kind about a task.
    #[track_caller]
    pub fn wait_for(&self, kind: &str, task_id: &str) -> Call {
        let is_it = |call: &&Call| call.body["type"] == kind && call.body["task_id"] == task_id;
        wait::until_some(&format!("a call `{kind}` for {task_id}"), Duration::from_secs(60), || {
            self.calls.lock().unwrap().iter().find(is_it).cloned()
        })
    }

    /// Kinds of calls so far.
    pub fn kinds(&self) -> Vec<String> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|call| call.body["type"].as_str().unwrap().to_owned()).collect()
    }
}

/// Reads a request and answers it.
fn read_call(mut stream: TcpStream) -> Option<Call> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").ok()?;
    let text = String::from_utf8(body).ok()?;
    Some(Call { headers, body: serde_json::from_str(&text).ok()?, text })
}

impl Call {
    /// Panics unless the hub that gave out this secret made the call.
    #[track_caller]
    pub fn assert_signed(&self, secret: &str) {
        let header = |name: &str| self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:#?}"));
        let signed = format!("{}.{}", header("x-evomap-timestamp"), self.text);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(signed.as_bytes());
        let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(*header("x-evomap-signature"), format!("sha256={digits}"));
        assert!(header("webhook-signature").starts_with("v1,"), "{self:#?}");
        assert_eq!(header("webhook-id"), header("x-evomap-delivery"));
    }
}
