//! What a call gave, and whether it failed.

use crate::shape::{cap, without_images};
use crate::status::{OutcomeStatus, StatusSignals};
use capsid_model::exact::{ExactJson, parse_lossy};

/// So far into a text its exit code is looked for.
const HEAD_LINES: usize = 6;

/// A call's output.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CallOutput {
    pub(super) result: ExactJson,
    pub(super) signals: StatusSignals,
    /// A person was asked and refused.
    pub(super) rejected: bool,
}

/// Whether an item of this type is the output of a call.
pub(super) fn is_output(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output" | "local_shell_call_output")
}

/// Reads an output: a text, a text that is JSON, a list of parts, or an object with the text and its exit code.
pub(super) fn output_of(payload: &ExactJson) -> CallOutput {
    let output = payload.get("output").unwrap_or(&ExactJson::Null);
    let parsed = output.as_str().filter(|text| text.starts_with('{')).and_then(|text| {
        let parsed = parse_lossy(text.as_bytes()).ok()?;
        let has_code = parsed.at(&["metadata", "exit_code"]).is_some_and(|code| !code.is_null());
        has_code.then_some(parsed)
    });
    let output = parsed.as_ref().unwrap_or(output);
    let result = match output {
        ExactJson::Object(fields) => fields.get("output").or(fields.get("content")).unwrap_or(output),
        other => other,
    };
    let mut signals = signals(output);
    let flat = flat(result);
    let rejected = flat.as_str().is_some_and(is_rejected);
    if rejected {
        signals.add(OutcomeStatus::Blocked);
    }
    CallOutput { result: cap(without_images(flat)), signals, rejected }
}

/// The words with which Codex says that the user refused a call.
fn is_rejected(text: &str) -> bool {
    let head = text.trim_start();
    ["exec command rejected by user", "patch rejected by user", "rejected by user"]
        .iter()
        .any(|start| head.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)))
}

/// A list of texts as one text; with anything else in it, it stays a list.
fn flat(result: &ExactJson) -> ExactJson {
    let texts: Option<Vec<&str>> = result
        .as_array()
        .filter(|parts| !parts.is_empty())
        .and_then(|parts| parts.iter().map(|part| part.text("text")).collect());
    texts.map_or_else(|| result.clone(), |texts| texts.join("\n").into())
}

fn signals(output: &ExactJson) -> StatusSignals {
    let mut signals = StatusSignals::default();
    match output {
        ExactJson::Object(_) => {
            signals.exit_code(output.at(&["metadata", "exit_code"]));
            signals.exit_code(output.get("exit_code"));
            signals.success_mark(output.get("success"));
            signals.error_mark(output.get("is_error").or_else(|| output.get("isError")));
            signals.status(output.get("status"));
            signals.parts(output.get("results"));
        }
        ExactJson::String(text) => {
            if let Some(code) = exit_code(text) {
                signals.exit_code(Some(&code.into()));
            }
        }
        _ => {}
    }
    signals
}

/// The exit code in the head that newer versions put before a shell's output. A head has a line of its own before
/// the output, or the time that the command took.
fn exit_code(text: &str) -> Option<i64> {
    let head: Vec<&str> = text.lines().take(HEAD_LINES).take_while(|line| *line != "Output:").collect();
    let timed = head.iter().any(|line| line.starts_with("Wall time: "))
        || text.lines().take(HEAD_LINES + 1).any(|line| line == "Output:")
        || head.len() == 1;
    let code = |line: &&str| {
        let code =
            line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    };
    head.iter().filter(|_| timed).find_map(code)
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
