//! The official SDK's client, over both transports.

use super::http_guard::Served;
use super::stdio_client::desk;
use capsid_model::{Value, json};
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// A desk with so many genes that a list of them has pages.
fn full_desk() -> ProgramRepo {
    let desk = desk();
    let mut genes =
        vec![store::gene("gene_repair", "repair", &["log_error"], &[capsid_testkit::program_repo::CHECK])];
    genes.extend((0..60).map(|n| store::gene(&format!("gene_{n:02}"), "optimize", &["never_seen"], &[])));
    store::write_store(&desk.repo, &genes);
    desk
}

#[track_caller]
fn drive(told: &Value) {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers");
    assert!(peers.join("node_modules/@modelcontextprotocol/sdk").exists(), "run scripts/setup test");
    let ran = Command::new("node").arg(peers.join("mcp.mjs")).arg(told.to_string()).output().unwrap();
    let ran = ProgramOutput::from_output(ran);
    assert!(ran.status == 0 && ran.stdout.starts_with("ok: "), "{ran}");
    println!("{}", ran.stdout.trim());
}

#[test]
fn the_official_client_works_over_stdio() {
    let desk = full_desk();
    let stalled = TcpListener::bind("127.0.0.1:0").unwrap();
    for (args, compat) in [(json!(["mcp"]), false), (json!(["mcp", "--compat"]), true)] {
        drive(&json!({
            "command": env!("CARGO_BIN_EXE_capsid"), "args": args, "cwd": desk.repo.path(), "compat": compat,
            "stalls": true,
            "env": {
                "HOME": desk.program.home(), "PATH": std::env::var("PATH").unwrap(),
                "A2A_HUB_URL": format!("http://{}", stalled.local_addr().unwrap()),
            },
        }));
    }
}

#[test]
fn the_official_client_works_over_http() {
    let desk = full_desk();
    let served = Served::start(&desk, &[], &["--http", "127.0.0.1:0"]);
    drive(&json!({"url": served.url, "compat": false, "stalls": false}));
    let token = "a token of some length";
    let served = Served::start(&desk, &[("CAPSID_MCP_TOKEN", token)], &["--compat", "--http", "127.0.0.1:0"]);
    let headers = json!({"authorization": format!("Bearer {token}")});
    drive(&json!({"url": served.url, "compat": true, "stalls": false, "headers": headers}));
}
