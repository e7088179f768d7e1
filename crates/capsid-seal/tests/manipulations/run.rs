//! Runs every case of the stored table through the program's own collection and verdict.

use capsid_model::{Value, json};
use capsid_seal::PublicKey;
use capsid_seal::evidence::{CollectOptions, CollectedEvidence, collect_sources};
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::meta::PinnedHead;
use capsid_seal::sources::{ChainSources, open_any};
use capsid_testkit::bundle_cases::{load_second_list, load_table, write_case};
use capsid_verdict::{Require, SignerPolicy};
use std::collections::BTreeMap;

const DIMENSIONS: [&str; 8] =
    ["content", "link", "signature", "signer", "claims", "meta", "completeness", "time"];

/// The keys of a reader and what they ask for.
fn reader(options: &Value, sources: &ChainSources) -> (KeySet, SignerPolicy) {
    let mut keys = KeySet::default();
    sources.keys.iter().for_each(|key| keys.add(*key, KeyOrigin::Bundled));
    let mut add = |member: &str, origin| {
        for hex in options[member].as_array().into_iter().flatten() {
            keys.add(PublicKey::from_hex(hex.as_str().unwrap()).unwrap(), origin);
        }
    };
    add("own", KeyOrigin::Own);
    add("pinned", KeyOrigin::Pinned);
    let policy = match () {
        () if options["require"] == "any" => SignerPolicy::explicit(Require::Any),
        () if options["own"].is_array() => SignerPolicy::implied(Require::Own),
        () if options["pinned"].is_array() => SignerPolicy::implied(Require::Pinned),
        () => SignerPolicy::implied(Require::Any),
    };
    (keys, policy)
}

/// What came of the cases.
#[derive(Default)]
struct ComparedCases {
    verdicts: usize,
    /// Verdicts that differ from the expected ones.
    mismatches: Vec<String>,
    /// The dimensions of each verdict, in one line.
    dimensions: BTreeMap<String, String>,
}

/// Runs each case for each reader.
fn compare(table: &Value, cases: &[Value]) -> ComparedCases {
    let mut compared = ComparedCases::default();
    for case in cases {
        let folder = tempfile::tempdir().unwrap();
        write_case(table, case, folder.path());
        let sources = open_any(folder.path()).unwrap();
        let noted = case["meta_head"].as_str().map(|head| {
            let (length, hash) = head.split_once(':').unwrap();
            PinnedHead { length: length.parse().unwrap(), hash: hash.to_owned() }
        });
        let options = CollectOptions {
            meta_heads: noted.into_iter().collect(),
            threads: 1,
            ..CollectOptions::default()
        };
        let mut collected = CollectedEvidence::default();
        for word in ["default", "any", "pinned", "own"] {
            let reading = &table["policies"][word];
            let (keys, policy) = reader(reading, &sources);
            // Both readers without keys of the owner see the same.
            if word != "any" {
                collected = collect_sources(&sources, &keys, &options).unwrap();
            }
            let verdict = collected.evaluate(&policy);
            let first = verdict.findings.first();
            let actual = json!([
                verdict.level.as_str(),
                verdict.exit_code(false),
                first.map(|one| one.code.as_str()),
                first.and_then(|one| one.chain.as_deref()),
                first.and_then(|one| one.position),
            ]);
            compared.verdicts += 1;
            let words = serde_json::to_value(verdict.dimensions).unwrap();
            let line = DIMENSIONS.map(|name| words[name].as_str().unwrap().to_owned()).join(" ");
            compared.dimensions.insert(format!("{}, {word}", case["name"].as_str().unwrap()), line);
            let has = case["has"].as_str();
            let is_there =
                has.is_none_or(|code| verdict.findings.iter().any(|one| one.code.as_str() == code));
            if actual != case["expected"][word] || !is_there {
                compared.mismatches.push(format!(
                    "{}, {word}\n  expected {} and {has:?}\n  actual   {actual}\n  {:?}",
                    case["name"],
                    case["expected"][word],
                    verdict.findings.iter().map(|one| &one.message).collect::<Vec<_>>(),
                ));
            }
        }
    }
    compared
}

#[test]
fn evaluate_gives_every_expected_verdict() {
    let table = load_table();
    let ComparedCases { verdicts, mismatches, dimensions } =
        compare(&table, table["cases"].as_array().unwrap());
    assert_eq!((verdicts, dimensions.len()), (432, 432));
    assert!(mismatches.is_empty(), "{} of {verdicts} differ\n{}", mismatches.len(), mismatches.join("\n"));
    // The other verifiers compare theirs with this file.
    let path = super::path().with_file_name("dimensions.json");
    super::same_file(&path, &serde_json::to_value(dimensions).unwrap());
}

#[test]
fn evaluate_gives_every_verdict_of_the_second_list() {
    let list = load_second_list();
    let ComparedCases { verdicts, mismatches, .. } =
        compare(&load_table(), list["cases"].as_array().unwrap());
    assert!(mismatches.is_empty(), "{} of {verdicts} differ\n{}", mismatches.len(), mismatches.join("\n"));
}
