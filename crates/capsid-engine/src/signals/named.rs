//! The signals that the protocol names without saying when they fire.

use super::pattern::SignalPattern;
use super::stability;

/// Tested on the lowercase text, in this order.
static NAMED: [(&str, SignalPattern); 5] = [
    (
        "exception",
        SignalPattern::new(concat!(
            r"traceback \(most recent call last\)|exception in thread |terminate called after throwing",
            r"|uncaught (?:\(in promise\) )?[a-z0-9_.]*(?:error|exception)(?-u:\b)",
            r"|unhandled (?:promise )?(?:exception|rejection)|unhandledpromiserejection",
            r"|(?m:^[ \t]*(?:caused by: )?[a-z0-9_.$]*[a-z0-9]exception(?::|$))",
        )),
    ),
    (
        "crash",
        SignalPattern::new(concat!(
            r"segmentation fault|core dumped|(?-u:\bsig(?:segv|abrt|bus|ill|fpe)\b)|panicked at |(?m:^panic: )",
            r"|(?-u:\bfatal error\b)|stack overflow|heap out of memory|double free|access violation",
            r"|(?-u:\b(?:crashed|crashes|crashing)\b)|exit(?:ed with)? code:? 1(?:34|37|39)(?-u:\b)",
        )),
    ),
    (
        "timeout",
        SignalPattern::new(concat!(
            r"(?-u:\btimed[ -]out\b)|etimedout|esockettimedout|deadline[ _]?exceeded|timeout(?:error|exception|expired)",
            r"|(?-u:\b)time[ -]?out (?:of [0-9]|after|exceeded|expired|reached|waiting|while)|gateway time-?out",
            r"|exceeded (?:the )?(?:time limit|timeout)|time limit exceeded",
        )),
    ),
    (
        "linux_path_issue",
        SignalPattern::new(concat!(
            // a Windows path taken literally
            r#"(?:enoent|no such file or directory|cannot find)[^\n]*['"`‘][^'"`’\s]*[a-z0-9_.-]\\[a-z0-9_.-][^'"`’\s]*['"`’]"#,
            r#"|['"`‘][^'"`’\s]*[a-z0-9_.-]\\[a-z0-9_.-][^'"`’\s]*['"`’][^\n]*(?:enoent|no such file or directory)"#,
            // line ends of Windows in a script
            r"|(?:\r|\\r|\^m)['’]?: (?:command not found|no such file or directory)|bad interpreter:[^\n]*(?:\^m|\r)",
            r"|cannot execute: required file not found",
            // upper and lower case told apart
            r"|only in casing|differs? only (?:in|by) (?:letter )?case|case[- ]sensitive (?:file ?system|path|import)",
        )),
    ),
    (
        "host_llm_client_error",
        SignalPattern::new(concat!(
            r"(?-u:\bllm error\b)|rate_limit_error|rate limit (?:exceeded|reached)|insufficient_quota|quota exceeded",
            r"|exceeded your current quota|context_length_exceeded|maximum context length|prompt is too long",
            r"|invalid_request_error|authentication_error|credit balance is too low|usage limit reached",
            r"|(?-u:\bapi error:? (?:\()?4[0-9][0-9]\b)|max_tokens[^\n]{0,40}(?:too large|exceed|maximum)",
        )),
    ),
];

/// A Windows shell that refuses a Unix command.
static SHELL_REFUSAL: SignalPattern = SignalPattern::new(
    r"is not recognized as (?:an internal or external command|(?:the |a )?name of a cmdlet)|is not a valid statement separator|the syntax of the command is incorrect",
);

/// Unix commands and syntax that no Windows shell has.
const UNIX_ONLY: [&str; 4] = ["pgrep", "ps aux", "cat >", "heredoc"];

/// Adds that a shell refuses commands of another system.
pub(super) fn add_shell(lower: &str, platform: &str, signals: &mut Vec<String>) {
    if is_foreign_shell(lower, platform) {
        signals.push("windows_shell_incompatible".to_owned());
    }
}

/// Adds the named signals of a text.
pub(super) fn add(text: &str, lower: &str, signals: &mut Vec<String>) {
    for (name, pattern) in &NAMED {
        if pattern.is_in(lower) {
            signals.push((*name).to_owned());
        }
    }
    if stability::is_unstable(text, lower) {
        signals.push("unstable".to_owned());
    }
}

fn is_foreign_shell(lower: &str, platform: &str) -> bool {
    SHELL_REFUSAL.is_in(lower) || (platform == "win32" && UNIX_ONLY.iter().any(|unix| lower.contains(unix)))
}

#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = &'static SignalPattern> {
    NAMED.iter().map(|(_, pattern)| pattern).chain([&SHELL_REFUSAL])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, platform: &str) -> Vec<String> {
        let (mut signals, lower) = (Vec::new(), text.to_lowercase());
        add_shell(&lower, platform, &mut signals);
        add(text, &lower, &mut signals);
        signals
    }

    fn has(text: &str, signal: &str) -> bool {
        named(text, "linux").iter().any(|found| found == signal)
    }

    #[test]
    fn each_named_signal_fires_on_what_it_names_and_not_on_talk_about_it() {
        let table: [(&str, &[&str], &[&str]); 7] = [
            (
                "exception",
                &[
                    "Traceback (most recent call last):",
                    "Uncaught TypeError: x is undefined",
                    "Uncaught (in promise) Error: no",
                    "Exception in thread \"main\" java.lang.Foo",
                    "  java.io.IOException: closed",
                    "Caused by: a.b.SqlException",
                    "UnhandledPromiseRejectionWarning",
                    "Unhandled exception. System.Foo",
                ],
                &["with one exception: tea", "class FooException extends Bar", "the exception handler"],
            ),
            (
                "crash",
                &[
                    "Segmentation fault (core dumped)",
                    "signal: 11, SIGSEGV",
                    "thread 'main' panicked at src/main.rs:1:2:",
                    "panic: boom",
                    "fatal error: all goroutines are asleep",
                    "the app crashes at start",
                    "exited with code 139",
                ],
                &["a crash course", "don't panic: breathe", "fatal: not a git repository"],
            ),
            (
                "timeout",
                &[
                    "request timed out",
                    "connect ETIMEDOUT 1.2.3.4:443",
                    "context deadline exceeded",
                    "Timeout of 5000ms exceeded",
                    "TimeoutError",
                    "504 Gateway Timeout",
                ],
                &["timeout: 30", "set the timeout in the file", "a time out of mind", "a timeout of mine"],
            ),
            (
                "unstable",
                &[
                    "this test is flaky",
                    "it fails intermittently",
                    "it passes sometimes",
                    "the build is unstable",
                ],
                &["a stable test", "flask is fine"],
            ),
            (
                "linux_path_issue",
                &[
                    "ENOENT: no such file or directory, open 'src\\util\\a.js'",
                    "cat: 'src\\a.js': No such file or directory",
                    "run.sh: line 2: $'\\r': command not found",
                    "/usr/bin/env: ‘node\\r’: No such file or directory",
                    "bad interpreter: /bin/sh^M: no such file",
                    "bash: ./run: cannot execute: required file not found",
                    "File name './Foo.ts' differs from './foo.ts' only in casing.",
                ],
                &[
                    "ENOENT: no such file or directory, open '/a/b.js'",
                    "\"No such file or directory\\nnext line\"",
                    "foo: command not found",
                ],
            ),
            (
                "windows_shell_incompatible",
                &[
                    "'grep' is not recognized as an internal or external command,",
                    "The term 'ls' is not recognized as the name of a cmdlet, function",
                    "The token '&&' is not a valid statement separator in this version.",
                ],
                &["ps aux | grep node", "cat > file << EOF"],
            ),
            (
                "host_llm_client_error",
                &[
                    "[LLM ERROR] 429",
                    "API Error: 400 {\"type\":\"error\"}",
                    "You exceeded your current quota",
                    "prompt is too long: 210000 tokens",
                    "max_tokens: 9000 is too large",
                ],
                &["HTTP 404 not found", "api error budget", "max_tokens = 4096"],
            ),
        ];
        for (signal, fires, silent) in table {
            for text in fires {
                assert!(has(text, signal), "{signal}: {text:?}");
            }
            for text in silent {
                assert!(!has(text, signal), "{signal}: {text:?}");
            }
        }
    }

    #[test]
    fn unix_commands_alone_matter_on_windows_only() {
        assert!(named("ps aux", "linux").is_empty());
        assert_eq!(named("ps aux", "win32"), ["windows_shell_incompatible"]);
    }
}
