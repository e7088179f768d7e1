//! `capsid node validator` with a real hub and a real sandbox.
#![cfg(unix)]

use crate::common::program;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::program::{ProgramOutput, TestProgram};
use capsid_testkit::store::stamped;
use std::path::Path;
use std::sync::Arc;

const SECRET: &str = "k3Jx9QpL2mZr7TbV5nHs";

struct Market {
    hub: HubProcess,
    folder: tempfile::TempDir,
    validator: TestProgram,
}

impl Market {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        Self { hub: HubProcess::start(&program(), &place), folder, validator: program() }
    }

    fn author(&self, name: &str) -> NodeClient {
        let settings = ClientConfig::new(&format!("http://{}", self.hub.address), false).unwrap();
        let identity = Identity::open(&self.folder.path().join(name), &|_| None).unwrap();
        let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        node.hello(Object::new()).unwrap();
        node
    }

    fn validate(&self, more: &[&str]) -> ProgramOutput {
        let url = format!("http://{}", self.hub.address);
        let words = [&["node", "validator", "--once", "--hub", &url], more].concat();
        ProgramOutput::from_output(self.validator.command(self.validator.home(), &words).output().unwrap())
    }

    /// What the hub shows at a path.
    fn get_json(&self, path: &str) -> Value {
        let (status, body) = ask(&self.hub.address, "GET", path, None).unwrap();
        assert_eq!(status, 200, "{body}");
        body.parse().unwrap()
    }

    /// What was said about an asset in the rounds that it takes.
    fn judged(&self, asset: &str) -> Value {
        for _ in 0..5 {
            let ran = self.validate(&["--json"]);
            assert_eq!(ran.status, 0, "{ran}");
            let judged = ran.json()["judged"].as_array().unwrap().clone();
            if let Some(found) = judged.into_iter().find(|one| one["asset_id"] == asset) {
                return found;
            }
        }
        panic!("nobody asked about {asset}");
    }
}

/// The diff that creates files.
pub fn creates(files: &[(&str, &str)]) -> String {
    let one = |(path, text): &(&str, &str)| {
        let lines: Vec<String> = text.lines().map(|line| format!("+{line}\n")).collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{}",
            lines.len(),
            lines.concat()
        )
    };
    files.iter().map(one).collect()
}

pub fn publish(author: &NodeClient, name: &str, diff: &str) -> String {
    let gene = stamped(json!({
        "type": "Gene", "schema_version": "1.5.0", "id": format!("gene_{name}"), "category": "repair",
        "signals_match": [format!("{name}_failed")], "summary": format!("Repairs the {name} where it stumbles"),
        "strategy": [format!("Look at the {name}"), "Write what it lacks"], "validation": [format!("node {name}.test.js")],
    }));
    let capsule = stamped(json!({
        "type": "Capsule", "schema_version": "1.5.0", "id": format!("capsule_{name}"), "trigger": [format!("{name}_failed")],
        "gene": gene["asset_id"], "summary": format!("The {name} does what it should again"),
        "content": format!("The {name} lacked a file; it is written, with a test beside it."), "diff": diff,
        "strategy": [format!("Write the {name}")], "confidence": 0.8, "blast_radius": {"files": 2, "lines": 4},
        "outcome": {"status": "success", "score": 0.85}, "success_streak": 2,
        "env_fingerprint": {"platform": "linux", "arch": "x64"},
    }));
    author.publish(&[gene, capsule.clone()]).unwrap();
    capsule["asset_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_validator_reproduces_what_works_and_tells_what_does_not() {
    let market = Market::open();
    // Spending is opt-in: without a stake it only says what is needed.
    let ran = market.validate(&[]);
    assert_eq!(ran.code(), "not_eligible", "{ran}");
    assert!(ran.stderr.contains("--stake 100"), "{ran}");
    let works = publish(
        &market.author("one"),
        "adder",
        &creates(&[
            ("adder.js", "exports.add = (a, b) => a + b\n"),
            ("adder.test.js", "if (require('./adder').add(1, 2) !== 3) process.exit(1)\n"),
        ]),
    );
    // Put together when it runs, so that what the hub holds of them can only come from the report.
    let complaint = "console.error('MARK-' + 'seen token=' + 'k3Jx9QpL2m' + 'Zr7TbV5nHs' + ' in /home/some' + 'body/x'); process.exit(7)\n";
    let fails = publish(&market.author("two"), "parser", &creates(&[("parser.test.js", complaint)]));
    let ran = market.validate(&["--stake", "100", "--json"]);
    assert_eq!(ran.status, 0, "{ran}");
    let first: Vec<Value> = ran.json()["judged"].as_array().unwrap().clone();
    let find = |asset: &str| {
        first.iter().find(|one| one["asset_id"] == asset).cloned().unwrap_or_else(|| market.judged(asset))
    };
    let good = find(&works);
    assert_eq!((&good["overall_ok"], &good["weight"]), (&json!(true), &json!(1.0)), "{good}");
    assert_ne!(good["isolation"], "none");
    let bad = find(&fails);
    assert_eq!((&bad["overall_ok"], &bad["weight"]), (&json!(false), &json!(1.0)), "{bad}");
    assert_eq!(bad["failure_class"], "command_failed");
    let kept = all_below(&market.folder.path().join("hub"));
    assert!(kept.contains("MARK-seen"), "the report is not there");
    // A public hub counts no report without these.
    assert!(kept.contains("\"runtime\":\"node v") && kept.contains("\"output_sha256\":\""), "{good}");
    assert!(!kept.contains(SECRET) && !kept.contains("/home/somebody"));
    for asset in [&works, &fails] {
        let shown =
            market.get_json(&format!("/a2a/validation-reports?asset_id={}", asset.replace(':', "%3A")));
        let report = &shown["reports"][0];
        let node =
            market.get_json(&format!("/a2a/identity/{}", report["validator_node_id"].as_str().unwrap()));
        assert!(
            node["public_key"].is_string() && report["signed_by"] == node["public_key"],
            "{shown} {node}"
        );
    }
    let told = market.validate(&[]);
    assert!(told.status == 0 && told.stdout.contains("0 judged; earned"), "{told}");
}

/// The content of all files in a folder.
fn all_below(folder: &Path) -> String {
    let read = |entry: std::fs::DirEntry| std::fs::read(entry.path()).unwrap_or_default();
    std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| String::from_utf8_lossy(&read(entry)).into_owned())
        .collect()
}

#[test]
fn a_hostile_diff_writes_nothing_and_counts_against_its_capsule() {
    let market = Market::open();
    let outside = market.validator.home().join("planted.js");
    let up = format!("{}{}", "../".repeat(12), outside.display());
    let diff = creates(&[(&up, "planted\n"), ("escape.test.js", "process.exit(0)\n")]);
    let asset = publish(&market.author("one"), "escape", &diff);
    assert_eq!(market.validate(&["--stake", "100"]).status, 0);
    let ran = market.validate(&["--json"]);
    assert_eq!(ran.status, 0, "{ran}");
    assert!(!outside.exists());
    let (_, told) = ask(
        &market.hub.address,
        "GET",
        &format!("/a2a/validation-reports?asset_id={}", asset.replace(':', "%3A")),
        None,
    )
    .unwrap();
    assert!(told.contains("hostile_diff"), "{told}");
}
