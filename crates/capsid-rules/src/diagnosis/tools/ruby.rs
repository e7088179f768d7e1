//! Ruby, RSpec, minitest and RuboCop.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, file_name, is_in_app, parse_ruby, ruby_function};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

static RAISED: Pattern =
    Pattern::new(r"^(\S.*?):([0-9]+):in [`'](.+?)': (.+?) \(((?:[A-Z]\w*::)*[A-Z]\w*)\)$");
static RAISED_MULTI: Pattern = Pattern::new(r"^(\S.*?\.r[bu]):([0-9]+):in [`'](.+?)': (.+)$");
static SYNTAX: Pattern = Pattern::new(
    r"^(?:(\S+): --> (\S+)|(\S.*?\.r[bu]):([0-9]+): (?:syntax error[s]?,? ?(?:found)?(.*)|.*\(SyntaxError\)))$",
);
static MARK: Pattern = Pattern::new(r"^\s*\|\s*\^+~* (\S.*)$");
static EXAMPLE: Pattern = Pattern::new(r"^\s+[0-9]+\) (.+)$");
static SPEC_PLACE: Pattern = Pattern::new(r"^\s+# (\S+\.rb):([0-9]+)(?::in [`'](.+?)')?");
static ARGUMENTS: Pattern = Pattern::new(r"\(([^()]*)\)\s*$");
static RUBOCOP: Pattern = Pattern::new(
    r"^(\S.*?\.(?:rb|rake|gemspec|ru)|\S*(?:Gemfile|Rakefile)):([0-9]+):[0-9]+: ([CWEFR]): (?:\[Corre\w+\] )?(?:((?:[A-Z]\w+/)+[A-Z]\w+): )?(.+)$",
);
static MINITEST: Pattern = Pattern::new(r"^\s*(?:[0-9]+\) )?(?:(Failure|Error):\s*)?$");
static MINITEST_TEST: Pattern =
    Pattern::new(r"^((?:[A-Z]\w*(?:::)?)+)#(test_\S+?)(?: \[(\S+?):([0-9]+)\])?:$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text == "rake aborted!" {
        return recognize_rake(log, at);
    }
    if text.contains(":in `") || text.contains(":in '") {
        return recognize_exception(log, at);
    }
    if text.contains(") ") && log.text(at + 1).trim_start().starts_with("Failure/Error:") {
        return recognize_rspec(log, at);
    }
    if text.contains("#test_") {
        return recognize_minitest(log, at);
    }
    if text.contains(".rb:") || text.contains(".ru:") || text.contains("SyntaxError") {
        return recognize_rubocop(log, at).or_else(|| recognize_syntax(log, at));
    }
    if text.contains("Gemfile:") || text.contains("Rakefile:") || text.contains(".rake:") {
        return recognize_rubocop(log, at);
    }
    if text.ends_with("):") && text.contains(" (") {
        return recognize_rails(log, at);
    }
    if text.starts_with("An error occurred while loading ") {
        return recognize_rspec_load(log, at);
    }
    if let Some(rest) = text.strip_prefix("rspec ./") {
        let (place, name) = rest.split_once(" # ")?;
        let file = place.split([':', '[']).next().unwrap_or_default();
        let mut finding = Finding::new("rspec", "ruby", ProblemClass::TestFailure, at)
            .code("fail")
            .message(symbol(name))
            .text("test failed")
            .test(name)
            .role(DiagnosticRole::Summary);
        finding.place = file_name(file);
        return Some(finding);
    }
    None
}

fn recognize_exception(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.trim_start().starts_with("from ") || text.trim_start().starts_with('#') {
        return None;
    }
    let (groups, kind) = match RAISED.captures(text) {
        Some(groups) => {
            let kind = groups.get(5).to_owned();
            (groups, kind)
        }
        None => {
            let groups = RAISED_MULTI.captures(text)?;
            let kind = if groups.get(4).starts_with("syntax error") {
                "SyntaxError".to_owned()
            } else {
                find_kind(log, at)?
            };
            (groups, kind)
        }
    };
    let last = log.end_of(at, 100, |text| {
        text.starts_with('\t') || text.trim_start().starts_with("from ") || text.starts_with("  ")
    });
    let own = StackFrame {
        function: ruby_function(groups.get(3)),
        file: groups.get(1).to_owned(),
        line: groups.number(2),
    };
    let frame = if is_in_app("", &own.file) {
        Some(own)
    } else {
        (at + 1..=last)
            .find_map(|index| parse_ruby(log.text(index)).filter(|frame| is_in_app("", &frame.file)))
    };
    let message = groups.get(4);
    let short = kind.rsplit("::").next().unwrap_or(&kind).to_owned();
    let class = match short.as_str() {
        "SyntaxError" => ProblemClass::SyntaxError,
        "LoadError" if !message.contains(" -- ./") && !message.contains(" -- /") => {
            ProblemClass::DependencyError
        }
        "GemNotFound" | "MissingSpecError" => ProblemClass::DependencyError,
        _ => ProblemClass::Exception,
    };
    let message = match message.split_once("cannot load such file -- ") {
        Some((_, name)) => format!("cannot load such file -- {}", symbol(name)),
        None => {
            message.split(" for an instance of ").next().map_or(message.to_owned(), |_| message.to_owned())
        }
    };
    let mut finding = Finding::new("ruby", "ruby", class, at)
        .code(short)
        .message(message.clone())
        .at_frame(frame.as_ref())
        .until(last);
    if let Some(error) = sql::classify(&kind, &message, "") {
        sql::apply(&mut finding, error);
        return Some(finding);
    }
    if class == ProblemClass::Exception {
        finding = finding.or_system();
    }
    Some(finding)
}

static RAILS: Pattern = Pattern::new(r"^((?:[A-Z]\w*::)*[A-Z]\w*) \((.+)\):$");
static RAILS_FRAME: Pattern =
    Pattern::new(r"^\s*((?:app|lib|config|spec|test)/\S+\.rb):([0-9]+):in [`'](.+?)'");

/// `Type (message):` and the frames of the application, as Rails logs them.
fn recognize_rails(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = RAILS.captures(log.text(at))?;
    let (index, frame) = log.find_after(at, 6, |text| RAILS_FRAME.captures(text))?;
    let kind = groups.get(1).rsplit("::").next().unwrap_or_default();
    let mut finding = Finding::new("ruby", "ruby", ProblemClass::Exception, at)
        .code(kind)
        .message(groups.get(2))
        .position(frame.get(1), frame.number(2))
        .until(index);
    finding.frame = ruby_function(frame.get(3));
    if let Some(error) = sql::classify(groups.get(1), groups.get(2), "") {
        sql::apply(&mut finding, error);
        return Some(finding);
    }
    Some(finding.or_system())
}

/// The name of an exception whose message has several lines stands at the end of one of them.
fn find_kind(log: &LogView<'_>, at: usize) -> Option<String> {
    let (_, kind) = log.find_after(at, 6, |text| {
        let (_, rest) = text.rsplit_once(" (")?;
        let kind = rest.strip_suffix(')')?;
        (kind.ends_with("Error") || kind.ends_with("Exception")).then(|| kind.to_owned())
    })?;
    Some(kind)
}

fn recognize_rspec(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let test = EXAMPLE.captures(log.text(at))?.get(1).to_owned();
    let call = log.text(at + 1).trim_start().strip_prefix("Failure/Error:")?.trim();
    let last = log.end_of(at + 1, 60, |text| {
        !EXAMPLE.is_match(text) && !text.starts_with("Finished in") && !text.starts_with("Failed examples")
    });
    let place = (at + 1..=last)
        .find_map(|index| SPEC_PLACE.captures(log.text(index)).filter(|groups| is_in_app("", groups.get(1))));
    let raised = (at + 2..=last).map(|index| log.text(index)).find_map(|text| {
        let plain = text.trim();
        let kind = plain.strip_suffix(':')?;
        let named = kind.ends_with("Error") || kind.ends_with("Exception") || kind.contains("::");
        (named && kind.starts_with(char::is_uppercase) && !kind.contains(' ')).then(|| kind.to_owned())
    });
    let mut finding = Finding::new("rspec", "ruby", ProblemClass::TestFailure, at).test(test).until(last);
    finding = match raised.filter(|kind| !kind.contains("ExpectationNotMet")) {
        Some(kind) => {
            let said = (at + 2..=last)
                .find(|index| log.text(*index).trim() == format!("{kind}:"))
                .map_or("", |index| log.text(index + 1).trim());
            finding.code(kind.rsplit("::").next().unwrap_or(&kind)).message(said)
        }
        None => {
            let call = ARGUMENTS.replace_all(call, |_| "(…)".to_owned());
            let call = if call.is_empty() { log.text(at + 2).trim().to_owned() } else { call };
            finding.code("expectation").message(call).values(true)
        }
    };
    if let Some(groups) = place {
        finding.place = file_name(groups.get(1));
        finding.line = groups.number(2);
        finding.frame = ruby_function(groups.get(3)).filter(|name| !name.starts_with("block"));
    }
    Some(finding)
}

/// A spec file that could not be loaded is no failing test.
fn recognize_rspec_load(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let file = log.text(at).trim_start_matches("An error occurred while loading ").trim_end_matches('.');
    let (index, kind) = log.find_after(at, 10, |text| {
        let kind = text.strip_suffix(':')?;
        (kind.ends_with("Error") && kind.starts_with(char::is_uppercase) && !kind.contains(' '))
            .then(|| kind.to_owned())
    })?;
    let message = log.text(index + 1).trim();
    let class = match kind.as_str() {
        "SyntaxError" => ProblemClass::SyntaxError,
        "LoadError" => ProblemClass::DependencyError,
        _ => ProblemClass::Exception,
    };
    let message = match message.split_once("cannot load such file -- ") {
        Some((_, name)) => format!("cannot load such file -- {}", symbol(name)),
        None => message.to_owned(),
    };
    let code = kind.rsplit("::").next().unwrap_or_default();
    Some(Finding::new("rspec", "ruby", class, at).code(code).message(message).file(file).until(index + 1))
}

/// The exception stands below, and its frames below it.
fn recognize_rake(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at + 1);
    let (kind, message) = text.split_once(": ").filter(|(kind, _)| !kind.contains(' ')).unwrap_or(("", text));
    let last = log.end_of(at + 1, 30, |text| !text.trim().is_empty() && !text.starts_with("Tasks: "));
    let frame = (at + 2..=last).find_map(|index| {
        let (file, rest) =
            log.text(index).split_once(":in ").map_or((log.text(index), ""), |(file, rest)| (file, rest));
        let (file, line) = file.rsplit_once(':')?;
        is_in_app("", file).then(|| StackFrame {
            function: ruby_function(rest.trim_matches(['`', '\''])).filter(|name| !name.starts_with("block")),
            file: file.to_owned(),
            line: line.parse().ok(),
        })
    });
    Some(
        Finding::new("ruby", "ruby", ProblemClass::Exception, at)
            .code(kind.rsplit("::").next().unwrap_or_default())
            .message(message)
            .at_frame(frame.as_ref())
            .until(last)
            .or_system(),
    )
}

/// `Class#test_x [F:L]:` below `Failure:` or `Error:`.
fn recognize_minitest(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = MINITEST_TEST.captures(log.text(at).trim())?;
    let is_listed = at > 0 && MINITEST.is_match(log.text(at - 1));
    if !is_listed && groups.some(3).is_none() {
        return None;
    }
    let message = log.text(at + 1).trim();
    let last = log.end_of(at, 30, |text| !text.trim().is_empty());
    let last = log.end_of(last, 30, |text| {
        groups.some(3).is_none()
            && (text.starts_with("  ") && !MINITEST.is_match(text) || text.trim().is_empty())
    });
    let raised = message.split_once(": ").filter(|(kind, _)| {
        groups.some(3).is_none() && (kind.ends_with("Error") || kind.ends_with("Exception"))
    });
    let frame = (at + 1..=last).find_map(|index| {
        parse_ruby(log.text(index)).filter(|frame| is_in_app("", &frame.file) && frame.line.is_some())
    });
    let finding = Finding::new("minitest", "ruby", ProblemClass::TestFailure, at)
        .test(format!("{}#{}", groups.get(1), groups.get(2)))
        .until(last);
    let finding = match raised {
        Some((kind, said)) => {
            finding.code(kind.rsplit("::").next().unwrap_or(kind)).message(said).at_frame(frame.as_ref())
        }
        None => finding.code("assert").message(message).values(true),
    };
    Some(match groups.some(3) {
        Some(file) => finding.position(file, groups.number(4)),
        None => finding,
    })
}

fn recognize_rubocop(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = RUBOCOP.captures(log.text(at))?;
    let class =
        if groups.get(4) == "Lint/Syntax" { ProblemClass::SyntaxError } else { ProblemClass::LintError };
    Some(
        Finding::new("rubocop", "rubocop", class, at)
            .code(groups.get(4))
            .message(groups.get(5))
            .position(groups.get(1), groups.number(2)),
    )
}

fn recognize_syntax(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SYNTAX.captures(log.text(at))?;
    let (file, line) = groups.some(2).map_or((groups.get(3), groups.number(4)), |file| (file, None));
    let said = groups.get(5).trim_matches([',', ' ', ':', '(']);
    // Newer versions mark the place in the source and explain beside the mark.
    let marked = log.find_after(at, 8, |text| MARK.captures(text).map(|groups| groups.get(1)));
    let is_bare = said.is_empty() || said.starts_with("SyntaxError") || said == "found";
    let message = match marked {
        Some((_, marked)) if is_bare => marked,
        _ if is_bare => log.text(at + 1).trim(),
        _ => said,
    };
    Some(
        Finding::new("ruby", "ruby", ProblemClass::SyntaxError, at)
            .code("SyntaxError")
            .message(message)
            .position(file, line)
            .until(at + 1),
    )
}
