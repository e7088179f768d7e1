//! From an action to the six sections that are sealed.

use capsid_model::exact::{Fields, Json, spaced};
use capsid_model::fields;
use capsid_seal::Record;
use capsid_transcript::{Action, Tool};

/// The most characters of a result; what is beyond is counted and left out.
const RESULT_LIMIT: usize = 200_000;

/// What a failed call says of itself; the words are those of its result.
const CALL_FAILED: &str = "tool reported an error";

/// The record of an action.
pub fn record_of(action: Action, tool: Tool, session: &str, id: String) -> Record {
    let agent = if action.agent_id.is_empty() { tool.name() } else { &action.agent_id };
    Record {
        id,
        kind: action.kind.name().to_owned(),
        domain: tool.name().to_owned(),
        parent_id: None,
        trigger: fields! {
            "type": "user_request",
            "source": session,
            "request": action.prompt.as_str(),
        },
        context: fields! {
            "agent_id": agent,
            "session_id": session,
            "environment": action.environment.clone(),
        },
        reasoning: fields! {
            "analysis": action.analysis.as_str(),
            "reasoning": action.reasoning.as_str(),
            "model": action.model.as_str(),
        },
        authority: fields! {
            "type": action.authority.kind,
            "policy_reference": action.authority.policy_reference.as_str(),
        },
        outcome: outcome_of(&action),
        execution: execution_of(action),
    }
}

fn outcome_of(action: &Action) -> Fields {
    let mut outcome = fields! {
        "status": if action.failed { "failure" } else { "success" },
        "summary": action.summary.as_str(),
        "side_effects": action.side_effects.clone(),
    };
    match &action.result {
        Json::Null => {}
        Json::String(text) if text.is_empty() => {}
        Json::String(text) => {
            outcome.insert("result".to_owned(), Json::String(text.clone()));
        }
        payload => {
            outcome.insert("result".to_owned(), capped(payload.clone()));
        }
    }
    let said = action.call.as_ref().map(|call| &call.result).filter(|result| !result.is_null());
    if let Some(result) = said.filter(|_| action.failed) {
        outcome.insert("error".to_owned(), capped(result.clone()));
    }
    outcome
}

fn execution_of(action: Action) -> Fields {
    let failed = action.failed;
    let call = action.call.map(|call| {
        Json::Object(fields! {
            "tool": call.tool,
            "arguments": call.arguments,
            "result": capped(call.result),
            "success": !failed,
            "duration_ms": call.duration_ms,
            "error": failed.then_some(CALL_FAILED),
        })
    });
    fields! {
        "tool_calls": call.into_iter().collect::<Vec<Json>>(),
        "duration_ms": 0_i64,
        "resources_used": action.usage,
    }
}

/// A value within the limit: a long text is cut, anything else becomes a cut text of itself.
fn capped(value: Json) -> Json {
    match value {
        Json::String(text) => Json::String(cut(text)),
        Json::Array(_) | Json::Object(_) => {
            let text = spaced(&value);
            if is_short(&text) { value } else { Json::Object(fields! {"_truncated": cut(text)}) }
        }
        small => small,
    }
}

fn cut(text: String) -> String {
    if is_short(&text) {
        return text;
    }
    match text.char_indices().nth(RESULT_LIMIT) {
        None => text,
        Some((end, _)) => format!("{}...<+{}b>", &text[..end], text[end..].chars().count()),
    }
}

/// A text of that many bytes has no more characters; most results need not be counted.
fn is_short(text: &str) -> bool {
    text.len() <= RESULT_LIMIT || text.chars().nth(RESULT_LIMIT).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_transcript::{Call, Kind};

    fn tool_action(result: Json, failed: bool) -> Action {
        let call = Call { tool: "Bash".to_owned(), result, ..Call::default() };
        Action { kind: Kind::Tool, call: Some(call), failed, ..Action::default() }
    }

    #[test]
    fn a_failed_call_carries_its_words_as_the_error() {
        let record =
            record_of(tool_action("no such file".into(), true), Tool::ClaudeCode, "s1", "i".to_owned());
        assert_eq!(record.outcome.get("error"), Some(&Json::from("no such file")));
        assert_eq!(record.outcome.get("status"), Some(&Json::from("failure")));
        let calls = record.execution.get("tool_calls").and_then(Json::as_array).unwrap();
        assert_eq!(calls[0].text("error"), Some(CALL_FAILED));
        assert_eq!(record.context.get("agent_id"), Some(&Json::from("claude-code")));
    }

    #[test]
    fn long_results_are_cut_by_characters_and_say_by_how_many() {
        let text = "ü".repeat(RESULT_LIMIT + 7);
        assert!(cut(text).ends_with("ü...<+7b>"));
        let exact = "ü".repeat(RESULT_LIMIT);
        assert_eq!(cut(exact.clone()), exact);
        let list = Json::Array(vec![Json::from("x".repeat(RESULT_LIMIT))]);
        let Json::Object(fields) = capped(list) else { panic!("a long list is cut") };
        assert!(fields["_truncated"].as_str().unwrap().ends_with("...<+4b>"));
    }
}
