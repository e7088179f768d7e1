//! The sample bundle of the documents, `docs/sample`, and the key that seals it.

use super::*;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_sample_is_valid_once_its_key_is_pinned() {
    let user = desk();
    let sample = root().join("docs/sample");
    let verify =
        |status| user.expect(status, &["trail", "verify", "--json", sample.to_str().unwrap()]).json();
    assert_eq!(verify(0)["level"], "unverified");
    user.expect(0, &["key", "pin", "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"]);
    let verdict = verify(0);
    assert_eq!(
        (&verdict["level"], verdict["findings"].as_array().unwrap().len()),
        (&"valid".into(), 0),
        "{verdict:#}"
    );
}
