//! node: options that are known to be harmless, then a script of the repository.

use super::script;
use super::script_word::ScriptWord;
use super::{CommandPolicy, GateVerdict, inline_code, is_foreign_script, option_not_allowed};

/// Options that take no value.
const FLAGS: &[&str] = &[
    "--",
    "--check",
    "--enable-source-maps",
    "--experimental-json-modules",
    "--experimental-strip-types",
    "--experimental-test-coverage",
    "--experimental-test-module-mocks",
    "--experimental-test-snapshots",
    "--experimental-transform-types",
    "--experimental-vm-modules",
    "--expose-gc",
    "--help",
    "--no-deprecation",
    "--no-warnings",
    "--pending-deprecation",
    "--test",
    "--test-force-exit",
    "--test-only",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-exit",
    "--trace-sigint",
    "--trace-sync-io",
    "--trace-uncaught",
    "--trace-warnings",
    "--version",
    "-c",
    "-h",
    "-v",
];

/// Options whose value stands behind `=`. None of them names a file, and a value behind a space could hide the script.
const SETTINGS: &[&str] = &[
    "--disable-warning",
    "--dns-result-order",
    "--max-old-space-size",
    "--max-semi-space-size",
    "--stack-trace-limit",
    "--test-concurrency",
    "--test-coverage-branches",
    "--test-coverage-functions",
    "--test-coverage-lines",
    "--test-isolation",
    "--test-name-pattern",
    "--test-shard",
    "--test-skip-pattern",
    "--test-timeout",
    "--unhandled-rejections",
];

/// Reporters that are part of node; any other value would be loaded as a module.
const REPORTERS: &[&str] = &["spec", "tap", "dot", "junit", "lcov"];

/// Options that carry code or load it; named apart only to give a better reason.
const CODE: &[&str] = &[
    "-e",
    "-p",
    "-pe",
    "-r",
    "-i",
    "-",
    "--eval",
    "--print",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--interactive",
];

/// Looks at everything before the script; what follows belongs to the script. A test runner has many scripts.
pub fn check(args: &[String], policy: &CommandPolicy) -> GateVerdict {
    let (options, rest) = split(args);
    if let Some(word) = options.iter().find(|word| !is_harmless(word)) {
        let name = word.split('=').next().unwrap_or(word);
        return Err(if CODE.contains(&name) { inline_code(word) } else { option_not_allowed("node", word) });
    }
    let count = if is_test_runner(options) { rest.len() } else { rest.len().min(1) };
    for (at, word) in rest.iter().enumerate().take(count) {
        if word == "inspect" || is_foreign_script(word) {
            return Err(inline_code(word));
        }
        script::check(word, &rest[at + 1..], policy)?;
    }
    Ok(())
}

/// The scripts among the arguments.
pub fn scripts(args: &[String]) -> Vec<ScriptWord<'_>> {
    let (options, rest) = split(args);
    match is_test_runner(options) {
        true => rest.iter().map(|word| ScriptWord::Pattern(word)).collect(),
        false => rest.iter().take(1).map(|word| ScriptWord::File(word)).collect(),
    }
}

/// The options, and the words from the script on.
fn split(args: &[String]) -> (&[String], &[String]) {
    args.split_at(args.iter().take_while(|word| word.starts_with('-')).count())
}

fn is_test_runner(options: &[String]) -> bool {
    options.iter().any(|option| option == "--test")
}

fn is_harmless(word: &str) -> bool {
    match word.split_once('=') {
        None => FLAGS.contains(&word),
        Some(("--test-reporter", value)) => REPORTERS.contains(&value),
        Some(("--test-reporter-destination", value)) => matches!(value, "stdout" | "stderr"),
        Some((name, _)) => SETTINGS.contains(&name),
    }
}
