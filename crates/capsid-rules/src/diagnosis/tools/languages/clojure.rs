//! Clojure: what its compiler and its runtime report.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static CLOJURE: Pattern = Pattern::new(
    r"^(Syntax error|Execution error|Error|Unexpected error)(?: \(([\w.$-]+)\))?.*? at (?:(\S+) )?\((\S+?\.cljc?s?):([0-9]+)(?::[0-9]+)?\)\.$",
);

pub(super) fn recognize_clojure(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = CLOJURE.captures(log.text(at))?;
    let (last, message) = log.find_after(at, 2, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let is_run = groups.get(1) == "Execution error";
    let class = if is_run { ProblemClass::Exception } else { ProblemClass::CompileError };
    let mut finding = Finding::new("clojure", "clojure", class, at)
        .code(groups.get(2).rsplit('.').next().unwrap_or_default())
        .message(quote_name(message))
        .position(groups.get(4), groups.number(5))
        .until(last);
    finding.frame = groups.some(3).map(str::to_owned);
    Some(if is_run { finding.or_system() } else { finding })
}

static NAME: Pattern =
    Pattern::new(r"^(Unable to resolve (?:symbol|classname)|No such (?:var|namespace)): (\S+)(.*)$");

fn quote_name(message: &str) -> String {
    match NAME.captures(message) {
        Some(groups) => format!("{}: {}{}", groups.get(1), symbol(groups.get(2)), groups.get(3)),
        None => message.to_owned(),
    }
}
