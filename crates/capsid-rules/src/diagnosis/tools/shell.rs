//! The shell, errors of the operating system, the kernel and time limits.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static NOT_FOUND: Pattern = Pattern::new(
    r"^(?:(?:/\S*/)?([\w./-]+): )?(?:line )?([0-9]+)?(?:: )?(?:(?:/\S*/)?(?:bash|sh|zsh|dash|fish|ash|ksh)?:? ?)?(?:([^\s:]+): (?:command not found|not found|No such file or directory)|command not found: (\S+)|Unknown command: (\S+))$",
);
static WINDOWS: Pattern = Pattern::new(r"^'([^']+)' is not recognized as an internal or external command");
static MAKE: Pattern =
    Pattern::new(r"^g?make(?:\[[0-9]+\])?: ([\w.+-]+): (?:No such file or directory|Command not found)$");
static ENV: Pattern = Pattern::new(r"^(?:/usr/bin/)?env: ['‘]?([\w./-]+)['’]?: No such file or directory$");
static UNBOUND: Pattern = Pattern::new(
    r"^(\S+?): (?:line )?[0-9]+: (\w+): (?:unbound variable|parameter not set|parameter null or not set)",
);
static SYNTAX: Pattern = Pattern::new(r"^(\S+?): (?:line )?[0-9]+: (?:[Ss]yntax error:? ?)(.*)$");
static CANNOT_EXECUTE: Pattern =
    Pattern::new(r"^(?:(\S+?): line [0-9]+: |(?:bash|sh): )?(\S+?): cannot execute(?: binary file)?: (.+)$");
static OOM: Pattern = Pattern::new(
    r"(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process [0-9]+,? \(?([^)\s,]+)\)?",
);
static SHELLCHECK: Pattern =
    Pattern::new(r"^(\S+):([0-9]+):[0-9]+: (error|warning|note|style): (.+?) \[(SC[0-9]{4})\]$");
static SHELLCHECK_TTY: Pattern = Pattern::new(r"^In (\S+) line ([0-9]+):$");
static SHELLCHECK_CODE: Pattern = Pattern::new(r"(SC[0-9]{4})(?: \((error|warning|info|style)\))?: (.+)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("In ") && text.ends_with(':') {
        return recognize_shellcheck_block(log, at);
    }
    if (text.contains("ommand not found")
        || text.ends_with(": not found")
        || text.contains("Unknown command")
        || text.contains("is not recognized as an internal")
        || text.starts_with("make")
        || text.starts_with("env: ")
        || text.starts_with("/usr/bin/env: "))
        && let Some(finding) = recognize_not_found(log, at)
    {
        return Some(finding);
    }
    if text.contains("unbound variable")
        || text.contains("parameter not set")
        || text.contains("parameter null")
    {
        let groups = UNBOUND.captures(text)?;
        return Some(
            Finding::new("shell", "shell", ProblemClass::ConfigError, at)
                .code("unbound_variable")
                .message(format!("unbound variable: {}", symbol(groups.get(2))))
                .file(script(groups.get(1)).unwrap_or_default()),
        );
    }
    if let Some(finding) = recognize_line(text, at) {
        return Some(finding);
    }
    if text.contains("yntax error") && text.contains(": line ") || text.contains("Syntax error: ") {
        let groups = SYNTAX.captures(text)?;
        let last = log.end_of(at, 1, |next| next.contains(": line ") && next.contains(": `"));
        return Some(
            Finding::new("shell", "shell", ProblemClass::SyntaxError, at)
                .code("syntax_error")
                .message(format!("syntax error: {}", groups.get(2)))
                .file(script(groups.get(1)).unwrap_or_default())
                .until(last),
        );
    }
    if text.contains(": cannot execute") {
        let groups = CANNOT_EXECUTE.captures(text)?;
        let name = groups.get(2).rsplit('/').next().unwrap_or_default();
        return Some(
            Finding::new("shell", "shell", ProblemClass::NotFound, at)
                .code("cannot_execute")
                .message(format!("cannot execute {}: {}", symbol(name), groups.get(3)))
                .file(script(groups.get(1)).unwrap_or_default()),
        );
    }
    if text.contains("ut of memory") {
        return recognize_memory(log, at);
    }
    recognize_errno(log, at).or_else(|| recognize_parameter(text, at))
}

static PARAMETER: Pattern = Pattern::new(r"^(\S+?): line [0-9]+: ([A-Z_][A-Z0-9_]*|\w+_\w+|[0-9]): (\S.*)$");

/// `${NAME:?M}` prints a message of the script.
fn recognize_parameter(text: &str, at: usize) -> Option<Finding> {
    if !text.contains(": line ") {
        return None;
    }
    let groups = PARAMETER.captures(text)?;
    Some(
        Finding::new("shell", "shell", ProblemClass::ConfigError, at)
            .code("parameter_not_set")
            .message(format!("{}: {}", symbol(groups.get(2)), groups.get(3)))
            .file(script(groups.get(1)).unwrap_or_default()),
    )
}

static LINE: Pattern = Pattern::new(
    r"^(\S+?): (?:line )?[0-9]+: (.+: )?(syntax error: (?:operand expected|invalid).*|syntax error in expression.*|bad substitution|readonly variable|Bad substitution|[Ii]llegal option .+|is read only|integer expression expected|[a-z ]*operator expected|too many arguments|not a valid identifier|invalid arithmetic operator.*|ambiguous redirect|bad array subscript|division by 0.*|numeric argument required|invalid option|parameter null or not set|bad interpreter.*|maximum .* exceeded.*)(?: \(.*\))?$",
);

/// What a shell says about a line of a script, beside what has a rule of its own.
fn recognize_line(text: &str, at: usize) -> Option<Finding> {
    if !text.contains(": ") {
        return None;
    }
    let groups = LINE.captures(text)?;
    let said = groups.get(3);
    let is_syntax = said.starts_with("syntax error") || said.contains("substitution");
    let (code, class) = if is_syntax {
        ("syntax_error".to_owned(), ProblemClass::SyntaxError)
    } else {
        let words: Vec<&str> = said.split_whitespace().take(2).collect();
        (words.join("_").to_ascii_lowercase(), ProblemClass::Exception)
    };
    let subject = groups.get(2).trim_end_matches(": ");
    let message = if subject.is_empty() || is_syntax {
        said.to_owned()
    } else {
        format!("{said}: {}", symbol(subject))
    };
    Some(
        Finding::new("shell", "shell", class, at)
            .code(code)
            .message(message)
            .file(script(groups.get(1)).unwrap_or_default()),
    )
}

/// A script, not the shell itself.
fn script(name: &str) -> Option<&str> {
    let last = name.rsplit('/').next().unwrap_or(name);
    (!["bash", "sh", "zsh", "dash", "ash", "ksh", "-bash", "fish", ""].contains(&last)).then_some(name)
}

fn recognize_not_found(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let (name, file) = if let Some(groups) = MAKE.captures(text) {
        (groups.get(1), None)
    } else if let Some(groups) = WINDOWS.captures(text).or_else(|| ENV.captures(text)) {
        (groups.get(1), None)
    } else {
        if !text.contains("ommand not found") && !text.contains("Unknown command") && !is_shell_line(text) {
            return None;
        }
        let groups = NOT_FOUND.captures(text)?;
        let name = groups.some(4).or_else(|| groups.some(5)).or_else(|| groups.some(3))?;
        (name, script(groups.get(1)).filter(|file| *file != name))
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let mut finding = Finding::new("shell", "shell", ProblemClass::NotFound, at)
        .code("command_not_found")
        .message(format!("command not found: {}", symbol(name)));
    if let Some(file) = file {
        finding = finding.file(file);
    }
    Some(finding)
}

static SHELL_LINE: Pattern =
    Pattern::new(r"^(?:\S*/)?(?:[\w.-]+\.sh|bash|sh|dash|ash|zsh): (?:line )?[0-9]+: ");

fn is_shell_line(text: &str) -> bool {
    SHELL_LINE.is_match(text)
}

fn recognize_memory(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = OOM.captures(text) {
        let program = groups.get(1);
        return Some(
            Finding::new("os", "os", ProblemClass::OutOfMemory, at)
                .code("oom_kill")
                .message(text)
                .text(format!("oom_kill {program}")),
        );
    }
    if text.contains("CUDA out of memory") {
        return Some(
            Finding::new("cuda", "cuda", ProblemClass::OutOfMemory, at)
                .code("out_of_memory")
                .message("CUDA out of memory"),
        );
    }
    None
}

static PROGRAM: Pattern = Pattern::new(
    r"^(?:[\w./+\[\]-]+: ){1,4}.{0,200}$|^(?:(?:rm|cp|mv|mkdir|touch|cat|ls|tar|dd|chmod|chown|ln|tee|rsync|ssh|scp|wget|sed|grep|find): )",
);
static RESERVED: Pattern =
    Pattern::new(r"^(?i)(?:fatal|error|warning|info|note|hint|debug|e|err|critical|panic)$");

/// `program: subject: words of an errno`.
fn recognize_errno(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.len() > 400 || text.starts_with([' ', '\t', '#', '*', '>', '|']) {
        return None;
    }
    let words = [
        "Permission denied",
        "permission denied",
        "No such file or directory",
        "No space left on device",
        "no space left on device",
        "Connection refused",
        "connection refused",
        "Address already in use",
        "address already in use",
        "Too many open files",
        "too many open files",
        "Read-only file system",
        "Operation not permitted",
        "Connection reset by peer",
        "Connection timed out",
        "No route to host",
        "Network is unreachable",
        "Disk quota exceeded",
        "Cannot allocate memory",
        "Name or service not known",
        "Temporary failure in name resolution",
        "no such host",
        "Is a directory",
        "Not a directory",
        "Directory not empty",
        "File exists",
        "Could not resolve host",
        "port is already allocated",
        "no such file or directory",
        "Operation timed out",
        "ECONNREFUSED",
        "EADDRINUSE",
        "ENOENT",
        "EACCES",
        "ENOSPC",
        "ENOTFOUND",
        "ETIMEDOUT",
        "ECONNRESET",
        "EMFILE",
        "EPERM",
        "already in use",
        "x509: ",
        "certificate has expired",
        "certificate verify failed",
        "Broken pipe",
        "Host key verification failed",
        "The system cannot find the",
        "Access is denied",
    ];
    if !words.iter().any(|word| text.contains(word)) {
        return None;
    }
    let head = text.split(": ").next().unwrap_or_default();
    let starts_with_words = words.iter().any(|word| text.starts_with(word));
    let is_program = PROGRAM.is_match(text) && !head.contains(' ')
        || head.split(' ').count() <= 4 && text.contains(": ")
        || starts_with_words;
    // A line with a level belongs to the last row of the table.
    let is_go = ["dial tcp", "listen tcp", "tls: failed to verify"].iter().any(|words| text.contains(words));
    let is_program = is_program || is_go;
    let first = text.split([' ', ':']).next().unwrap_or_default();
    if !is_program
        || RESERVED.is_match(first.trim_matches(['[', ']']))
        || !is_go && !text.starts_with("The system cannot find") && has_sentence_before(text)
    {
        return None;
    }
    if text.starts_with("Host key verification failed") {
        return Some(
            Finding::new("ssh", "ssh", ProblemClass::PermissionDenied, at).code("host_key").message(text),
        );
    }
    if log.is_error(at) {
        return None;
    }
    let error = errno::classify("", text)?;
    let mut finding = Finding::new("os", "os", error.class, at).message(text);
    finding.apply_system(error);
    if log.line(at).is_some_and(|line| line.structured) {
        finding.role = DiagnosticRole::Generic;
        "app".clone_into(&mut finding.tool);
    }
    Some(finding)
}

/// Prose that speaks of an error does not begin with a program.
fn has_sentence_before(text: &str) -> bool {
    let head = text.split(": ").next().unwrap_or_default();
    head.split_whitespace().count() > 5 || head.contains('"') && head.contains(' ')
}

pub(crate) fn recognize_shellcheck(log: &LogView<'_>, at: usize) -> Option<Finding> {
    if !log.text(at).contains(" [SC") {
        return None;
    }
    let groups = SHELLCHECK.captures(log.text(at))?;
    if groups.get(3) != "error" && groups.get(3) != "warning" {
        return Some(Finding::noise(at, at));
    }
    Some(
        Finding::new("shellcheck", "shellcheck", ProblemClass::LintError, at)
            .code(groups.get(5))
            .message(groups.get(4))
            .position(groups.get(1), groups.number(2)),
    )
}

fn recognize_shellcheck_block(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let place = SHELLCHECK_TTY.captures(log.text(at))?;
    let (index, groups) =
        log.find_after(at, 6, |text| text.contains("SC").then(|| SHELLCHECK_CODE.captures(text)).flatten())?;
    Some(
        Finding::new("shellcheck", "shellcheck", ProblemClass::LintError, at)
            .code(groups.get(1))
            .message(groups.get(3))
            .position(place.get(1), place.number(2))
            .until(index),
    )
}
