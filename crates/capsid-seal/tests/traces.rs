//! What says how long chains were: the list of open chains, the marks, the keys, the checkpoint files.

use crate::store::{all, append, chain, home, record_in_meta};
use capsid_seal::chain::{ChainReader, ChainWriter, checkpoint_keys, checkpoint_of, expected_by_checkpoint};
use capsid_seal::keys::KeySet;
use capsid_seal::meta::MetaTraces;
use capsid_verdict::evidence::{Expectation, ExpectationSource};
use std::path::Path;

fn meta_traces(root: &Path) -> MetaTraces {
    let mut traces = MetaTraces::default();
    all(&root.join("meta.db"), None).iter().for_each(|stored| traces.push(stored, &KeySet::default()));
    traces
}

fn said_of(expectations: &[Expectation], chain: &str) -> Vec<(ExpectationSource, u64)> {
    let about = expectations.iter().filter(|one| one.chain == chain);
    about.map(|one| (one.source.clone(), one.count)).collect()
}

#[test]
fn each_meta_entry_lists_the_chains_that_are_not_finalised() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    chain(&root.join("chains/codex/running.db"), 3);
    chain(&root.join("chains/older.db"), 2);
    home(root, &[("codex", "done", 4)]);
    let traces = meta_traces(root);
    assert_eq!(said_of(&traces.expectations, "codex/done"), [(ExpectationSource::MetaEntry, 4)]);
    for (name, count) in [("codex/running", 3), ("claude-code/older", 2)] {
        assert_eq!(said_of(&traces.expectations, name), [(ExpectationSource::MetaOpenList, count)]);
    }
    let head = all(&root.join("chains/codex/running.db"), None)[2].seal.hash.clone();
    assert!(traces.expectations.iter().any(|one| one.head.as_ref() == Some(&head)));
    // What is finalised is in no later list.
    record_in_meta(root, "codex", "running");
    let open = |traces: &MetaTraces| {
        let open = traces.expectations.iter().filter(|one| one.source == ExpectationSource::MetaOpenList);
        open.map(|one| one.chain.clone()).collect::<Vec<_>>()
    };
    assert_eq!(open(&meta_traces(root)), ["claude-code/older", "codex/running", "claude-code/older"]);
}

#[test]
fn a_list_of_open_chains_has_at_most_256_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let first = root.join("chains/codex/s0.db");
    chain(&first, 1);
    for n in 1..=260 {
        std::fs::copy(&first, root.join(format!("chains/codex/s{n}.db"))).unwrap();
    }
    record_in_meta(root, "codex", "s0");
    let open = meta_traces(root).expectations.len() - 1;
    assert_eq!(open, 256);
}

#[test]
fn a_finalised_chain_names_the_record_of_the_meta_chain() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 2), ("codex", "b", 3)]);
    chain(&root.join("chains/codex/a.db"), 5);
    record_in_meta(root, "codex", "a");
    assert!(!record_in_meta(root, "codex", "a").recorded);
    let meta = all(&root.join("meta.db"), None);
    let marks = ChainReader::open(&root.join("chains/codex/a.db")).unwrap().finalised(None).unwrap();
    let shape: Vec<_> = marks.iter().map(|mark| (mark.meta_sequence, mark.count)).collect();
    assert_eq!(shape, [(0, 2), (2, 5)]);
    for mark in &marks {
        assert_eq!(meta[usize::try_from(mark.meta_sequence).unwrap()].seal.hash, mark.meta_hash);
    }
}

#[test]
fn the_surroundings_of_a_chain_say_how_long_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let path = root.join("chains/codex/a.db");
    let mut writer = ChainWriter::open(&path).unwrap();
    append(&mut writer, None, &["a", "b", "c"]).unwrap();
    writer.write_checkpoint(None, &checkpoint_of(&path)).unwrap();
    drop(writer);
    record_in_meta(root, "codex", "a");
    let reader = ChainReader::open(&path).unwrap();
    let checkpoint = checkpoint_of(&path);
    let said = reader.expectations(None, "codex/a", Some(&checkpoint)).unwrap();
    let sources = [
        (ExpectationSource::SealedKeys, 3),
        (ExpectationSource::FinalisedMark, 3),
        (ExpectationSource::CheckpointFile, 3),
    ];
    assert_eq!(said_of(&said, "codex/a"), sources);
    assert_eq!(said_of(&said, "meta"), [(ExpectationSource::FinalisedMark, 1)]);
    assert_eq!(reader.tip(None).unwrap().unwrap().0, 3);
    assert_eq!(expected_by_checkpoint(&root.join("none.json"), "x/y"), None);
}

#[test]
fn a_key_of_the_meta_checkpoint_without_a_record_stands_for_one_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 2), ("codex", "b", 3)]);
    let keys = checkpoint_keys(&checkpoint_of(&root.join("meta.db")));
    assert_eq!(meta_traces(root).expected_by_checkpoint(&keys).unwrap().count, 2);
    let mut cut = MetaTraces::default();
    cut.push(&all(&root.join("meta.db"), None)[0], &KeySet::default());
    assert_eq!(cut.expected_by_checkpoint(&keys).unwrap().count, 2);
    assert_eq!(MetaTraces::default().expected_by_checkpoint(&keys).unwrap().count, 2);
    assert_eq!(MetaTraces::default().expected_by_checkpoint(&[]), None);
}
