//! Who is let in over HTTP, and how the server ends.

use super::stdio_client::{desk, hello, wait};
use capsid_model::{Value, json};
use capsid_testkit::program_repo::ProgramRepo;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

/// A server over HTTP. It is killed when this value goes.
pub struct Served {
    pub child: Child,
    /// Where it is.
    pub url: String,
    /// The host and port.
    pub address: String,
}

impl Served {
    /// Starts one and waits until it listens.
    pub fn start(desk: &ProgramRepo, env: &[(&str, &str)], options: &[&str]) -> Self {
        let mut command = desk.program.command(desk.repo.path(), &[&["mcp"], options].concat());
        let mut child = command.envs(env.iter().copied()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let address = url["http://".len()..].split('/').next().unwrap().to_owned();
        Self { child, url, address }
    }

    /// Posts a message with further headers; gives the status and the body.
    pub fn post(&self, message: &Value, headers: &str) -> (u16, String) {
        post(&self.address, &message.to_string(), headers)
    }

    /// Asks it to stop and waits.
    pub fn stop(&mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        wait(&mut self.child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// One request on a connection of its own.
pub fn post(address: &str, body: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = if headers.starts_with("host:") { String::new() } else { format!("host: {address}\r\n") };
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{host}{headers}connection: close\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A server that refuses a body may close before all of it was read.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.split(' ').nth(1).unwrap_or("0").parse().unwrap_or(0), body.to_owned())
}

/// A request.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn a_foreign_page_is_kept_out() {
    let desk = desk();
    let mut served = Served::start(&desk, &[], &["--http", "127.0.0.1:0"]);
    let list = request(1, "tools/list", json!({}));
    let address = served.address.clone();
    assert_eq!(served.post(&list, "").0, 200);
    assert_eq!(served.post(&list, &format!("origin: http://{address}\r\n")).0, 200);
    for header in [
        "origin: https://evil.example\r\n",
        "origin: http://localhost:1\r\n",
        "origin: null\r\n",
        "host: evil.example\r\n",
    ] {
        assert_eq!(served.post(&list, header).0, 403, "{header}");
    }
    assert_eq!(served.stop(), Some(0));
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    let desk = desk();
    let ran = desk.program.expect(2, &desk.repo, &["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(ran.code(), "usage_error");
    let ran = desk.program.expect(2, &desk.repo, &["mcp", "--http", "nowhere"]);
    assert_eq!(ran.code(), "usage_error");
    let ran = desk.program.expect(2, &desk.repo, &["mcp", "--http", "0.0.0.0:0", "--token", "short"]);
    assert_eq!(ran.code(), "usage_error");
    let token = "0123456789abcdef";
    let served = Served::start(&desk, &[], &["--http", "0.0.0.0:0", "--token", token]);
    let address = format!("127.0.0.1:{}", served.address.split(':').nth(1).unwrap());
    let list = request(1, "tools/list", json!({})).to_string();
    for header in ["", "authorization: Bearer wrong\r\n", "authorization: Basic 0123456789abcdef\r\n"] {
        assert_eq!(post(&address, &list, header).0, 401, "{header}");
    }
    assert_eq!(post(&address, &list, &format!("authorization: Bearer {token}\r\n")).0, 200);
    let foreign = format!("authorization: Bearer {token}\r\norigin: https://evil.example\r\n");
    assert_eq!(post(&address, &list, &foreign).0, 403);
}

#[test]
fn over_http_only_files_of_the_repository_can_be_named() {
    let desk = desk();
    let served = Served::start(&desk, &[], &["--compat", "--http", "127.0.0.1:0"]);
    std::os::unix::fs::symlink("/etc", desk.repo.file("elsewhere")).unwrap();
    let calls = [
        json!({"name": "evolve", "arguments": {"logs": ["/etc/passwd"], "dry_run": true}}),
        json!({"name": "evolve", "arguments": {"logs": ["../outside.log"], "dry_run": true}}),
        json!({"name": "evolve", "arguments": {"logs": ["elsewhere/passwd"], "dry_run": true}}),
        json!({"name": "gep_export", "arguments": {"outputPath": "/tmp/never-written.gepx"}}),
        json!({"name": "gep_export", "arguments": {"outputPath": "elsewhere/x.gepx"}}),
        json!({"name": "verify", "arguments": {"what": "trail", "path": "/etc"}}),
    ];
    for call in calls {
        let (status, body) = served.post(&request(1, "tools/call", call.clone()), "");
        assert!(status == 200 && body.contains("permission_denied"), "{call}: {status} {body}");
    }
    let inside = json!({"name": "evolve", "arguments": {"logs": ["app.log"], "dry_run": true}});
    let (_, body) = served.post(&request(1, "tools/call", inside), "");
    assert!(body.contains("run_id"), "{body}");
}

#[test]
fn odd_requests_are_refused_and_the_server_lives() {
    let desk = desk();
    let mut served = Served::start(&desk, &[], &["--http", "127.0.0.1:0"]);
    let address = served.address.clone();
    for body in ["", "garbage", "[]", "17", "{}", &format!("\"{}\"", "x".repeat(2 << 20))] {
        let (status, _) = post(&address, body, "");
        assert!((400..500).contains(&status) || status == 0, "{status} for {} bytes", body.len());
    }
    let (status, body) = served.post(&request(7, "initialize", hello("2025-03-26")), "");
    assert!(status == 200 && body.contains("2025-03-26"), "{status} {body}");
    // Connections that say nothing do not keep it from ending.
    let _silent: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert_eq!(served.stop(), Some(0));
}

#[test]
fn who_hangs_up_is_not_worked_for() {
    let desk = desk();
    let stalled = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hub = format!("http://{}", stalled.local_addr().unwrap());
    let mut served = Served::start(&desk, &[("A2A_HUB_URL", &hub)], &["--http", "127.0.0.1:0"]);
    let body = request(1, "tools/call", json!({"name": "search", "arguments": {"query": "x"}})).to_string();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            served.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The call is under way when the hub is called.
        let _call = stalled.accept().unwrap();
    }
    let since = std::time::Instant::now();
    let (status, body) = served.post(&request(2, "tools/call", json!({"name": "help"})), "");
    assert!(status == 200 && body.contains("structuredContent"), "{status} {body}");
    assert_eq!(served.stop(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}
