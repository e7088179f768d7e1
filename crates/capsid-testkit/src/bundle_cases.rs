//! The cases of `web/tests/vectors/manipulations.json` and `tests/peers/bundle_cases.json`: edits of one honest bundle.

use capsid_model::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The table of manipulations: the files of the honest bundle, the readers and the cases.
pub fn load_table() -> Value {
    read("web/tests/vectors/manipulations.json")
}

/// The second list of cases, which are edits of the same bundle.
pub fn load_second_list() -> Value {
    read("tests/peers/bundle_cases.json")
}

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The texts of the files of a case.
pub fn files_of_case(table: &Value, case: &Value) -> BTreeMap<String, String> {
    let mut files = table["files"].as_object().unwrap().clone();
    let mut texts = BTreeMap::new();
    for edit in case["edits"].as_array().unwrap() {
        let file = edit["file"].as_str().unwrap();
        if edit["remove"] == true {
            files.remove(file);
        } else if let Some(text) = edit["text"].as_str() {
            texts.insert(file.to_owned(), text.to_owned());
        } else if let Some(source) = edit["copy"].as_str() {
            files.insert(file.to_owned(), table["files"][source].clone());
        } else {
            change(files.get_mut(file).unwrap(), edit);
        }
    }
    let documents = files.into_iter().map(|(name, value)| (name, value.to_string()));
    documents.chain(texts).collect()
}

fn change(document: &mut Value, edit: &Value) {
    let at = edit["at"].as_array().unwrap();
    let (last, before) = at.split_last().unwrap();
    let step = |value, name: &Value| -> &mut Value {
        let value: &mut Value = value;
        match name.as_u64() {
            Some(number) => &mut value[usize::try_from(number).unwrap()],
            None => &mut value[name.as_str().unwrap()],
        }
    };
    let parent = before.iter().fold(document, step);
    if let Some(order) = edit["order"].as_array() {
        let list = step(parent, last);
        *list =
            order.iter().map(|from| list[usize::try_from(from.as_u64().unwrap()).unwrap()].clone()).collect();
    } else if let Some(value) = edit.get("value") {
        *step(parent, last) = value.clone();
    } else {
        parent.as_object_mut().unwrap().remove(last.as_str().unwrap());
    }
}

/// Writes the files of a case into a folder.
pub fn write_case(table: &Value, case: &Value, folder: &Path) {
    for (name, text) in files_of_case(table, case) {
        std::fs::write(folder.join(name), text).unwrap();
    }
}
