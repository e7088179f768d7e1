//! Segments: the output of one command each, and whether it ended well.

use super::lines::Line;
use super::pattern::Pattern;

/// The output of one command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segment {
    /// Numbers of its first and last line.
    pub first: usize,
    pub last: usize,
    pub command: Option<String>,
    /// The last line that says that everything passed.
    pub passed_at: Option<usize>,
    /// The last line that counts a failure.
    pub failed_at: Option<usize>,
}

impl Segment {
    /// Whether a summary says that everything passed, and none that something failed.
    pub(crate) fn has_passed(&self) -> bool {
        self.passed_at.is_some() && self.failed_at.is_none()
    }
}

static SHELL_PROMPT: Pattern = Pattern::new(r"^(?:[\w.-]+@[\w.-]+:[^$#]*)?[$❯] (\S.*)$");
static TRACE: Pattern = Pattern::new(r"^\++ ([A-Za-z./_][\w./@-]*(?: .*)?)$");
static SCRIPT: Pattern = Pattern::new(r"^> (?:@[\w.-]+/)?[\w.-]+@[0-9][\w.+-]* ([\w:.-]+)(?: .*)?$");
static GROUP: Pattern = Pattern::new(r"^(?:##\[group\]|::group::)Run (.+)$");
static CI_COMMAND: Pattern = Pattern::new(r"^(?:##\[command\]|\[command\])(.+)$");
static YARN: Pattern = Pattern::new(r"^yarn run v[0-9]");

/// Splits lines into segments.
pub(crate) fn split(lines: &[Line]) -> Vec<Segment> {
    let mut segments =
        vec![Segment { first: lines.first().map_or(1, |line| line.number), ..Segment::default() }];
    for line in lines {
        if let Some(command) = read_command(&line.text) {
            let nested = command.starts_with("npm ");
            let open = segments.last_mut();
            match open {
                // `$ npm test` is followed by `> pkg@1.0 test`: one command, not two.
                Some(open) if nested && open.command.is_some() && line.number <= open.first + 2 => {}
                _ => {
                    if let Some(open) = open {
                        open.last = line.number.saturating_sub(1);
                    }
                    segments.push(Segment {
                        first: line.number,
                        command: Some(command),
                        ..Segment::default()
                    });
                }
            }
        } else if let Some(open) = segments.last_mut() {
            match read_verdict(line.body()) {
                Some(true) => open.passed_at = Some(line.number),
                Some(false) => open.failed_at = Some(line.number),
                None => {}
            }
        }
    }
    if let (Some(open), Some(line)) = (segments.last_mut(), lines.last()) {
        open.last = line.number;
    }
    segments
}

/// The command that a line announces.
fn read_command(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let groups = match first {
        '$' | '❯' => SHELL_PROMPT.captures(text),
        '+' => TRACE.captures(text),
        '>' => {
            let groups = SCRIPT.captures(text)?;
            return Some(match groups.get(1) {
                script @ ("test" | "start" | "stop" | "restart") => format!("npm {script}"),
                script => format!("npm run {script}"),
            });
        }
        '#' | ':' if text.contains("Run ") => GROUP.captures(text),
        '#' | '[' if text.contains("[command]") => CI_COMMAND.captures(text),
        'y' if YARN.is_match(text) => return None,
        _ if text.contains("@") && text.contains("$ ") => SHELL_PROMPT.captures(text),
        _ => None,
    }?;
    let command = groups.get(1).trim();
    // A line of a diff or of a list, not a command.
    let is_text = first == '+' && (command.ends_with(['{', '}', ';', ',']) || command.contains(" = "));
    (!is_text && !command.is_empty()).then(|| command.to_owned())
}

static COUNTS: Pattern = Pattern::new(
    r"(?i)(?:^|[^\w.])(?:([0-9]+) (?:tests? |specs? |examples? |checks? |suites? )?(?:failed|failing|failures?|fail|errors?|broken)\b|(?:failures|failed|errors|fail)[:=] *([0-9]+)\b|# fail +([0-9]+)$|ℹ fail +([0-9]+)$)",
);
static PASSED: Pattern = Pattern::new(
    r"(?xi)
    ^\s*test\ result:\ ok
    | (?:^|[\s=,])[1-9][0-9]*\ (?:tests?\ )?pass(?:ed|ing)?\b
    | ^\s*(?:\#|ℹ)\ fail\ +0$
    | ^ok\s+\S+\s+(?:\(cached\)|[0-9.]+s|\[no)
    | ^PASS$ | ^PASS\s+\S
    | \b(?:0|no)\ (?:errors?|failures|problems|issues|offenses|violations)\b
    | ^OK\ ?(?:\(|$) | \bOK\ \([0-9]+\ tests?
    | ^BUILD\ SUCCESS | ^Build\ succeeded | ^BUILD\ SUCCESSFUL
    | ^Tests?\ run:\ [0-9]+,\ Failures:\ 0,\ Errors:\ 0
    | ^Passed!\ | ^All\ (?:[0-9]+\ )?(?:checks|tests|matched\ files|specs)\b.*\b(?:pass|passed|use)\b
    | ^Success:\ no\ issues
    | ^All\ checks\ passed
    | ^Compiled\ successfully
    | ^Finished\ `?(?:dev|test|release|bench)
    | ^Your\ configuration\ is\ valid | ^Success!
    | ^Apply\ complete! | ^No\ changes\.
    | ^added\ [0-9]+\ packages
    | ^Test\ Suite\ '[^']+'\ passed
    | ^Done\ in\ [0-9.]+ | ^Job\ succeeded$
    | ^\#?[0-9]*\ ?DONE\ [0-9.]+s
    | ^webpack\ [0-9.]+\ compiled\ successfully
    | \bTest\ run\ with\ .*\ passed\b
    | ^Executed\ [0-9]+\ out\ of\ [0-9]+\ tests?:\ .*pass
    | ^INFO:\ Build\ completed\ successfully
    | ^Successfully\ (?:installed|built|tagged|ran)
    ",
);

/// Whether a line is a summary: that everything passed, or that something failed.
pub(crate) fn read_verdict(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.is_empty() || text.len() > 300 {
        return None;
    }
    if is_failure_word(text) {
        return Some(false);
    }
    let mut rest = text;
    let mut counted_zero = false;
    while let Some(groups) = COUNTS.captures(rest) {
        let count = (1..=4).find_map(|index| groups.number(index)).unwrap_or_default();
        if count > 0 && is_summary_line(text) {
            return Some(false);
        }
        counted_zero |= count == 0;
        rest = rest.get(groups.range().end..).unwrap_or_default();
    }
    // An audit of packages says nothing about what is run after it.
    if text.starts_with("found 0 vulnerabilities") {
        return None;
    }
    if PASSED.is_match(text) && !text.contains("retry") {
        return Some(true);
    }
    (counted_zero && is_summary_line(text)).then_some(true)
}

fn is_failure_word(text: &str) -> bool {
    const STARTS: [&str; 22] = [
        "test result: FAILED",
        "BUILD FAILURE",
        "BUILD FAILED",
        "Build FAILED",
        "FAILURES!",
        "ERRORS!",
        "FAILED (",
        "Failed!  - ",
        "FAILURE: Build failed",
        "** TEST FAILED **",
        "** BUILD FAILED **",
        "error: test failed",
        "error: could not compile",
        "make: ***",
        "ninja: build stopped",
        "Command failed",
        "##[error]",
        "Process completed with exit code",
        "ERROR: Job failed",
        "error Command failed",
        "npm ERR!",
        "npm error",
    ];
    STARTS.iter().any(|start| text.starts_with(start)) || text == "FAIL" || text.starts_with("FAIL\t")
}

/// A summary counts something; a sentence that mentions a count does not end a run.
fn is_summary_line(text: &str) -> bool {
    let words = [
        "test",
        "fail",
        "error",
        "pass",
        "example",
        "problem",
        "spec",
        "assertion",
        "warning",
        "run",
        "skip",
        "total",
        "offense",
        "target",
    ];
    let lower = text.to_ascii_lowercase();
    let starts_with_count = lower
        .trim_start_matches(['=', ' ', '✖', '#', 'ℹ', '-', '✗', '('])
        .starts_with(|c: char| c.is_ascii_digit());
    let starts_with_word = [
        "tests",
        "test suites",
        "test files",
        "failed",
        "found",
        "ran",
        "finished",
        "executed",
        "fail ",
        "suites",
        "total",
        "errors",
        "failures",
        "summary",
        "results",
        "passed",
    ]
    .iter()
    .any(|word| lower.trim_start_matches(['=', ' ', '✖', 'ℹ', '#']).starts_with(word));
    (starts_with_count || starts_with_word)
        && words.iter().any(|word| lower.contains(word))
        && text.split_whitespace().count() <= 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_say_whether_everything_passed() {
        for text in [
            "test result: ok. 2 passed; 0 failed; 0 ignored",
            "============================== 2 passed in 0.01s ===============================",
            "# fail 0",
            "ok  \texample.org/depot\t0.003s",
            "0 errors, 3 warnings",
            "Tests:       2 passed, 2 total",
            "Tests run: 12, Failures: 0, Errors: 0, Skipped: 1",
            "BUILD SUCCESS",
            "3 examples, 0 failures",
            "OK (4 tests, 9 assertions)",
            "All checks passed!",
            "Success: no issues found in 3 source files",
        ] {
            assert_eq!(read_verdict(text), Some(true), "{text}");
        }
        for text in [
            "test result: FAILED. 1 passed; 1 failed; 0 ignored",
            "1 failed, 1 passed in 0.04s",
            "# fail 1",
            "FAIL\texample.org/depot/stock\t0.004s",
            "Tests:       1 failed, 1 passed, 2 total",
            "Tests run: 6, Failures: 1, Errors: 0, Skipped: 0",
            "3 examples, 1 failure",
            "✖ 1 problem (1 error, 0 warnings)",
            "Found 1 error in 1 file (checked 1 source file)",
        ] {
            assert_eq!(read_verdict(text), Some(false), "{text}");
        }
        assert_eq!(read_verdict("found 0 vulnerabilities"), None);
        assert_eq!(read_verdict("We saw 3 errors last week."), None);
    }

    #[test]
    fn commands_begin_segments() {
        let lines: Vec<Line> =
            ["$ npm test", "> shop@1.0.0 test", "> node --test", "ok 1 - x", "+ cargo build", "done"]
                .iter()
                .enumerate()
                .map(|(at, text)| Line::from_clean(at + 1, text))
                .collect();
        let commands: Vec<_> = split(&lines).into_iter().filter_map(|segment| segment.command).collect();
        assert_eq!(commands, ["npm test", "cargo build"]);
    }
}
