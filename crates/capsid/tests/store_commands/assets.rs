//! Asset files: broken lines, places and exact bytes.

use super::*;

fn line(value: Value) -> String {
    Value::Object(store::stamped(value)).to_string()
}

/// A good line, a blank one, a torn one, bytes that are no text, and a good one.
fn broken_lines(desk: &ProgramRepo) {
    let good = line(json!({"type": "EvolutionEvent", "id": "evt_1"}));
    let mut bytes = format!("{good}\n\n{{\"type\": \"Evo\n").into_bytes();
    bytes.extend(b"{\"id\": \"\xff\"}\n");
    bytes.extend(good.as_bytes());
    desk.repo.write("log.jsonl", bytes);
}

#[test]
fn a_line_that_is_not_json_fails_alone() {
    let desk = desk();
    broken_lines(&desk);
    let ran = run(&desk, &["asset", "verify", "--json", "log.jsonl"]);
    assert_status(1, &ran);
    let told = ran.json();
    assert_eq!((&told["ok"], &told["verified"], &told["total"]), (&json!(false), &json!(2), &json!(4)));
    let assets = told["assets"].as_array().unwrap();
    let seen: Vec<_> = assets.iter().map(|asset| (&asset["place"], &asset["status"])).collect();
    let expected = [
        (json!("log.jsonl:1"), json!("verified")),
        (json!("log.jsonl:3"), json!("not_json")),
        (json!("log.jsonl:4"), json!("not_json")),
        (json!("log.jsonl:5"), json!("verified")),
    ];
    assert_eq!(seen, expected.iter().map(|(place, status)| (place, status)).collect::<Vec<_>>());
    assert!(assets[1]["reason"].as_str().is_some_and(|reason| reason.len() > 5));
    let ran = run(&desk, &["asset", "verify", "log.jsonl"]);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("not JSON  log.jsonl:3\n"), "{ran}");
    assert!(ran.stderr.contains("2 of 4 verified."), "{ran}");
}

#[test]
fn check_goes_on_after_a_line_that_is_not_json() {
    let desk = desk();
    broken_lines(&desk);
    let ran = run(&desk, &["asset", "check", "--json", "log.jsonl"]);
    assert_status(1, &ran);
    let told = ran.json();
    assert_eq!(told["assets"].as_array().unwrap().len(), 4);
    let finding = &told["assets"][1]["findings"][0];
    assert_eq!((&finding["severity"], &finding["path"]), (&json!("error"), &json!("")));
    assert!(finding["message"].as_str().unwrap().starts_with("is not JSON: "));
    let ran = run(&desk, &["asset", "check", "log.jsonl"]);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("log.jsonl:3\n  error  The document is not JSON: "), "{ran}");
}

#[test]
fn a_torn_first_line_hides_no_other_even_on_stdin() {
    let desk = desk();
    let text = format!("torn\"}}\n{}\n", line(json!({"type": "EvolutionEvent", "id": "evt_1"})));
    let ran = desk.program.run_with_input(&desk.repo, &["asset", "verify", "--json", "-"], &text);
    assert_status(1, &ran);
    assert_eq!((&ran.json()["verified"], &ran.json()["total"]), (&json!(1), &json!(2)));
}

#[test]
fn a_file_that_is_not_json_is_wrong_input() {
    let desk = desk();
    let broken = ["hello", "one\ntwo\n", "{\n  \"a\": 1,\n", "[\n{\"a\": 1},\n{\"b\": 2}\n", "\u{0}", ""];
    for text in broken {
        desk.repo.write("file.json", text);
        for action in ["verify", "check", "id", "canonical"] {
            let ran = run(&desk, &["asset", action, "file.json"]);
            assert_status(2, &ran);
            assert_eq!(ran.code(), "json_invalid", "{text:?}");
            assert!(ran.stderr.contains("`file.json`"), "{ran}");
            assert_eq!(ran.stdout, "");
        }
    }
}

#[test]
fn id_and_canonical_stop_at_a_broken_line_and_name_it() {
    let desk = desk();
    broken_lines(&desk);
    for action in ["id", "canonical"] {
        let ran = run(&desk, &["asset", action, "log.jsonl"]);
        assert_status(2, &ran);
        assert!(ran.stderr.contains("`log.jsonl:3`"), "{ran}");
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn ids_and_canonical_forms_come_as_json_with_their_places() {
    let desk = desk();
    desk.repo.write("pair.json", r#"[{"b": 1.0, "a": "x"}, {}]"#);
    let forms = good(&desk, &["asset", "canonical", "--json", "pair.json"]).json();
    assert_eq!(
        forms,
        json!([
            {"place": "pair.json:1", "canonical": r#"{"a":"x","b":1}"#},
            {"place": "pair.json:2", "canonical": "{}"},
        ])
    );
    let listed = good(&desk, &["asset", "id", "--json", "pair.json", "assets/gep/genes.json"]).json();
    let plain = good(&desk, &["asset", "id", "pair.json", "assets/gep/genes.json"]).stdout;
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 4);
    for (entry, id) in listed.iter().zip(plain.lines()) {
        assert_eq!(entry["asset_id"], id);
    }
    assert_eq!(listed[2]["place"], "assets/gep/genes.json:genes[0]");
    assert_eq!(listed[2]["asset_id"], store::list(&desk.repo, "genes")[0]["asset_id"]);
}

#[test]
fn no_byte_of_data_is_lost_on_the_way_to_a_program() {
    let desk = desk();
    let text = "{\"a\":\"del\u{7f} csi\u{9b}31m nel\u{85} rtl\u{202e}\"}";
    desk.repo.write("odd.json", text);
    assert_eq!(good(&desk, &["asset", "canonical", "odd.json"]).stdout, format!("{text}\n"));
    assert_eq!(good(&desk, &["asset", "canonical", "--json", "odd.json"]).json()[0]["canonical"], text);
}
