//! Verdicts, exit statuses and what they are printed as.

use super::*;
use std::path::Path;

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_not_there_is_an_error_and_is_not_created() {
    let desk = desk();
    for path in ["missing.db", "missing.json", "missing/"] {
        let ran = desk.run(&["trail", "verify", path, "--json"]);
        assert_status(2, &ran);
        assert_eq!(ran.code(), "file_not_found");
    }
    std::fs::write(desk.home().join("junk.db"), "no database").unwrap();
    assert_eq!(desk.run(&["trail", "verify", "junk.db"]).code(), "chain_unreadable");
    assert_eq!(entries(desk.home()), ["junk.db"]);
}

#[test]
fn reading_a_chain_leaves_nothing_beside_it() {
    let desk = sealed(2);
    let folder = desk.chain(SESSION).parent().unwrap().to_owned();
    let before = entries(&folder);
    desk.expect(0, &["trail", "verify", "--signatures"]);
    desk.expect(0, &["trail", "inspect", SESSION]);
    assert_eq!(entries(&folder), before);
}

#[test]
fn the_verdict_reads_as_the_reference_tool_words_it() {
    let desk = sealed(2);
    let chain = desk.chain(SESSION);
    let path = chain.to_str().unwrap();
    let ran = desk.expect(0, &["trail", "verify", path]);
    assert!(ran.stdout.starts_with(&format!("[OK] {path}: 6/6 verified (head ")), "{ran}");
    let verdict = desk.expect(0, &["trail", "verify", path, "--json"]).json();
    for (member, value) in [
        ("valid", true.into()),
        ("verified", 6.into()),
        ("total", 6.into()),
        ("broken_at", capsid_model::Value::Null),
    ] {
        assert_eq!(verdict[member], value, "{member}");
    }
    let database = rusqlite::Connection::open(&chain).unwrap();
    database
        .execute(
            "UPDATE capsules SET canonical = replace(canonical, 'pears', 'plums') WHERE sequence = 2",
            [],
        )
        .unwrap();
    drop(database);
    let ran = desk.expect(1, &["trail", "verify", path]);
    let expected = format!("[BROKEN] {path}: 2/6 verified (broken at seq 2: content hash mismatch at 2)");
    assert!(ran.stdout.contains(&expected), "{ran}");
    let verdict = desk.expect(1, &["trail", "verify", path, "--json"]).json();
    assert_eq!((&verdict["broken_at"], &verdict["chains"][0]["class"]), (&2.into(), &"hash".into()));
}

#[test]
fn a_middle_record_that_was_cut_out_does_not_verify_even_when_the_columns_are_mended() {
    let desk = sealed(2);
    let chain = desk.chain(SESSION);
    let database = rusqlite::Connection::open(&chain).unwrap();
    database.execute("DELETE FROM capsules WHERE sequence = 2", []).unwrap();
    database.execute("UPDATE capsules SET sequence = sequence - 1 WHERE sequence > 2", []).unwrap();
    database
        .execute(
            "UPDATE capsules SET previous_hash = (SELECT hash FROM capsules WHERE sequence = 1) WHERE sequence = 2",
            [],
        )
        .unwrap();
    drop(database);
    let verdict = desk.expect(1, &["trail", "verify", chain.to_str().unwrap(), "--json"]).json();
    assert_eq!((&verdict["broken_at"], &verdict["chains"][0]["class"]), (&2.into(), &"column".into()));
}

#[test]
fn what_the_meta_chain_knows_cannot_be_cut_or_taken_away() {
    let desk = sealed(2);
    let head = desk.expect(0, &["trail", "verify-meta", "--json"]).json()["head"].clone();
    let pin = format!("{}:{}", head["length"], head["hash"].as_str().unwrap());
    let status = |args: &[&str], code: i32| {
        let ran = desk.expect(code, &[&["trail", "verify-meta", "--json"][..], args].concat());
        ran.json()["conversations"][0]["status"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(status(&["--pinned", &pin], 0), "intact");
    desk.transcript(SESSION, 3);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION]);
    assert_eq!(status(&["--deep"], 0), "grown");
    let chain = desk.chain(SESSION);
    let cut = rusqlite::Connection::open(&chain).unwrap();
    cut.execute("DELETE FROM capsules WHERE sequence > 3", []).unwrap();
    drop(cut);
    assert_eq!(status(&[], 1), "truncated");
    std::fs::remove_file(&chain).unwrap();
    assert_eq!(status(&[], 1), "missing");
    std::fs::remove_file(desk.trail().join("meta.db")).unwrap();
    let ran = desk.run(&["trail", "verify-meta", "--json", "--pinned", &pin]);
    assert_status(1, &ran);
    assert_eq!(ran.json()["pinned"], "truncated");
    let ran = desk.expect(1, &["trail", "verify-meta"]);
    assert!(ran.stdout.contains("the meta-chain is gone: its checkpoint file names 1 record(s)"), "{ran}");
}

#[test]
fn a_place_that_is_no_number_is_named_as_that() {
    let desk = sealed(2);
    let chain = desk.chain(SESSION);
    let database = rusqlite::Connection::open(&chain).unwrap();
    database.execute("UPDATE capsules SET sequence = 'two' WHERE sequence = 2", []).unwrap();
    drop(database);
    let verdict = desk.expect(1, &["trail", "verify", chain.to_str().unwrap(), "--json"]).json();
    assert_eq!((&verdict["broken_at"], &verdict["chains"][0]["class"]), (&2.into(), &"column".into()));
    assert_eq!(verdict["error"], "column `sequence` is no number at 2");
}

#[test]
fn an_index_that_says_otherwise_than_the_records_is_a_contradiction() {
    let desk = sealed(1);
    desk.expect(0, &["trail", "export", "--out", "bundle"]);
    desk.expect(0, &["trail", "verify", "bundle"]);
    let path = desk.home().join("bundle/index.json");
    let whole: capsid_model::Value = std::fs::read_to_string(&path).unwrap().parse().unwrap();
    let other = "0".repeat(64);
    for (member, value) in [
        ("length", 7.into()),
        ("head_hash", other.as_str().into()),
        ("genesis_hash", other.as_str().into()),
        ("all_hashes_ok", false.into()),
        ("signed_by", capsid_model::json!(["0000000000000000"])),
        ("started_at", "2020-01-01T00:00:00+00:00".into()),
        ("ended_at", "2030-01-01T00:00:00+00:00".into()),
    ] {
        let mut index = whole.clone();
        index["chains"][0][member] = value;
        index["capsule_count"] = index["chains"][0]["length"].clone();
        std::fs::write(&path, index.to_string()).unwrap();
        let verdict = desk.expect(1, &["trail", "verify", "bundle", "--json"]).json();
        assert_eq!(verdict["chains"][0]["class"], "contradiction", "{member}");
        assert_eq!(verdict["chains"][0]["verified"], 3, "{member}: the records hold");
    }
    let mut index = whole;
    index["chain_count"] = 2.into();
    std::fs::write(&path, index.to_string()).unwrap();
    let verdict = desk.expect(1, &["trail", "verify", "bundle", "--json"]).json();
    assert_eq!(verdict["findings"][0]["code"], "contradiction", "{verdict}");
}

#[test]
fn only_what_is_new_is_verified_after_a_checkpoint() {
    let desk = sealed(2);
    let chain = desk.chain(SESSION);
    let path = chain.to_str().unwrap();
    let head = desk.expect(0, &["trail", "verify", path, "--json"]).json()["chains"][0]["head"].clone();
    let since = format!("5:{}", head.as_str().unwrap());
    desk.transcript(SESSION, 4);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION]);
    let verdict = desk.expect(0, &["trail", "verify", path, "--since", &since, "--json"]).json();
    assert_eq!(verdict["valid"], true);
    let wrong = format!("5:{}", "0".repeat(64));
    desk.expect(1, &["trail", "verify", path, "--since", &wrong]);
    assert_eq!(desk.run(&["trail", "verify", path, "--since", "five"]).status, 2);
}

#[test]
fn hostile_text_does_not_act_on_the_terminal() {
    let desk = desk();
    let path = desk.transcript(SESSION, 1);
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("Count the pears", "\\u001b[31mCount\\u202e the pears");
    std::fs::write(&path, text).unwrap();
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION]);
    let shown = desk.expect(0, &["trail", "inspect", SESSION]).stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn the_canonical_text_of_any_document_can_be_had() {
    let desk = desk();
    let ran = desk.run_with_input(
        &["trail", "canonical", "-"],
        "{\"b\": 1.0, \"a\": [1e16, 12345678901234567890123, \"\\u00e9\"]}",
    );
    assert_status(0, &ran);
    assert_eq!(ran.stdout, "{\"a\":[1e+16,12345678901234567890123,\"é\"],\"b\":1.0}");
    let hash = desk.run_with_input(&["trail", "canonical", "-", "--hash"], "{}");
    assert_eq!(hash.stdout, "840eb7aa2a9935de63366bacbe9d97e978a859e93dc792a0334de60ed52f8e99\n");
    assert_eq!(
        desk.run_with_input(&["trail", "canonical", "-"], "{\"a\":\"\\ud800\"}").code(),
        "json_invalid"
    );
}

#[test]
fn a_bundle_whose_end_was_cut_contradicts_its_meta_chain_even_when_the_index_is_mended() {
    let desk = sealed(3);
    desk.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = desk.home().join("bundle");
    let read = |name: &str| -> capsid_model::Value {
        std::fs::read_to_string(bundle.join(name)).unwrap().parse().unwrap()
    };
    let name = format!("claude-code-{SESSION}.json");
    let (mut chain, mut index) = (read(&name), read("index.json"));
    let records = chain["capsules"].as_array_mut().unwrap();
    records.truncate(5);
    let head = records[4]["hash"].clone();
    for summary in [&mut chain, &mut index["chains"][0]] {
        summary["length"] = 5.into();
        summary["head_hash"] = head.clone();
    }
    index["capsule_count"] = 5.into();
    std::fs::write(bundle.join(&name), chain.to_string()).unwrap();
    std::fs::write(bundle.join("index.json"), index.to_string()).unwrap();
    let ran = desk.expect(1, &["trail", "verify", "--signatures", "bundle"]);
    let expected = format!("truncated: claude-code/{SESSION} has 5 records; the meta-chain recorded 9.");
    assert!(ran.stdout.contains(&expected), "{ran}");
    assert_eq!(desk.run(&["trail", "verify-meta", "--home", "bundle"]).code(), "chain_unreadable");
}

#[test]
fn one_file_that_cannot_be_read_does_not_hide_the_others() {
    let desk = sealed(2);
    std::fs::write(desk.chain("aaa"), "no database").unwrap();
    let ran = desk.expect(2, &["trail", "verify", "--signatures", "--json"]);
    let verdict = ran.json();
    assert_eq!(verdict["valid"], false);
    assert_eq!(verdict["unreadable"].as_array().unwrap().len(), 1);
    assert_eq!(verdict["chains"].as_array().unwrap().len(), 2, "{verdict}");
    desk.expect(2, &["trail", "verify", "missing.db", desk.chain(SESSION).to_str().unwrap()]);
}

fn on_database(desk: &TrailUser, statements: &str) -> String {
    let path = desk.home().join("copy.db");
    std::fs::copy(desk.chain(SESSION), &path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn records_cannot_be_hidden_from_the_verifier() {
    let desk = sealed(2);
    for (statements, code) in [
        ("UPDATE capsules SET tenant_id = x'61', canonical = 'garbage'", "chain_broken"),
        ("UPDATE capsules SET tenant_id = x'61' WHERE sequence > 3", "chain_broken"),
        (
            "ALTER TABLE capsules RENAME TO other; CREATE VIEW capsules AS SELECT * FROM other",
            "chain_unreadable",
        ),
        (
            "ALTER TABLE capsules RENAME TO other; CREATE VIEW capsules AS WITH RECURSIVE r(n) AS
             (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT NULL AS tenant_id, n AS sequence, '' AS id,
             NULL AS previous_hash, '' AS hash, '' AS signature, '' AS signature_pq, NULL AS signed_at,
             '' AS signed_by, '' AS canonical, n AS rowid_pk FROM r",
            "chain_unreadable",
        ),
    ] {
        let path = on_database(&desk, statements);
        let ran = desk.run(&["trail", "verify", "--signatures", &path]);
        assert!(ran.status > 0 && ran.code() == code, "{statements}: {ran}");
        std::fs::remove_file(path).unwrap();
    }
    let path = on_database(&desk, "UPDATE capsules SET tenant_id = 'x' WHERE sequence > 3");
    desk.expect(1, &["trail", "verify", &path]);
}

#[test]
fn a_chain_that_was_cut_is_not_sealed_on() {
    let desk = sealed(3);
    let cut = |statement: &str| {
        rusqlite::Connection::open(desk.chain(SESSION)).unwrap().execute_batch(statement).unwrap();
    };
    let seal = ["trail", "seal", "--tool", "claude-code", "--session", SESSION];
    cut("DELETE FROM capsules WHERE sequence > 5");
    for turns in [3, 4] {
        desk.transcript(SESSION, turns);
        let ran = desk.expect(1, &seal);
        assert_eq!(ran.code(), "chain_broken");
        assert!(ran.stderr.contains("6 records are there, and at least 9 were sealed"), "{ran}");
    }
    cut("DELETE FROM capsules");
    assert_eq!(desk.expect(1, &seal).code(), "chain_broken");
}

#[test]
fn a_pipe_is_no_chain_and_nobody_waits_for_it() {
    let desk = sealed(1);
    let pipe = desk.home().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["verify", "import", "inspect"] {
        let ran = desk.run(&["trail", command, pipe.to_str().unwrap()]);
        assert_eq!((ran.status, ran.code()), (2, "chain_unreadable"), "{command}: {ran}");
    }
}

#[test]
fn a_document_that_two_readers_could_read_differently_does_not_verify() {
    let desk = sealed(1);
    let record = desk.expect(0, &["trail", "inspect", SESSION, "--seq", "0", "--json"]).json();
    let mut sealed = record["content"].clone();
    for name in ["hash", "signature", "signature_pq", "signed_at", "signed_by"] {
        sealed[name] = record[name].clone();
    }
    let honest = sealed.to_string();
    let forged = honest.replacen('{', "{\"trigger\":{\"request\":\"FORGED\"},", 1);
    for (name, text, status) in [("honest.json", honest, 0), ("forged.json", forged, 1)] {
        std::fs::write(desk.home().join(name), text).unwrap();
        desk.expect(status, &["trail", "verify", "--signatures", name]);
    }
}

#[test]
fn a_chain_that_was_cut_and_went_on_does_not_pass_for_the_old_one() {
    let desk = sealed(3);
    let database = rusqlite::Connection::open(desk.chain(SESSION)).unwrap();
    database
        .execute_batch("DELETE FROM capsules WHERE sequence > 3; DELETE FROM capsid_keys WHERE sequence > 3")
        .unwrap();
    drop(database);
    desk.transcript(SESSION, 4);
    let seal = ["trail", "seal", "--tool", "claude-code", "--session", SESSION];
    for end in [&[][..], &["--finalize"]] {
        assert_eq!(desk.expect(1, &[&seal[..], end].concat()).code(), "chain_broken");
    }
    desk.expect(1, &["trail", "verify-meta"]);
}

#[test]
fn verify_at_home_finds_a_cut_or_deleted_chain_and_meta_chain() {
    let code = |desk: &TrailUser| {
        let verdict = desk.expect(1, &["trail", "verify", "--json"]).json();
        verdict["findings"][0]["code"].as_str().unwrap().to_owned()
    };
    let cut = |path: &Path, rows: &str| {
        let statements = format!("DELETE FROM capsules WHERE {rows}; DELETE FROM capsid_keys WHERE {rows}");
        rusqlite::Connection::open(path).unwrap().execute_batch(&statements).unwrap();
    };
    let desk = sealed(2);
    assert_eq!(desk.expect(0, &["trail", "verify", "--json"]).json()["level"], "valid");
    let meta = desk.trail().join("meta.db");
    let stored = std::fs::read(desk.chain(SESSION)).unwrap();
    cut(&desk.chain(SESSION), "sequence > 3");
    assert_eq!(code(&desk), "truncated");
    let shown = desk.expect(1, &["trail", "verify", SESSION]);
    assert!(
        shown.stdout.contains("[INCOMPLETE]") && shown.stdout.contains("the meta-chain recorded 6"),
        "{shown}"
    );
    std::fs::remove_file(desk.chain(SESSION)).unwrap();
    assert_eq!(code(&desk), "conversation_missing");
    std::fs::write(desk.chain(SESSION), stored).unwrap();
    let whole = std::fs::read(&meta).unwrap();
    cut(&meta, "sequence >= 0");
    assert_eq!(code(&desk), "meta_truncated");
    std::fs::remove_file(&meta).unwrap();
    assert_eq!(code(&desk), "meta_missing");
    std::fs::write(&meta, whole).unwrap();
    desk.expect(0, &["trail", "verify", "--strict"]);
}

#[test]
fn a_requirement_decides_whose_records_pass_and_what_stays_open() {
    let author = sealed(1);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = author.home().join("bundle");
    let bundle = bundle.to_str().unwrap();
    let reader = desk();
    let amber = reader.expect(0, &["trail", "verify", bundle]);
    assert!(
        amber.stdout.contains("[UNVERIFIED]") && amber.stdout.contains("Anyone can make such a bundle"),
        "{amber}"
    );
    reader.expect(1, &["trail", "verify", bundle, "--strict"]);
    reader.expect(1, &["trail", "verify", bundle, "--require", "pinned"]);
    reader.expect(0, &["trail", "verify", bundle, "--require", "any"]);
    let stranger = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    reader.expect(0, &["key", "pin", stranger]);
    let refused = reader.expect(1, &["trail", "verify", bundle]);
    assert!(
        refused.stdout.contains("signer_not_allowed") && refused.stderr.contains("--require any"),
        "{refused}"
    );
    let key = author.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned();
    reader.expect(0, &["key", "pin", &key]);
    let verdict = reader.expect(0, &["trail", "verify", bundle, "--json"]).json();
    assert_eq!(verdict["level"], "valid", "{verdict:#}");
    assert_eq!(verdict["require"], capsid_model::json!({"value": "pinned", "explicit": false}));
    assert_eq!(verdict["dimensions"]["signer"], "met");
    reader.expect(1, &["trail", "verify", bundle, "--pubkey", stranger]);
    let unsigned = reader.expect(0, &["trail", "verify", bundle, "--no-signatures", "--json"]).json();
    assert_eq!(
        (&unsigned["level"], &unsigned["not_checked"][0]),
        (&"unverified".into(), &"Not checked: signatures.".into())
    );
}
