//! schemathesis reads the hub's description and sends what it allows, and what it does not: the answers fit it, and
//! none is a 5xx. The test fails when the tool is absent.

use crate::common::{Scratch, program};
use capsid_testkit::hub::HubProcess;
use capsid_testkit::rounds::{size, steady_seed};
use std::path::Path;
use std::process::Command;

const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

/// The tool is one address, and sends more than anybody would.
const LIMITS: &str = r#"
[limits]
hello = "1000000/second"
register = "1000000/second"
publish = "1000000/second"
heartbeat = "1000000/second"
messages = "1000000/second"
vote = "1000000/second"
other = "1000000/second"
wrong_credentials = "1000000/second"
"#;

#[test]
fn every_path_answers_as_it_is_described() {
    let (program, scratch) = (program(), Scratch::sqlite());
    std::fs::create_dir_all(&scratch.place.data).unwrap();
    std::fs::write(scratch.place.data.join("hub.toml"), LIMITS).unwrap();
    let hub = HubProcess::start(&program, &scratch.place);
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/python/.venv/bin/schemathesis");
    assert!(tool.exists(), "there is no schemathesis: run `scripts/setup test`");
    let examples = size("2", "200");
    let ran = Command::new(tool)
        .args(["run", &format!("http://{}/openapi.json", hub.address), "--checks", CHECKS])
        .args(["--max-examples", examples, "--workers", "1", "--phases", "examples,coverage,fuzzing"])
        .args([
            "--request-timeout",
            "30",
            "--warnings",
            "off",
            "--no-color",
            "--suppress-health-check",
            "all",
        ])
        .args(["--seed", &steady_seed().to_string()])
        // What streams or waits would take its whole time for each example.
        .args(["--exclude-path-regex", "^/a2a/(events/|live$)"])
        .current_dir(scratch.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    println!("{}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
}
