//! What was said and done, for whoever asks for it: without secrets and personal data, and cut.

use super::attributes::AttributeList;
use super::names;
use super::time::call_of;
use capsid_model::exact::{ExactJson, canonical};
use capsid_model::redact::{RedactProfile, redact, redact_exact};
use serde_json::{Value, json};

/// No text is longer, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// Adds the texts of a record.
pub(super) fn add_content(content: &ExactJson, kind: &str, attributes: &mut AttributeList) {
    match kind {
        "tool" | "agent" => {
            let member = |name: &str| call_of(content).and_then(|call| call.get(name));
            add_value(names::CALL_ARGUMENTS, member("arguments"), attributes);
            add_value(names::CALL_RESULT, member("result"), attributes);
        }
        "chat" => {
            let request = content.at(&["trigger", "request"]).and_then(ExactJson::as_str);
            add_message(names::INPUT_MESSAGES, json!({"role": "user"}), request, attributes);
            let answer = |name: &str| {
                let text = content.at(&["outcome", name]).and_then(ExactJson::as_str);
                text.filter(|text| !text.is_empty())
            };
            let answer = answer("result").or_else(|| answer("summary"));
            let reason = content.at(&["context", "environment", "stop_reason"]).and_then(ExactJson::as_str);
            let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or("unknown");
            let message = json!({"role": "assistant", "finish_reason": reason});
            add_message(names::OUTPUT_MESSAGES, message, answer, attributes);
        }
        _ => {}
    }
}

fn add_message(name: &str, mut message: Value, text: Option<&str>, attributes: &mut AttributeList) {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    let text = shortened(&redact(text, RedactProfile::Publish));
    message["parts"] = json!([{"type": "text", "content": text}]);
    attributes.text(name, &json!([message]).to_string());
}

fn add_value(name: &str, value: Option<&ExactJson>, attributes: &mut AttributeList) {
    let Some(value) = value.filter(|value| !value.is_null()) else { return };
    let mut value = value.clone();
    redact_exact(&mut value, RedactProfile::Publish, "", &mut |_, _| {});
    let text = match &value {
        ExactJson::String(text) => shortened(text),
        other => shortened(&canonical(other)),
    };
    attributes.text(name, &text);
}

fn shortened(text: &str) -> String {
    match text.len() > MAX_TEXT {
        true => text[..text.floor_char_boundary(MAX_TEXT)].to_owned(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::exact::parse;

    fn attributes(text: &str, kind: &str) -> String {
        let mut attributes = AttributeList::default();
        add_content(&parse(text).unwrap(), kind, &mut attributes);
        attributes.into_value().to_string()
    }

    #[test]
    fn texts_are_redacted_and_cut() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let long = "ü".repeat(MAX_TEXT);
        let record = format!(
            r#"{{"execution":{{"tool_calls":[{{"arguments":{{"command":"push {token} as ada@corp.io"}},"result":"{long}"}}]}}}}"#
        );
        let shown = attributes(&record, "tool");
        assert!(shown.contains("push [REDACTED]") && !shown.contains(&token), "{shown}");
        assert!(!shown.contains("ada@corp.io"));
        assert!(shown.matches('ü').count() == MAX_TEXT / 2);
        let chat = r#"{"trigger":{"request":"hi"},"outcome":{"result":"","summary":"hello"}}"#;
        let shown = attributes(chat, "chat");
        assert!(
            shown.contains(names::INPUT_MESSAGES) && shown.contains(r#"\"content\":\"hello\""#),
            "{shown}"
        );
    }
}
