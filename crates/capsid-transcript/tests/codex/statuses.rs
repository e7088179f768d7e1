//! How calls ended, and who allowed them.

use super::build::*;
use capsid_model::{Value, json};
use capsid_transcript::{Action, ActionKind, OutcomeStatus};

fn shell(call_more: Value, result: Value) -> Action {
    let mut payload = json!({"type": "function_call", "name": "shell", "call_id": "c",
        "arguments": "{\"command\":[\"make\"]}"});
    payload.as_object_mut().unwrap().extend(call_more.as_object().unwrap().clone());
    read_lines(&[item(payload), output("c", result)]).get("c").clone()
}

fn under(policy: Value, arguments: Value) -> Action {
    let context = line("turn_context", json!({"model": "m", "approval_policy": policy}));
    read_lines(&[context, call("c", "shell", arguments), output("c", json!("x"))]).get("c").clone()
}

#[test]
fn codex_policies_in_any_case_objects_and_unknown_ones_are_policy() {
    for policy in ["untrusted", "Untrusted", "On-Request", "on_request", "reject-all", "granular"] {
        assert_eq!(under(json!(policy), json!({})).authority.kind, "policy", "{policy}");
    }
    assert_eq!(under(json!({"reject": {"rules": true}}), json!({})).authority.kind, "policy");
    for policy in ["never", "Never", "on-failure"] {
        assert_eq!(under(json!(policy), json!({})).authority.kind, "autonomous", "{policy}");
    }
}

#[test]
fn codex_exit_code_as_text_success_as_text_a_head_without_time_and_a_failed_call_are_failures() {
    for result in [
        json!({"output": "x", "metadata": {"exit_code": "1"}}),
        json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":\"1\"}}"),
        json!({"content": "x", "success": "false"}),
        json!("Exit code: 1\nOutput:\nx"),
        json!({"output": "x", "status": "Failed"}),
    ] {
        assert_eq!(shell(json!({}), result.clone()).status, OutcomeStatus::Failure, "{result}");
    }
    let failed = shell(json!({"status": "failed"}), json!("x"));
    assert_eq!((failed.status, failed.summary.as_str()), (OutcomeStatus::Failure, "shell: make (failed)"));
    assert_eq!(failed.environment.get("tool_status"), Some(&"failed".into()));
}

#[test]
fn codex_output_without_a_status_is_a_success_that_says_so_and_no_output_is_unknown() {
    let action = shell(json!({}), json!("plain"));
    assert_eq!(action.status, OutcomeStatus::Success);
    assert_eq!(action.environment.get("status_source"), Some(&"output".into()));
    let read = read_lines(&[call("c", "shell", json!({"command": ["x"]})), said("later")]);
    assert_eq!(read.get("c").status, OutcomeStatus::Pending);
}

#[test]
fn authority_of_a_call_that_the_user_rejected_or_that_ran_with_more_rights_is_escalated() {
    let action = shell(json!({}), json!("exec command rejected by user"));
    assert_eq!(action.status, OutcomeStatus::Blocked);
    assert_eq!((action.authority.kind, action.authority.decision.as_str()), ("escalated", "rejected"));
    let action = under(json!("on-request"), json!({"command": ["x"], "with_escalated_permissions": true}));
    assert_eq!(action.authority.kind, "escalated");
    assert_eq!(action.authority.policy_reference, "approval_policy=on-request");
}

#[test]
fn status_of_an_aborted_turn_is_failure_and_its_trigger_is_the_system() {
    let read = read_lines(&[event(json!({"type": "turn_aborted", "reason": "interrupted"}))]);
    let action = read.get("aborted:0");
    assert_eq!((action.status, action.trigger.name()), (OutcomeStatus::Failure, "system"));
}

#[test]
fn codex_work_that_is_handed_to_a_subagent_is_an_action_of_the_type_agent() {
    let read = read_lines(&[
        call("c1", "spawn_agent", json!({"message": "find the parser", "agent_type": "explorer"})),
        output("c1", json!("agent_id: 7")),
        call("c2", "spawn_agent", json!({"message": "go"})),
        output("c2", json!({"output": "no", "success": false})),
        call("c3", "wait", json!({"ids": ["7"]})),
        output("c3", json!("done")),
    ]);
    assert_eq!(read.get("c1").kind, ActionKind::Agent);
    assert_eq!(read.get("c1").side_effects, ["delegated to explorer subagent"]);
    // One that did not begin changed nothing.
    assert_eq!((read.get("c2").kind, read.get("c2").has_failed()), (ActionKind::Agent, true));
    assert!(read.get("c2").side_effects.is_empty());
    assert_eq!(read.get("c3").kind, ActionKind::Tool);
}
