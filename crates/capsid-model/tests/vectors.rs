//! Known answers: our own committed ones always, the shared ones where they lie beside the project.
//!
//! `CAPSID_VECTORS` names another folder for the shared ones.

use capsid_model::asset::asset_id_of_text;
use capsid_model::personality::Personality;
use capsid_model::{Object, Value, canonical, env, hash, json, signal};
use std::path::PathBuf;

/// A shared file, or nothing where there is none.
fn shared(name: &str) -> Option<Value> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors");
    let folder = std::env::var_os("CAPSID_VECTORS").unwrap_or_else(|| beside.into());
    let text = std::fs::read_to_string(PathBuf::from(folder).join(name)).ok()?;
    Some(canonical::read(&text).unwrap())
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {value}"))
}

fn rounded(rigor: f64) -> String {
    let key = Personality { rigor, ..Personality::default() }.key();
    key.split(['=', '|']).nth(1).unwrap().to_owned()
}

#[test]
fn our_documents_have_the_ids_that_the_peer_gave_them() {
    let file = include_str!("data/asset_ids.json");
    for vector in items(&canonical::read(file).unwrap()) {
        let id = asset_id_of_text(text(vector, "text")).unwrap();
        let expected = text(vector, "asset_id");
        assert_eq!(id.as_deref(), Some(expected), "{}", text(vector, "name"));
    }
}

#[test]
fn texts_that_are_no_objects_have_no_id() {
    for document in ["null", "1", "\"text\"", "[{\"a\":1}]", "\"\\ud83d\"", "[1e400]"] {
        assert_eq!(asset_id_of_text(document).unwrap(), None, "{document}");
    }
}

#[test]
fn shared_asset_ids_hold() {
    let Some(file) = shared("asset_id.json") else {
        return;
    };
    for vector in items(&file["vectors"]) {
        let input = text(vector, "input_json");
        let name = text(vector, "name");
        // The vectors show the form that is hashed: a document without its own id.
        if !input.contains(r#""asset_id":"sha256:"#) {
            assert_eq!(canonical::canonical_text(input).unwrap(), text(vector, "canonical"), "{name}");
        }
        let id = asset_id_of_text(input).unwrap();
        assert_eq!(id.as_deref(), Some(text(vector, "asset_id")), "{name}");
    }
}

#[test]
fn shared_signal_keys_and_hashes_hold() {
    let Some(file) = shared("signal_key.json") else {
        return;
    };
    for vector in items(&file["signal_key"]) {
        let signals: Vec<&str> = items(&vector["signals"]).iter().filter_map(Value::as_str).collect();
        assert_eq!(signal::signal_key(&signals), text(vector, "signal_key"), "{vector}");
        let errors = signals.iter().filter_map(|name| name.strip_prefix("errsig:"));
        for (error, expected) in errors.zip(items(&vector["normalized_errsig"])) {
            let expected = expected.as_str().unwrap_or_default();
            assert_eq!(signal::normalise_error(error), expected);
        }
    }
    for vector in items(&file["fnv1a32_utf16"]) {
        assert_eq!(hash::stable_hash(text(vector, "input")), text(vector, "hex"));
    }
}

#[test]
fn shared_personality_and_environment_keys_hold() {
    let Some(file) = shared("signal_key.json") else {
        return;
    };
    for (dial, expected) in file["personality_key_rounding"].as_object().unwrap() {
        assert_eq!(&json!(rounded(dial.parse().unwrap())), expected, "{dial}");
    }
    let vector = &file["env_fingerprint_key_v1_7_0"];
    let names = ["node_version", "platform", "arch", "evolver_version"];
    let print: Object = names
        .iter()
        .zip(text(vector, "input").split('|'))
        .map(|(name, part)| ((*name).to_owned(), json!(part)))
        .collect();
    assert_eq!(env::key_of(&print), text(vector, "sha256_16"));
}
