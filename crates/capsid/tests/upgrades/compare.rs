//! Whether the program still shows what an older version showed.

use capsid_model::Value;

/// What follows from the time that has passed, from how often somebody looked, from the rules of promotion, or from the
/// version that is asked.
const VOLATILE: [&str; 14] = [
    "gdi",
    "gdi_freshness",
    "gdi_mean",
    "gdi_score",
    "gdi_social",
    "gdi_usage",
    "hub_version",
    "reputation",
    "reputation_score",
    "today_calls",
    "total_views",
    "uptime_s",
    "view_count",
    "why_not_promoted",
];

/// Panics unless everything that was shown is shown again. More may be shown, and times may be others.
#[track_caller]
pub fn assert_shows(what: &str, before: &Value, now: &Value) {
    let mut differences = Vec::new();
    differ("", before, now, &mut differences);
    assert!(differences.is_empty(), "{what}\n{}", differences.join("\n"));
}

fn differ(path: &str, before: &Value, now: &Value, into: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (name, value) in before.iter().filter(|(name, _)| !VOLATILE.contains(&name.as_str())) {
                match now.get(name) {
                    Some(other) => differ(&format!("{path}/{name}"), value, other, into),
                    None => into.push(format!("{path}/{name} is gone; it was {value}")),
                }
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (n, (value, other)) in before.iter().zip(now).enumerate() {
                differ(&format!("{path}/{n}"), value, other, into);
            }
        }
        (Value::String(before), Value::String(now)) if is_time(before) && is_time(now) => {}
        (before, now) if before == now => {}
        (before, now) => into.push(format!("{path} was {before}, is {now}")),
    }
}

/// Whether a text begins like `2026-11-17T10:38`.
fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-ddTdd:dd";
    text.len() >= pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, is)| match is {
            b'd' => byte.is_ascii_digit(),
            is => byte == is,
        })
}
