//! The module comes to every verdict of the manipulation table and of the second list, called as the page calls it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use capsid_testkit::bundle_cases::{files_of_case, load_second_list, load_table};
use capsid_verdict_wasm::VerdictModule;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The files of a bundle, parsed.
type BundleFiles = BTreeMap<String, Value>;

/// The files of a case; none where one of them cannot be parsed as a whole, which the page reads piece by piece.
fn parse_files(table: &Value, case: &Value) -> Option<BundleFiles> {
    let parse = |text: &str| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
    files_of_case(table, case).into_iter().map(|(name, text)| Some((name, parse(&text)?))).collect()
}

fn call(module: &mut VerdictModule, input: &str, act: impl FnOnce(&mut VerdictModule)) -> Value {
    module.resize_input(input.len()).copy_from_slice(input.as_bytes());
    act(module);
    serde_json::from_slice(module.output()).unwrap_or_default()
}

/// Reads one chain file as the page does: piece, fold, end.
fn read_chain(module: &mut VerdictModule, id: &str, file: &Value) {
    let mut header = file.clone();
    let records = header.as_object_mut().unwrap().remove("capsules").unwrap_or_default();
    let texts: Vec<String> = records.as_array().into_iter().flatten().map(Value::to_string).collect();
    let rows = call(module, &texts.join(","), VerdictModule::check).to_string();
    call(module, &rows, |module| module.fold(0));
    call(module, &json!([id, header.to_string()]).to_string(), |module| module.end_fold(0));
}

/// The verdict for a reader with these options of the table.
fn verdict(files: &BundleFiles, reader: &Value, noted: Option<&str>) -> Value {
    let mut module = VerdictModule::default();
    let index = &call(&mut module, &files["index.json"].to_string(), VerdictModule::set_index)[1];
    if let Some(heads) = files.get("heads.json") {
        call(&mut module, &heads.to_string(), VerdictModule::set_heads);
    }
    let named = |list: &Value, origin: &str| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(|hex| json!([hex, origin, null])).collect()
    };
    let keys =
        [named(&index["keys"], "bundled"), named(&reader["own"], "own"), named(&reader["pinned"], "pinned")];
    call(&mut module, &json!(keys.concat()).to_string(), VerdictModule::set_keys);
    let mut ids: Vec<&str> =
        index["chains"].as_array().unwrap().iter().filter_map(|chain| chain["id"].as_str()).collect();
    if files.contains_key("meta.json") || index["meta"].is_object() {
        ids.push("meta");
    }
    let file_of = |id: &str| files.get(&format!("{id}.json"));
    let (there, missing): (Vec<&str>, Vec<&str>) = ids.iter().partition(|id| file_of(id).is_some());
    there.iter().for_each(|id| read_chain(&mut module, id, file_of(id).unwrap()));
    let record = |id: &str, number: usize| {
        file_of(id).and_then(|file| file["capsules"].get(number)).cloned().unwrap_or_default()
    };
    // The lengths at which a hash is needed, and the places where the time goes back, are looked up by the page.
    let wanted = call(&mut module, "", VerdictModule::wanted);
    let (mut at, mut time_breaks) = (BTreeMap::new(), BTreeMap::new());
    for id in &there {
        let lengths = wanted[id].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let hashes: BTreeMap<u64, String> = lengths
            .filter_map(|length| {
                let hash = record(id, usize::try_from(length.checked_sub(1)?).ok()?)["hash"].clone();
                Some((length, hash.as_str()?.to_owned()))
            })
            .collect();
        at.insert(*id, hashes);
        let times: Vec<String> =
            (0..).map_while(|number| Some(record(id, number)["signed_at"].as_str()?.to_owned())).collect();
        // All claimed times of the cases are of one day, and the hour tells them apart.
        let is_back = |place: &usize| times[*place][..13] < times[place - 1][..13];
        time_breaks.insert(*id, (1..times.len()).filter(is_back).collect::<Vec<usize>>());
    }
    let is_listed = |file: &str| {
        ["index.json", "heads.json", "meta.json"].contains(&file)
            || ids.iter().any(|id| file == format!("{id}.json"))
    };
    let unlisted: Vec<&String> = files.keys().filter(|file| !is_listed(file)).collect();
    let require = match () {
        () if reader["own"].is_array() => "own",
        () if reader["pinned"].is_array() => "pinned",
        () => "any",
    };
    let noted = noted.and_then(|head| head.split_once(':'));
    let noted: Vec<Value> =
        noted.map(|(count, hash)| json!([count.parse::<u64>().unwrap(), hash])).into_iter().collect();
    let question = json!({
        "require": require, "is_explicit": reader["require"].is_string(), "missing": missing, "at": at,
        "time_breaks": time_breaks, "noted": noted, "unlisted": unlisted,
    });
    call(&mut module, &question.to_string(), VerdictModule::evaluate)
}

/// How many verdicts were compared, and those that differ.
fn compare(table: &Value, cases: &Value) -> (usize, Vec<String>) {
    let (mut verdicts, mut mismatches) = (0, Vec::new());
    for case in cases.as_array().unwrap() {
        let Some(files) = parse_files(table, case) else { continue };
        for (policy, reader) in table["policies"].as_object().unwrap() {
            let verdict = verdict(&files, reader, case["meta_head"].as_str());
            let first = &verdict["findings"][0];
            let actual =
                json!([verdict["level"], verdict["exit"], first["code"], first["chain"], first["position"]]);
            verdicts += 1;
            let codes = verdict["findings"].as_array().unwrap().iter().map(|one| &one["code"]);
            let has = case["has"].is_null() || codes.into_iter().any(|code| *code == case["has"]);
            if actual != case["expected"][policy] || !has {
                let expected = &case["expected"][policy];
                mismatches
                    .push(format!("{}, {policy}\n  expected {expected}\n  actual   {actual}", case["name"]));
            }
        }
    }
    (verdicts, mismatches)
}

#[test]
fn the_module_gives_every_verdict_of_the_table() {
    let table = load_table();
    let (verdicts, mismatches) = compare(&table, &table["cases"]);
    assert!(verdicts >= 400, "{verdicts}");
    assert!(mismatches.is_empty(), "{} of {verdicts} differ\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn the_module_gives_every_verdict_of_the_second_list() {
    let table = load_table();
    let (verdicts, mismatches) = compare(&table, &load_second_list()["cases"]);
    assert!(mismatches.is_empty(), "{} of {verdicts} differ\n{}", mismatches.len(), mismatches.join("\n"));
}
