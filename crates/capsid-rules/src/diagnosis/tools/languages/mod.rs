//! Swift, Elixir, Haskell, Zig, Dart, Perl, Lua, R and PowerShell.

mod blocks;
mod clojure;
mod erlang;
mod julia;
mod tex;

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::is_in_app;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains(".swift:") {
        return recognize_swift(log, at);
    }
    if text.starts_with("** (")
        || text.contains("error: ") && (text.contains(".ex:") || text.contains(".exs:"))
        || text.starts_with("    error: ")
        || text.starts_with("error: ") && log.text(at + 1).trim_start().starts_with('│')
    {
        return recognize_elixir(log, at);
    }
    if text.contains(") test ") || text.contains(") doctest ") {
        return recognize_exunit(log, at);
    }
    if text.ends_with(" [E]") {
        return recognize_dart_test(log, at);
    }
    if text.starts_with("File \"") && text.contains(", characters ") {
        return recognize_ocaml(log, at);
    }
    if text.contains(".hs:") || text.contains(".lhs:") {
        return recognize_haskell(log, at);
    }
    if text.contains(".zig:") || text.contains("... FAIL (") {
        return recognize_zig(log, at);
    }
    if text.contains(".dart") {
        return recognize_dart(log, at);
    }
    if text.contains(" at ") && text.contains(" line ") && text.ends_with('.') {
        return recognize_perl(log, at);
    }
    if text.contains(".lua:") {
        return recognize_lua(log, at);
    }
    if text.contains("At line:") || text.contains("+ CategoryInfo") || text.contains(".ps1:") {
        return recognize_powershell(log, at);
    }
    if text.starts_with("Error in ") {
        return recognize_r(log, at);
    }
    if text.starts_with("Error: ") {
        let halted = log.find_after(at, 8, |text| (text == "Execution halted").then_some(()));
        if let Some((last, ())) = halted {
            let message = text.trim_start_matches("Error: ");
            let class = if message.starts_with("unexpected ") {
                ProblemClass::SyntaxError
            } else {
                ProblemClass::Exception
            };
            return Some(Finding::new("r", "r", class, at).message(message).until(last));
        }
    }
    blocks::recognize(log, at)
}

static SWIFT: Pattern = Pattern::new(r"^(?:\S+ )?(\S.*?\.swift):([0-9]+):[0-9]+: error: (.+)$");
static XCTEST: Pattern = Pattern::new(
    r"^(\S.*?\.swift):([0-9]+): error: (?:-\[(\S+) (\S+)\]|(\S+)\.(\S+)) : (?:(XCT\w+) failed: )?(.*)$",
);
static SWIFT_FATAL: Pattern =
    Pattern::new(r"^(\S.*?\.swift):([0-9]+): (?:Fatal error|Precondition failed|Assertion failed): (.+)$");
static SWIFT_TESTING: Pattern =
    Pattern::new(r"^\S+ Test (\S.*?) recorded an issue at (\S+\.swift):([0-9]+):[0-9]+: (.+)$");

fn recognize_swift(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("recorded an issue at")
        && let Some(groups) = SWIFT_TESTING.captures(text)
    {
        return Some(
            Finding::new("swift-testing", "swift", ProblemClass::TestFailure, at)
                .code("expectation")
                .message(groups.get(4))
                .values(true)
                .test(groups.get(1).trim_matches('"'))
                .position(groups.get(2), groups.number(3)),
        );
    }
    if let Some(groups) = XCTEST.captures(text) {
        let (suite, name) =
            groups.some(3).map_or((groups.get(5), groups.get(6)), |suite| (suite, groups.get(4)));
        return Some(
            Finding::new("xctest", "swift", ProblemClass::TestFailure, at)
                .code(groups.some(7).unwrap_or("fail"))
                .message(groups.get(8))
                .values(true)
                .test(format!("{suite}.{name}"))
                .position(groups.get(1), groups.number(2)),
        );
    }
    if let Some(groups) = SWIFT_FATAL.captures(text) {
        return Some(
            Finding::new("swift", "swift", ProblemClass::Crash, at)
                .code("fatal")
                .message(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    let groups = SWIFT.captures(text)?;
    let last = log.end_of(at, 4, |text| text.starts_with("  "));
    Some(
        Finding::new("swiftc", "swift", ProblemClass::CompileError, at)
            .message(groups.get(3).split("; did you mean").next().unwrap_or_default())
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

static ELIXIR_RAISED: Pattern = Pattern::new(r"^\*\* \((?:EXIT from \S+ )?\(?([\w.]+)\)? ?\)?\s?(.*)$");
static ELIXIR_FRAME: Pattern = Pattern::new(r"^\s+(?:\((\w+) [^)]*\) )?(\S+\.exs?):([0-9]+): (.+)$");
static ELIXIR_PLACE: Pattern = Pattern::new(r"└─ (\S+\.exs?):([0-9]+)");
static ELIXIR_OLD: Pattern = Pattern::new(
    r"^\*\* \((CompileError|SyntaxError|TokenMissingError|MismatchedDelimiterError)\) (\S+\.exs?):([0-9]+)(?::[0-9]+)?: (.+)$",
);

fn recognize_elixir(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = ELIXIR_OLD.captures(text) {
        let class = if groups.get(1) == "CompileError" {
            ProblemClass::CompileError
        } else {
            ProblemClass::SyntaxError
        };
        return Some(
            Finding::new("elixir", "elixir", class, at)
                .code(groups.get(1))
                .message(groups.get(4))
                .position(groups.get(2), groups.number(3)),
        );
    }
    if text.trim_start().starts_with("error: ") {
        let (index, groups) = log.find_after(at, 12, |text| ELIXIR_PLACE.captures(text))?;
        let message = text.trim_start().trim_start_matches("error: ");
        return Some(
            Finding::new("elixir", "elixir", ProblemClass::CompileError, at)
                .code("CompileError")
                .message(message)
                .position(groups.get(1), groups.number(2))
                .until(index),
        );
    }
    let groups = ELIXIR_RAISED.captures(text)?;
    let kind = groups.get(1);
    if kind == "CompileError" {
        return None;
    }
    let last = log.end_of(at, 60, |text| text.starts_with("    ") || text.trim().is_empty());
    let frame = (at..=last).find_map(|index| {
        ELIXIR_FRAME.captures(log.text(index)).filter(|groups| {
            is_in_app("", groups.get(2))
                && !["elixir", "stdlib", "mix", "ex_unit", "kernel"].contains(&groups.get(1))
        })
    });
    let class = match kind {
        "SyntaxError" | "TokenMissingError" => ProblemClass::SyntaxError,
        "Mix" if groups.get(2).contains("No package") || groups.get(2).contains("version") => {
            ProblemClass::DependencyError
        }
        "Mix" => ProblemClass::ConfigError,
        _ => ProblemClass::Exception,
    };
    let tool = if kind == "Mix" { "mix" } else { "elixir" };
    let mut finding = Finding::new(tool, "elixir", class, at).code(kind).message(groups.get(2)).until(last);
    if let Some(groups) = frame {
        finding = finding.position(groups.get(2), groups.number(3));
        finding.frame =
            groups.get(4).split(['(', '/']).next().filter(|name| !name.is_empty()).map(str::to_owned);
    }
    Some(if class == ProblemClass::Exception { finding.or_system() } else { finding })
}

static EXUNIT: Pattern = Pattern::new(r"^\s+[0-9]+\) (?:test|doctest) (.+) \(([\w.]+)\)$");
static EXUNIT_PLACE: Pattern = Pattern::new(r"^\s+(\S+\.exs?):([0-9]+)$");

fn recognize_exunit(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = EXUNIT.captures(log.text(at))?;
    let place = EXUNIT_PLACE.captures(log.text(at + 1));
    let (start, message) = log.find_after(at + usize::from(place.is_some()), 2, |text| {
        Some(text.trim()).filter(|text| !text.is_empty())
    })?;
    let last = log.end_of(start, 40, |text| !EXUNIT.is_match(text) && !text.starts_with("Finished in"));
    let (code, said, values) = match ELIXIR_RAISED.captures(message) {
        Some(raised) => (raised.get(1).to_owned(), raised.get(2).to_owned(), false),
        None => ("assert".to_owned(), message.to_owned(), true),
    };
    let finding = Finding::new("exunit", "elixir", ProblemClass::TestFailure, at)
        .code(code)
        .message(said)
        .values(values)
        .test(format!("{} {}", groups.get(2), groups.get(1)))
        .until(last);
    Some(match place {
        Some(place) => finding.position(place.get(1), place.number(2)),
        None => finding,
    })
}

static GHC: Pattern = Pattern::new(
    r"^(\S.*?\.l?hs):([0-9]+):(?:[0-9]+(?:-[0-9]+)?|\([0-9,]+\)-\([0-9,]+\)): error:(?: \[(GHC-[0-9]+)\])?(?: \[[^\]]*\])?(?: (.+))?$",
);

fn recognize_haskell(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = GHC.captures(log.text(at))?;
    let last = log.end_of(at, 20, |text| text.starts_with("    "));
    let message = groups
        .some(4)
        .map_or_else(|| log.text(at + 1).trim().trim_start_matches("• ").to_owned(), str::to_owned);
    let class = if message.starts_with("parse error") {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::CompileError
    };
    Some(
        Finding::new("ghc", "haskell", class, at)
            .code(groups.get(3))
            .message(quote_haskell(&message))
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

static SCOPE: Pattern = Pattern::new(
    r"^(Variable|Data constructor|Not in scope:(?: type constructor or class| data constructor)?) (not in scope: )?[‘'`]?([\w.']+?)[’']?( ::.*)?$",
);

fn quote_haskell(message: &str) -> String {
    match SCOPE.captures(message) {
        Some(groups) => format!("{} {}{}", groups.get(1), groups.get(2), symbol(groups.get(3))),
        None => message.to_owned(),
    }
}

static ZIG: Pattern = Pattern::new(r"^(\S.*?\.zig):([0-9]+):[0-9]+: error: (.+)$");
static ZIG_FAIL: Pattern =
    Pattern::new(r"^(?:[0-9]+/[0-9]+ )?(\S.*?)\.\.\. ?FAIL \((\w+)\)$|^error: '(.+)' failed: (.*)$");

fn recognize_zig(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = ZIG.captures(text) {
        return Some(
            Finding::new("zig", "zig", ProblemClass::CompileError, at)
                .message(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    let groups = ZIG_FAIL.captures(text)?;
    let name = groups.some(1).or_else(|| groups.some(3))?;
    let last = log.end_of(at, 20, |text| !text.contains("... ") && !text.is_empty());
    let place = (at..=last).find_map(|index| {
        log.text(index)
            .split_once(".zig:")
            .map(|(file, rest)| {
                (format!("{file}.zig"), rest.split(':').next().and_then(|line| line.parse().ok()))
            })
            .filter(|(file, _)| !file.contains("/lib/std/") && !file.contains("/lib/zig/"))
    });
    let finding = Finding::new("zig", "zig", ProblemClass::TestFailure, at)
        .code(groups.some(2).unwrap_or("fail"))
        .message("test failed")
        .test(name)
        .until(last);
    Some(match place {
        Some((file, line)) => finding.position(&file, line),
        None => finding,
    })
}

static DART_ERROR: Pattern = Pattern::new(
    r"^(?:\s*error\s+[•-]\s+)?(\S+\.dart):([0-9]+):[0-9]+:?\s+(?:Error: |[•-]\s+)?(.+?)(?:\s+[•-]\s+(\w+))?$",
);
static DART_ANALYZE: Pattern = Pattern::new(
    r"^\s*error\s+[•-]\s+(?:(.+?)\s+[•-]\s+(\S+\.dart):([0-9]+):[0-9]+|(\S+\.dart):([0-9]+):[0-9]+\s+[•-]\s+(.+?))\s+[•-]\s+(\w+)$",
);

fn recognize_dart(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = DART_ANALYZE.captures(text) {
        let (message, file, line) =
            groups.some(1).map_or((groups.get(6), groups.get(4), groups.number(5)), |message| {
                (message, groups.get(2), groups.number(3))
            });
        return Some(
            Finding::new("dart", "dart", ProblemClass::CompileError, at)
                .code(groups.get(7))
                .message(message)
                .position(file, line),
        );
    }
    if !text.contains(": Error: ") {
        return None;
    }
    let groups = DART_ERROR.captures(text)?;
    Some(
        Finding::new("dart", "dart", ProblemClass::CompileError, at)
            .message(groups.get(3))
            .position(groups.get(1), groups.number(2)),
    )
}

static DART_TEST: Pattern =
    Pattern::new(r"^[0-9:]+ \+[0-9]+(?: ~[0-9]+)? -[0-9]+: (?:(\S+\.dart): )?(.+) \[E\]$");
static DART_PLACE: Pattern = Pattern::new(r"^\s+(\S+_test\.dart) ([0-9]+):[0-9]+");

/// A failing test of Dart or Flutter.
fn recognize_dart_test(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = DART_TEST.captures(log.text(at))?;
    let last = log.end_of(at, 30, |text| text.starts_with("  "));
    let place = (at..=last).find_map(|index| DART_PLACE.captures(log.text(index)));
    let finding = Finding::new("dart-test", "dart", ProblemClass::TestFailure, at)
        .code("fail")
        .message(log.text(at + 1).trim())
        .values(true)
        .test(groups.get(2))
        .until(last);
    Some(match place {
        Some(place) => finding.position(place.get(1), place.number(2)),
        None => finding,
    })
}

static OCAML: Pattern = Pattern::new(r#"^File "([^"]+)", lines? ([0-9]+)(?:-[0-9]+)?, characters "#);
static OCAML_NAME: Pattern =
    Pattern::new(r"^(Unbound (?:value|module|constructor|type constructor|record field)) (\S+)$");

fn recognize_ocaml(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = OCAML.captures(log.text(at))?;
    let (last, message) =
        log.find_after(at, 6, |text| text.strip_prefix("Error: ").or_else(|| text.strip_prefix("Error (")))?;
    let class = if message.starts_with("Syntax error") {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::CompileError
    };
    let message = match OCAML_NAME.captures(message) {
        Some(name) => format!("{} {}", name.get(1), symbol(name.get(2))),
        None => message.to_owned(),
    };
    Some(
        Finding::new("ocaml", "ocaml", class, at)
            .message(message)
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

static PERL: Pattern = Pattern::new(r"^(.+?) at (\S+\.(?:pl|pm|t|cgi|PL)) line ([0-9]+)\.$");
static PERL_MODULE: Pattern = Pattern::new(r"^Can't locate (\S+)\.pm in @INC");

fn recognize_perl(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = PERL.captures(log.text(at))?;
    let message = groups.get(1);
    if let Some(module) = PERL_MODULE.captures(message) {
        let name = module.get(1).replace('/', "::");
        return Some(
            Finding::new("perl", "perl", ProblemClass::DependencyError, at)
                .code("missing_module")
                .message(format!("Can't locate {}", symbol(&name)))
                .position(groups.get(2), groups.number(3)),
        );
    }
    if message.starts_with('#') {
        return None;
    }
    let class = if message.starts_with("syntax error") || message.starts_with("Can't find string terminator")
    {
        ProblemClass::SyntaxError
    } else if message.starts_with("Global symbol ") || message.starts_with("Bareword ") {
        ProblemClass::CompileError
    } else {
        ProblemClass::Exception
    };
    let finding =
        Finding::new("perl", "perl", class, at).message(message).position(groups.get(2), groups.number(3));
    Some(if class == ProblemClass::Exception { finding.or_system() } else { finding })
}

static LUA: Pattern = Pattern::new(r"^(?:lua[\w.]*: )(\S+\.lua):([0-9]+): (.+)$");

fn recognize_lua(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = LUA.captures(log.text(at))?;
    let message = groups.get(3);
    let class = if message.contains(" expected") || message.contains("unexpected symbol") {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::Exception
    };
    Some(Finding::new("lua", "lua", class, at).message(message).position(groups.get(1), groups.number(2)))
}

static PS_INLINE: Pattern = Pattern::new(r"^(?:([\w-]+): )?(\S+\.ps1):([0-9]+)(?: char:[0-9]+)?$");
static PS_ID: Pattern = Pattern::new(r"FullyQualifiedErrorId : ([\w.]+)");
static PS_AT: Pattern = Pattern::new(r"^At (?:line|(.+?\.ps1)):([0-9]+) char:[0-9]+$");

/// The message stands above `At line:1 char:1`, its id below.
fn recognize_powershell(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = PS_AT.captures(text) {
        let (_, message) =
            log.find_before(at, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
        let message = message.split_once(" : ").map_or(message, |(_, message)| message);
        let id = log.find_after(at, 8, |text| PS_ID.captures(text).map(|groups| groups.get(1).to_owned()));
        let (last, id) = id.unwrap_or((at, String::new()));
        return Some(powershell_finding(at, message, &id, groups.get(1), groups.number(2)).until(last));
    }
    let groups = PS_INLINE.captures(text)?;
    let (index, message) = log.find_after(at, 6, |text| {
        let plain = text.trim().strip_prefix('|').map(str::trim)?;
        (!plain.is_empty() && !plain.starts_with('~') && plain.contains(' ')).then(|| plain.to_owned())
    })?;
    Some(powershell_finding(at, &message, "", groups.get(2), groups.number(3)).until(index))
}

fn powershell_finding(at: usize, message: &str, id: &str, file: &str, line: Option<u32>) -> Finding {
    let id = id.split(',').next().unwrap_or_default().split('.').next().unwrap_or_default();
    let class = match id {
        "CommandNotFoundException" => ProblemClass::NotFound,
        "UnexpectedToken" | "MissingEndCurlyBrace" => ProblemClass::SyntaxError,
        _ if message.contains("is not recognized as") => ProblemClass::NotFound,
        _ => ProblemClass::Exception,
    };
    let finding = Finding::new("powershell", "powershell", class, at)
        .code(id)
        .message(message.split(". Check the spelling").next().unwrap_or(message));
    let finding = if file.is_empty() { finding } else { finding.position(file, line) };
    if class == ProblemClass::Exception { finding.or_system() } else { finding }
}

fn recognize_r(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let rest = log.text(at).strip_prefix("Error in ")?;
    let (call, said) = rest.split_once(" : ").or_else(|| rest.split_once(" :"))?;
    let message = if said.trim().is_empty() { log.text(at + 1).trim() } else { said.trim() };
    if !call.contains('(') && !log.text(at + 1).starts_with("Execution halted") {
        return None;
    }
    let class = if message.contains("there is no package called") {
        ProblemClass::DependencyError
    } else {
        ProblemClass::Exception
    };
    Some(Finding::new("r", "r", class, at).message(message).until(at + usize::from(said.trim().is_empty())))
}
