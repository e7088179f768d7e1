//! Keys that lie with the data, and files of keys that cannot be used.

use super::*;
use std::path::Path;

/// The standing of the one who signed, as a reader sees it.
fn signer_standing(reader: &TrailUser, path: &Path) -> String {
    let ran = reader.expect(0, &["trail", "verify", "--signatures", "--json", path.to_str().unwrap()]);
    ran.json()["chains"][0]["signers"][0]["standing"].as_str().unwrap().to_owned()
}

/// The chain as `qp-capsule` would keep it: ordinary documents.
fn documents(chain: &Path, to: &Path) {
    let database = rusqlite::Connection::open(to).unwrap();
    database.execute("ATTACH ?1 AS ours", [chain.to_str().unwrap()]).unwrap();
    let columns = "id, sequence, previous_hash, hash, signature, signature_pq, signed_at, signed_by";
    database
        .execute_batch(&format!(
            "CREATE TABLE main.capsules AS SELECT {columns}, canonical AS data FROM ours.capsules"
        ))
        .unwrap();
}

#[test]
fn one_file_of_a_home_or_a_bundle_is_verified_with_the_keys_around_it() {
    let author = sealed(1);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let reader = desk();
    let file = author.home().join("bundle").join(format!("claude-code-{SESSION}.json"));
    for path in [author.trail(), author.chain(SESSION), author.trail().join("meta.db"), file.clone()] {
        assert_eq!(signer_standing(&reader, &path), "bundled", "{}", path.display());
    }
    std::fs::remove_file(author.home().join("bundle/index.json")).unwrap();
    let ran = reader.run(&["trail", "verify", "--signatures", "--json", file.to_str().unwrap()]);
    assert_status(1, &ran);
    assert_eq!(ran.json()["chains"][0]["class"], "unknown_signer");
    assert_eq!(signer_standing(&author, &author.chain(SESSION)), "own");
}

#[test]
fn keys_of_qp_capsule_count_beside_its_data_and_where_it_keeps_them() {
    let author = sealed(1);
    let reader = desk();
    let (place, elsewhere) = (reader.home().join(".quantumpipes"), reader.home().join("elsewhere"));
    std::fs::create_dir(&elsewhere).unwrap();
    let data = elsewhere.join("capsules.db");
    documents(&author.chain(SESSION), &data);
    let check = ["trail", "verify", "--signatures", "--json", "elsewhere/capsules.db"];
    assert_eq!(reader.expect(1, &check).json()["chains"][0]["class"], "unknown_signer");
    std::fs::copy(author.trail().join("keyring.json"), elsewhere.join("keyring.json")).unwrap();
    assert_eq!(signer_standing(&reader, &data), "bundled");
    std::fs::create_dir(&place).unwrap();
    std::fs::copy(author.trail().join("key"), place.join("key")).unwrap();
    assert_eq!(signer_standing(&reader, &data), "known");
    let mut command = reader.program.command(reader.home(), &check);
    let ran = ProgramOutput::from_output(
        command.env("QUANTUMPIPES_DATA_DIR", reader.home().join("no")).output().unwrap(),
    );
    assert_eq!(ran.json()["chains"][0]["signers"][0]["standing"], "bundled");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1, "it is only read");
}

#[test]
fn a_bad_file_of_keys_is_told_and_does_not_stop_the_verification_of_something_else() {
    let author = sealed(1);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = author.home().join("bundle");
    let reader = desk();
    std::fs::create_dir_all(reader.trail()).unwrap();
    std::fs::write(reader.trail().join("key"), "too short").unwrap();
    std::fs::write(reader.trail().join("keyring.json"), "{").unwrap();
    let quiet = reader.expect(0, &["trail", "verify", "--no-signatures", bundle.to_str().unwrap()]);
    assert!(!quiet.stderr.contains("refused key"), "keys are not asked for: {quiet}");
    let ran = reader.expect(0, &["trail", "verify", "--signatures", bundle.to_str().unwrap()]);
    assert_eq!(ran.stderr.matches("refused key").count(), 2, "{ran}");
    let home = author.trail();
    let meta = reader.expect(0, &["trail", "verify-meta", "--home", home.to_str().unwrap(), "--signatures"]);
    assert!(meta.stdout.contains("[OK]"), "{meta}");
}
