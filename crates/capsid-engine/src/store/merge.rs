//! Merges `genes.json`, `capsules.json` and `failed_capsules.json` of two clones entry by entry, for git.
//!
//! An entry that only one side changed is that side's. Where both did, the more successful record of a capsule wins, and
//! a gene takes the marks of both. What no rule decides stays a conflict with both versions in the file.

use super::collection::{ListFile, id_of, parse_document, pretty};
use capsid_model::asset::{stamp, verify_text};
use capsid_model::capsule::Capsule;
use capsid_model::{Object, Value, canonical};
use std::collections::HashMap;
use std::path::Path;

/// The members of a gene that the engine writes by itself.
const LEARNED: [&str; 2] = ["epigenetic_marks", "asset_id"];

/// The three versions of one file.
#[derive(Debug, Clone, Default)]
pub struct MergeVersions {
    /// The version that both sides began from; empty when both added the file.
    pub base: Vec<u8>,
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
}

/// What merging gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedList {
    pub text: String,
    /// The ids of entries that no rule decides; their versions stand between conflict markers in the text.
    pub conflicts: Vec<String>,
}

/// The member of a store file that is its list; none for other files.
pub fn list_of(path: &Path) -> Option<&'static str> {
    match path.file_name()?.to_str()? {
        "genes.json" => Some("genes"),
        "capsules.json" => Some("capsules"),
        "failed_capsules.json" => Some("failed_capsules"),
        _ => None,
    }
}

/// Merges three versions of a list; none when one of them cannot be read, or both sides changed something around it.
pub fn merge_lists(versions: MergeVersions, list: &'static str) -> Option<MergedList> {
    let base = ListFile::parse(versions.base, list)?;
    let ours = ListFile::parse(versions.ours, list)?;
    let theirs = ListFile::parse(versions.theirs, list)?;
    let members = merge_members(&base, &ours, &theirs)?;
    let index = members.iter().position(|(name, _)| name == list)?;
    let (items, conflicts) = merge_items(&base.items, &ours.items, &theirs.items)?;
    Some(MergedList { text: ListFile { members, index, items }.text(), conflicts })
}

/// The members around the list, in the order of our side.
fn merge_members(base: &ListFile, ours: &ListFile, theirs: &ListFile) -> Option<Vec<(String, String)>> {
    let find = |file: &ListFile, name: &str| {
        file.members.iter().find(|(other, _)| other == name).map(|(_, text)| text.clone())
    };
    let mut names: Vec<&str> = ours.members.iter().map(|(name, _)| name.as_str()).collect();
    for (name, _) in &theirs.members {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let list = ours.members.get(ours.index).map(|(name, _)| name.as_str())?;
    let mut merged = Vec::new();
    for name in names {
        let text = match (find(base, name), find(ours, name), find(theirs, name)) {
            (_, ours, _) if name == list => ours,
            (_, ours, theirs) if is_same(ours.as_deref(), theirs.as_deref()) => ours,
            (base, ours, theirs) if is_same(base.as_deref(), ours.as_deref()) => theirs,
            (base, ours, theirs) if is_same(base.as_deref(), theirs.as_deref()) => ours,
            _ => return None,
        };
        merged.extend(text.map(|text| (name.to_owned(), text)));
    }
    Some(merged)
}

/// The entries of a version by their ids; none when an entry has no id or two have the same.
fn by_id(items: &[String]) -> Option<HashMap<String, &str>> {
    let mut map = HashMap::with_capacity(items.len());
    for item in items {
        let id = id_of(item);
        if id.is_empty() || map.insert(id, item.as_str()).is_some() {
            return None;
        }
    }
    Some(map)
}

/// Our entries in our order, then the new ones of the other side in theirs; and the ids of those in conflict.
fn merge_items(base: &[String], ours: &[String], theirs: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let (base, our, their) = (by_id(base)?, by_id(ours)?, by_id(theirs)?);
    let new = theirs.iter().filter(|item| !our.contains_key(&id_of(item)));
    let (mut items, mut conflicts) = (Vec::new(), Vec::new());
    for item in ours.iter().chain(new) {
        let id = id_of(item);
        let versions = (base.get(&id).copied(), our.get(&id).copied(), their.get(&id).copied());
        match merge_entry(versions) {
            MergedEntry::Decided(text) => items.push(text),
            MergedEntry::Removed => {}
            MergedEntry::Conflict(text) => {
                items.push(text);
                conflicts.push(id);
            }
        }
    }
    Some((items, conflicts))
}

enum MergedEntry {
    Decided(String),
    Removed,
    Conflict(String),
}

/// The entry of one id in the base, on our side and on theirs.
fn merge_entry((base, ours, theirs): (Option<&str>, Option<&str>, Option<&str>)) -> MergedEntry {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if is_same(Some(ours), Some(theirs)) || is_same(base, Some(theirs)) => {
            MergedEntry::Decided(ours.to_owned())
        }
        (Some(ours), Some(theirs)) if is_same(base, Some(ours)) => MergedEntry::Decided(theirs.to_owned()),
        (Some(ours), Some(theirs)) => match decide(ours, theirs) {
            Some(text) => MergedEntry::Decided(text),
            None => MergedEntry::Conflict(conflict(ours, theirs)),
        },
        // Removed on one side and as it was on the other: removed. Changed on the other: kept.
        (Some(one), None) | (None, Some(one)) if is_same(base, Some(one)) => MergedEntry::Removed,
        (Some(one), None) | (None, Some(one)) => MergedEntry::Decided(one.to_owned()),
        (None, None) => MergedEntry::Removed,
    }
}

/// The entry that both sides changed. The result does not depend on which side is ours.
fn decide(ours: &str, theirs: &str) -> Option<String> {
    let (our, their) = (parse_document(ours)?, parse_document(theirs)?);
    let kind = |document: &Object| document.get("type").and_then(Value::as_str).map(str::to_owned);
    match (kind(&our).as_deref(), kind(&their).as_deref()) {
        (Some("Gene"), Some("Gene")) => merge_gene(ours, theirs, &our, &their),
        (Some("Capsule"), Some("Capsule")) => better_capsule(ours, theirs, &our, &their).map(str::to_owned),
        _ => None,
    }
}

fn verifies(text: &str) -> bool {
    verify_text(text).is_ok_and(|verdict| verdict.holds())
}

/// The capsule whose id verifies; of two such the one with the longer streak, then the newer one.
fn better_capsule<'a>(ours: &'a str, theirs: &'a str, our: &Object, their: &Object) -> Option<&'a str> {
    match (verifies(ours), verifies(theirs)) {
        (true, false) => return Some(ours),
        (false, true) => return Some(theirs),
        (false, false) => return None,
        (true, true) => {}
    }
    let rank = |text: &str, document: &Object| {
        let time = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let captured = document.get("env_fingerprint").and_then(|env| env.get("captured_at"));
        let newest = time(captured).max(time(document.get("created_at")));
        (Capsule::read(document).success_streak, newest, canonical::canonical_text(text).unwrap_or_default())
    };
    Some(if rank(ours, our) >= rank(theirs, their) { ours } else { theirs })
}

/// A gene that differs in what the engine learned alone, with the newer mark for each environment.
fn merge_gene(ours: &str, theirs: &str, our: &Object, their: &Object) -> Option<String> {
    let written = |gene: &Object| -> Object {
        gene.iter()
            .filter(|(name, _)| !LEARNED.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let text = |gene: Object| canonical::canonical_text(&Value::Object(gene).to_string()).ok();
    if !verifies(ours) || !verifies(theirs) || text(written(our))? != text(written(their))? {
        return None;
    }
    let marks =
        |gene: &Object| gene.get("epigenetic_marks").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut all: Vec<Value> = marks(our);
    all.extend(marks(their));
    let text =
        |mark: &Value, name: &str| mark.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    all.sort_by_cached_key(|mark| (text(mark, "context"), text(mark, "created_at"), mark.to_string()));
    let mut merged: Vec<Value> = Vec::new();
    for mark in all {
        match merged.last_mut() {
            Some(last) if text(last, "context") == text(&mark, "context") => *last = mark,
            _ => merged.push(mark),
        }
    }
    // As the engine appends them: the oldest first.
    merged.sort_by_cached_key(|mark| text(mark, "created_at"));
    let mut gene = our.clone();
    gene.insert("epigenetic_marks".to_owned(), merged.into());
    stamp(&mut gene);
    Some(pretty(&gene))
}

/// Both versions between the markers of git. The file is no JSON until somebody chooses.
fn conflict(ours: &str, theirs: &str) -> String {
    format!("\n<<<<<<< ours\n    {ours}\n=======\n    {theirs}\n>>>>>>> theirs\n")
}

/// Whether two texts are the same document, or both are missing.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            one == other
                || canonical::canonical_text(one)
                    .is_ok_and(|one| canonical::canonical_text(other).is_ok_and(|other| one == other))
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
