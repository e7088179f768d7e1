//! javac, kotlinc and scalac, alone and inside Maven, Gradle and sbt.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static JAVAC: Pattern = Pattern::new(r"^(\S.*?\.java):([0-9]+): error: (.+)$");
static MAVEN: Pattern =
    Pattern::new(r"^(?:error: )?(\S.*?\.(?:java|kt|scala|groovy)):\[([0-9]+),[0-9]+\] (?:error: )?(.+)$");
static KOTLIN: Pattern = Pattern::new(r"^e: (?:file://)?(\S.*?\.kts?):? ?\(?([0-9]+)[:,] ?[0-9]+\)?:? (.+)$");
static SCALA: Pattern =
    Pattern::new(r"^(?:\[error\] )?(\S.*?\.(?:scala|sc|sbt)):([0-9]+)(?::[0-9]+)?: (?:error: )?(.+)$");
static SCALA3: Pattern =
    Pattern::new(r"^(?:\[error\] )?-- (?:\[(E[0-9]+)\] )?(.*?)Error: (\S.*?\.scala):([0-9]+):[0-9]+ -*$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if (text.contains(".java:") || text.contains(".kt:[") || text.contains(".groovy:["))
        && let Some(groups) =
            JAVAC.captures(text).or_else(|| log.is_error(at).then(|| MAVEN.captures(text)).flatten())
    {
        let tool = if groups.get(1).ends_with(".kt") { "kotlinc" } else { "javac" };
        return Some(java_finding(log, at, tool, groups.get(3)).position(groups.get(1), groups.number(2)));
    }
    if text.starts_with("e: ") {
        let groups = KOTLIN.captures(text)?;
        return Some(kotlin_finding(at, groups.get(3)).position(groups.get(1), groups.number(2)));
    }
    if text.contains(".scala:") || text.contains(".sbt:") {
        return recognize_scala(log, at);
    }
    None
}

/// The message with the symbol that stands below it.
fn java_finding(log: &LogView<'_>, at: usize, tool: &str, message: &str) -> Finding {
    let finding = Finding::new(tool, "java", ProblemClass::CompileError, at);
    let said = log.find_after(at, 4, |text| {
        let plain = text.trim_start_matches("[ERROR]").trim_start();
        plain.strip_prefix("symbol:").map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    if message.starts_with("cannot find symbol") {
        let (last, name) = said.unwrap_or((at, String::new()));
        let text = if name.is_empty() {
            "cannot find symbol".to_owned()
        } else {
            format!("cannot find symbol: {}", symbol(&name))
        };
        let last = log
            .end_of(last, 1, |text| text.trim_start_matches("[ERROR]").trim_start().starts_with("location:"));
        return finding.code("cannot_find_symbol").message(text).until(last);
    }
    let last = log.end_of(at, 3, |text| text.starts_with("   ") && !text.contains(".java:"));
    finding.code(slug(message)).message(quote_java(message)).until(last)
}

static PACKAGE: Pattern = Pattern::new(r"^package (\S+) does not exist$");
static CONVERT: Pattern = Pattern::new(r"^incompatible types: (.+) cannot be converted to (.+)$");
static UNREPORTED: Pattern = Pattern::new(r"^unreported exception (\S+);? (.+)$");
static DEFINED: Pattern = Pattern::new(
    r"^(variable|method|class|constructor) (\S.*?) (is already defined in .+|might not have been initialized|cannot be applied to given types;?|has private access in .+|is not abstract and does not .+)$",
);

/// Names that javac prints without quotes.
fn quote_java(message: &str) -> String {
    if let Some(groups) = PACKAGE.captures(message) {
        return format!("package {} does not exist", symbol(groups.get(1)));
    }
    if let Some(groups) = CONVERT.captures(message) {
        return format!(
            "incompatible types: {} cannot be converted to {}",
            symbol(groups.get(1)),
            symbol(groups.get(2))
        );
    }
    if let Some(groups) = UNREPORTED.captures(message) {
        return format!("unreported exception {}; {}", symbol(groups.get(1)), groups.get(2));
    }
    if let Some(groups) = DEFINED.captures(message) {
        return format!("{} {} {}", groups.get(1), symbol(groups.get(2)), groups.get(3));
    }
    message.to_owned()
}

/// A code made of the words of a message that are not names.
pub(crate) fn slug(message: &str) -> String {
    const KNOWN: [(&str, &str); 12] = [
        ("package ", "package_does_not_exist"),
        ("incompatible types", "incompatible_types"),
        ("unreported exception", "unreported_exception"),
        ("';' expected", "expected"),
        ("class, interface", "expected"),
        ("reached end of file", "reached_end_of_file_while_parsing"),
        ("method does not override", "method_does_not_override"),
        ("no suitable ", "no_suitable_method"),
        ("cannot access ", "cannot_access"),
        ("Unresolved reference", "unresolved_reference"),
        ("unresolved reference", "unresolved_reference"),
        ("Type mismatch", "type_mismatch"),
    ];
    if let Some((_, code)) = KNOWN.iter().find(|(start, _)| message.starts_with(start)) {
        return (*code).to_owned();
    }
    let head = message.split([':', ';']).next().unwrap_or(message);
    let words: Vec<String> = head
        .split_whitespace()
        .filter(|word| {
            word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') || *word == "a"
        })
        .take(6)
        .map(|word| word.replace('-', "_"))
        .collect();
    words.join("_")
}

static KOTLIN_NAME: Pattern = Pattern::new(
    r"^(Unresolved reference|Overload resolution ambiguity|Conflicting declarations|None of the following .*?)(?:: | ')?([\w$.]+)?'?\.?$",
);

fn kotlin_finding(at: usize, message: &str) -> Finding {
    let finding = Finding::new("kotlinc", "java", ProblemClass::CompileError, at).code(slug(message));
    match KOTLIN_NAME.captures(message) {
        Some(groups) if groups.some(2).is_some() => {
            finding.message(format!("{}: {}", groups.get(1), symbol(groups.get(2))))
        }
        _ => finding.message(message),
    }
}

static SCALA_NAME: Pattern =
    Pattern::new(r"^(not found: (?:value|type)|value) (\S+?)( is not a member of .+)?$");

fn recognize_scala(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = text.contains("Error: ").then(|| SCALA3.captures(text)).flatten() {
        let said = log.find_after(at, 8, |text| {
            let plain = text.trim_start_matches("[error]").trim();
            let plain = plain.strip_prefix('|').map(str::trim)?;
            let is_mark = plain.is_empty() || plain.starts_with('^');
            (!is_mark).then(|| plain.to_owned())
        });
        let (last, message) = said.unwrap_or((at, groups.get(2).trim().to_owned()));
        return Some(
            Finding::new("scalac", "scala", ProblemClass::CompileError, at)
                .code(groups.get(1))
                .message(quote_scala(&message))
                .position(groups.get(3), groups.number(4))
                .until(last),
        );
    }
    if !text.starts_with("[error]") && !text.contains(": error: ") {
        return None;
    }
    let groups = SCALA.captures(text)?;
    let last = log.end_of(at, 3, |text| text.starts_with("[error]    ") || text.starts_with("   "));
    Some(
        Finding::new("scalac", "scala", ProblemClass::CompileError, at)
            .code(slug(groups.get(3)))
            .message(quote_scala(groups.get(3)))
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

fn quote_scala(message: &str) -> String {
    match SCALA_NAME.captures(message) {
        Some(groups) => format!("{} {}{}", groups.get(1), symbol(groups.get(2)), groups.get(3)),
        None => message.to_owned(),
    }
}
