//! A hub that answers as a test wants, over a plain socket, and remembers what it was sent.

use capsid_model::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a fake hub sends for a path, byte for byte; empty to say nothing at all until the other side gives up.
type Says = dyn Fn(&str, &Value) -> Vec<u8> + Send + Sync;

/// A fake hub. Its threads end with the test.
pub struct Fake {
    pub url: String,
    heard: Arc<Mutex<Vec<(String, String)>>>,
}

impl Fake {
    pub fn new(says: impl Fn(&str, &Value) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let (log, says): (_, Arc<Says>) = (Arc::clone(&heard), Arc::new(says));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, says) = (Arc::clone(&log), Arc::clone(&says));
                std::thread::spawn(move || serve(stream, &*says, &log));
            }
        });
        Self { url, heard }
    }

    /// What it was sent to a path, oldest first.
    pub fn heard(&self, path: &str) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|(known, _)| known == path).map(|(_, body)| body.clone()).collect()
    }

    /// Everything that it was sent, with the lines before it.
    pub fn all(&self) -> String {
        self.heard.lock().unwrap().iter().map(|(path, body)| format!("{path} {body}\n")).collect()
    }
}

fn serve(mut stream: TcpStream, says: &Says, log: &Mutex<Vec<(String, String)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut length, mut path, mut bearer) = (0, String::new(), String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim();
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.to_ascii_lowercase().starts_with("authorization:") {
            bearer = line.to_owned();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    log.lock().unwrap().push((path.clone(), format!("{bearer} {text}")));
    let answer = says(&path, &serde_json::from_str(&text).unwrap_or_default());
    if answer.is_empty() {
        // Held open until the other side has had enough.
        let _ = reader.read(&mut [0]);
        return;
    }
    let _ = stream.write_all(&answer);
}

/// An answer of JSON.
pub fn answer(status: u16, body: &Value) -> Vec<u8> {
    raw(status, "application/json", &body.to_string())
}

/// An answer with a type and a body.
pub fn raw(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}
