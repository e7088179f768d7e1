//! What is told where there is no hub, or none that answers.

use super::test_hub::{Hub, Node};
use crate::common::program;
use capsid_model::json;
use capsid_testkit::program::ProgramOutput;

/// One of each command, with arguments that it takes.
const COMMANDS: [&[&str]; 17] = [
    &["hello"],
    &["fetch", "x"],
    &["search", "TimeoutError"],
    &["report", "x", "--ok"],
    &["decide", "x", "accept"],
    &["revoke", "x", "--yes"],
    &["heartbeat"],
    &["tasks"],
    &["claim", "x"],
    &["release", "x"],
    &["complete", "x", "y"],
    &["propose", "x", "--part", "a", "--weight", "0.1", "--part", "b", "--weight", "0.1"],
    &["swarm", "x"],
    &["ask", "What is it?"],
    &["bounty", "list"],
    &["bounty", "show", "x"],
    &["vote", "x", "up"],
];

#[test]
fn without_a_hub_nothing_is_done_and_the_fix_is_told() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    for words in COMMANDS {
        let words = [&["node"], words, &["--json"]].concat();
        let ran = ProgramOutput::from_output(program.command(folder.path(), &words).output().unwrap());
        assert_eq!((ran.status, ran.code()), (2, "no_hub"), "{words:?}\n{ran}");
        assert_eq!(ran.json()["error"]["code"], "no_hub");
        assert!(ran.stderr.contains("--hub URL"), "{ran}");
    }
    let status =
        ProgramOutput::from_output(program.command(folder.path(), &["node", "status"]).output().unwrap());
    assert_eq!(status.status, 0, "{status}");
    assert!(status.stdout.contains("none; nothing leaves this machine"), "{status}");
    assert!(status.stderr.contains("--hub URL"), "{status}");
    let json = ProgramOutput::from_output(
        program.command(folder.path(), &["node", "status", "--json"]).output().unwrap(),
    )
    .json();
    assert_eq!(json["hub"], json!(null));
}

#[test]
fn a_hub_that_is_away_is_told_and_is_no_bug() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let words = ["node", "status", "--hub", "http://127.0.0.1:1"];
    let ran = ProgramOutput::from_output(program.command(folder.path(), &words).output().unwrap());
    assert_eq!(ran.status, 1, "{ran}");
    assert!(ran.stdout.contains("cannot be used now") && ran.stderr.contains("cannot be reached"), "{ran}");
    let words = ["node", "tasks", "--hub", "http://127.0.0.1:1"];
    let ran = ProgramOutput::from_output(program.command(folder.path(), &words).output().unwrap());
    assert_eq!((ran.status, ran.code()), (1, "hub_unreachable"), "{ran}");
    let words = ["node", "tasks", "--hub", "hub.example"];
    let ran = ProgramOutput::from_output(program.command(folder.path(), &words).output().unwrap());
    assert_eq!((ran.status, ran.code()), (2, "hub_url_invalid"), "{ran}");
}

#[test]
fn an_id_that_holds_a_path_stays_an_id() {
    let hub = Hub::start();
    let node = Node::at(&hub);
    node.says(&["hello"]);
    for words in [["swarm", "../../health"], ["bounty", "list/../../health"]] {
        let words = if words[0] == "bounty" { vec!["bounty", "show", words[1]] } else { words.to_vec() };
        let ran = node.ends(1, &words, &[]);
        assert_eq!(ran.code(), "hub_refused", "{ran}");
    }
}

#[test]
fn doctor_looks_at_the_node_and_its_hub() {
    let hub = Hub::start();
    let node = Node::at(&hub);
    let doctor = |url: Option<&str>| {
        let mut command = node.program.command(node.folder.path(), &["doctor", "--json"]);
        command.envs(url.map(|url| ("A2A_HUB_URL", url)));
        let told = ProgramOutput::from_output(command.output().unwrap()).json();
        let of = |check: &str| {
            let all = told["checks"].as_array().unwrap().clone();
            all.into_iter().filter(move |finding| finding["check"] == check).collect::<Vec<_>>()
        };
        (of("node"), of("hub"))
    };
    let (before, none) = doctor(None);
    assert!(before[0]["detail"].as_str().unwrap().starts_with("none yet"), "{before:?}");
    assert!(none[0]["detail"].as_str().unwrap().starts_with("none is configured"), "{none:?}");
    assert!(!node.program.home().join(".evomap").exists(), "looking made an identity");

    node.says(&["hello"]);
    let (known, well) = doctor(Some(&hub.url()));
    assert!(known.len() == 1 && known[0]["status"] == "ok", "{known:?}");
    assert!(well[0]["status"] == "ok" && well[0]["detail"].as_str().unwrap().contains("is well"), "{well:?}");
    let secret = node.program.home().join(".evomap/node_secret");
    let open: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&secret, open).unwrap();
    let (open, away) = doctor(Some("http://127.0.0.1:1"));
    assert!(
        open[1]["status"] == "wrong" && open[1]["fix"].as_str().unwrap().contains("chmod 600"),
        "{open:?}"
    );
    assert_eq!(away[0]["status"], "note", "{away:?}");
}
