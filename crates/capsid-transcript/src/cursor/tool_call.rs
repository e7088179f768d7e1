//! A call of a tool, as a bubble records it.

use crate::Authority;
use crate::status::{OutcomeStatus, StatusSignals, StatusWord, is_allowed, parse_status};
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::fields;

/// A call of a tool, as a bubble records it.
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) arguments: ExactJson,
    pub(super) result: ExactJson,
    pub(super) signals: StatusSignals,
    pub(super) under_way: bool,
    /// Whether only the result says how it ended.
    pub(super) has_no_status: bool,
    pub(super) authority: Authority,
    /// What the model sent, where it differs from what the editor understood.
    pub(super) raw_arguments: Option<ExactJson>,
    /// What the editor understood, where that is not taken for the arguments and differs from them.
    pub(super) editor_arguments: Option<ExactJson>,
    pub(super) duration_ms: Option<i64>,
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
        let decision = data.get("userDecision").map(crate::shape::plain).unwrap_or_default();
        let mut signals = StatusSignals::default();
        signals.status(data.get("status"));
        signals.status(tool.at(&["additionalData", "status"]));
        if is_allowed(&decision) == Some(false) {
            signals.add(OutcomeStatus::Blocked);
        }
        signals.exit_code(result.get("exitCode").or_else(|| result.get("exit_code")));
        signals.error_mark(result.get("is_error").or_else(|| result.get("isError")));
        signals.success_mark(result.get("success"));
        signals.parts(result.get("results"));
        // A result without any status is one nevertheless.
        let has_no_status = signals.is_silent() && !result.is_null();
        if has_no_status {
            signals.add(OutcomeStatus::Success);
        }
        let arguments = arguments(tool);
        let raw = parsed(tool.get("rawArgs"));
        let is_shown = !raw.is_truthy() || raw == arguments || arguments.get("_raw") == Some(&raw);
        Some(Self {
            name,
            raw_arguments: (!is_shown).then_some(raw),
            editor_arguments: Some(parsed(tool.get("params")))
                .filter(|params| params.is_truthy() && *params != arguments),
            duration_ms: duration(tool, &result),
            id: data.get("toolCallId").and_then(ExactJson::as_str).unwrap_or_default().to_owned(),
            arguments,
            has_no_status,
            under_way: signals.is_open && result.is_null(),
            signals,
            authority: decided(&decision),
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

/// How long a call took, where the editor noted it.
fn duration(tool: &ExactJson, result: &ExactJson) -> Option<i64> {
    const NAMES: [&str; 4] = ["durationMs", "duration_ms", "executionTimeMs", "elapsedMs"];
    let noted = [Some(tool), tool.get("additionalData"), Some(result)];
    let number = |holder: &ExactJson| {
        let number = NAMES.iter().find_map(|name| holder.get(name)?.as_f64())?;
        (number.is_finite() && number >= 0.0).then_some(number as i64)
    };
    let times = |holder: &ExactJson| {
        let moment = |name: &str| holder.get(name).and_then(ExactJson::as_i64);
        let (start, end) = (moment("startedAtMs")?, moment("completedAtMs")?);
        end.checked_sub(start).filter(|took| *took >= 0)
    };
    noted.into_iter().flatten().find_map(|holder| number(holder).or_else(|| times(holder)))
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
    let reference = format!("user_decision={decision}");
    match is_allowed(decision) {
        _ if decision.is_empty() || parse_status(decision) == StatusWord::Open => Authority::default(),
        Some(true) => Authority::approved(reference),
        // Whatever the answer was, a person was asked.
        _ => Authority::escalated(reference, decision),
    }
}
