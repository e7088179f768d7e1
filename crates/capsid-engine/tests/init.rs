//! Setting up a repository, once and again.

use capsid_engine::config::EngineConfig;
use capsid_engine::store::AssetStore;
use capsid_engine::workspace::init::{InitReport, init};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn set_up(root: &Path) -> InitReport {
    let store = AssetStore::at(root.join("assets/gep"));
    let (config, evolution) = (root.join("capsid.toml"), root.join("memory/evolution"));
    init(root, &store, &config, &evolution, &|_| None).unwrap()
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
    files
}

#[test]
fn a_new_repository_gets_everything_and_a_second_time_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[package]").unwrap();
    let first = set_up(folder.path());
    assert_eq!((first.created.len(), first.existing.len(), first.genes.len()), (10, 0, 3));
    assert_eq!(first.validation, ["cargo test"]);
    let config = EngineConfig::load(&folder.path().join("capsid.toml"), &|_| None).unwrap();
    assert_eq!(config.validation.programs, ["cargo"]);
    assert_eq!(config.validation.commands, ["cargo test"], "genes made later are validated too");
    let gene = AssetStore::at(folder.path().join("assets/gep")).genes.documents().unwrap().remove(0);
    assert_eq!(gene["validation"], capsid_model::json!(["cargo test"]));

    let before = contents(folder.path());
    let second = set_up(folder.path());
    assert_eq!((second.created.len(), second.existing.len(), second.genes.len()), (0, 10, 0));
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn what_the_owner_wrote_stays() {
    let folder = tempfile::tempdir().unwrap();
    let assets = folder.path().join("assets/gep");
    std::fs::create_dir_all(&assets).unwrap();
    let genes = r#"{"genes":[{"type":"Gene","id":"mine"}]}"#;
    std::fs::write(assets.join("genes.json"), genes).unwrap();
    std::fs::write(folder.path().join("capsid.toml"), "# mine\n").unwrap();
    let report = set_up(folder.path());
    assert!(report.genes.is_empty());
    assert_eq!(std::fs::read_to_string(assets.join("genes.json")).unwrap(), genes);
    assert_eq!(std::fs::read_to_string(folder.path().join("capsid.toml")).unwrap(), "# mine\n");
}
