//! Bundles, good and broken, with the verdict on each: the pages hold their own verifier against the same files.
//!
//! `CAPSID_UPDATE_DOCS=1 cargo test -p capsid-seal --features pq --test main page_vectors` rewrites them.

mod bundle;
mod cases;
mod letters;
mod meta;
#[cfg(feature = "pq")]
mod pq;
mod signatures;
mod verdict;

use capsid_model::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/vectors")
}

/// Compares with the file, or writes it.
fn same(name: &str, actual: &Value) {
    let path = folder().join(format!("{name}.json"));
    let text = format!("{}\n", serde_json::to_string_pretty(actual).unwrap());
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        return std::fs::write(path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored, text,
        "{name}.json is out of date; run CAPSID_UPDATE_DOCS=1 cargo test -p capsid-seal --features pq --test page_vectors"
    );
}

#[test]
fn chains() {
    same("chains", &verdict::of_all(cases::chains()));
}

#[test]
fn bundles() {
    same("bundles", &verdict::of_all(cases::bundles()));
}

#[test]
fn meta_chains() {
    same("meta", &verdict::of_all(meta::cases()));
}

#[test]
fn texts() {
    same("texts", &letters::texts());
}

#[test]
fn numbers() {
    same("numbers", &letters::numbers());
}

#[test]
fn odd_signatures() {
    same("signatures", &signatures::all());
}

#[cfg(feature = "pq")]
#[test]
fn post_quantum_signatures() {
    same("pq", &pq::all());
}
