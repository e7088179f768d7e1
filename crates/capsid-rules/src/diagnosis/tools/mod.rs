//! Rules for tools: each recognizes what one family of tools prints.

pub(crate) mod build;
pub(crate) mod c;
pub(crate) mod ci;
pub(crate) mod containers;
pub(crate) mod dotnet;
pub(crate) mod generic;
pub(crate) mod git;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod js;
pub(crate) mod languages;
pub(crate) mod net;
pub(crate) mod ops;
pub(crate) mod packages;
pub(crate) mod php;
pub(crate) mod python;
pub(crate) mod ruby;
pub(crate) mod rust;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod testing;

use super::diagnostic::{Diagnostic, DiagnosticRole};
use super::finding::{Finding, LogView};
use super::lines::{Line, LineLevel};
use super::matchers::Matcher;
use std::collections::HashSet;

/// A rule looks at one line, and at those around it, and says what begins there.
type Rule = fn(&LogView<'_>, usize) -> Option<Finding>;

/// Rules in the order in which they are asked; the first that recognizes a line has it.
const RULES: &[Rule] = &[
    ci::recognize_wrapper,
    generic::forms::recognize,
    rust::recognize,
    python::pytest::recognize,
    python::unittest::recognize,
    js::jest::recognize,
    js::runners::recognize,
    js::tap::recognize,
    js::lint::recognize,
    js::bundle::recognize,
    php::recognize,
    ruby::recognize,
    java::junit::recognize,
    java::compile::recognize,
    java::build::recognize,
    dotnet::recognize,
    go::recognize,
    testing::recognize,
    languages::recognize,
    python::lint::recognize,
    shell::recognize_shellcheck,
    c::compile::recognize,
    c::link::recognize,
    c::runtime::recognize,
    packages::recognize,
    build::recognize,
    sql::recognize,
    containers::recognize,
    ops::recognize,
    git::recognize,
    python::traceback::recognize,
    java::exception::recognize,
    dotnet::recognize_exception,
    js::node::recognize,
    net::recognize,
    shell::recognize,
    ci::recognize_annotation,
    generic::located::recognize_arrow,
    generic::located::recognize,
    generic::recognize,
];

/// What rules recognized, in the order of the log.
#[derive(Default)]
pub(crate) struct RecognizedDiagnostics {
    pub diagnostics: Vec<Diagnostic>,
}

/// Asks every rule about every line.
pub(crate) fn recognize(lines: &[Line], matchers: &[Matcher]) -> RecognizedDiagnostics {
    let log = LogView::new(lines);
    let mut diagnostics = Vec::new();
    let mut claimed = HashSet::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(line) = log.line(at) else { break };
        let is_told_as_info = line.level == LineLevel::Info && !line.text.contains("*** FAILED ***");
        // A row of a table in Markdown shows messages, it reports none.
        let is_row = line.text.starts_with("| ") && line.text.ends_with(" |");
        if line.text.trim().is_empty() || is_told_as_info || is_row {
            at += 1;
            continue;
        }
        let own: Vec<Finding> = matchers.iter().flat_map(|matcher| matcher.recognize(&log, at)).collect();
        if let Some(last) = own.iter().map(|finding| finding.last).max() {
            diagnostics.extend(own.into_iter().map(|finding| finding.into_diagnostic(lines)));
            at = last + 1;
            continue;
        }
        let found = if line.level == LineLevel::Warning {
            js::lint::recognize_prettier(&log, at)
        } else {
            RULES.iter().find_map(|rule| rule(&log, at))
        };
        match found {
            Some(finding) => {
                claimed.extend(at..=finding.last.max(at));
                at = finding.last.max(at) + 1;
                if !finding.is_noise {
                    diagnostics.push(finding.into_diagnostic(lines));
                }
            }
            None => at += 1,
        }
    }
    if diagnostics.iter().all(|found: &Diagnostic| found.role == DiagnosticRole::Wrapper) {
        diagnostics.extend(recognize_by_form(&log, &claimed, !diagnostics.is_empty()));
    }
    RecognizedDiagnostics { diagnostics }
}

/// Lines that no rule knows, where no rule knows any.
fn recognize_by_form(log: &LogView<'_>, claimed: &HashSet<usize>, failed: bool) -> Vec<Diagnostic> {
    let found: Vec<_> = (0..log.len())
        .filter(|at| !claimed.contains(at))
        .filter_map(|at| generic::last_resort::recognize(log, at, failed))
        .collect();
    let best = found.iter().map(|(certainty, _)| *certainty).max();
    found
        .into_iter()
        .filter(|(certainty, _)| Some(*certainty) == best)
        .map(|(_, finding)| finding.into_diagnostic(log.lines()))
        .collect()
}
