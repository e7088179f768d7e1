//! A hub that keeps every byte it is sent, and says yes to everything.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Capture {
    pub url: String,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Capture {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let request = receive(&stream);
                kept.lock().unwrap().extend_from_slice(&request);
                answer(stream, &String::from_utf8_lossy(&request));
            }
        });
        Self { url, seen }
    }

    /// Everything that was sent so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

fn receive(mut stream: &TcpStream) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 65536]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return bytes;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return bytes,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

fn answer(mut stream: TcpStream, request: &str) {
    let body = if request.starts_with("POST /a2a/publish") {
        r#"{"status":"accepted","decision":"accept","bundle_id":"bundle_1","gdi":{"score":31.5}}"#
    } else if request.starts_with("POST /a2a/validate") {
        r#"{"valid":true,"warnings":[{"code":"x","text":"Mind the gap."}]}"#
    } else if request.starts_with("POST /a2a/hello") {
        r#"{"status":"acknowledged","hub_node_id":"hub_1"}"#
    } else {
        r#"{"results":[]}"#
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
    let _gone = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
}
