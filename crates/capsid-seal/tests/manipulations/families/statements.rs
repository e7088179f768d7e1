//! Statements about heads.

use super::super::base::{self, BaseChain, current_key, statement, stranger_key};
use super::super::draft::{BundleDraft, HEADS, signed_statement};
use super::super::expected::{Expectation, incomplete, invalid, unchanged};
use super::{CHAIN, Manipulation, replaced};
use capsid_model::{Value, json};

pub fn all() -> Vec<Manipulation> {
    let make = |name: &str, expected: Expectation, change: &dyn Fn(&mut BundleDraft)| {
        Manipulation::new(name, expected, change)
    };
    let [first, ..] = base::chains();
    let state = |records: usize| statement(&current_key(), "codex", "s1", &first.records[..records]);
    vec![
        make("50 heads.json removed", unchanged(), &|draft| {
            draft.files.remove(HEADS);
        }),
        make("51 statement edited", invalid("statement_invalid", CHAIN, None), &|draft| {
            let text = replaced(of_first(draft)["text"].as_str().unwrap(), "count 6", "count 5");
            of_first(draft)["text"] = json!(text);
        }),
        make("52 signed by a stranger", invalid("statement_invalid", CHAIN, None), &|draft| {
            let text = statement(&stranger_key(), "codex", "s1", &first.records);
            *of_first(draft) = signed_statement(&stranger_key(), &text);
        }),
        make("53 older statement", unchanged(), &|draft| {
            *of_first(draft) = signed_statement(&current_key(), &state(5));
        }),
        make("54 statement of another chain", incomplete("conversation_missing", "codex/s9", 0), &|draft| {
            let mut other = BaseChain::new("codex", "s9");
            other.extend(&current_key(), 2, "step");
            let text = statement(&current_key(), "codex", "s9", &other.records);
            *of_first(draft) = signed_statement(&current_key(), &text);
        }),
    ]
}

/// The statement about the first chain.
fn of_first(draft: &mut BundleDraft) -> &mut Value {
    &mut draft.file(HEADS)["statements"][0]
}
