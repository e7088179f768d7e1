//! The key that seals and the keys that are trusted.

use super::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn looking_never_makes_a_key() {
    let desk = desk();
    for args in [
        &["key", "show"][..],
        &["key", "check"],
        &["key", "rotate"],
        &["key", "backup", "copy"],
        &["trail", "list"],
        &["trail", "verify", "--signatures"],
        &["trail", "verify-meta"],
    ] {
        let ran = desk.run(args);
        assert!(
            ran.status == 2 || (ran.status == 0 && args[1] == "list") || args[1] == "check",
            "{args:?}\n{ran}"
        );
    }
    assert_eq!(std::fs::read_dir(desk.home()).unwrap().count(), 0, "nothing was created");
}

#[test]
fn the_first_seal_makes_a_key_that_only_its_owner_reads() {
    let desk = sealed(1);
    let key = desk.trail().join("key");
    assert_eq!(std::fs::read(&key).unwrap().len(), 32);
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    desk.expect(0, &["key", "check"]);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = desk.expect(1, &["key", "check"]);
    assert!(ran.stdout.contains("chmod 600"), "{ran}");
}

#[test]
fn a_home_is_its_owners_alone_whatever_made_it() {
    let key = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
    for args in [&["key", "pin", key][..], &["key", "add", key], &["trail", "hook", "claude-code"]] {
        let desk = desk();
        assert_status(0, &desk.run_with_input(args, "junk"));
        let mode = std::fs::metadata(desk.trail()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{args:?}");
    }
}

#[test]
fn a_backup_never_replaces_a_file() {
    let desk = sealed(1);
    desk.expect(0, &["key", "backup", "copy.key"]);
    let copy = desk.home().join("copy.key");
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(desk.trail().join("key")).unwrap());
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(desk.run(&["key", "backup", "copy.key"]).status, 2);
}

#[test]
fn after_a_rotation_old_and_new_records_verify_and_signers_are_told_apart() {
    let desk = sealed(1);
    let old = desk.expect(0, &["key", "show", "--json"]).json()["fingerprint"].clone();
    desk.expect(0, &["key", "rotate"]);
    desk.transcript(SESSION, 2);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION]);
    let chain = desk.chain(SESSION);
    let verified =
        desk.expect(0, &["trail", "verify", "--signatures", "--json", chain.to_str().unwrap()]).json();
    let signers = verified["chains"][0]["signers"].as_array().unwrap();
    let standing = |fingerprint: &capsid_model::Value| {
        signers.iter().find(|signer| signer["fingerprint"] == *fingerprint).unwrap()["standing"].clone()
    };
    assert_eq!(standing(&old), "retired");
    let new = desk.expect(0, &["key", "show", "--json"]).json()["fingerprint"].clone();
    assert_eq!(standing(&new), "own");
}

#[test]
fn a_pinned_key_is_told_apart_from_one_that_came_with_the_data() {
    let author = sealed(1);
    let bundle = author.home().join("bundle");
    author.expect(0, &["trail", "export", "--out", bundle.to_str().unwrap()]);
    let key = author.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned();
    let reader = desk();
    let standing = || {
        let args = ["trail", "verify", "--signatures", "--json", bundle.to_str().unwrap()];
        reader.expect(0, &args).json()["chains"][0]["signers"][0]["standing"].clone()
    };
    assert_eq!(standing(), "bundled");
    reader.expect(0, &["key", "add", &key]);
    assert_eq!(standing(), "known");
    reader.expect(0, &["key", "pin", &key]);
    assert_eq!(standing(), "pinned");
    let other = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
    let ran = reader.run(&["trail", "verify", bundle.to_str().unwrap(), "--pubkey", other, "--json"]);
    assert_status(1, &ran);
    assert_eq!(ran.json()["chains"][0]["class"], "unknown_signer");
    assert_eq!(reader.run(&["key", "pin", "abc"]).code(), "key_invalid");
}
