//! A node's home: its identity, and what it keeps in a repository for a hub.

use super::{User, hub, read_json, text, tree, versions};
use crate::common::program;
use capsid_model::json;
use capsid_testkit::hub::{HubProcess, ask};

#[test]
fn a_node_is_who_it_was_and_delivers_what_waits() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let (scratch, story) = hub::sqlite(&version);
        let hub = HubProcess::start(&program(), &scratch.place);
        let url = format!("http://{}", hub.address);
        move_hub(&user, text(&story["url"]), &url);

        let evomap = user.home().join(".evomap");
        let before = tree::files(&evomap);
        let id = std::fs::read_to_string(evomap.join("node_id")).unwrap();
        let status = user.expect(0, &["node", "status", "--hub", &url, "--json"]).json();
        assert_eq!(
            (&status["node_id"], &status["registered"], &status["claimed"]),
            (&json!(id.trim()), &json!(true), &json!(true)),
            "{status:#}"
        );
        let beat = user.expect(0, &["node", "heartbeat", "--hub", &url, "--json"]).json();
        assert_eq!(beat["status"], "ok", "{beat:#}");
        assert!(before == tree::files(&evomap), "the identity changed");

        // A report and records of a shared memory were left because the hub was away.
        let old = |name: &str| user.repo.join(".git/capsid").join(name);
        let moved = |name: &str| user.program.state_dir(&user.repo).join(name);
        let outbox = |name: &str| {
            let path = if moved(name).exists() { moved(name) } else { old(name) };
            std::fs::read_to_string(path).unwrap_or_default()
        };
        assert_eq!(
            (outbox("hub_outbox.jsonl").lines().count(), outbox("memory_outbox.jsonl").lines().count()),
            (1, 4)
        );
        user.expect(0, &["node", "sync", "--hub", &url]);
        assert_eq!(outbox("hub_outbox.jsonl").trim(), "");
        assert_ne!(
            std::fs::read_to_string(old("hub_outbox.jsonl")).unwrap(),
            "",
            "the old folder stays as it is"
        );
        let (_, reports) = ask(&hub.address, "GET", "/a2a/validation-reports", None).unwrap();
        assert!(reports.contains(id.trim()), "{reports}");

        user.write("app.log", "error: TimeoutError: upstream did not answer\n");
        let agent = ["--agent", "sh", "-c", "cat > /dev/null; echo good, next > state.txt"];
        let words = [&["evolve", "--force", "--log", "app.log"][..], &agent].concat();
        let mut command = user.program.command(&user.repo, &words);
        let ran = command.env("A2A_HUB_URL", &url).env("MEMORY_GRAPH_PROVIDER", "remote").output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(outbox("memory_outbox.jsonl").trim(), "");
        assert_eq!(hub.stop(), Some(0));
    }
}

/// The hub has another address now; to the node it is the same one.
fn move_hub(user: &User, old: &str, new: &str) {
    let evomap = user.home().join(".evomap/hubs.json");
    for path in [
        evomap,
        user.repo.join(".git/capsid/hub_outbox.jsonl"),
        user.repo.join(".git/capsid/published.jsonl"),
        user.repo.join(".git/capsid/hub_sync.json"),
    ] {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old) || path.ends_with("hub_sync.json"), "{}", path.display());
        std::fs::write(&path, text.replace(old, new)).unwrap();
    }
}

#[test]
fn the_files_of_an_identity_are_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    for version in versions() {
        let user = User::restore(&version, "ada");
        let hubs = read_json(&user.home().join(".evomap/hubs.json"));
        assert_eq!(hubs.as_object().unwrap().len(), 1);
        for name in ["node_id", "node_secret", "device_id", "hubs.json"] {
            let mode =
                std::fs::metadata(user.home().join(".evomap").join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }
}
