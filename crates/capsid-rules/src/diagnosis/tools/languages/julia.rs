//! Julia: exceptions and failing tests.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::StackFrame;
use crate::diagnosis::pattern::Pattern;

static JULIA: Pattern =
    Pattern::new(r"^ERROR: (?:LoadError: |InitError: )*(?:([A-Z]\w*(?:Error|Exception)): ?)?(.*)$");
static JULIA_FRAME: Pattern = Pattern::new(r"^\s+\[[0-9]+\] (.+?)(?:\(.*\))?$");
static JULIA_PLACE: Pattern = Pattern::new(r"^\s+@ (?:[\w.]+ )?(\S+\.jl):([0-9]+)");
static JULIA_TEST: Pattern = Pattern::new(r"^(.+): (?:Test Failed|Error During Test) at (\S+\.jl):([0-9]+)$");

pub(super) fn recognize_julia(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = JULIA_TEST.captures(text) {
        let said = log.find_after(at, 3, |text| text.trim_start().strip_prefix("Expression: "));
        let (last, message) = said.unwrap_or((at, "test failed"));
        return Some(
            Finding::new("julia", "julia", ProblemClass::TestFailure, at)
                .code("fail")
                .message(message)
                .values(true)
                .test(groups.get(1))
                .position(groups.get(2), groups.number(3))
                .until(last),
        );
    }
    let groups = JULIA.captures(text)?;
    let (stack, ()) = log.find_after(at, 6, |text| (text == "Stacktrace:").then_some(()))?;
    let last = log.end_of(stack, 60, |text| text.starts_with(' ') || text.starts_with("in expression"));
    let frame = (stack + 1..last).find_map(|index| {
        let function = JULIA_FRAME.captures(log.text(index))?;
        let place = JULIA_PLACE.captures(log.text(index + 1))?;
        let file = place.get(1);
        if file.starts_with("./") || file.contains("/stdlib/") || file.contains(".julia/packages") {
            return None;
        }
        let name = function.get(1);
        let is_named = !name.contains("top-level") && !name.contains("macro expansion");
        Some(StackFrame {
            function: is_named.then(|| name.split(['(', '{']).next().unwrap_or(name).to_owned()),
            file: file.to_owned(),
            line: place.number(2),
        })
    });
    let (kind, message) = (groups.get(1), groups.get(2));
    let class = match kind {
        "ArgumentError" if message.starts_with("Package ") => ProblemClass::DependencyError,
        "ParseError" => ProblemClass::SyntaxError,
        _ => ProblemClass::Exception,
    };
    let finding = Finding::new("julia", "julia", class, at)
        .code(kind)
        .message(message)
        .at_frame(frame.as_ref())
        .until(last);
    Some(if class == ProblemClass::Exception { finding.or_system() } else { finding })
}
