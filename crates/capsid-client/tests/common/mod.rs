//! A server with scripted answers, and nodes that use it.
#![allow(dead_code)]

use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Clock, Time, Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub line: String,
    pub head: String,
    pub body: Value,
}

impl Request {
    pub fn bearer(&self) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization:"))?;
        line.split_once("Bearer ").map(|(_, token)| token.trim())
    }

    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// A server on a port of its own. Its thread ends with the process.
pub struct Server {
    pub address: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `answer` gets the number of the request and writes any answer.
    pub fn start(answer: impl Fn(usize, &Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (requests, answer) = (seen.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (requests, answer) = (requests.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = read(&stream) else { return };
                    let number = {
                        let mut requests = requests.lock().unwrap();
                        requests.push(request.clone());
                        requests.len() - 1
                    };
                    answer(number, &request, &mut stream);
                });
            }
        });
        Self { address, seen }
    }

    /// A server that always gives the same answer.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_, _, stream| {
            let _ = stream.write_all(&answer);
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if head.to_ascii_lowercase().contains("content-encoding: gzip") {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(body.as_slice()).read_to_end(&mut plain).ok()?;
        body = plain;
    }
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Request { line: line.trim().to_owned(), head, body })
}

/// An answer with a status, further headers and a body.
pub fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

/// The same with JSON.
pub fn json_reply(status: u16, body: &Value) -> String {
    http(status, "content-type: application/json\r\n", &body.to_string())
}

/// An answer in an envelope.
pub fn enveloped(kind: &str, sender: &str, payload: &Value) -> String {
    json_reply(
        200,
        &json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind, "message_id": "msg_x",
            "sender_id": sender, "timestamp": "2026-01-01T00:00:00.000Z", "payload": payload,
        }),
    )
}

/// A clock that is set by hand.
#[derive(Debug, Clone)]
pub struct Hands(pub Arc<AtomicI64>);

impl Hands {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_800_000_000_000)))
    }

    pub fn forward(&self, minutes: i64) {
        self.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

/// A node that waits a second and tries once.
pub fn node(home: &Path, url: &str) -> NodeClient {
    node_with(home, url, 0, &[], &Hands::new())
}

pub fn node_with(home: &Path, url: &str, retries: u32, env: &[(&str, &str)], clock: &Hands) -> NodeClient {
    let mut settings = ClientConfig::new(url, false).unwrap();
    settings.timeout = Duration::from_secs(1);
    settings.retries = retries;
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    NodeClient::new(&settings, Identity::open(home, &env).unwrap(), Arc::new(clock.clone())).unwrap()
}

/// Every file under a folder and what it holds.
pub fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                contents.insert(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    contents
}
