//! The command itself on the manipulation table: its level, its exit code and the place of the first finding.

use super::*;
use capsid_model::{Value, json};
use capsid_seal::keys::file;
use capsid_testkit::bundle_cases::{load_table, write_case};
use std::collections::BTreeMap;

/// The seeds of the keys of the bundle's owner: until the rotation, and since.
const SEEDS: [u8; 2] = [21, 22];

/// A reader for each policy of the table, and what the command is given.
fn readers(table: &Value) -> BTreeMap<&'static str, (TrailUser, &'static [&'static str])> {
    let pinned = desk();
    for key in table["policies"]["pinned"]["pinned"].as_array().unwrap() {
        pinned.expect(0, &["key", "pin", key.as_str().unwrap()]);
    }
    let own = desk();
    file::load_or_create(&own.trail().join("key"), &[SEEDS[1]; 32]).unwrap();
    let former = own.home().join("former");
    file::load_or_create(&former, &[SEEDS[0]; 32]).unwrap();
    own.expect(0, &["key", "adopt", former.to_str().unwrap()]);
    BTreeMap::from([
        ("default", (desk(), &[][..])),
        ("any", (desk(), &["--require", "any"])),
        ("pinned", (pinned, &[])),
        ("own", (own, &["--require", "own"])),
    ])
}

#[test]
fn the_command_gives_the_verdict_of_every_tenth_case() {
    let table = load_table();
    let readers = readers(&table);
    let cases: Vec<(&Value, &str)> = table["cases"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|case| ["default", "any", "pinned", "own"].map(|policy| (case, policy)))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let (mut runs, mut mismatches) = (0, Vec::new());
    for tenth in 0..cases.len() / 10 {
        // Each policy has its turn. The command takes no noted head; `verify-meta` does.
        let (case, policy) = cases[tenth * 10 + tenth / 2 % 2];
        if case["meta_head"].is_string() {
            continue;
        }
        let bundle = folder.path().join(tenth.to_string());
        std::fs::create_dir(&bundle).unwrap();
        write_case(&table, case, &bundle);
        let (reader, more) = &readers[policy];
        let words = [&["trail", "verify", "--json", bundle.to_str().unwrap()], *more].concat();
        let ran = reader.run(&words);
        let verdict = ran.json();
        let first = &verdict["findings"][0];
        let actual = json!([verdict["level"], ran.status, first["code"], first["chain"], first["position"]]);
        runs += 1;
        if actual != case["expected"][policy] {
            let expected = &case["expected"][policy];
            mismatches
                .push(format!("{}, {policy}\n  expected {expected}\n  actual   {actual}", case["name"]));
        }
    }
    assert!(runs >= 40, "{runs}");
    assert!(mismatches.is_empty(), "{} of {runs} differ\n{}", mismatches.len(), mismatches.join("\n"));
}
