//! A hub that answers as a test wants, over a plain socket.

use capsid_model::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a fake hub sends, byte for byte; empty to say nothing at all until the other side gives up.
pub type Says = dyn Fn(&Value) -> Vec<u8> + Send + Sync;

/// A fake hub. Its threads end with the test.
pub struct Fake {
    pub url: String,
    asked: Arc<AtomicUsize>,
}

impl Fake {
    pub fn new(says: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, says): (_, Arc<Says>) = (Arc::clone(&asked), Arc::new(says));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let says = Arc::clone(&says);
                std::thread::spawn(move || serve(stream, &*says));
            }
        });
        Self { url, asked }
    }

    /// How often somebody came.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, says: &Says) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = says(&message["payload"]);
    if answer.is_empty() {
        // Held open until the other side has had enough.
        let _ = reader.read(&mut [0]);
        return;
    }
    let _ = stream.write_all(&answer);
}

/// An answer with a type and a body.
pub fn answer(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// An answer with assets or rows in it, as a hub wraps it.
pub fn results(results: &Value) -> Vec<u8> {
    let body = json!({
        "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "fetch", "message_id": "msg_1",
        "sender_id": "hub_fake", "timestamp": "2026-01-01T00:00:00Z",
        "payload": {"results": results, "count": 1}, "results": results,
    });
    answer(200, "application/json", &body.to_string())
}
