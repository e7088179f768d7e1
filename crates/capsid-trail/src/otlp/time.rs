//! When an action was, as far as anything says.

use capsid_model::exact::ExactJson;

/// Nanoseconds since the epoch of a text such as `2026-06-01T10:00:00.000Z`.
fn nanoseconds(text: &str) -> Option<u64> {
    let moment = text.parse::<jiff::Timestamp>().ok()?.as_nanosecond();
    u64::try_from(moment).ok()
}

/// When an action began: what the agent's transcript says, else the claimed time of the seal.
pub(super) fn start_of(content: &ExactJson, signed_at: Option<&str>) -> Option<u64> {
    let stated = content.at(&["context", "environment", "timestamp"]).and_then(ExactJson::as_str);
    stated.and_then(nanoseconds).or_else(|| signed_at.and_then(nanoseconds))
}

/// How long it took.
pub(super) fn duration_of(content: &ExactJson) -> u64 {
    let of_call = || call_of(content)?.get("duration_ms")?.as_i64();
    let whole = content.at(&["execution", "duration_ms"]).and_then(ExactJson::as_i64);
    let milliseconds = whole.or_else(of_call).unwrap_or_default();
    u64::try_from(milliseconds).unwrap_or_default().saturating_mul(1_000_000)
}

/// The call of a tool in a record.
pub(super) fn call_of(content: &ExactJson) -> Option<&ExactJson> {
    content.at(&["execution", "tool_calls"])?.as_array()?.first()
}
