//! TeX and LaTeX.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static TEX_LINE: Pattern = Pattern::new(r"^l\.([0-9]+) ?(.*)$");
static TEX_FILE: Pattern = Pattern::new(r"^\(?\.?/?([\w./-]+\.(?:tex|ltx))");
static TEX_COMMAND: Pattern = Pattern::new(r"(\\[A-Za-z@]+)\s*$");

pub(super) fn recognize_tex(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("! ")?;
    let (last, place) = log.find_after(at, 8, |text| TEX_LINE.captures(text))?;
    let (_, file) = log
        .find_before(at, 60, |text| TEX_FILE.captures(text).map(|groups| groups.get(1).to_owned()))
        .unwrap_or((at, String::new()));
    let message = message.trim_start_matches("LaTeX Error: ").trim_start_matches("Package ");
    let message = match TEX_COMMAND.captures(place.get(2)) {
        Some(command) if message.starts_with("Undefined control") => {
            format!("{} {}", message.trim_end_matches('.'), symbol(command.get(1)))
        }
        _ => message.to_owned(),
    };
    Some(
        Finding::new("latex", "latex", ProblemClass::CompileError, at)
            .message(message)
            .position(&file, place.number(1))
            .until(last),
    )
}
