//! The story that docs/start/prove-it.md tells a new user.

use super::*;
use capsid_model::{Value, json};
use std::process::Command;

const FOREIGN: &str = "{\n\t\"model\": \"opus\", // mine\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say 'fértig'\"}]}\n\t\t]\n\t}\n}";

/// What is done to the records of a chain.
type Damage = fn(&mut Vec<Value>);

fn docs(name: &str) -> String {
    format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_new_user_installs_works_looks_verifies_and_shares() {
    let desk = desk();
    let settings = desk.home().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, FOREIGN).unwrap();
    desk.expect(0, &["trail", "install", "claude-code"]);
    let installed = std::fs::read_to_string(&settings).unwrap();
    assert!(installed.contains("say 'fértig'") && installed.contains("// mine"));
    desk.expect(0, &["trail", "install", "claude-code"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), installed, "twice is once");

    // What the tool then does at the end of each turn: the command from its settings, through a shell.
    let path = desk.transcript(SESSION, 3);
    let command = installed.lines().find(|line| line.contains("trail hook")).unwrap();
    let command = command.rsplit("\"command\":").next().unwrap().trim().trim_end_matches(['}', ']', ',']);
    let command: String = serde_json::from_str(command).unwrap();
    for event in ["Stop", "SessionEnd"] {
        let told =
            json!({"session_id": SESSION, "transcript_path": path, "hook_event_name": event, "cwd": "/x"});
        std::fs::write(desk.home().join("payload"), told.to_string()).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} < payload")]).current_dir(desk.home()).env("HOME", desk.home());
        let ran = ProgramOutput::from_output(shell.env_remove("XDG_DATA_HOME").output().unwrap());
        assert_status(0, &ran);
    }

    let list = desk.expect(0, &["trail", "list"]).stdout;
    assert_eq!(list, format!("claude-code/\n  {SESSION:<40}    9 records\n"));
    assert!(desk.expect(0, &["trail", "verify", "--signatures"]).stdout.contains("9/9 verified"));
    desk.expect(0, &["trail", "verify-meta", "--deep", "--signatures"]);
    desk.expect(0, &["trail", "export", "--out", "bundle"]);

    let bundle = desk.home().join("bundle");
    let checked = ProgramOutput::from_output(
        Command::new("node").arg(docs("verify.mjs")).arg(&bundle).output().unwrap(),
    );
    assert_status(0, &checked);
    let leaked: Vec<String> = std::fs::read_dir(&bundle)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter(|text| text.contains(desk.home().to_str().unwrap()))
        .collect();
    assert!(leaked.is_empty(), "no local path is in a bundle");

    desk.expect(0, &["trail", "uninstall", "claude-code"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), FOREIGN, "to the byte");
}

/// The script in the documentation and the program come to the same verdict about every kind of damage.
#[test]
fn the_independent_script_finds_what_the_program_finds() {
    let desk = sealed(3);
    desk.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = desk.home().join("bundle");
    let file = bundle.join(format!("claude-code-{SESSION}.json"));
    let whole: Value = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    let damages: [(&str, Damage); 6] = [
        ("edited", |records| {
            let text = records[4]["canonical"].as_str().unwrap().replace("pear.py", "plum.py");
            records[4]["canonical"] = json!(text);
        }),
        ("removed", |records| drop(records.remove(4))),
        ("swapped", |records| records.swap(4, 5)),
        ("doubled", |records| records.insert(4, records[3].clone())),
        ("signature", |records| records[4]["signature"] = records[5]["signature"].clone()),
        ("cut", |records| records.truncate(4)),
    ];
    for (name, damage) in damages {
        let mut document = whole.clone();
        damage(document["capsules"].as_array_mut().unwrap());
        std::fs::write(&file, document.to_string()).unwrap();
        let script = ProgramOutput::from_output(
            Command::new("node").arg(docs("verify.mjs")).arg(&bundle).output().unwrap(),
        );
        let program = desk.run(&["trail", "verify", "--signatures", "bundle"]);
        assert_status(1, &script);
        assert_status(1, &program);
        assert!(program.stdout.contains("broken at seq 4"), "{name}: {program}");
        assert!(script.stdout.contains("at seq 4") || script.stdout.contains(" 4"), "{name}: {script}");
    }
}

#[test]
fn a_bundle_is_taken_in_elsewhere_and_only_once() {
    let author = sealed(3);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = author.home().join("bundle");
    let reader = desk();
    let import = ["trail", "import", bundle.to_str().unwrap()];
    let would = reader.expect(0, &[&import[..], &["--dry-run"]].concat());
    assert!(would.stdout.contains("would import"), "{would}");
    assert_eq!(std::fs::read_dir(reader.home()).unwrap().count(), 0);
    assert!(reader.expect(0, &import).stdout.contains("imported"));
    assert!(reader.expect(0, &import).stdout.contains("skip (already imported)"));
    reader.expect(0, &["trail", "verify", "--require", "any"]);
    let file = bundle.join(format!("claude-code-{SESSION}.json"));
    let text = std::fs::read_to_string(&file).unwrap().replacen("make test", "make love", 1);
    std::fs::write(&file, text).unwrap();
    let third = desk();
    let refused = third.run(&import);
    assert_status(1, &refused);
    assert!(!third.trail().exists(), "nothing of a broken chain is taken in, not even its key");
}

#[test]
fn every_transcript_of_the_user_is_found() {
    let desk = desk();
    desk.transcript(SESSION, 2);
    desk.transcript("another-session", 1);
    let all = desk.expect(0, &["trail", "seal", "--all", "--json"]).json();
    assert_eq!((&all["appended"], &all["failed"]), (&9.into(), &0.into()));
    assert_eq!(desk.expect(0, &["trail", "seal", "--all", "--json"]).json()["appended"], 0);
}

#[test]
fn the_demo_leaves_nothing_in_the_users_own_trail() {
    let desk = desk();
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("demo");
    desk.expect(0, &["demo", "--dir", folder.to_str().unwrap()]);
    assert_eq!(std::fs::read_dir(desk.home()).unwrap().count(), 0);
    assert!(folder.join("trail/key").exists());
}
