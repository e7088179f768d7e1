//! Whole chains.

use super::super::base::{self, BaseChain, current_key};
use super::super::draft::{BundleDraft, FIRST, SECOND};
use super::super::expected::{Expectation, incomplete, invalid};
use super::Manipulation;
use capsid_model::json;

/// One of the two chains: its file, its names, and under which names it is put elsewhere.
struct ChainCase {
    file: &'static str,
    chain: &'static str,
    other_file: &'static str,
    other: &'static str,
    length: usize,
    /// The first record at which another history differs from a recorded state.
    recorded: usize,
}

const CASES: [ChainCase; 2] = [
    ChainCase {
        file: FIRST,
        chain: "codex/s1",
        other_file: "codex-s9.json",
        other: "codex/s9",
        length: 6,
        recorded: 3,
    },
    ChainCase {
        file: SECOND,
        chain: "claude-code/s2",
        other_file: "claude-code-s9.json",
        other: "claude-code/s9",
        length: 4,
        recorded: 1,
    },
];

pub fn all() -> Vec<Manipulation> {
    CASES.iter().flat_map(of_chain).collect()
}

fn of_chain(case: &ChainCase) -> Vec<Manipulation> {
    let ChainCase { file, chain, other_file, other, length, recorded } = *case;
    let make = |name: &str, expected: Expectation, change: &dyn Fn(&mut BundleDraft)| {
        Manipulation::new(format!("{name}, {chain}"), expected, change)
    };
    let cut = incomplete("truncated", chain, length - 1);
    vec![
        make("22 tail cut", invalid("contradiction", chain, None), &|draft| {
            draft.records(file).pop();
        }),
        make("23 tail cut and headers adjusted", cut, &|draft| {
            draft.records(file).pop();
            draft.adjust(file);
        }),
        make("24 file removed", incomplete("chain_missing", chain, 0), &|draft| {
            draft.files.remove(file);
        }),
        make("25 removed from the index too", incomplete("conversation_missing", chain, 0), &|draft| {
            draft.files.remove(file);
            draft.unlist(file);
        }),
        make("26 renamed", invalid("contradiction", other, None), &|draft| {
            copy(draft, file, other_file);
            draft.files.remove(file);
            draft.unlist(file);
        }),
        make("27 copied under another session", invalid("contradiction", other, None), &|draft| {
            copy(draft, file, other_file);
        }),
        make("28 replaced by a shorter valid history", invalid("altered", chain, recorded), &|draft| {
            let (tool, session) = chain.split_once('/').unwrap();
            let mut history = BaseChain::new(tool, session);
            history.extend(&current_key(), length - 1, "other");
            draft.set_records(file, &history.records);
            draft.adjust(file);
        }),
    ]
}

/// Puts a chain under another name, in a file and in the index.
fn copy(draft: &mut BundleDraft, file: &str, other_file: &str) {
    assert!(base::chains().iter().all(|chain| format!("{}.json", chain.id()) != other_file));
    let id = other_file.trim_end_matches(".json");
    let mut document = draft.files[file].clone();
    let mut entry = draft.listed(file).clone();
    (document["id"], entry["id"]) = (json!(id), json!(id));
    draft.files.insert(other_file.to_owned(), document);
    draft.index()["chains"].as_array_mut().unwrap().push(entry);
    draft.adjust_totals();
}
