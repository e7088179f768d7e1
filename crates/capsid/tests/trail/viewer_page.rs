//! The page of the Explorer without a browser: it asks the local viewer for its files and hands them to the verifier that
//! the page runs.

use capsid_model::{Value, json};
use capsid_testkit::served_program::ServedProgram;
use capsid_verdict_wasm::VerdictModule;
use std::collections::BTreeMap;

pub struct ViewerPage {
    module: VerdictModule,
    hashes: BTreeMap<String, Vec<Value>>,
    keys: Value,
    unreadable: Vec<(String, String)>,
}

impl ViewerPage {
    /// Reads everything that a viewer serves.
    pub fn read(viewer: &ServedProgram) -> Self {
        let get = |name: &str| viewer.get(&format!("/local/trail/{name}"));
        let mut page = Self {
            module: VerdictModule::default(),
            hashes: BTreeMap::new(),
            keys: get("keys.json").json(),
            unreadable: Vec::new(),
        };
        let index_text = get("index.json");
        let index = index_text.json();
        assert_eq!(page.call(&index_text.body, VerdictModule::set_index)[0], Value::Null);
        if page.keys["place"] == "home" {
            assert_eq!(page.call(&get("home.json").body, VerdictModule::set_home), Value::Null);
        }
        let bundled =
            index["keys"].as_object().into_iter().flatten().map(|(_, hex)| json!([hex, "bundled", null]));
        let keys: Vec<Value> = bundled.chain(page.keys["keys"].as_array().unwrap().iter().cloned()).collect();
        page.call(Value::from(keys).to_string().as_bytes(), VerdictModule::set_keys);
        let ids =
            index["chains"].as_array().unwrap().iter().map(|chain| chain["id"].as_str().unwrap().to_owned());
        let meta = (!index["meta"].is_null()).then(|| "meta".to_owned());
        for (number, id) in ids.chain(meta).enumerate() {
            let file = get(&format!("{id}.json"));
            assert_eq!(file.status, 200, "{id}");
            page.read_chain(&id, file.text(), u32::try_from(number).unwrap());
        }
        page
    }

    fn read_chain(&mut self, id: &str, text: &str, number: u32) {
        let (header, records) = text.split_once(", \"capsules\": [").unwrap();
        let rows = self.call(records.strip_suffix("]}").unwrap().as_bytes(), VerdictModule::check);
        let hashes = rows.as_array().unwrap().iter().map(|row| row[2][2].clone());
        self.hashes.insert(id.to_owned(), hashes.collect());
        self.call(rows.to_string().as_bytes(), |module| module.fold(number));
        let ended = json!([id, format!("{header}}}")]).to_string();
        self.call(ended.as_bytes(), |module| module.end_fold(number));
    }

    fn call(&mut self, input: &[u8], method: impl FnOnce(&mut VerdictModule)) -> Value {
        self.module.resize_input(input.len()).copy_from_slice(input);
        method(&mut self.module);
        let output = self.module.output();
        if output.is_empty() { Value::Null } else { serde_json::from_slice(output).unwrap_or(Value::Null) }
    }

    /// The verdict on everything, or on the chain of an id.
    pub fn verdict(&mut self, only: Option<&str>) -> Value {
        let wanted = self.call(b"", VerdictModule::wanted);
        let mut at = serde_json::Map::new();
        for (id, hashes) in &self.hashes {
            let lengths = wanted[id].as_array().into_iter().flatten().filter_map(Value::as_u64);
            let known = lengths.filter_map(|length| {
                let hash = hashes.get(usize::try_from(length).ok()?.checked_sub(1)?)?;
                Some((length.to_string(), hash.clone()))
            });
            at.insert(id.clone(), Value::Object(known.collect()));
        }
        let require = if self.keys["place"] == "home" { "own" } else { "any" };
        let question =
            json!({ "require": require, "only": only, "at": at, "unreadable_files": self.unreadable });
        self.call(question.to_string().as_bytes(), VerdictModule::evaluate)
    }
}

/// What decides whether two verdicts are the same: the level, and what was found of which chain.
pub fn essence(verdict: &Value) -> (String, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let findings = verdict["findings"].as_array().unwrap().iter();
    let mut found: Vec<String> = findings
        .map(|one| {
            format!(
                "{} {} {} {}",
                text(&one["code"]),
                text(&one["level"]),
                text(&one["chain"]),
                one["position"]
            )
        })
        .collect();
    found.sort();
    (text(&verdict["level"]), found)
}
