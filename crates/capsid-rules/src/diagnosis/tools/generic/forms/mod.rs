//! Programs that report in a form of their own, of one line or two. Each has a row in a table.

mod checks;
mod databases;
mod deployments;
mod languages;
mod packages;
mod programs;

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::file_name;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// How a program reports. Groups of the pattern are `c` code, `m` message, `s` symbol, `f` file, `l` line and `t` test.
/// A message that ends with a colon, or is missing, is completed by the line below.
pub(super) struct Form {
    pub tool: &'static str,
    pub class: ProblemClass,
    /// What stands in every such line.
    pub needle: &'static str,
    pub pattern: Pattern,
    /// The code where the line has none.
    pub code: &'static str,
    /// Words before the symbol, or the whole message where the line has none.
    pub words: &'static str,
}

pub(super) const fn form(
    tool: &'static str,
    class: ProblemClass,
    needle: &'static str,
    pattern: &'static str,
    code: &'static str,
    words: &'static str,
) -> Form {
    Form { tool, class, needle, pattern: Pattern::new(pattern), code, words }
}

static NEEDLES: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(all_forms().map(|form| form.needle)).ok());

fn all_forms() -> impl Iterator<Item = &'static Form> {
    databases::FORMS
        .iter()
        .chain(&deployments::FORMS)
        .chain(&packages::FORMS)
        .chain(&checks::FORMS)
        .chain(&languages::FORMS)
        .chain(&programs::FORMS)
}

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.len() > 2_000 {
        return None;
    }
    let mut found: Vec<usize> =
        NEEDLES.as_ref()?.find_overlapping_iter(text).map(|hit| hit.pattern().as_usize()).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().find_map(|index| read_form(all_forms().nth(index)?, log, at))
}

fn read_form(form: &Form, log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = form.pattern.captures(log.text(at))?;
    let mut last = at;
    let mut message = groups.named("m").unwrap_or_default().trim().to_owned();
    let is_open = message.is_empty() && groups.has("m") || message.ends_with(':');
    for _ in 0..if is_open { 2 } else { 0 } {
        if !message.is_empty() && !message.ends_with(':') {
            break;
        }
        let (index, next) =
            log.find_after(last, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
        last = index;
        let next = next.trim_start_matches(['*', '-', '>', ' ', '│', '|']);
        message = format!("{message} {next}").trim().to_owned();
    }
    if form.tool == "npm"
        && log.find_before(at, 200, |text| text.starts_with("# npm audit report").then_some(())).is_none()
    {
        return None;
    }
    if let Some(name) = groups.named("s").map(strip_hash) {
        let rest = if message.is_empty() { String::new() } else { format!(": {message}") };
        message = format!("{} {}{rest}", form.words, symbol(name)).trim().to_owned();
    } else if message.is_empty() {
        form.words.clone_into(&mut message);
    }
    let code = groups.named("c").unwrap_or(form.code);
    let class = if form.class == ProblemClass::ConfigError { class_of_code(code) } else { form.class };
    let mut finding = Finding::new(form.tool, form.tool, class, at).code(code).message(message).until(last);
    if let Some(file) = groups.named("f") {
        finding = finding.position(file, groups.named("l").and_then(|line| line.parse().ok()));
    }
    if finding.place.is_none()
        && let Some(place) = find_place(form, log, at)
    {
        finding.place = file_name(&place);
    }
    if let Some(test) = groups.named("t") {
        finding = finding.test(test);
    }
    if matches!(form.tool, "ci" | "app") {
        finding.role = DiagnosticRole::Generic;
    }
    let is_fixed = matches!(
        form.class,
        ProblemClass::LintError
            | ProblemClass::DependencyError
            | ProblemClass::TestFailure
            | ProblemClass::Timeout
    );
    Some(if is_fixed { finding } else { finding.or_system() })
}

static LOCATION: Pattern = Pattern::new(r"^\s+Location: (\S+?):[0-9]+");
static SQL_FILE: Pattern = Pattern::new(r"^== \[(\S+)\] FAIL$");

/// Some programs print the file in a line of its own.
fn find_place(form: &Form, log: &LogView<'_>, at: usize) -> Option<String> {
    let read = |pattern: &Pattern, text: &str| pattern.captures(text).map(|groups| groups.get(1).to_owned());
    let found = match form.tool {
        "bandit" => log.find_after(at, 4, |text| read(&LOCATION, text)),
        "sqlfluff" => log.find_before(at, 100, |text| read(&SQL_FILE, text)),
        "svelte-check" => {
            let (before, _) = log.text(at.saturating_sub(1)).split_once(':')?;
            Some((at, before.to_owned()))
        }
        "spotless" => Some((at, log.text(at + 1).trim().to_owned())),
        _ => None,
    };
    found.map(|(_, place)| place)
}

/// The name of a resource without the hash that was appended to it.
fn strip_hash(name: &str) -> &str {
    let (head, tail) = name.split_at_checked(name.len().saturating_sub(8)).unwrap_or((name, ""));
    let is_hash = tail.len() == 8
        && tail.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b))
        && tail.bytes().any(|b| b.is_ascii_digit());
    if is_hash && !head.is_empty() { head } else { name }
}

/// The codes of clouds say what kind of problem they are.
fn class_of_code(code: &str) -> ProblemClass {
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if has(&["NotFound", "404", "NoSuch"]) {
        return ProblemClass::NotFound;
    }
    if has(&["Unauthorized", "Forbidden", "Denied", "AuthorizationFailed", "403", "401"]) {
        return ProblemClass::PermissionDenied;
    }
    if has(&["Quota", "LimitExceeded", "Throttl", "429"]) {
        return ProblemClass::ResourceLimit;
    }
    ProblemClass::ConfigError
}
