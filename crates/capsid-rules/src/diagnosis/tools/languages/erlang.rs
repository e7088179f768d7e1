//! Erlang: crash reports.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::StackFrame;
use crate::diagnosis::pattern::Pattern;

static ERLANG: Pattern =
    Pattern::new(r"(?:exception (?:error|exit|throw): |Reason for termination ==\s*\*?\*?\s*)(.+)$");
static ERLANG_CALL: Pattern =
    Pattern::new(r"in (?:function|call from)\s+(\S+?)(?:/[0-9]+)? \((\S+\.erl), line ([0-9]+)\)");

pub(super) fn recognize_erlang(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ERLANG.captures(log.text(at))?;
    let message = groups.get(1).trim_matches(['*', ' ']);
    let code = match message {
        "bad argument" => "badarg",
        "undefined function" => "undef",
        said if said.starts_with("no function clause") => "function_clause",
        said if said.starts_with("no match of right hand side") => "badmatch",
        said if said.starts_with("no case clause") => "case_clause",
        said if said.starts_with("undefined function") => "undef",
        said if said.contains("arithmetic expression") => "badarith",
        _ => "",
    };
    let last = log.end_of(at, 10, |text| text.starts_with("   "));
    let frame = (at..=last).find_map(|index| {
        let groups = ERLANG_CALL.captures(log.text(index))?;
        Some(StackFrame {
            function: Some(groups.get(1).to_owned()),
            file: groups.get(2).to_owned(),
            line: groups.number(3),
        })
    });
    Some(
        Finding::new("erlang", "erlang", ProblemClass::Exception, at)
            .code(code)
            .message(message)
            .at_frame(frame.as_ref())
            .until(last),
    )
}
