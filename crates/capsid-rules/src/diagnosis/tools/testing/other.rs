//! busted, testthat, Hspec, Tasty, Foundry, shUnit and Perl's prove.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

pub(super) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("Failure → ") || text.starts_with("Error → ") {
        return recognize_busted(log, at);
    }
    if text.contains(".R:") && text.contains("): ") || text.contains(".R:") && text.contains("ailure") {
        return recognize_testthat(log, at);
    }
    if text.trim_start().starts_with("1) ") || text.contains(".hs:") {
        return recognize_hspec(log, at);
    }
    if text.starts_with("[FAIL") {
        return recognize_forge(log, at);
    }
    if text.ends_with(": FAIL")
        || text.ends_with("*failed*")
        || text.contains("[FAIL]")
        || text.ends_with("ms]")
    {
        return recognize_named(log, at);
    }
    if text.starts_with("#   Failed test") {
        return recognize_perl(log, at);
    }
    None
}

static BUSTED: Pattern = Pattern::new(r"^(Failure|Error) → (\S+) @ ([0-9]+)$");
static BUSTED_SAID: Pattern = Pattern::new(r"^\S+\.(?:lua|moon):[0-9]+: (.+)$");

fn recognize_busted(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = BUSTED.captures(log.text(at))?;
    let said = BUSTED_SAID.captures(log.text(at + 2)).map(|said| said.get(1).to_owned());
    Some(
        Finding::new("busted", "lua", ProblemClass::TestFailure, at)
            .code(groups.get(1).to_ascii_lowercase())
            .message(said.unwrap_or_else(|| log.text(at + 2).to_owned()))
            .values(true)
            .test(log.text(at + 1))
            .position(groups.get(2), groups.number(3))
            .until(log.end_of(at, 12, |text| !text.trim().is_empty())),
    )
}

static TESTTHAT: Pattern = Pattern::new(
    r"^(?:── |-- )?(?:[0-9]+\. )?(Failure|Error) \(('?[\w./-]+\.R'?):([0-9]+):[0-9]+\): (.+?)(?: [─-]+)?$",
);

fn recognize_testthat(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = TESTTHAT.captures(log.text(at))?;
    Some(
        Finding::new("testthat", "r", ProblemClass::TestFailure, at)
            .code(groups.get(1).to_ascii_lowercase())
            .message(log.text(at + 1).trim())
            .values(true)
            .test(groups.get(4))
            .position(groups.get(2).trim_matches('\''), groups.number(3))
            .until(at + 1),
    )
}

static HSPEC_PLACE: Pattern = Pattern::new(r"^\s+(\S+\.hs):([0-9]+):[0-9]+:\s*$");
static HSPEC: Pattern = Pattern::new(r"^\s+[0-9]+\) (\S.*)$");

fn recognize_hspec(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let place = HSPEC_PLACE.captures(log.text(at))?;
    let groups = HSPEC.captures(log.text(at + 1))?;
    let (last, message) =
        log.find_after(at + 1, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let message = message.trim_start_matches("uncaught exception: ");
    Some(
        Finding::new("hspec", "haskell", ProblemClass::TestFailure, at)
            .code("fail")
            .message(message)
            .values(true)
            .test(groups.get(1))
            .position(place.get(1), place.number(2))
            .until(last),
    )
}

static FORGE: Pattern = Pattern::new(r"^\[FAIL(?:[.:] (?:Reason: )?([^\]]*))?\] (\w+\([^)]*\))(?: \(.*)?$");
static FORGE_FILE: Pattern =
    Pattern::new(r"^(?:Running|Ran) [0-9]+ tests? for (\S+\.sol):(\w+)$|failing tests? in (\S+\.sol):(\w+)$");

fn recognize_forge(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = FORGE.captures(log.text(at))?;
    let place = log.find_before(at, 60, |text| FORGE_FILE.captures(text));
    let finding = Finding::new("forge", "forge", ProblemClass::TestFailure, at)
        .code("fail")
        .message(groups.some(1).unwrap_or("test failed").trim_end_matches(['.', ';']))
        .values(true)
        .test(groups.get(2));
    Some(match place {
        Some((_, place)) => finding.position(place.some(1).unwrap_or_else(|| place.get(3)), None),
        None => finding,
    })
}

static PERL: Pattern = Pattern::new(r"^#   Failed test(?: '(.+)')?$");
static PERL_PLACE: Pattern = Pattern::new(r"^#   at (\S+) line ([0-9]+)\.$");

/// Test::More under prove.
fn recognize_perl(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = PERL.captures(log.text(at))?;
    let (last, place) = log.find_after(at, 2, |text| PERL_PLACE.captures(text))?;
    Some(
        Finding::new("prove", "perl", ProblemClass::TestFailure, at)
            .code("fail")
            .message("test failed")
            .test(groups.some(1).unwrap_or("unnamed"))
            .position(place.get(1), place.number(2))
            .role(DiagnosticRole::Cause)
            .until(last),
    )
}

static NAMED: [(&str, &str, Pattern); 4] = [
    ("tasty", "haskell", Pattern::new(r"^\s+(\S.*?):\s+FAIL$")),
    ("eunit", "erlang", Pattern::new(r"^(\w+: \w+)\.\.\.\*failed\*$")),
    ("alcotest", "ocaml", Pattern::new(r"^> \[FAIL\]\s+(\S.*?)\.?$")),
    ("bun", "js", Pattern::new(r"^(?:✗|\(fail\)) (\S.*?) \[[0-9.]+ms\]$")),
];
static SPACES: Pattern = Pattern::new(r"\s+");

/// A line that names a failing test; the values stand around it.
fn recognize_named(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let (tool, family, name) = NAMED.iter().find_map(|(tool, family, pattern)| {
        pattern.captures(log.text(at)).map(|groups| (*tool, *family, groups.get(1).to_owned()))
    })?;
    Some(
        Finding::new(tool, family, ProblemClass::TestFailure, at)
            .code("fail")
            .message("test failed")
            .test(SPACES.replace_all(&name, |_| " ".to_owned()))
            .role(DiagnosticRole::Summary),
    )
}
