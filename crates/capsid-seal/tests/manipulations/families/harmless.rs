//! What proves nothing against the owner: the level must stay that of the base.

use super::super::base::{self, current_key};
use super::super::draft::{BundleDraft, FIRST, INDEX, SECOND, THIRD};
use super::super::expected::{Expectation, noticed, unchanged};
use super::{CHAIN, Manipulation, change_record};
use capsid_model::{Value, json};

pub fn all() -> Vec<Manipulation> {
    let make = |name: &str, expected: Expectation, change: &dyn Fn(&mut BundleDraft)| {
        Manipulation::new(name, expected, change)
    };
    vec![
        make("55 signed_at edited", unchanged(), &|draft| {
            change_record(draft, 3, |record| record["signed_at"] = json!("2026-02-07T15:13:30+00:00"));
        }),
        make("56 longer signed_by", unchanged(), &|draft| {
            change_record(draft, 3, |record| record["signed_by"] = json!(current_key().public().hex()));
        }),
        make("57 old bundle generation", unchanged(), &older),
        make("58 honest growth", noticed("valid", "grown", CHAIN), &|draft| {
            let [mut chain, ..] = base::chains();
            chain.extend(&current_key(), 8, "step");
            draft.set_records(FIRST, &chain.records);
            draft.adjust(FIRST);
        }),
        make("59 other JSON spacing and member order", unchanged(), &|draft| {
            for file in [INDEX, THIRD] {
                let text = respelled(&draft.files[file], 0);
                draft.texts.insert(file.to_owned(), format!("\u{feff}\r\n{text}\t\n"));
            }
        }),
    ]
}

/// The first exporter did not list the meta-chain, signers and times; it listed the tools.
fn older(draft: &mut BundleDraft) {
    let newer = ["genesis_hash", "signed_by", "started_at", "ended_at"];
    for file in [FIRST, SECOND, THIRD] {
        for name in newer {
            draft.file(file).as_object_mut().unwrap().remove(name);
            draft.listed(file).as_object_mut().unwrap().remove(name);
        }
    }
    draft.index().as_object_mut().unwrap().remove("meta");
    draft.index().as_object_mut().unwrap().remove("fingerprint");
    draft.index()["tools"] = json!(["claude-code", "codex"]);
}

/// The same document with its members in reverse order and much white space.
fn respelled(value: &Value, depth: usize) -> String {
    let indent = " ".repeat(depth);
    match value {
        Value::Object(fields) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{indent}{} :\t{}", Value::from(name.as_str()), respelled(value, depth + 1))
            };
            let members: Vec<String> = fields.iter().rev().map(member).collect();
            format!("{{\r\n{} }}", members.join(" ,\r\n"))
        }
        Value::Array(list) => {
            let elements: Vec<String> = list.iter().map(|value| respelled(value, depth + 1)).collect();
            format!("[ {} ]", elements.join("\n, "))
        }
        other => other.to_string(),
    }
}
