//! Every text of an asset: those that the hub knows, what others added, and what a diff brings in.

use super::{AssetTexts, SafetyFinding, SafetyKind, SafetyScan, phrases, scan, scan_text, weigh};
use crate::assets::traits::{strings, text};
use capsid_model::{Object, Value, asset};

/// Members whose texts are scanned by their own rules.
const SCANNED: [&str; 9] = [
    "summary",
    "content",
    "diff",
    "code_snippet",
    "strategy",
    "validation",
    "signals_match",
    "trigger",
    asset::ASSET_ID,
];

/// Looks through every text of an asset, whatever its type.
pub fn scan_asset(object: &Object) -> SafetyScan {
    let (strategy, validation) = (strings(object, "strategy"), strings(object, "validation"));
    let signals = [strings(object, "signals_match"), strings(object, "trigger")].concat();
    let content = content(object);
    let (strategy, validation, signals) = (borrowed(&strategy), borrowed(&validation), borrowed(&signals));
    let known = scan(&AssetTexts {
        summary: &text(object, "summary").unwrap_or_default(),
        content: &content,
        strategy: &strategy,
        validation: &validation,
        signals: &signals,
    });
    let mut findings = known.findings;
    added_lines(&content, &mut findings);
    for (key, value) in object.iter().filter(|(key, _)| !SCANNED.contains(&key.as_str())) {
        walk(value, key, &mut findings);
    }
    weigh(findings)
}

fn borrowed(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// The content, diff and code of a capsule.
fn content(object: &Object) -> String {
    let parts = ["content", "diff", "code_snippet"].iter().filter_map(|key| text(object, key));
    parts.collect::<Vec<_>>().join("\n")
}

/// What a diff brings in, read without the lines between: an order may be spread over them.
fn added_lines(content: &str, findings: &mut Vec<SafetyFinding>) {
    if !content.contains("\n+") && !content.starts_with('+') {
        return;
    }
    let is_added = |line: &&str| line.starts_with('+') && !line.starts_with("+++");
    let added: Vec<&str> =
        content.lines().filter(is_added).map(|line| line.get(1..).unwrap_or_default()).collect();
    let known: Vec<SafetyKind> = findings.iter().map(|finding| finding.kind).collect();
    phrases(&added.join("\n"), &mut |kind, score, text| {
        if !known.contains(&kind) {
            findings.push(SafetyFinding { kind, place: "diff".to_owned(), text, score });
        }
    });
}

/// Looks through a member that this hub has no rule for. What names a person or a machine is not told there: an
/// environment names its machine by design.
fn walk(value: &Value, place: &str, findings: &mut Vec<SafetyFinding>) {
    match value {
        Value::String(text) => add(text, place, findings),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
            // An order may be spread over the items of a list.
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            add(&texts.join("\n"), place, findings);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{place}[{index}]"), findings);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                if key.contains(char::is_whitespace) {
                    add(key, place, findings);
                }
                walk(value, &format!("{place}.{}", capsid_model::text::cut(key, 40)), findings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add(text: &str, place: &str, findings: &mut Vec<SafetyFinding>) {
    let mut found = Vec::new();
    scan_text(text, || place.to_owned(), &mut found);
    findings.extend(found.into_iter().filter(|finding| finding.kind != SafetyKind::Personal));
}
