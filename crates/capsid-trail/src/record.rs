//! From an action to the six sections that are sealed.

use crate::normalize::normalize_action;
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;
use capsid_seal::ActionRecord;
use capsid_transcript::{Action, OutcomeStatus, Tool};

/// The error text of a failed call, taken from its result.
const CALL_FAILED: &str = "tool reported an error";

/// The record of an action.
pub fn record_of(mut action: Action, tool: Tool, session: &str, id: String) -> ActionRecord {
    normalize_action(&mut action);
    let agent = if action.agent_id.is_empty() { tool.name() } else { &action.agent_id };
    ActionRecord {
        id,
        kind: action.kind.name().to_owned(),
        domain: tool.name().to_owned(),
        parent_id: None,
        trigger: fields! {
            "type": action.trigger.name(),
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
        authority: authority_of(&action),
        outcome: outcome_of(&action),
        execution: execution_of(action),
    }
}

fn authority_of(action: &Action) -> ExactFields {
    let authority = &action.authority;
    let mut fields = fields! {
        "type": authority.kind,
        "policy_reference": authority.policy_reference.as_str(),
    };
    if !authority.decision.is_empty() {
        fields.insert("decision".to_owned(), authority.decision.as_str().into());
    }
    fields
}

fn outcome_of(action: &Action) -> ExactFields {
    let mut outcome = fields! {
        "status": action.status.name(),
        "summary": action.summary.as_str(),
        "side_effects": action.side_effects.clone(),
    };
    // The readers have cut long results already; a second cut would change them.
    if !action.result.is_null() && action.result.as_str() != Some("") {
        outcome.insert("result".to_owned(), action.result.clone());
    }
    let output = action.call.as_ref().map(|call| &call.result).filter(|result| !result.is_null());
    if let Some(result) = output.filter(|_| action.has_failed()) {
        outcome.insert("error".to_owned(), result.clone());
    }
    outcome
}

fn execution_of(action: Action) -> ExactFields {
    let (failed, is_done) = (action.has_failed(), action.status == OutcomeStatus::Success);
    let duration_ms = action.call.as_ref().and_then(|call| call.duration_ms);
    let call = action.call.map(|call| {
        ExactJson::Object(fields! {
            "tool": call.tool,
            "arguments": call.arguments,
            "result": call.result,
            "success": is_done,
            "duration_ms": call.duration_ms,
            "error": failed.then_some(CALL_FAILED),
        })
    });
    let mut execution = fields! { "tool_calls": call.into_iter().collect::<Vec<ExactJson>>() };
    // A time that is not known is absent, and never 0.
    execution.extend(duration_ms.map(|duration| ("duration_ms".to_owned(), duration.into())));
    execution.insert("resources_used".to_owned(), action.usage.into());
    execution
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_transcript::{ActionKind, ToolInvocation};

    fn tool_action(result: ExactJson, status: OutcomeStatus) -> Action {
        let call = ToolInvocation { tool: "Bash".to_owned(), result, ..ToolInvocation::default() };
        Action { kind: ActionKind::Tool, call: Some(call), status, ..Action::default() }
    }

    #[test]
    fn a_failed_call_carries_its_words_as_the_error() {
        let record = record_of(
            tool_action("no such file".into(), OutcomeStatus::Failure),
            Tool::ClaudeCode,
            "s1",
            "i".to_owned(),
        );
        assert_eq!(record.outcome.get("error"), Some(&ExactJson::from("no such file")));
        assert_eq!(record.outcome.get("status"), Some(&ExactJson::from("failure")));
        let calls = record.execution.get("tool_calls").and_then(ExactJson::as_array).unwrap();
        assert_eq!(calls[0].text("error"), Some(CALL_FAILED));
        assert_eq!(record.context.get("agent_id"), Some(&ExactJson::from("claude-code")));
    }
}
