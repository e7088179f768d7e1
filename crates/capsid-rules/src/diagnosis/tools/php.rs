//! PHP, PHPUnit, Pest, PHPStan, Psalm and Laravel's log.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{file_name, is_in_app};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

static FATAL: Pattern = Pattern::new(
    r"^(?:PHP )?(Fatal|Parse|Recoverable fatal) error: +(?:Uncaught ((?:\w+\\)*\w+): )?(.+?)(?: in (\S+?)(?::([0-9]+)| on line ([0-9]+)))?$",
);
/// PHP goes on after these.
static MILD: Pattern =
    Pattern::new(r"^(?:PHP )?(?:Warning|Notice|Deprecated|Strict Standards): +.+ in \S+ on line [0-9]+$");
static REQUIRED: Pattern = Pattern::new(r"Failed opening required '([^']+)'");
static CALL: Pattern = Pattern::new(
    r"\b(?:member function|undefined method|undefined function|unknown function|private method|protected method) ((?:\\?\w+(?:\\|::))*\w+\(\))",
);
static CLASS_NAME: Pattern = Pattern::new(
    r#"^(Class|Interface|Trait|Undefined constant|Undefined variable|Undefined array key|Undefined property:?) ["']?(\$?[\w\\:]+)["']? ?(not found)?$"#,
);
static NUMBERED: Pattern = Pattern::new(r"^[0-9]+\) ((?:\w+\\)*\w+)::(\w+)(?: with data set .*)?$");
static POSITION: Pattern = Pattern::new(r"^(\S+\.php):([0-9]+)$");
static LARAVEL: Pattern = Pattern::new(
    r#"^(?:\[[^\]]+\] )?\w+\.(?:ERROR|CRITICAL|ALERT|EMERGENCY): (.+?)(?: \{.*?"exception":"\[object\] \(((?:\w+\\*)+)\(code: [^)]*\): .*? at (\S+?):([0-9]+)\).*)?$"#,
);
static PEST: Pattern = Pattern::new(r"^\s*FAILED\s+((?:\w+\\)*\w+) > (.+?)(?:\s{2,}(\w+))?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains(" on line ") && MILD.is_match(text) {
        return Some(Finding::noise(at, at));
    }
    if text.contains("atal error: ") || text.contains("Parse error: ") {
        return recognize_fatal(log, at);
    }
    if text.contains(") ") && text.contains("::") && text.starts_with(|c: char| c.is_ascii_digit()) {
        return recognize_phpunit(log, at);
    }
    if text.contains(".ERROR: ")
        || text.contains(".CRITICAL: ")
        || text.contains(".ALERT: ")
        || text.contains(".EMERGENCY: ")
    {
        return recognize_laravel(log, at);
    }
    if text.contains(" FAILED ") && text.contains(" > ") {
        return recognize_pest(log, at);
    }
    if text.starts_with("  ") || text.starts_with(" :") || text.starts_with("ERROR: ") {
        return recognize_phpstan(log, at);
    }
    None
}

/// Names of functions and classes that PHP prints without quotes.
fn quote_names(message: &str) -> String {
    if let Some(groups) = CALL.captures(message) {
        let name = groups.get(1);
        return message.replacen(name, &symbol(name), 1);
    }
    match CLASS_NAME.captures(message) {
        Some(groups) => format!("{} {} {}", groups.get(1), symbol(groups.get(2)), groups.get(3)),
        None => message.to_owned(),
    }
}

fn recognize_fatal(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = FATAL.captures(log.text(at))?;
    let kind = groups.get(2).rsplit('\\').next().unwrap_or_default();
    let mut message = groups.get(3).to_owned();
    let (code, class) = match (groups.get(1), kind) {
        ("Parse", _) | (_, "ParseError") => ("ParseError", ProblemClass::SyntaxError),
        (_, "") if message.starts_with("Allowed memory size") => ("memory_limit", ProblemClass::OutOfMemory),
        (_, "") if message.starts_with("Maximum execution time") => ("time_limit", ProblemClass::Timeout),
        (_, "") => ("Error", ProblemClass::Exception),
        (_, kind) => (kind, ProblemClass::Exception),
    };
    if message.starts_with("Allowed memory size") {
        "Allowed memory size exhausted".clone_into(&mut message);
    }
    let last = log.end_of(at, 60, |text| {
        let plain = text.trim_start();
        plain.starts_with('#')
            || plain.starts_with("Stack trace:")
            || plain.starts_with("thrown in ")
            || plain.starts_with("PHP ")
    });
    let mut finding =
        Finding::new("php", "php", class, at).code(code).message(quote_names(&message)).until(last);
    if let Some(file) = groups.some(4) {
        finding = finding.position(file, groups.number(5).or_else(|| groups.number(6)));
    }
    if class != ProblemClass::Exception {
        return Some(finding);
    }
    if let Some(error) = sql::classify(kind, &message, "") {
        sql::apply(&mut finding, error);
        return Some(finding);
    }
    if let Some(required) = REQUIRED.captures(&message) {
        finding.message = format!("No such file or directory: '{}'", required.get(1));
    }
    Some(finding.or_system())
}

/// `1) Class::t`, then the message, then the place.
fn recognize_phpunit(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = NUMBERED.captures(log.text(at))?;
    let (start, message) = log.find_after(at, 2, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let last = log.end_of(start, 60, |text| {
        !NUMBERED.is_match(text)
            && !text.starts_with("FAILURES!")
            && !text.starts_with("ERRORS!")
            && !text.starts_with("--")
    });
    let class = groups.get(1).rsplit('\\').next().unwrap_or_default();
    let place = (start..=last)
        .find_map(|index| POSITION.captures(log.text(index)).filter(|groups| is_in_app("", groups.get(1))));
    let raised = message.split_once(": ").filter(|(kind, _)| {
        let short = kind.rsplit('\\').next().unwrap_or(kind);
        !kind.contains(' ') && (short.ends_with("Error") || short.ends_with("Exception"))
    });
    let finding = Finding::new("phpunit", "php", ProblemClass::TestFailure, at)
        .test(format!("{class}::{}", groups.get(2)))
        .until(last);
    let mut finding = match raised {
        Some((kind, said)) => {
            finding.code(kind.rsplit('\\').next().unwrap_or(kind)).message(quote_names(said))
        }
        None => finding.code("assert").message(message).values(true),
    };
    if let Some(groups) = place {
        finding.place = file_name(groups.get(1));
        finding.line = groups.number(2);
    }
    Some(finding)
}

fn recognize_pest(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = PEST.captures(log.text(at))?;
    let (start, message) = log.find_after(at, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let place = log.find_after(start, 6, |text| {
        let plain = text.trim().strip_prefix("at ")?;
        plain.rsplit_once(':').map(|(file, line)| (file.to_owned(), line.parse().ok()))
    });
    let code = groups.some(3).filter(|kind| *kind != "ExpectationFailedException").unwrap_or("assert");
    let class = groups.get(1).rsplit('\\').next().unwrap_or_default();
    let finding = Finding::new("pest", "php", ProblemClass::TestFailure, at)
        .code(code)
        .message(message)
        .values(true)
        .test(format!("{class} > {}", groups.get(2)))
        .until(start);
    Some(match place {
        Some((_, (file, line))) => finding.position(&file, line),
        None => finding,
    })
}

fn recognize_laravel(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = LARAVEL.captures(log.text(at))?;
    let kind = groups.get(2).rsplit('\\').next().unwrap_or_default().to_owned();
    let message = groups.get(1);
    let last = log.end_of(at, 80, |text| {
        text.starts_with('#') || text.starts_with("[stacktrace]") || text.starts_with("\"}")
    });
    let mut finding = Finding::new("laravel", "php", ProblemClass::Exception, at)
        .code(kind.clone())
        .message(quote_names(message))
        .until(last);
    if let Some(file) = groups.some(3) {
        finding = finding.position(file, groups.number(4));
    }
    if let Some(error) = sql::classify(&kind, message, "") {
        sql::apply(&mut finding, error);
        return Some(finding);
    }
    Some(finding.or_system())
}

static STAN_LINE: Pattern = Pattern::new(r"^\s+:?([0-9]+)\s{2,}(\S.*)$");
static STAN_FILE: Pattern = Pattern::new(r"^\s+Line\s{2,}(\S+\.php)\s*$");
static PSALM: Pattern = Pattern::new(r"^ERROR: (\w+) - (\S+\.php):([0-9]+):[0-9]+ - (.+?)(?: \(see .*\))?$");

/// PHPStan prints a table per file, Psalm one line per finding.
fn recognize_phpstan(log: &LogView<'_>, at: usize) -> Option<Finding> {
    if let Some(groups) = PSALM.captures(log.text(at)) {
        return Some(
            Finding::new("psalm", "psalm", ProblemClass::CompileError, at)
                .code(groups.get(1))
                .message(groups.get(4))
                .position(groups.get(2), groups.number(3)),
        );
    }
    let groups = STAN_LINE.captures(log.text(at))?;
    let (_, file) =
        log.find_before(at, 300, |text| STAN_FILE.captures(text).map(|groups| groups.get(1).to_owned()))?;
    let last = log.end_of(at, 6, |text| text.starts_with("         ") && !STAN_LINE.is_match(text));
    let code = (at + 1..=last)
        .find_map(|index| log.text(index).trim().strip_prefix("🪪").map(|code| code.trim().to_owned()))
        .unwrap_or_default();
    let class = if groups.get(2).starts_with("Syntax error") {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::CompileError
    };
    Some(
        Finding::new("phpstan", "phpstan", class, at)
            .code(code)
            .message(quote_names(groups.get(2)))
            .position(&file, groups.number(1))
            .until(last),
    )
}
