//! The command itself on the manipulation table: its level, its exit code and the place of the first finding.

use super::*;
use capsid_model::{Value, json};
use capsid_seal::keys::file;
use capsid_testkit::bundle_cases::{load_table, write_case};
use std::collections::{BTreeMap, BTreeSet};

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
fn the_command_gives_the_verdict_of_every_tenth_case_and_of_every_noted_head() {
    let table = load_table();
    let readers = readers(&table);
    let cases: Vec<(&Value, &str)> = table["cases"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|case| ["default", "any", "pinned", "own"].map(|policy| (case, policy)))
        .collect();
    // Each policy has its turn.
    let mut chosen: BTreeSet<usize> = (0..cases.len() / 10).map(|tenth| tenth * 10 + tenth / 2 % 2).collect();
    chosen.extend((0..cases.len()).filter(|at| cases[*at].0["meta_head"].is_string()));
    let folder = tempfile::tempdir().unwrap();
    let (mut noted, mut mismatches) = (0, Vec::new());
    for at in &chosen {
        let (case, policy) = cases[*at];
        let bundle = folder.path().join(at.to_string());
        std::fs::create_dir(&bundle).unwrap();
        write_case(&table, case, &bundle);
        let (reader, more) = &readers[policy];
        let mut words = [&["trail", "verify", "--json", bundle.to_str().unwrap()], *more].concat();
        if let Some(head) = case["meta_head"].as_str() {
            words.extend(["--meta-head", head]);
            noted += 1;
        }
        let ran = reader.run(&words);
        let verdict = ran.json();
        let first = &verdict["findings"][0];
        let actual = json!([verdict["level"], ran.status, first["code"], first["chain"], first["position"]]);
        if actual != case["expected"][policy] {
            let expected = &case["expected"][policy];
            mismatches
                .push(format!("{}, {policy}\n  expected {expected}\n  actual   {actual}", case["name"]));
        }
    }
    assert!(chosen.len() >= 50 && noted == 8, "{} cases, {noted} with a noted head", chosen.len());
    assert!(
        mismatches.is_empty(),
        "{} of {} differ\n{}",
        mismatches.len(),
        chosen.len(),
        mismatches.join("\n")
    );
}

#[test]
fn a_noted_head_is_compared_at_home_too_and_stands_with_no_checkpoint() {
    let desk = sealed(1);
    let head = desk.expect(0, &["trail", "verify-meta", "--json"]).json()["head"].clone();
    let (length, hash) = (head["length"].as_u64().unwrap(), head["hash"].as_str().unwrap());
    let noted = format!("{length}:{hash}");
    desk.expect(0, &["trail", "verify", "--meta-head", &noted]);
    for (head, code) in [
        (format!("{}:{hash}", length + 1), "pinned_head_missing"),
        (format!("{length}:{}", "0".repeat(64)), "pinned_head_differs"),
    ] {
        let verdict = desk.expect(1, &["trail", "verify", "--meta-head", &head, "--json"]).json();
        assert_eq!(verdict["findings"][0]["code"], code, "{verdict}");
    }
    desk.expect(2, &["trail", "verify", "--meta-head", &noted, "--since", &noted]);
    desk.expect(2, &["trail", "verify", "--meta-head", hash]);
}
