//! The signing service, with three users: the account of the agent, the account of the service, and root.

pub mod attacks;
pub mod desk;

use attacks::{count, cut, rewrite};
use capsid_model::Value;
use capsid_seal::SigningKey;
use capsid_seal::keys::file;
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::{transcript, wait};
use desk::{SigningDesk, Who, seal_words};
use std::fs;
use std::time::Duration;

const FIRST: &str = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
const SECOND: &str = "6a1d2caf-8b63-4d2e-8e4f-3c8b2d5f9a12";

/// A home with records of the account's own key, handed over, and records of the service after them.
fn adopted() -> Option<SigningDesk> {
    let mut desk = SigningDesk::open()?;
    desk.seal(FIRST, 1);
    desk.install();
    desk.serve();
    let adopted = desk.expect(0, Who::User, &["signer", "adopt", "--json"]).json();
    assert_eq!((&adopted["chains"], &adopted["records"]), (&2.into(), &4.into()), "{adopted}");
    desk.seal(FIRST, 2);
    desk.seal(SECOND, 2);
    let (status, codes, report) = desk.verify();
    assert_eq!(status, 0, "{codes:?} {report}");
    assert_eq!(report["level"], "valid", "{report}");
    Some(desk)
}

/// After an attack root's program exits with 1 and names one of the codes.
#[track_caller]
fn assert_seen(desk: &SigningDesk, attack: &str, expected: &[&str]) {
    let (status, codes, report) = desk.verify();
    assert_eq!(status, 1, "{attack}: {report}");
    assert!(
        expected.iter().any(|code| codes.iter().any(|found| found == code)),
        "{attack}: {codes:?} {report}"
    );
}

#[test]
fn an_agent_that_owns_the_account_cannot_rewrite_history_unseen() {
    let Some(desk) = adopted() else { return };
    let copy = desk.copy_home();
    let old = file::load(&desk.home().join("key")).unwrap().unwrap();
    let stranger = SigningKey::from_seed(&[7; 32]);

    // A chain is rewritten and signed with the key of before. The attack may be stopped after each record.
    let rewritten = rewrite(&desk.chain(FIRST), 1, &old, "claude-opus", "claude-other");
    for row in &rewritten {
        row.write(&desk.chain(FIRST));
        assert_seen(&desk, "a chain, stopped midway", &["link", "forked", "retired_key"]);
    }
    assert_seen(&desk, "a chain", &["forked"]);
    desk.put_back(&copy);

    // Only what was sealed before the service came.
    for row in rewrite(&desk.chain(FIRST), 0, &old, "claude-opus", "claude-other").iter().take(3) {
        row.write(&desk.chain(FIRST));
    }
    assert_seen(&desk, "the part of before", &["link", "forked"]);
    desk.put_back(&copy);

    // The meta-chain.
    let meta = desk.home().join("meta.db");
    for row in &rewrite(&meta, 0, &old, "conversation sealed", "conversation Sealed") {
        row.write(&meta);
        assert_seen(&desk, "the meta-chain", &["meta_invalid", "forked"]);
    }
    desk.put_back(&copy);

    // Records with a key of the agent's, and every file that could make it a trusted one.
    for row in &rewrite(&desk.chain(SECOND), 0, &stranger, "claude-opus", "claude-other") {
        row.write(&desk.chain(SECOND));
    }
    fs::write(desk.home().join("key"), [7; 32]).unwrap();
    let hex = stranger.public().hex();
    let map = format!("{{\"{}\": \"{hex}\"}}", stranger.public().fingerprint());
    for name in ["known_keys.json", "pinned_keys.json"] {
        fs::write(desk.home().join(name), &map).unwrap();
    }
    let _ = fs::remove_file(desk.home().join("keyring.json"));
    assert_seen(&desk, "key files", &["forked"]);
    assert_seen(&desk, "key files", &["retired_key", "signer_not_allowed"]);
    desk.put_back(&copy);

    // The end of a chain, with every trace, stopped after each.
    let end = count(&desk.chain(SECOND)) - 1;
    cut(&desk.chain(SECOND), end);
    assert_seen(&desk, "the end of a chain", &["truncated"]);
    fs::remove_file(desk.chain(SECOND).with_extension("checkpoint.json")).unwrap();
    assert_seen(&desk, "the end of a chain and its checkpoint", &["truncated"]);
    fs::remove_file(&meta).unwrap();
    fs::remove_file(desk.home().join("meta.checkpoint.json")).unwrap();
    assert_seen(&desk, "all traces", &["truncated"]);
    fs::remove_file(desk.chain(SECOND)).unwrap();
    assert_seen(&desk, "a chain that is gone", &["conversation_missing"]);
    desk.put_back(&copy);

    // Another home in the place of this one, sealed by a key of the agent's.
    fs::remove_dir_all(desk.home()).unwrap();
    assert_seen(&desk, "no home at all", &["conversation_missing"]);
    desk.write_transcript(FIRST, &transcript::claude_code(FIRST, 2).replace("claude-opus", "claude-other"));
    let mut command = desk.command(Who::User, &["--home"]);
    let forged = desk.account().join("forged");
    command.arg(&forged).args(seal_words(FIRST));
    assert!(command.output().unwrap().status.success());
    fs::rename(&forged, desk.home()).unwrap();
    assert_seen(&desk, "another home", &["forked"]);
    desk.put_back(&copy);

    // A second history of a session, from the service itself.
    fs::remove_file(desk.chain(FIRST)).unwrap();
    let refused = ProgramOutput::from_output(desk.command(Who::User, &seal_words(FIRST)).output().unwrap());
    assert!(refused.stderr.contains("signer_fork"), "{refused}");
    assert_seen(&desk, "a second history", &["truncated"]);
    desk.put_back(&copy);
    let (status, codes, _) = desk.verify();
    assert_eq!(status, 0, "the copy is the honest trail: {codes:?}");
}

#[test]
fn records_wait_while_the_service_is_down_and_verify_still_names_its_heads() {
    let Some(mut desk) = SigningDesk::installed() else { return };
    desk.hook(FIRST, 1);
    let chain_of = |desk: &SigningDesk| {
        let listed = desk.expect(0, Who::User, &["list", "--json"]).json();
        (listed["chains"][0]["capsules"].as_u64(), listed["chains"][0]["pending"].as_u64())
    };
    assert_eq!(chain_of(&desk), (Some(3), Some(0)));
    assert!(!desk.home().join("key").exists(), "the account has no signing key");
    desk.stop();
    desk.hook(FIRST, 3);
    assert_eq!(chain_of(&desk), (Some(3), Some(6)));
    let status = desk.expect(1, Who::User, &["signer", "status", "--json"]).json();
    assert_eq!((&status["pending"], &status["error"]["code"]), (&6.into(), &"signer_unreachable".into()));
    let inspected = desk.expect(0, Who::User, &["inspect", FIRST, "--json"]).json();
    assert_eq!(inspected["pending"], 6);
    let (_, codes, report) = desk.verify();
    assert!(codes.iter().any(|code| code == "pending"), "{report}");
    assert!(!codes.iter().any(|code| code == "signer_unreachable"), "the heads file is there: {report}");
    // Without it nobody can say what is missing.
    let heads = desk.journal().with_file_name("heads");
    let kept = fs::read(&heads).unwrap();
    fs::remove_file(&heads).unwrap();
    assert_seen(&desk, "no heads", &["signer_unreachable"]);
    fs::write(&heads, kept).unwrap();
    desk.serve();
    let flushed = desk.expect(0, Who::User, &["signer", "flush", "--json"]).json();
    assert_eq!((&flushed["signed"], &flushed["pending"]), (&6.into(), &0.into()));
    assert_eq!(chain_of(&desk), (Some(9), Some(0)));
    desk.hook(FIRST, 3);
    assert_eq!(chain_of(&desk), (Some(9), Some(0)), "nothing is sealed twice");
    let (status, _, report) = desk.verify();
    assert_eq!(status, 0, "{report}");
}

#[test]
fn a_writer_that_is_killed_while_the_service_signs_forks_nothing() {
    let Some(desk) = SigningDesk::installed() else { return };
    let length = || fs::metadata(desk.journal()).unwrap().len();
    let turns = 100;
    desk.write_transcript(FIRST, &transcript::claude_code(FIRST, turns));
    let mut kills = 0;
    loop {
        let before = length();
        let mut child = desk.command(Who::User, &seal_words(FIRST)).spawn().unwrap();
        // The journal has an entry, so signatures are on their way or in the chain.
        let mut ended = None;
        wait::until("the service signs", Duration::from_secs(60), || {
            ended = child.try_wait().unwrap();
            ended.is_some() || length() > before
        });
        if ended.is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    println!("{kills} kills");
    assert!(kills > 0);
    desk.expect(0, Who::User, &seal_words(FIRST));
    assert_eq!(count(&desk.chain(FIRST)), 3 * turns as i64);
    let (status, codes, report) = desk.verify();
    assert_eq!(status, 0, "{codes:?} {report}");
}

#[test]
fn a_home_that_was_used_before_waits_until_its_chains_are_handed_over() {
    let Some(mut desk) = SigningDesk::open() else { return };
    desk.seal(FIRST, 1);
    desk.install();
    desk.serve();
    desk.seal(FIRST, 2);
    assert_eq!(count(&desk.chain(FIRST)), 3, "the new records wait");
    desk.expect(0, Who::User, &["signer", "adopt"]);
    desk.expect(0, Who::User, &["signer", "flush"]);
    assert_eq!(count(&desk.chain(FIRST)), 6);
    desk.expect(1, Who::User, &["signer", "adopt"]);
    let (status, codes, report) = desk.verify();
    assert_eq!(status, 0, "{codes:?} {report}");
}

#[test]
fn the_account_can_neither_read_the_key_nor_write_what_root_trusts() {
    let Some(desk) = SigningDesk::installed() else { return };
    desk.seal(FIRST, 1);
    let state = desk.journal();
    let trust = desk.signer().join(format!("signer.d/{}.json", desk.user));
    let script = format!(
        "cat {key} || cat {journal} || echo x >> {trust} || echo x >> {heads} || echo x >> {program} || rm {trust} || rm {key}",
        key = state.with_file_name("key").display(),
        journal = state.display(),
        heads = state.with_file_name("heads").display(),
        trust = trust.display(),
        program = desk.signer().join("lib/capsid").display(),
    );
    let mut command = std::process::Command::new("/bin/sh");
    std::os::unix::process::CommandExt::uid(&mut command, desk.user);
    let output = command.args(["-c", &script]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    for command in ["rotate", "reset", "uninstall"] {
        let ran = ProgramOutput::from_output(desk.command(Who::User, &["signer", command]).output().unwrap());
        assert_ne!(ran.status, 0, "{command}: {ran}");
    }
    let (status, _, report) = desk.verify();
    assert_eq!(status, 0, "{report}");
}

#[test]
fn root_rotates_backs_up_restores_resets_and_uninstalls() {
    let Some(mut desk) = SigningDesk::installed() else { return };
    desk.seal(FIRST, 1);
    desk.expect(0, Who::Root, &["signer", "rotate"]);
    desk.seal(FIRST, 2);
    let (status, _, report) = desk.verify();
    assert_eq!(status, 0, "{report}");
    let copy = desk.account().join("../backup");
    let copy = copy.to_str().unwrap();
    desk.expect(0, Who::Root, &["signer", "backup", copy]);
    desk.seal(SECOND, 1);
    let busy = desk.expect(1, Who::Root, &["signer", "restore", copy]);
    assert!(busy.stderr.contains("store_locked"), "{busy}");
    desk.stop();
    desk.expect(0, Who::Root, &["signer", "restore", copy]);
    desk.serve();
    let flushed = desk.expect(0, Who::User, &["signer", "flush", "--json"]).json();
    assert_eq!(flushed["caught_up"], 4, "three records and the one of the meta-chain: {flushed}");
    let (status, _, report) = desk.verify();
    assert_eq!(status, 0, "{report}");

    // Root gives a history up. It stays named.
    fs::remove_file(desk.chain(SECOND)).unwrap();
    desk.expect(0, Who::Root, &["signer", "restart-chain", &format!("claude-code/{SECOND}")]);
    // The meta-chain still has the old one, so the session is not finalised again.
    desk.expect(0, Who::User, &seal_words(SECOND)[..5]);
    let (_, _, report) = desk.verify();
    assert_eq!(report["signer"]["restarted"][0]["chain"], format!("claude-code/{SECOND}"), "{report}");

    desk.stop();
    desk.expect(0, Who::Root, &["signer", "reset"]);
    desk.serve();
    desk.seal("third", 1);
    desk.stop();
    desk.expect(0, Who::Root, &["signer", "uninstall"]);
    let report = desk.seal("fourth", 1);
    assert!(report.stderr.contains("a new key seals from now on"), "{report}");
}

#[test]
fn migrate_and_export_know_the_key_of_the_service() {
    let Some(mut desk) = SigningDesk::installed() else { return };
    desk.seal(FIRST, 1);
    let plan = desk.expect(0, Who::User, &["migrate", "--yes", "--json"]).json();
    assert_eq!((&plan["moved"], &plan["migrated"]), (&capsid_model::json!([]), &false.into()), "{plan}");
    assert!(desk.chain(FIRST).exists());

    let bundle = desk.account().join("bundle");
    let export = ["export", "--all", "--json", "--out", bundle.to_str().unwrap()];
    let exported = desk.expect(0, Who::User, &export).json();
    assert_eq!(exported["unstated"], Value::Null, "{exported}");
    let heads: Value = fs::read_to_string(bundle.join("heads.json")).unwrap().parse().unwrap();
    let texts: Vec<&str> =
        heads["statements"].as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(texts.len(), 2, "the session and the meta-chain");
    for text in &texts {
        assert!(text.contains(&format!("\nuser {}\n", desk.user)), "{text}");
        assert!(text.contains(exported["public_key"].as_str().unwrap()), "{text}");
    }
    let verify = ["verify", "--json", "--require", "own", bundle.to_str().unwrap()];
    let report = desk.expect(0, Who::User, &verify).json();
    assert_eq!(report["level"], "valid", "{report}");
    // A chain that is cut before the next export is shown by the service's statement.
    let end = count(&desk.chain(FIRST)) - 1;
    let copy = desk.copy_home();
    cut(&desk.chain(FIRST), end);
    desk.expect(0, Who::User, &["export", "--out", bundle.to_str().unwrap(), FIRST]);
    assert!(!bundle.join("meta.json").exists(), "the one of the earlier export speaks of other chains");
    let report = desk.expect(1, Who::User, &verify).json();
    assert!(report["findings"].to_string().contains("truncated"), "{report}");
    desk.put_back(&copy);
    // Without the service there is no statement, and the command says so.
    desk.stop();
    let exported = desk.expect(0, Who::User, &export).json();
    assert_eq!(exported["unstated"]["code"], "signer_unreachable", "{exported}");
    assert!(!bundle.join("heads.json").exists(), "the old one is of another state");
}
