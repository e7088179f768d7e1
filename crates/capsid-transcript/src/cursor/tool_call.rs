//! A call of a tool, as a bubble records it.

use crate::Authority;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::fields;

const FAILED: [&str; 4] = ["error", "failed", "cancelled", "aborted"];
/// States of a call whose result is still to come.
const UNDER_WAY: [&str; 5] = ["loading", "pending", "running", "streaming", "generating"];

/// A call of a tool, as a bubble records it.
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) arguments: ExactJson,
    pub(super) result: ExactJson,
    pub(super) failed: bool,
    pub(super) under_way: bool,
    pub(super) authority: Authority,
}

impl ToolCall {
    pub(super) fn parse(tool: &ExactJson) -> Option<Self> {
        let data = tool.as_object().filter(|data| !data.is_empty())?;
        let name = match (data.get("name").and_then(ExactJson::as_str), data.get("tool")) {
            (Some(name), _) if !name.is_empty() => name.to_owned(),
            (_, Some(number)) if !number.is_null() => format!("tool_{}", crate::shape::plain(number)),
            _ => return None,
        };
        let result = parsed(data.get("result"));
        let status = data.get("status").and_then(ExactJson::as_str).unwrap_or_default();
        let decision = data.get("userDecision").and_then(ExactJson::as_str).unwrap_or_default();
        let rejected = matches!(decision, "rejected" | "denied");
        let has_failed = match tool.at(&["additionalData", "status"]).and_then(ExactJson::as_str) {
            Some(state) if !state.is_empty() => state == "error",
            _ => FAILED.contains(&status),
        };
        let exit_code =
            result.get("exitCode").or_else(|| result.get("exit_code")).and_then(ExactJson::as_i64);
        Some(Self {
            name,
            id: data.get("toolCallId").and_then(ExactJson::as_str).unwrap_or_default().to_owned(),
            arguments: arguments(tool),
            failed: has_failed || rejected || exit_code.is_some_and(|code| code != 0),
            under_way: UNDER_WAY.contains(&status) && result.is_null(),
            authority: decided(decision),
            result,
        })
    }
}

/// What the model sent, as the editor understood it.
fn arguments(tool: &ExactJson) -> ExactJson {
    let object = |name: &str| {
        let value = parsed(tool.get(name));
        value.as_object().is_some().then_some(value)
    };
    match tool.get("params") {
        Some(params) if params.as_object().is_some() => params.clone(),
        _ => object("rawArgs").or_else(|| object("params")).unwrap_or_else(|| {
            let raw = tool.text("rawArgs").unwrap_or_default();
            if raw.is_empty() { ExactFields::new().into() } else { fields! { "_raw": raw }.into() }
        }),
    }
}

/// A text that looks like JSON is taken for it where it can be read.
fn parsed(value: Option<&ExactJson>) -> ExactJson {
    match value {
        Some(ExactJson::String(text)) if text.trim_start().starts_with(['{', '[']) => {
            parse_lossy(text.as_bytes()).unwrap_or_else(|_| text.as_str().into())
        }
        Some(ExactJson::String(text)) if text.is_empty() => ExactJson::Null,
        Some(value) => value.clone(),
        None => ExactJson::Null,
    }
}

fn decided(decision: &str) -> Authority {
    let kind = match decision {
        "accepted" | "approved" => "human_approved",
        "rejected" | "denied" => "policy",
        _ => return Authority::default(),
    };
    Authority { kind, policy_reference: format!("user_decision={decision}") }
}
