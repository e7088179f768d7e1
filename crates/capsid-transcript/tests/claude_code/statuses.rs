//! How calls ended, who allowed them, and what began them.

use super::build::*;
use capsid_model::{Value, json};
use capsid_transcript::{Action, ActionKind, OutcomeStatus};

fn refused(content: &str) -> Action {
    let block = json!({"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": true});
    let mode = line("user", "m", json!({"permissionMode": "default", "message": {"content": "go"}}));
    let lines = [mode, call("a", "t", "Edit", json!({"file_path": "/f"})), user("r", json!([block]))];
    read_lines(&lines).get("a:0").clone()
}

#[test]
fn authority_of_a_call_that_the_user_rejected_is_escalated_with_the_decision() {
    let action =
        refused("The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it");
    assert_eq!(action.status, OutcomeStatus::Blocked);
    assert_eq!((action.authority.kind, action.authority.decision.as_str()), ("escalated", "rejected"));
}

#[test]
fn authority_of_a_call_that_a_rule_denied_is_policy() {
    let action = refused("Permission to use Edit with command rm has been denied.");
    assert_eq!(action.status, OutcomeStatus::Blocked);
    assert_eq!(action.authority.kind, "policy");
    let rule = "permission_mode=default; rule=Permission to use Edit with command rm has been denied.";
    assert_eq!(action.authority.policy_reference, rule);
    assert_eq!(refused("File has not been read yet.").status, OutcomeStatus::Failure);
}

#[test]
fn status_of_an_interrupted_command_is_failure_and_of_a_call_without_a_result_unknown() {
    let bash = |payload: Value| {
        let lines =
            [call("a", "t", "Bash", json!({"command": "x"})), result("r", "t", json!("raw"), payload)];
        read_lines(&lines).get("a:0").status
    };
    assert_eq!(bash(json!({"stdout": "", "stderr": "", "interrupted": true})), OutcomeStatus::Failure);
    assert_eq!(bash(json!({"stdout": "", "stderr": ""})), OutcomeStatus::Success);
    let lines = [call("a", "t", "Bash", json!({"command": "x"})), user("u", json!("and?"))];
    assert_eq!(read_lines(&lines).get("a:0").status, OutcomeStatus::Pending);
}

#[test]
fn type_of_a_delegated_subagent_is_agent_and_its_records_are_triggered_by_an_agent() {
    let mut side = call("b", "t2", "Bash", json!({"command": "x"}));
    side["isSidechain"] = true.into();
    let lines = [user("u", json!("go")), call("a", "t", "Task", json!({"prompt": "look"})), side];
    let read = read_lines(&lines);
    assert_eq!((read.get("a:0").kind, read.get("a:0").trigger.name()), (ActionKind::Agent, "user_request"));
    assert_eq!((read.get("b:0").kind, read.get("b:0").trigger.name()), (ActionKind::Tool, "agent"));
}
