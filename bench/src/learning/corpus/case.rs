//! Expanding one case of a family, as `make.py` does.

use super::edit::{FileTree, TreeEdit, apply_edits};
use super::family::BugFamily;
use crate::Result;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::path::Path;

const CHEATS: [&str; 6] = ["delete", "skip", "empty", "script", "loosen", "exclude"];

/// A tree in which the check passes although the bug is still there.
pub struct CheatTree {
    pub kind: String,
    /// The command that is fooled.
    pub check: String,
    pub tree: FileTree,
}

/// One case: the trees before the bug, with it, with the fix and with a wrong fix.
pub struct BugCase {
    pub family: String,
    pub name: String,
    pub check: String,
    pub is_flaky: bool,
    pub base: FileTree,
    pub broken: FileTree,
    pub fixed: FileTree,
    pub wrong: FileTree,
    pub cheats: Vec<CheatTree>,
}

impl BugCase {
    /// The name of its log.
    pub fn log_name(&self) -> String {
        format!("{}-{}.log", self.family, self.name)
    }
}

impl BugFamily {
    /// Expands a case: `origin`, `renamed`, `near1`, `recur2` and so on.
    pub fn build_case(&self, name: &str) -> Result<BugCase> {
        let purpose = format!("{}-{name}", self.name);
        let (own, is_recurrence) = self.find_case(name).ok_or(format!("{purpose}: no such case"))?;
        let pairs: Vec<(String, String)> = parse(&own, "replace")?.unwrap_or_default();
        let inherit = |key: &str| match own.get(key) {
            Some(value) => Some(value.clone()),
            None => self.settings.get(key).map(|value| substitute(value, &pairs)),
        };
        let has_own_bug = own.contains_key("bug");
        let edits = |key: &str| -> Result<Option<Vec<TreeEdit>>> {
            if has_own_bug && ["fix", "loosen"].contains(&key) && !own.contains_key(key) {
                return Ok(None);
            }
            inherit(key).map(|value| Ok(serde_json::from_value(value)?)).transpose()
        };
        let text = |key: &str| inherit(key).and_then(|value| value.as_str().map(str::to_owned));
        let mut base: FileTree = serde_json::from_value(substitute(&json!(self.base), &pairs))?;
        let bug = edits("bug")?.ok_or(format!("{purpose}: no bug"))?;
        if is_recurrence {
            let shift = text("shift_file")
                .or_else(|| inherit("bug").and_then(|bug| bug[0]["path"].as_str().map(str::to_owned)));
            let marks = vec![("{shift_file}".to_owned(), shift.unwrap_or_default())];
            let value = own.get("edits").map(|value| substitute(value, &marks)).unwrap_or_default();
            base = apply_edits(&base, &serde_json::from_value::<Vec<TreeEdit>>(value)?, &purpose)?;
        } else {
            base.extend(parse::<FileTree>(&own, "files")?.unwrap_or_default());
        }
        let broken = apply_edits(&base, &bug, &purpose)?;
        let fixed = match edits("fix")? {
            Some(fix) => apply_edits(&broken, &fix, &purpose)?,
            None => base.clone(),
        };
        let wrong = apply_edits(&broken, &edits("wrong")?.unwrap_or_default(), &purpose)?;
        let check = text("check").ok_or(format!("{purpose}: no check"))?;
        let mut cheats = Vec::new();
        if !is_recurrence {
            let kinds: Vec<String> = match inherit("cheats") {
                Some(value) => serde_json::from_value(value)?,
                None => CHEATS.map(str::to_owned).to_vec(),
            };
            let test_file = text("test_file").unwrap_or_default();
            let marks = cheat_marks(&test_file, &text("test_name").unwrap_or_default());
            let listed = self.template["cheat"].as_array().into_iter().flatten();
            for cheat in listed {
                let kind = cheat["kind"].as_str().unwrap_or_default();
                if kinds.iter().any(|known| known == kind) {
                    let steps: Vec<TreeEdit> = serde_json::from_value(substitute(&cheat["edits"], &marks))?;
                    cheats.push(CheatTree {
                        kind: kind.to_owned(),
                        check: cheat["check"].as_str().unwrap_or(&check).to_owned(),
                        tree: apply_edits(&broken, &steps, &purpose)?,
                    });
                }
            }
            if let Some(steps) = edits("loosen")?.filter(|_| kinds.iter().any(|kind| kind == "loosen")) {
                let tree = apply_edits(&broken, &steps, &purpose)?;
                cheats.push(CheatTree { kind: "loosen".to_owned(), check: check.clone(), tree });
            }
        }
        let is_flaky = own.get("flaky").or_else(|| self.settings.get("flaky"));
        Ok(BugCase {
            family: self.name.clone(),
            name: name.to_owned(),
            check,
            is_flaky: is_flaky.and_then(Value::as_bool).unwrap_or_default(),
            base,
            broken,
            fixed,
            wrong,
            cheats,
        })
    }

    /// The members of a case, and whether it is a recurrence of the origin.
    fn find_case(&self, name: &str) -> Option<(Map<String, Value>, bool)> {
        if name == "origin" {
            return Some((Map::new(), false));
        }
        let groups = [
            (&self.settings["variants"], false),
            (&self.settings["near"], false),
            (&self.settings["recur"], true),
            (&self.template["recur"], true),
        ];
        groups.iter().find_map(|(group, is_recurrence)| {
            let found = group.as_array()?.iter().find(|entry| entry["name"] == name)?;
            Some((found.as_object()?.clone(), *is_recurrence))
        })
    }
}

fn cheat_marks(test_file: &str, test_name: &str) -> Vec<(String, String)> {
    let part =
        |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).unwrap_or_default().to_owned();
    let path = Path::new(test_file);
    let marks = [
        ("{test_file}", test_file.to_owned()),
        ("{test_base}", part(path.file_name())),
        ("{test_stem}", part(path.file_stem())),
        ("{test_name}", test_name.to_owned()),
    ];
    marks.map(|(mark, text)| (mark.to_owned(), text)).to_vec()
}

fn parse<T: DeserializeOwned>(own: &Map<String, Value>, key: &str) -> Result<Option<T>> {
    own.get(key).map(|value| Ok(serde_json::from_value(value.clone())?)).transpose()
}

/// Replaces plain text in every string of a value, pair after pair.
fn substitute(value: &Value, pairs: &[(String, String)]) -> Value {
    let replace =
        |text: &str| pairs.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old.as_str(), new));
    match value {
        Value::String(text) => Value::String(replace(text)),
        Value::Array(items) => items.iter().map(|item| substitute(item, pairs)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, item)| (replace(key), substitute(item, pairs))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogCorpus, load_families};
    use super::*;
    use capsid_model::hash::sha256_hex;

    /// The hash by which `labels.json` names a tree.
    fn hash_tree(tree: &FileTree) -> String {
        let mut bytes = Vec::new();
        for (path, content) in tree {
            for part in [path, content] {
                bytes.extend_from_slice(part.as_bytes());
                bytes.push(0);
            }
        }
        let mut hash = sha256_hex(&bytes);
        hash.truncate(16);
        hash
    }

    #[test]
    fn every_tree_is_the_one_that_the_labels_name() -> Result<()> {
        let corpus = LogCorpus::load(&super::super::corpus_folder())?;
        let families = load_families()?;
        let mut compared = 0;
        for log in corpus.logs.iter().filter(|log| log.live) {
            let family = families.iter().find(|family| Some(&family.name) == log.bug_family.as_ref());
            let case = family.unwrap().build_case(log.case.as_deref().unwrap())?;
            let mut trees = vec![
                ("base".to_owned(), &case.base),
                ("broken".to_owned(), &case.broken),
                ("fixed".to_owned(), &case.fixed),
                ("wrong".to_owned(), &case.wrong),
            ];
            trees.extend(case.cheats.iter().map(|cheat| (format!("cheat-{}", cheat.kind), &cheat.tree)));
            assert_eq!(trees.len(), log.trees.len(), "{}", log.file);
            for (name, tree) in trees {
                assert_eq!(Some(&hash_tree(tree)), log.trees.get(&name), "{} {name}", log.file);
                compared += 1;
            }
        }
        assert!(compared > 1_000);
        Ok(())
    }
}
