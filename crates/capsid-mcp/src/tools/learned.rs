//! What a record says about the problem it solved: `problem`, `proof`, `title` and `explanation`.

use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Value, json};

/// The longest explanation in a row.
const ROW_TEXT: usize = 400;

/// Adds those of the four members to an answer that a record has, whole.
pub(crate) fn add_members(answer: &mut Value, record: &Object) {
    for name in ["problem", "proof", "title", "explanation"] {
        if let Some(value) = record.get(name).filter(|value| !value.is_null()) {
            answer[name] = value.clone();
        }
    }
}

/// Adds them to a row of a list: of the problem what names it, of the proof what it is worth.
pub(crate) fn add_to_row(row: &mut Value, record: &Object) {
    for name in ["title", "explanation"] {
        if let Some(text) = record.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()) {
            row[name] = inert_line(cut(text, ROW_TEXT)).into();
        }
    }
    if let Some(Value::Object(problem)) = record.get("problem") {
        let member = |name: &str| problem.get(name).cloned().unwrap_or_default();
        let message_id = problem.get("ids").and_then(|ids| ids.get("message"));
        row["problem"] = json!({
            "tool": member("tool"), "code": member("code"), "class": member("class"), "text": member("text"),
            "place": member("place"), "message_id": message_id,
        });
    }
    if let Some(Value::Object(proof)) = record.get("proof") {
        row["proof"] = json!({"grade": proof.get("grade"), "command": proof.get("command")});
    }
}

/// The object `meta` of an event, which holds them there.
pub(crate) fn meta(event: &Object) -> Option<&Object> {
    event.get("meta").and_then(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_row_names_the_problem_and_the_grade_and_an_answer_has_all() {
        let record = object(json!({
            "title": "Parse the id\u{1b}[31m", "explanation": "",
            "problem": {"tool": "tsc", "code": "TS2322", "text": "x", "ids": {"message": "ab"}, "also": ["c"]},
            "proof": {"grade": "fail_to_pass", "command": "npm test", "runs": [{"run": "before"}]},
        }));
        let mut row = json!({"id": "c"});
        add_to_row(&mut row, &record);
        assert_eq!(row["title"], "Parse the id\\u{1b}[31m");
        assert_eq!(
            (&row["problem"]["code"], &row["problem"]["message_id"]),
            (&json!("TS2322"), &json!("ab"))
        );
        assert_eq!(row["proof"], json!({"grade": "fail_to_pass", "command": "npm test"}));
        assert!(row.get("explanation").is_none());
        let mut answer = json!({});
        add_members(&mut answer, &record);
        assert_eq!(answer["proof"]["runs"][0]["run"], "before");
        let mut old = json!({"id": "c"});
        add_to_row(&mut old, &object(json!({"id": "c", "problem": 7})));
        assert_eq!(old, json!({"id": "c"}), "an old record has none of them");
    }
}
