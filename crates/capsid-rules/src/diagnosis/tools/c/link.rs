//! Linkers.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::file_name;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static UNDEFINED: Pattern = Pattern::new(
    r"(?:undefined reference to|undefined symbol:|unresolved external symbol) [`'‘\x22]?(.+?)[`'’\x22]?(?: referenced in function .*)?(?:; .*)?$",
);
static MULTIPLE: Pattern = Pattern::new(
    r"(?:multiple definition of|duplicate symbol:?|already defined:?) [`'‘\x22]?(.+?)[`'’\x22]?(?:; first defined.*| in:?)?$",
);
static SOURCE: Pattern = Pattern::new(r"(?:^|[\s:])([^\s:()]+\.\w+):(?:\(|[0-9]+: )");
static REFERRED: Pattern = Pattern::new(r"^>>> referenced by (?:([\w.+-]+\.\w+):[0-9]+|\S+)");
static LIBRARY: Pattern = Pattern::new(
    r"(?:cannot find -l|unable to find library -l|library not found for -l|library '|cannot open file ')([\w.+-]+)",
);
static APPLE: Pattern = Pattern::new(r#"^\s+"(_?\S.*?)", referenced from:$"#);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if (text.contains("undefined ") || text.contains("unresolved external"))
        && let Some(groups) = UNDEFINED.captures(text)
        && is_linker(text)
    {
        let name = groups.get(1).trim_start_matches("> ");
        return Some(with_source(
            log,
            at,
            link_finding(at, "undefined", &format!("undefined reference to {}", symbol(name))),
        ));
    }
    if text.contains(", referenced from:") {
        let groups = APPLE.captures(text)?;
        let name = groups.get(1).strip_prefix('_').unwrap_or(groups.get(1));
        return Some(link_finding(at, "undefined", &format!("undefined reference to {}", symbol(name))));
    }
    if (text.contains("multiple definition of")
        || text.contains("duplicate symbol")
        || text.contains("LNK2005"))
        && is_linker(text)
    {
        let groups = MULTIPLE.captures(text)?;
        return Some(with_source(
            log,
            at,
            link_finding(at, "duplicate", &format!("multiple definition of {}", symbol(groups.get(1)))),
        ));
    }
    if text.contains("-l")
        || text.contains("LNK1104")
        || text.contains("LNK1181")
        || text.contains("ld: library")
    {
        let groups = is_linker(text).then(|| LIBRARY.captures(text)).flatten()?;
        return Some(link_finding(
            at,
            "missing_library",
            &format!("library {} not found", symbol(groups.get(1))),
        ));
    }
    None
}

fn is_linker(text: &str) -> bool {
    text.contains("ld: ")
        || text.contains("ld.lld: ")
        || text.contains("rust-lld: ")
        || text.contains("ld64.lld: ")
        || text.contains("mold: ")
        || text.contains("wasm-ld: ")
        || text.contains("(.text")
        || text.contains("(.data")
        || text.contains("(.rodata")
        || text.contains("(.bss")
        || text.contains("undefined reference to")
        || text.contains("multiple definition of")
        || text.contains("LNK")
        || text.starts_with("duplicate symbol")
}

fn link_finding(at: usize, code: &str, message: &str) -> Finding {
    Finding::new("ld", "ld", ProblemClass::LinkError, at).code(code).message(message)
}

/// The source file, which stands before the section or in the next line.
fn with_source(log: &LogView<'_>, at: usize, mut finding: Finding) -> Finding {
    let text = log.text(at);
    finding.place = SOURCE.captures(text).and_then(|groups| file_name(groups.get(1)));
    if finding.place.is_none()
        && let Some((index, groups)) = log.find_after(at, 2, |text| REFERRED.captures(text))
    {
        finding.place = groups.some(1).and_then(file_name);
        finding.last = index;
    }
    if finding
        .place
        .as_deref()
        .is_some_and(|place| place.ends_with(".o") || place.ends_with(".a") || place.ends_with(".so"))
    {
        finding.place = None;
    }
    finding
}
