//! The meta-chain.

use super::super::base::{self, BaseChain, current_key, entry, seal_next, stranger_key};
use super::super::draft::{BundleDraft, META, to_value};
use super::super::expected::{Expectation, by_request, incomplete, invalid, unchanged};
use super::{Manipulation, canonical, replaced, sign};
use capsid_model::{Value, json};

pub fn all() -> Vec<Manipulation> {
    let make = |name: &str, expected: Expectation, change: &dyn Fn(&mut BundleDraft)| {
        Manipulation::new(name, expected, change)
    };
    let noted = |name: &str, expected: Expectation, count: usize| {
        let meta_head = Some(format!("{count}:{}", "0".repeat(64)));
        Manipulation { meta_head, ..Manipulation::new(name, expected, |_| {}) }
    };
    vec![
        make("41 entry edited", invalid("meta_invalid", "meta", 3), &|draft| {
            let record = &mut draft.records(META)[3];
            record["canonical"] = json!(replaced(&canonical(record), "recorded", "recalled"));
        }),
        make("42 tail cut", incomplete("meta_truncated", "meta", 5), &|draft| {
            draft.records(META).pop();
        }),
        make("43 tail cut and index adjusted", incomplete("meta_truncated", "meta", 5), &|draft| {
            draft.records(META).pop();
            draft.adjust_meta();
        }),
        make("44 removed", incomplete("meta_missing", "meta", 0), &|draft| {
            draft.files.remove(META);
        }),
        make("45 removed and index adjusted", incomplete("meta_missing", "meta", 0), &|draft| {
            draft.files.remove(META);
            draft.index()["meta"] = Value::Null;
        }),
        make(
            "46 entry re-signed by a stranger",
            by_request(invalid("meta_invalid", "meta", 3), unchanged()),
            &|draft| sign(&mut draft.records(META)[3], &stranger_key()),
        ),
        make(
            "47 entry for a chain that is not there",
            incomplete("conversation_missing", "codex/s9", 0),
            &|draft| {
                let mut other = BaseChain::new("codex", "s9");
                other.extend(&current_key(), 2, "step");
                let records = base::meta();
                let added = seal_next(&records, &entry(records.len(), &other, 2), &current_key());
                draft.records(META).push(to_value(&added));
                draft.adjust_meta();
            },
        ),
        noted("48 noted head beyond the end", incomplete("pinned_head_missing", "meta", 6), 7),
        noted("49 noted head differs", invalid("pinned_head_differs", "meta", 5), 6),
    ]
}
