//! `capsid status` in prepared homes, `capsid` without arguments, and what to do next after other commands.

use super::{program, run, run_on_terminal};
use capsid_model::json;
use capsid_testkit::program::{TestProgram, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::test_repo::TestRepo;
use capsid_testkit::transcript;
use std::path::Path;

const SESSIONS: [&str; 2] = ["5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01", "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f02"];

fn write_sessions(home: &Path) {
    let folder = home.join(".claude/projects/shop");
    std::fs::create_dir_all(&folder).unwrap();
    for session in SESSIONS {
        std::fs::write(folder.join(format!("{session}.jsonl")), transcript::claude_code(session, 1)).unwrap();
    }
}

/// The status as it is shown, with what differs from run to run replaced and columns as narrow as can be.
#[track_caller]
fn status_text(program: &TestProgram, folder: &Path) -> String {
    let ran = run(program, folder, &["status"]);
    assert_status(0, &ran);
    assert!(ran.stderr.is_empty() && ran.stdout.lines().count() <= 16, "{ran}");
    let narrow = regex::Regex::new(r"(\S) {2,}").unwrap();
    let stamp = regex::Regex::new(r"_\d{13}(_[0-9a-f]+)?\b").unwrap();
    let text = stamp.replace_all(&ran.stdout, "_ID").into_owned();
    narrow.replace_all(&text, "$1  ").into_owned()
}

#[test]
fn a_home_with_nothing_in_it() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        status_text(&program, folder.path()),
        "agents  none found on this machine\n\
         repository  none here\n\
         hub  none configured; nothing leaves this machine\n\
         Next\n  capsid demo  watch a whole story in a scratch repository\n"
    );
    assert_eq!(std::fs::read_dir(program.home()).unwrap().count(), 0, "it only reads");
}

#[test]
fn a_home_with_sessions_that_are_not_sealed() {
    let program = program();
    write_sessions(program.home());
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        status_text(&program, folder.path()),
        "agents  Claude Code 2 sessions  none sealed yet\n\
         repository  none here\n\
         hub  none configured; nothing leaves this machine\n\
         Next\n  capsid trail seal --all  seal the 2 sessions that are not sealed yet\n"
    );
}

#[test]
fn a_repository_without_a_store() {
    let program = program();
    let repo = TestRepo::named("shop");
    assert_eq!(
        status_text(&program, repo.path()),
        "agents  none found on this machine\n\
         repository  shop: no store yet  `capsid init` sets it up\n\
         hub  none configured; nothing leaves this machine\n\
         Next\n  capsid init  set up this repository\n"
    );
}

#[test]
fn a_sealed_home_and_a_repository_whose_agent_is_not_set_up() {
    let desk = ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "shop");
    write_sessions(desk.program.home());
    desk.program.expect(0, &desk.repo, &["trail", "seal", "--all"]);
    assert_eq!(
        status_text(&desk.program, desk.repo.path()),
        "agents  Claude Code 2 sessions  all sealed\n\
         repository  shop: 2 genes, 0 capsules  no cycle yet\n\
         hub  none configured; nothing leaves this machine\n\
         Pending\n  nothing\n\
         Learned\n  nothing yet: a cycle that succeeds makes a capsule\n\
         Loop\n  not running; 20 agent calls and 120 min left today\n\
         Next\n  capsid init --agent claude-code  tell Claude Code what was proven here\n  \
         capsid key backup FILE  copy the key that seals to a safe place\n"
    );
}

#[test]
fn a_repository_with_a_run_that_waits() {
    let desk = ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "shop");
    desk.prepare(&[]);
    let shown = status_text(&desk.program, desk.repo.path());
    assert!(shown.contains("Pending\n  run_ID  TypeError x is not a function\n"), "{shown}");
    assert!(shown.ends_with("Next\n  capsid review  see the change that waits for you\n"), "{shown}");
}

#[test]
fn a_home_in_which_everything_is_done() {
    let desk = ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "shop");
    write_sessions(desk.program.home());
    let backup = desk.program.home().join("safe.key");
    for words in [
        &["trail", "seal", "--all"][..],
        &["init", "--agent", "claude-code"],
        &["key", "backup", "--out", backup.to_str().unwrap()],
        &["evolve", "--log", "app.log", "--no-sessions", "--agent", &desk.agent("echo good > state.txt")],
    ] {
        desk.program.expect(0, &desk.repo, words);
    }
    let shown = status_text(&desk.program, desk.repo.path());
    assert!(shown.starts_with("agents  Claude Code 2 sessions  all sealed\nrepository  shop: "), "{shown}");
    assert!(shown.contains("1 capsule  last cycle success, just now\n"), "{shown}");
    assert!(shown.ends_with("Next\n  capsid demo  watch a whole story in a scratch repository\n"), "{shown}");
    let told = desk.program.expect(0, &desk.repo, &["status", "--json"]).json();
    assert_eq!(
        told["agents"][0],
        json!({"tool": "claude-code", "sessions": 2, "unsealed": 0, "set_up": true})
    );
    assert_eq!(
        (&told["next"][0]["command"], &told["repository"]["capsules"], &told["key_lacks_backup"]),
        (&json!("capsid demo"), &json!(1), &json!(false))
    );
}

#[test]
fn without_arguments_it_is_the_status_on_a_terminal_and_the_short_help_elsewhere() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let on_terminal = run_on_terminal(&program, folder.path(), &[], &[]);
    assert_status(0, &on_terminal);
    assert!(on_terminal.stdout.contains("agents") && on_terminal.stdout.contains("Next"), "{on_terminal}");
    let elsewhere = run(&program, folder.path(), &[]);
    assert_status(2, &elsewhere);
    assert!(
        elsewhere.stderr.contains("Start here:") && !elsewhere.stderr.contains("Exit status"),
        "{elsewhere}"
    );
}

#[test]
fn what_to_do_next_follows_a_command_on_a_terminal_unless_it_is_switched_off() {
    let desk = ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "shop");
    write_sessions(desk.program.home());
    let words = ["trail", "seal", "--all"];
    let sealed = run_on_terminal(&desk.program, desk.repo.path(), &words, &[]);
    assert_status(0, &sealed);
    assert!(sealed.stdout.contains("Next\r\n  capsid init --agent claude-code"), "{sealed}");
    let quiet = run_on_terminal(&desk.program, desk.repo.path(), &words, &[("CAPSID_HINTS", "0")]);
    assert_status(0, &quiet);
    assert!(!quiet.stdout.contains("Next"), "{quiet}");
    let elsewhere = desk.program.expect(0, &desk.repo, &words);
    assert!(!elsewhere.stderr.contains("Next"), "{elsewhere}");
}
