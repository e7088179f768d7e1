//! The manipulation table: every way in which a bundle is changed, and what each reader must be told.
//!
//! The expected verdicts are written down by family, not computed by a verifier. The program, the pages and `verify.mjs`
//! run all of them. `CAPSID_UPDATE_DOCS=1 cargo nextest run -p capsid-seal manipulations` writes the file anew.

mod base;
mod bundle_cases;
mod draft;
mod edits;
mod expected;
mod families;
mod run;

use base::{current_key, retired_key};
use capsid_model::{Value, json};
use draft::BundleDraft;
use expected::{Expectation, ReaderPolicy};
use std::path::{Path, PathBuf};

/// One change of the base.
pub struct Manipulation {
    pub name: String,
    pub draft: BundleDraft,
    /// The head of the meta-chain that the reader noted, as `count:hash`.
    pub meta_head: Option<String>,
    pub expected: Expectation,
}

impl Manipulation {
    pub fn new(
        name: impl Into<String>,
        expected: Expectation,
        change: impl FnOnce(&mut BundleDraft),
    ) -> Self {
        let mut draft = BundleDraft::base();
        change(&mut draft);
        Self { name: name.into(), draft, meta_head: None, expected }
    }
}

/// A case as the verifiers read it.
fn to_case(one: &Manipulation) -> Value {
    let expected: serde_json::Map<String, Value> = ReaderPolicy::ALL
        .iter()
        .map(|policy| (policy.as_str().to_owned(), (one.expected)(*policy).to_value()))
        .collect();
    json!({
        "name": one.name,
        "edits": edits::between(&BundleDraft::base(), &one.draft),
        "meta_head": one.meta_head,
        "expected": expected,
    })
}

fn table() -> Value {
    let owner = [retired_key().public().hex(), current_key().public().hex()];
    json!({
        "files": BundleDraft::base().files,
        "policies": {
            "default": {}, "any": { "require": "any" }, "pinned": { "pinned": owner }, "own": { "own": owner },
        },
        "cases": families::all().iter().map(to_case).collect::<Vec<_>>(),
    })
}

/// Compares with the file, or writes it.
fn same_file(path: &Path, actual: &Value) {
    let text = format!("{}\n", serde_json::to_string_pretty(actual).unwrap());
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        return std::fs::write(path, text).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "{} is out of date; run with CAPSID_UPDATE_DOCS=1", path.display());
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/vectors/manipulations.json")
}

#[test]
fn the_table_is_what_its_families_say() {
    same_file(&path(), &table());
}

#[test]
fn there_are_59_families_and_432_cases_below_a_megabyte() {
    let all = families::all();
    let family = |one: &Manipulation| one.name.split(' ').next().unwrap().parse::<usize>().unwrap();
    let families: std::collections::BTreeSet<usize> = all.iter().map(family).collect();
    assert_eq!(families, (1..=59).collect());
    assert_eq!(all.len() * ReaderPolicy::ALL.len(), 432);
    let names: std::collections::BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "no name twice");
    assert!(std::fs::metadata(path()).unwrap().len() < 1 << 20);
    for one in &all {
        let is_changed =
            !edits::between(&BundleDraft::base(), &one.draft).is_empty() || one.meta_head.is_some();
        assert!(is_changed, "{} changes nothing", one.name);
    }
}

/// The independent verifier comes to every expected verdict. It also runs the odd keys, signatures and texts.
#[test]
fn the_independent_script_gives_every_expected_verdict() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/manipulations.mjs");
    let ran = std::process::Command::new("node").arg(script).output().expect("Node 18 or later");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    println!("{}", told.trim());
}
