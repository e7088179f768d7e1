//! Maven, Gradle, sbt and Spring.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static GRADLE_ARTIFACT: Pattern =
    Pattern::new(r"Could not (?:find|resolve) ([\w.-]+:[\w.-]+)(?::[\w.+-]+)?\.?$");
static MAVEN_ARTIFACT: Pattern = Pattern::new(
    r"(?:Could not find artifact|Failure to find|artifacts? could not be resolved:|Could not transfer artifact|[Cc]ould not be resolved:) ([\w.-]+):([\w.-]+):",
);
static SBT_ARTIFACT: Pattern =
    Pattern::new(r"(?:Error downloading|unresolved dependency:|not found:) ([\w.-]+)[:#]([\w.-]+)[:;]");
static PLUGIN: Pattern = Pattern::new(
    r"Plugin \[id: '([^']+)'.*\] was not found|No plugin found for prefix '([^']+)'|Plugin ([\w.-]+:[\w.-]+):\S+ or one of its dependencies could not be resolved",
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if (text.contains("ould not ")
        || text.contains("ailure to find")
        || text.contains("unresolved dependency")
        || text.contains("Error downloading"))
        && let Some(finding) = recognize_artifact(log, at)
    {
        return Some(finding);
    }
    if text.contains("lugin")
        && let Some(groups) = PLUGIN.captures(text)
    {
        let name = (1..=3).find_map(|index| groups.some(index))?;
        let tool = if text.contains("[id:") { "gradle" } else { "maven" };
        return Some(
            Finding::new(tool, tool, ProblemClass::DependencyError, at)
                .code("plugin_not_found")
                .message(format!("Could not find plugin {}", symbol(name))),
        );
    }
    if text.starts_with("* What went wrong:") {
        return recognize_gradle(log, at);
    }
    if text.starts_with("APPLICATION FAILED TO START") {
        return recognize_spring(log, at);
    }
    if log.is_error(at) {
        return recognize_maven(log, at);
    }
    None
}

fn recognize_artifact(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at).trim();
    let (tool, name) = if let Some(groups) = MAVEN_ARTIFACT.captures(text) {
        ("maven", format!("{}:{}", groups.get(1), groups.get(2)))
    } else if let Some(groups) = GRADLE_ARTIFACT.captures(text.trim_start_matches(['>', ' '])) {
        ("gradle", groups.get(1).to_owned())
    } else {
        let groups = SBT_ARTIFACT.captures(text)?;
        ("sbt", format!("{}:{}", groups.get(1), groups.get(2)))
    };
    Some(
        Finding::new(tool, tool, ProblemClass::DependencyError, at)
            .code("not_found")
            .message(format!("Could not find {}", symbol(&name))),
    )
}

/// Lines that only say that a task failed, because of what another tool printed.
const GRADLE_WRAPPERS: [&str; 8] = [
    "Execution failed for task",
    "Compilation failed; see",
    "Compilation error. See log",
    "There were failing tests",
    "Process 'command ",
    "Could not resolve all ",
    "Could not determine the dependencies of task",
    "A failure occurred while executing",
];

static LINE_OF: Pattern = Pattern::new(r"^(?:Build|Settings|Script) file '([^']+)' line: ([0-9]+)$");
static KOTLIN_DSL: Pattern = Pattern::new(r"^\s*Line ([0-9]+): ");

fn recognize_gradle(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let mut last = at;
    while last < at + 60 && last + 1 < log.len() {
        let next = log.text(last + 1);
        // Text at the margin after an empty line no longer belongs to the message.
        let is_other = last > at
            && log.text(last).trim().is_empty()
            && !next.is_empty()
            && !next.starts_with([' ', '>', '-']);
        if next.starts_with("* ") || is_other {
            break;
        }
        last += 1;
    }
    let mut messages: Vec<(usize, String)> = Vec::new();
    for index in at + 1..=last {
        let plain = log.text(index).trim_start_matches([' ', '>', '\t']).trim();
        let is_wrapper = GRADLE_WRAPPERS.iter().any(|words| plain.starts_with(words));
        if plain.is_empty() || is_wrapper {
            continue;
        }
        // A dependency that is missing has a rule of its own.
        if GRADLE_ARTIFACT.is_match(plain) || PLUGIN.is_match(plain) {
            return None;
        }
        messages.push((index, plain.to_owned()));
    }
    let position = log.find_before(at, 6, |text| LINE_OF.captures(text));
    let (_, first) = messages.first()?;
    let mut message = first.clone();
    // The line after `Script compilation error:` shows the source, the next one the cause.
    let caused = messages.iter().find_map(|(_, text)| text.strip_prefix("^ "));
    let nested = messages
        .iter()
        .position(|(index, _)| log.text(*index).starts_with("> "))
        .and_then(|at| messages.get(at));
    let mut line = None;
    if let Some(cause) = caused {
        message = cause.to_owned();
        line = messages
            .iter()
            .find_map(|(_, text)| KOTLIN_DSL.captures(text).and_then(|groups| groups.number(1)));
    } else if let Some((_, cause)) = nested
        && (first.starts_with("A problem occurred")
            || first.starts_with("Could not compile")
            || first.starts_with("An exception occurred"))
    {
        message.clone_from(cause);
    }
    let code =
        if first.starts_with("Task '") && first.contains(" not found") { "task_not_found" } else { "" };
    let class = if message.contains("Unresolved reference") || first.starts_with("Could not compile") {
        ProblemClass::CompileError
    } else {
        ProblemClass::ConfigError
    };
    let message = message.replace("Unresolved reference: ", "Unresolved reference ");
    let finding = Finding::new("gradle", "gradle", class, at).code(code).message(message).until(last);
    let mut finding = match position {
        Some((_, groups)) => finding.position(groups.get(1), groups.number(2)),
        None => finding,
    };
    finding.line = finding.line.or(line);
    Some(finding.or_system())
}

const MAVEN: [(&str, &str); 7] = [
    ("Unknown lifecycle phase", "unknown_phase"),
    ("The goal you specified requires a project", "no_project"),
    ("Non-resolvable parent POM", "parent_pom"),
    ("Non-parseable POM", "pom"),
    ("Malformed POM", "pom"),
    ("'dependencies.dependency.version'", "missing_version"),
    ("Could not find the selected project in the reactor", "no_project"),
];

fn recognize_maven(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at).trim();
    let text = text.strip_prefix("[FATAL] ").unwrap_or(text);
    let (_, code) = MAVEN.iter().find(|(words, _)| text.starts_with(words))?;
    let message = text.split(" -> [Help").next().unwrap_or(text);
    let message = message.split(". You must specify").next().unwrap_or(message);
    Some(Finding::new("maven", "maven", ProblemClass::ConfigError, at).code(*code).message(message))
}

/// The description that Spring Boot prints.
fn recognize_spring(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let (start, ()) = log.find_after(at, 6, |text| text.starts_with("Description:").then_some(()))?;
    let (index, message) =
        log.find_after(start, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let last = log.end_of(index, 12, |text| !text.starts_with("Process finished"));
    Some(
        Finding::new("spring", "java", ProblemClass::ConfigError, at)
            .code("application_failed_to_start")
            .message(message)
            .until(last)
            .or_system(),
    )
}
