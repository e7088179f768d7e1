//! `genes.json`, `capsules.json` and `failed_capsules.json`: a list of documents under one key, with an optional
//! `.jsonl` beside it whose lines win.
//!
//! Documents that a rewrite does not change are written back byte for byte, and so is every other member of the file.

use super::lines;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result, Value, canonical};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A stored list of documents with ids.
#[derive(Debug, Clone)]
pub struct Collection {
    json: PathBuf,
    overlay: Option<PathBuf>,
    member: &'static str,
}

impl Collection {
    /// The list under `member` of the file at `json`, overlaid by the lines of `overlay`.
    pub fn at(json: PathBuf, overlay: Option<PathBuf>, member: &'static str) -> Self {
        Self { json, overlay, member }
    }

    /// The JSON file.
    pub fn path(&self) -> &Path {
        &self.json
    }

    /// Every document as its exact text, in file order; a line of the overlay takes the place of its namesake.
    pub fn texts(&self) -> Result<Vec<String>> {
        let mut texts = self.read_file()?.items;
        let Some(overlay) = &self.overlay else {
            return Ok(texts);
        };
        let mut index_by_id: Option<HashMap<String, usize>> = None;
        lines::scan(overlay, |line| {
            if let Ok(text) = std::str::from_utf8(line)
                && serde_json::from_str::<&RawValue>(text).is_ok()
            {
                // Only built when there is an overlay at all, which is rare.
                let index_by_id = index_by_id.get_or_insert_with(|| places_by_id(&texts));
                match index_by_id.get(&id_of(text)) {
                    Some(index) => text.clone_into(&mut texts[*index]),
                    None => {
                        index_by_id.insert(id_of(text), texts.len());
                        texts.push(text.to_owned());
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(texts)
    }

    /// The list's exact text, if no line of the `.jsonl` file changes it.
    pub(crate) fn plain_list(&self) -> Result<Option<String>> {
        let overlaid = match &self.overlay {
            Some(overlay) => std::fs::metadata(overlay).is_ok_and(|meta| meta.len() > 0),
            None => false,
        };
        if overlaid {
            Ok(None)
        } else {
            self.members().map(|(mut members, index)| Some(members.swap_remove(index).1))
        }
    }

    /// Every document, parsed.
    pub fn documents(&self) -> Result<Vec<Object>> {
        Ok(self.texts()?.iter().filter_map(|text| parse_document(text)).collect())
    }

    /// The document with an id; no document is found by an empty one.
    pub fn find(&self, id: &str) -> Result<Option<Object>> {
        if id.is_empty() {
            return Ok(None);
        }
        Ok(self.texts()?.iter().rev().find(|text| has_id(text, id)).and_then(|text| parse_document(text)))
    }

    /// Puts a document in the place of its namesake, or at the end. Durable when it returns.
    ///
    /// A document without an id is refused: it would take the place of any other without one.
    pub fn upsert(&self, document: &Object) -> Result<()> {
        let id = document.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            let message = format!("A document without an id was to be written to `{}`.", self.json.display());
            return Err(Problem::new(Code::Internal, message));
        }
        if let Some(overlay) = &self.overlay
            && overlay_has(overlay, id)?
        {
            let line = serde_json::to_string(document).unwrap_or_default();
            return files::append(overlay, &format!("{line}\n"));
        }
        self.rewrite(|items| {
            let text = pretty(document);
            match items.iter().rposition(|item| has_id(item, id)) {
                Some(index) => items[index] = text,
                None => items.push(text),
            }
        })
    }

    /// Adds a document unless one with its id exists, then retains the newest `keep` once there are more than `limit`.
    pub fn push_bounded(&self, document: &Object, limit: usize, keep: usize) -> Result<()> {
        let id = document.get("id").and_then(Value::as_str).unwrap_or_default();
        self.rewrite(|items| {
            if items.iter().any(|item| has_id(item, id)) {
                return;
            }
            items.push(pretty(document));
            if items.len() > limit {
                items.drain(..items.len() - keep);
            }
        })
    }

    /// Adds documents at the end in one rewrite, each as its exact text. The caller knows that their ids are new.
    pub fn extend(&self, texts: &[String]) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        self.rewrite(|items| items.extend_from_slice(texts))
    }

    /// Writes an empty list unless the file exists.
    pub fn create(&self) -> Result<()> {
        if self.json.exists() {
            Ok(())
        } else {
            files::replace(&self.json, self.read_file()?.text().as_bytes())
        }
    }

    fn rewrite(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
        let mut file = self.read_file()?;
        change(&mut file.items);
        files::replace(&self.json, file.text().as_bytes())
    }

    fn read_file(&self) -> Result<ListFile> {
        let bytes = files::read_bytes(&self.json)?.unwrap_or_default();
        ListFile::parse(bytes, self.member).ok_or_else(|| self.damaged())
    }

    /// The members of the file as text, and which of them is the list.
    fn members(&self) -> Result<(Vec<(String, String)>, usize)> {
        let bytes = files::read_bytes(&self.json)?.unwrap_or_default();
        members(bytes, self.member).ok_or_else(|| self.damaged())
    }

    fn damaged(&self) -> Problem {
        Problem::new(
            Code::StoreDamaged,
            format!(
                "`{}` is not a JSON object with a list `{}`; it was left as it is.",
                self.json.display(),
                self.member
            ),
        )
        .fix("Correct the file by hand, or move it away to start anew.")
    }
}

/// The members of a file as text, and which of them is the list; none for what is not a JSON object.
fn members(bytes: Vec<u8>, list: &str) -> Option<(Vec<(String, String)>, usize)> {
    // Text that is not UTF-8 could not be written back as it was.
    let text = String::from_utf8(bytes).ok()?;
    let mut members = match text.trim_start_matches('\u{feff}').trim() {
        "" => vec![("version".to_owned(), "1".to_owned())],
        text => serde_json::from_str::<OrderedMembers>(text).ok()?.0,
    };
    let index = members.iter().position(|(name, _)| name == list).unwrap_or_else(|| {
        members.push((list.to_owned(), "[]".to_owned()));
        members.len() - 1
    });
    Some((members, index))
}

/// A parsed file: its members as text, which of them is the list, and the list's items as text.
pub(super) struct ListFile {
    pub(super) members: Vec<(String, String)>,
    pub(super) index: usize,
    pub(super) items: Vec<String>,
}

impl ListFile {
    /// Reads the bytes of a file whose list is the member `list`; none for what is no such file.
    pub(super) fn parse(bytes: Vec<u8>, list: &str) -> Option<Self> {
        let (members, index) = members(bytes, list)?;
        let items: Vec<&RawValue> = serde_json::from_str(&members[index].1).ok()?;
        let items = items.into_iter().map(|item| item.get().to_owned()).collect();
        Some(Self { members, index, items })
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::from("{");
        for (at, (name, value)) in self.members.iter().enumerate() {
            out.push_str(if at == 0 { "\n  " } else { ",\n  " });
            out.push_str(&serde_json::to_string(name).unwrap_or_default());
            out.push_str(": ");
            if at == self.index {
                self.write_items(&mut out);
            } else {
                out.push_str(value);
            }
        }
        out.push_str("\n}\n");
        out
    }

    fn write_items(&self, out: &mut String) {
        out.push('[');
        for (at, item) in self.items.iter().enumerate() {
            out.push_str(if at == 0 { "\n    " } else { ",\n    " });
            out.push_str(item);
        }
        out.push_str(if self.items.is_empty() { "]" } else { "\n  ]" });
    }
}

/// The members of an object in their order, values as exact text.
struct OrderedMembers(Vec<(String, String)>);

impl<'de> Deserialize<'de> for OrderedMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MembersReader;
        impl<'de> Visitor<'de> for MembersReader {
            type Value = OrderedMembers;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<OrderedMembers, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, value.get().to_owned()));
                }
                Ok(OrderedMembers(members))
            }
        }
        deserializer.deserialize_map(MembersReader)
    }
}

fn places_by_id(texts: &[String]) -> HashMap<String, usize> {
    texts.iter().enumerate().map(|(index, text)| (id_of(text), index)).collect()
}

fn overlay_has(overlay: &Path, id: &str) -> Result<bool> {
    let mut is_found = false;
    lines::scan(overlay, |line| {
        is_found = std::str::from_utf8(line).is_ok_and(|text| has_id(text, id));
        if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_found)
}

/// Whether a document has this id. Most have another, and their bytes show it without being read as JSON: an id stands
/// in the text as it is, unless the text holds escapes.
fn has_id(text: &str, id: &str) -> bool {
    (text.contains(id) || text.contains('\\')) && id_of(text) == id
}

/// The id inside a document's text; empty when it has none.
pub(super) fn id_of(text: &str) -> String {
    #[derive(serde::Deserialize)]
    struct DocumentId {
        #[serde(default)]
        id: Value,
    }
    match serde_json::from_str::<DocumentId>(text) {
        Ok(DocumentId { id: Value::String(id) }) => id,
        Ok(_) => String::new(),
        Err(_) => parse_document(text)
            .and_then(|document| document.get("id").and_then(Value::as_str).map(str::to_owned))
            .unwrap_or_default(),
    }
}

pub(crate) fn parse_document(text: &str) -> Option<Object> {
    match canonical::read(text) {
        Ok(Value::Object(document)) => Some(document),
        _ => None,
    }
}

/// The document as it is printed inside a pretty-printed list.
pub(super) fn pretty(document: &Object) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default().replace('\n', "\n    ")
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::asset;

    fn genes(folder: &Path) -> Collection {
        Collection::at(folder.join("genes.json"), Some(folder.join("genes.jsonl")), "genes")
    }

    fn document(text: &str) -> Object {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_rewrite_keeps_every_other_byte() {
        let folder = tempfile::tempdir().unwrap();
        let odd = r#"{"id":"odd","n":1e400,  "s":"\ud83d","z":1.0,"a":[ 1,2 ],"future":{"b":1}}"#;
        let file = format!("{{\"note\": \"mine\", \"version\": 7, \"genes\": [{odd}, {{\"id\":\"b\"}}]}}");
        std::fs::write(folder.path().join("genes.json"), file).unwrap();
        genes(folder.path()).upsert(&document(r#"{"id":"b","new":true}"#)).unwrap();
        genes(folder.path()).upsert(&document(r#"{"id":"c"}"#)).unwrap();
        let now = std::fs::read_to_string(folder.path().join("genes.json")).unwrap();
        assert!(now.contains(odd), "{now}");
        assert!(now.contains("\"note\": \"mine\"") && now.contains("\"version\": 7"));
        let ids: Vec<String> = genes(folder.path()).texts().unwrap().iter().map(|text| id_of(text)).collect();
        assert_eq!(ids, ["odd", "b", "c"]);
    }

    #[test]
    fn lines_beside_the_file_win_and_stay_the_place_of_change() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("genes.json"), r#"{"genes":[{"id":"a","v":1},{"id":"b"}]}"#)
            .unwrap();
        std::fs::write(
            folder.path().join("genes.jsonl"),
            "{\"id\":\"a\",\"v\":2}\nnot json\n{\"id\":\"c\"}\n",
        )
        .unwrap();
        let collection = genes(folder.path());
        assert_eq!(collection.find("a").unwrap().unwrap()["v"], 2);
        collection.upsert(&document(r#"{"id":"a","v":3}"#)).unwrap();
        let documents = collection.documents().unwrap();
        assert_eq!(documents.iter().map(|d| d["id"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(documents[0]["v"], 3);
    }

    #[test]
    fn a_document_without_an_id_is_neither_found_nor_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, lines) = (folder.path().join("genes.json"), folder.path().join("genes.jsonl"));
        std::fs::write(&path, r#"{"genes":[{"v":1},{"id":""}]}"#).unwrap();
        std::fs::write(&lines, "{\"v\":2}\n").unwrap();
        let before = [&path, &lines].map(|path| std::fs::read(path).unwrap());
        assert_eq!(genes(folder.path()).find("").unwrap(), None);
        for nameless in ["{}", r#"{"id":""}"#, r#"{"id":7}"#] {
            let problem = genes(folder.path()).upsert(&document(nameless)).unwrap_err();
            assert_eq!(problem.code, Code::Internal, "{nameless}");
        }
        assert_eq!([&path, &lines].map(|path| std::fs::read(path).unwrap()), before);
    }

    #[test]
    fn a_damaged_file_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        for broken in ["{\"genes\": [", "[]", "{\"genes\": 5}"] {
            std::fs::write(folder.path().join("genes.json"), broken).unwrap();
            let problem = genes(folder.path()).upsert(&document(r#"{"id":"a"}"#)).unwrap_err();
            assert_eq!(problem.code, Code::StoreDamaged);
            assert_eq!(std::fs::read_to_string(folder.path().join("genes.json")).unwrap(), broken);
        }
    }

    #[test]
    fn what_is_written_verifies_when_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut gene = document(r#"{"type":"Gene","id":"g","text":"固化：🧬\u0001","n":0.1,"m":1e-7}"#);
        asset::stamp(&mut gene);
        genes(folder.path()).upsert(&gene).unwrap();
        for text in genes(folder.path()).texts().unwrap() {
            assert!(asset::verify_text(&text).unwrap().holds());
        }
    }

    #[test]
    fn an_id_is_found_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"genes":[{"id":"g\u00fc","n":1},{"id":"a\"b","n":2},{"id":"other","note":"a"}]}"#;
        std::fs::write(folder.path().join("genes.json"), text).unwrap();
        for (id, n) in [("gü", Some(1)), ("a\"b", Some(2)), ("a", None)] {
            let gene = genes(folder.path()).find(id).unwrap();
            assert_eq!(gene.map(|gene| gene["n"].as_i64().unwrap()), n, "{id}");
        }
    }

    #[test]
    fn a_bounded_list_keeps_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let list = Collection::at(folder.path().join("failed.json"), None, "failed_capsules");
        for n in 0..6 {
            list.push_bounded(&document(&format!("{{\"id\":\"f{n}\"}}")), 5, 3).unwrap();
        }
        list.push_bounded(&document(r#"{"id":"f5"}"#), 5, 3).unwrap();
        let ids: Vec<String> = list.texts().unwrap().iter().map(|text| id_of(text)).collect();
        assert_eq!(ids, ["f3", "f4", "f5"]);
    }
}
