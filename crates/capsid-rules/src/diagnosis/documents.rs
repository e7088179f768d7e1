//! Reports that are one document: SARIF and JUnit XML.

use super::diagnostic::{Diagnostic, ProblemClass};
use super::finding::Finding;
use serde_json::Value;

/// Whether the first bytes are those of a report.
pub(super) fn begins_document(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(4096)).unwrap_or_default()).into_owned();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    if head.starts_with("<?xml") || head.starts_with("<testsuite") {
        return head.contains("<testsuite");
    }
    head.starts_with('{') && head.contains("sarif")
}

/// The diagnostics of a report; nothing if it is not one.
pub(super) fn parse(text: &str) -> Option<Vec<Diagnostic>> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        let document: Value = serde_json::from_str(text).ok()?;
        return Some(parse_sarif(&document));
    }
    Some(parse_junit(text))
}

fn parse_sarif(document: &Value) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for run in list(document, "runs") {
        let tool = run.pointer("/tool/driver/name").and_then(Value::as_str).unwrap_or("sarif").to_lowercase();
        for result in list(&run, "results") {
            let level = result.get("level").and_then(Value::as_str).unwrap_or("warning");
            if level != "error"
                || result.get("suppressions").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
            {
                continue;
            }
            let message = result.pointer("/message/text").and_then(Value::as_str).unwrap_or_default();
            let rule = result.get("ruleId").and_then(Value::as_str).unwrap_or_default();
            let file = result
                .pointer("/locations/0/physicalLocation/artifactLocation/uri")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let line =
                result.pointer("/locations/0/physicalLocation/region/startLine").and_then(Value::as_u64);
            let finding = Finding::new(&tool, &tool, ProblemClass::LintError, 0)
                .code(rule)
                .message(message.lines().next().unwrap_or_default())
                .position(file, line.and_then(|line| u32::try_from(line).ok()));
            found.push(finding.into_diagnostic(&[]));
        }
    }
    found
}

/// Reads the failing test cases. The tags are few and flat, so a scan is enough.
fn parse_junit(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("<testcase") {
        let case = &rest[start..];
        let head_end = case.find('>').unwrap_or(case.len());
        let head = &case[..head_end];
        let end = if head.ends_with('/') { head_end } else { case.find("</testcase>").unwrap_or(case.len()) };
        let body = case.get(head_end..end).unwrap_or_default();
        let failure = body.find("<failure").or_else(|| body.find("<error"));
        if let Some(at) = failure {
            let line = text[..text.len() - rest.len() + start].matches('\n').count();
            found.push(junit_failure(head, &body[at..], line));
        }
        rest = case.get(end.max(9)..).unwrap_or_default();
    }
    found
}

fn junit_failure(head: &str, failure: &str, line: usize) -> Diagnostic {
    let tag = failure.split('>').next().unwrap_or_default();
    let content = failure.split_once('>').map_or("", |(_, rest)| rest);
    let content = unescape(content.split("</").next().unwrap_or_default().trim_start_matches("<![CDATA["));
    let class_name = attribute(head, "classname").unwrap_or_default();
    let name = attribute(head, "name").unwrap_or_default();
    let kind = attribute(tag, "type").unwrap_or_default();
    let short = kind.rsplit(['.', '\\', ':']).next().unwrap_or_default().to_owned();
    let message = attribute(tag, "message")
        .filter(|message| !message.trim().is_empty())
        .unwrap_or_else(|| content.trim().to_owned());
    let message = message.lines().next().unwrap_or_default().to_owned();
    let message = message.strip_prefix(&format!("{kind}: ")).unwrap_or(&message).to_owned();
    let class_short = class_name.rsplit('.').next().unwrap_or_default();
    let test = if class_short.is_empty() { name } else { format!("{class_short}.{name}") };
    Finding::new("junit", "junit", ProblemClass::TestFailure, line)
        .code(if short.is_empty() { "fail".to_owned() } else { short })
        .message(message)
        .values(true)
        .test(test)
        .into_diagnostic(&[])
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back().unwrap_or(' ');
        let after = &rest[at + name.len()..];
        if before.is_whitespace()
            && let Some(value) = after.trim_start().strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let end = value[1..].find(quote)?;
            return Some(unescape(&value[1..=end]));
        }
        rest = after;
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#10;", "\n")
        .replace("&#xA;", "\n")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use crate::diagnosis::diagnose;

    #[test]
    fn a_junit_report_names_the_failing_test() {
        let problem = diagnose(
            "<?xml version=\"1.0\"?>\n<testsuite name=\"a\" tests=\"2\">\n<testcase classname=\"org.example.CartTest\" name=\"adds\" time=\"0.1\"/>\n<testcase classname=\"org.example.CartTest\" name=\"rounds\"><failure message=\"expected: &lt;3&gt; but was: &lt;4&gt;\" type=\"org.opentest4j.AssertionFailedError\">stack</failure></testcase>\n</testsuite>\n",
        )
        .problem
        .unwrap();
        assert_eq!(problem.test.as_deref(), Some("CartTest.rounds"));
        assert_eq!(problem.text, "expected: <s> but was: <s>");
    }

    #[test]
    fn a_sarif_report_names_its_rule_and_file() {
        let problem = diagnose(
            r#"{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{"tool":{"driver":{"name":"Semgrep"}},"results":[{"ruleId":"no-eval","level":"error","message":{"text":"Do not use eval"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.js"},"region":{"startLine":3}}}]}]}]}"#,
        )
        .problem
        .unwrap();
        assert_eq!(
            (problem.tool.as_str(), problem.code.as_deref(), problem.place.as_deref()),
            ("semgrep", Some("no-eval"), Some("a.js"))
        );
    }
}
