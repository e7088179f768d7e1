//! node: options that are known to be harmless, then a script of the repository.

use super::{GateVerdict, inline_code, is_foreign_script, option_not_allowed};

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

/// Looks at everything before the script; what follows belongs to the script.
pub fn check(args: &[String]) -> GateVerdict {
    for word in args {
        if !word.starts_with('-') {
            return check_script(word);
        }
        if !is_harmless(word) {
            let name = word.split('=').next().unwrap_or(word);
            return Err(if CODE.contains(&name) {
                inline_code(word)
            } else {
                option_not_allowed("node", word)
            });
        }
    }
    Ok(())
}

fn is_harmless(word: &str) -> bool {
    match word.split_once('=') {
        None => FLAGS.contains(&word),
        Some(("--test-reporter", value)) => REPORTERS.contains(&value),
        Some(("--test-reporter-destination", value)) => matches!(value, "stdout" | "stderr"),
        Some((name, _)) => SETTINGS.contains(&name),
    }
}

fn check_script(script: &str) -> GateVerdict {
    if script == "inspect" || is_foreign_script(script) {
        return Err(inline_code(script));
    }
    Ok(())
}
