//! What must be done to the files of one bundle to get those of another, in few words.
//!
//! | edit | meaning |
//! |---|---|
//! | `{file, remove}` | the file is not there |
//! | `{file, text}` | the file has this text |
//! | `{file, copy}` | the file begins as a copy of another file of the base |
//! | `{file, at, order}` | the list at this path has these of its elements, in this order |
//! | `{file, at, value}` | the member or element at this path has this value; without `value` it is removed |

use super::draft::BundleDraft;
use capsid_model::{Value, json};

pub fn between(base: &BundleDraft, draft: &BundleDraft) -> Vec<Value> {
    let mut edits = Vec::new();
    for (file, value) in &draft.files {
        if draft.texts.contains_key(file) {
            continue;
        }
        match base.files.get(file) {
            Some(old) => compare(file, &mut Vec::new(), old, value, &mut edits),
            None => {
                let (source, old) =
                    base.files.iter().find(|(_, old)| old["capsules"] == value["capsules"]).unwrap();
                edits.push(json!({ "file": file, "copy": source }));
                compare(file, &mut Vec::new(), old, value, &mut edits);
            }
        }
    }
    edits.extend(draft.texts.iter().map(|(file, text)| json!({ "file": file, "text": text })));
    // A file may be copied before it is removed.
    let removed = base.files.keys().filter(|file| !draft.files.contains_key(*file));
    edits.extend(removed.map(|file| json!({ "file": file, "remove": true })));
    edits
}

fn compare(file: &str, at: &mut Vec<Value>, old: &Value, new: &Value, edits: &mut Vec<Value>) {
    if old == new {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let gone = before.keys().filter(|name| !after.contains_key(*name));
            for name in gone {
                let path: Vec<Value> = at.iter().cloned().chain([json!(name)]).collect();
                edits.push(json!({ "file": file, "at": path }));
            }
            for (name, value) in after {
                at.push(json!(name));
                match before.get(name) {
                    Some(old) => compare(file, at, old, value, edits),
                    None => edits.push(json!({ "file": file, "at": at, "value": value })),
                }
                at.pop();
            }
        }
        (Value::Array(before), Value::Array(after)) if !before.is_empty() => {
            let order = order(before, after);
            if order.iter().copied().ne(0..before.len()) {
                edits.push(json!({ "file": file, "at": at, "order": order }));
            }
            for (number, (from, value)) in order.iter().zip(after).enumerate() {
                at.push(json!(number));
                compare(file, at, &before[*from], value, edits);
                at.pop();
            }
        }
        _ => edits.push(json!({ "file": file, "at": at, "value": new })),
    }
}

/// Which of the old elements each new one is, or may be made from.
fn order(before: &[Value], after: &[Value]) -> Vec<usize> {
    let same = |value: &Value| before.iter().position(|old| old == value);
    let exact: Option<Vec<usize>> = after.iter().map(same).collect();
    exact.unwrap_or_else(|| (0..after.len()).map(|number| number.min(before.len() - 1)).collect())
}
