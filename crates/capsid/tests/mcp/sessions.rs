//! Many sessions leave nothing behind.

use super::http_guard::{Served, post, request};
use super::stdio_client::{desk, hello};
use capsid_model::json;
use capsid_testkit::rounds::size;
use capsid_testkit::wait;

/// What a process holds: descriptors, and resident memory in KiB.
fn held(id: u32) -> (usize, u64) {
    let descriptors = std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().count();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (descriptors, resident.trim().trim_end_matches(" kB").parse().unwrap())
}

fn session(address: &str, n: usize) {
    let (status, body) = post(address, &request(1, "initialize", hello("2025-06-18")).to_string(), "");
    assert!(status == 200 && !body.to_lowercase().contains("mcp-session-id"), "{status} {body}");
    let version = "mcp-protocol-version: 2025-06-18\r\n";
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(post(address, &told, version).0, 202);
    assert_eq!(post(address, &request(2, "tools/list", json!({})).to_string(), version).0, 200);
    let tool = if n.is_multiple_of(10) { "status" } else { "help" };
    let (status, body) = post(address, &request(3, "tools/call", json!({"name": tool})).to_string(), version);
    assert!(status == 200 && body.contains("\"isError\":false"), "{status} {body}");
}

#[test]
fn descriptors_and_memory_do_not_grow_with_sessions() {
    let (warm, sessions) = size((30, 120), (100, 1000));
    let desk = desk();
    let mut served = Served::start(&desk, &[], &["--http", "127.0.0.1:0"]);
    (0..warm).for_each(|n| session(&served.address, n));
    let before = held(served.child.id());
    (0..sessions).for_each(|n| session(&served.address, n));
    // The last connections are still being closed.
    wait::until("the descriptors are closed", std::time::Duration::from_secs(30), || {
        held(served.child.id()).0 <= before.0 + 3
    });
    let after = held(served.child.id());
    println!("{sessions} sessions: {before:?} before, {after:?} after (descriptors, KiB)");
    assert!(after.1 <= before.1 + 8 * 1024, "memory: {before:?} -> {after:?}");
    assert_eq!(served.stop(), Some(0));
}
