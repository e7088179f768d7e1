//! Test runners that are told to pass when there is nothing to run, or to run nothing.

use super::programs::{INFO, LISTS, lists_only, name_of};
use super::{ProofResult, Weakness, weak};

const NO_TESTS: Weakness = weak("It passes when it finds no test to run.");
const CHANGED_ONLY: Weakness = weak("It runs only what changed since a commit, which may be nothing.");
const IF_PRESENT: Weakness = weak("It passes when the package has no such script.");
const NO_MATCH: Weakness = weak("It passes when no file matches.");
const FAILING_SUITE: Weakness = weak("It passes when tests fail.");

/// What a test runner proves with these arguments.
pub fn evaluate_runner(program: &str, args: &[&str]) -> ProofResult {
    match (program, args) {
        ("cypress", ["verify" | "info" | "version", ..]) => return Err(INFO),
        ("mocha" | "_mocha", args) if has_flag(args, &["--dry-run"]) => return Err(LISTS),
        ("mocha" | "_mocha", args) if has_flag(args, &["--pass-on-failing-test-suite"]) => {
            return Err(FAILING_SUITE);
        }
        ("jest" | "vitest" | "playwright", args) if args.contains(&"-o") => return Err(CHANGED_ONLY),
        _ => {}
    }
    lists_only(args).and_then(|()| weak_flags(args))
}

/// A runner that node starts by the path of its script, such as `node_modules/jest/bin/jest.js`.
pub fn by_script(script: &str, args: &[&str]) -> ProofResult {
    let file = name_of(script);
    let name = [".js", ".mjs", ".cjs"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    match name {
        "jest" | "vitest" | "playwright" | "mocha" | "_mocha" | "cypress"
            if script.contains("node_modules") =>
        {
            evaluate_runner(name, args)
        }
        _ => Ok(()),
    }
}

/// `node --test` and its options: without a path it passes where there is no test.
pub fn node_test(args: &[&str]) -> ProofResult {
    const WITH_VALUE: &[&str] = &[
        "--test-name-pattern",
        "--test-skip-pattern",
        "--test-reporter",
        "--test-reporter-destination",
        "--test-concurrency",
        "--test-timeout",
        "--test-shard",
        "--test-coverage-include",
        "--test-coverage-exclude",
        "--test-global-setup",
        "--require",
        "-r",
        "--import",
        "--loader",
        "--experimental-loader",
        "--env-file",
        "--conditions",
        "-C",
    ];
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        match *first {
            flag if WITH_VALUE.contains(&flag) => rest = tail.get(1..).unwrap_or(&[]),
            flag if flag.starts_with('-') => rest = tail,
            _ => return Ok(()),
        }
    }
    Err(NO_TESTS)
}

/// Options of npm for a script, and what it hands to the script behind `--`.
pub fn script_flags(args: &[&str]) -> ProofResult {
    let end = args.iter().position(|word| *word == "--").unwrap_or(args.len());
    let (own, handed) = args.split_at(end);
    if has_flag(own, &["--if-present"]) {
        return Err(IF_PRESENT);
    }
    // What `-o` means is known for test runners only.
    let names_test = own.iter().any(|word| matches!(*word, "t" | "test") || word.starts_with("test:"));
    if names_test && handed.contains(&"-o") {
        return Err(CHANGED_ONLY);
    }
    weak_flags(handed)
}

/// Options of tools that hand everything to the script.
pub fn forwarded_flags(args: &[&str]) -> ProofResult {
    if has_flag(args, &["--if-present"]) {
        return Err(IF_PRESENT);
    }
    weak_flags(args)
}

/// Options by which any program passes when there is nothing to look at.
pub fn weak_flags(args: &[&str]) -> ProofResult {
    if has_flag(args, &["--passWithNoTests", "--pass-with-no-tests"]) {
        return Err(NO_TESTS);
    }
    if has_flag(args, &["--onlyChanged", "--lastCommit", "--changedSince", "--changed"]) {
        return Err(CHANGED_ONLY);
    }
    if has_flag(args, &["--no-error-on-unmatched-pattern"]) {
        return Err(NO_MATCH);
    }
    Ok(())
}

/// Whether one of these options is given, alone or with a value other than `false`.
fn has_flag(args: &[&str], flags: &[&str]) -> bool {
    args.iter().any(|arg| match arg.split_once('=') {
        Some((name, value)) => flags.contains(&name) && value != "false",
        None => flags.contains(arg),
    })
}
