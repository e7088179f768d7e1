//! Commands that run only the failing test or check only the failing file.
//!
//! The words are quoted so that the command gate and a POSIX shell read the same arguments. A test name or a path that
//! begins with a dash gives no command, because a program would read it as an option.

use super::FailingCheck;

/// The commands for one failing check, the narrowest first.
pub fn narrow_commands(check: &FailingCheck<'_>) -> Vec<String> {
    let test = check.test.filter(|test| is_safe_argument(test));
    let place = check.place.filter(|place| is_safe_argument(place));
    let argv = match (check.tool, check.family) {
        ("tsc", _) => Some(words(&["npx", "tsc"])),
        ("eslint", _) => place.map(|place| words(&["npx", "eslint", place])),
        ("mypy", _) => place.map(|place| words(&["mypy", place])),
        ("ruff", _) => place.map(|place| words(&["ruff", "check", place])),
        ("flake8", _) => place.map(|place| words(&["flake8", place])),
        ("clippy", _) => Some(words(&["cargo", "clippy"])),
        ("rustc", _) => Some(words(&["cargo", "check", "--all-targets"])),
        ("go", "go") => Some(words(&["go", "build", "./..."])),
        (tool, family) => test.and_then(|test| narrow_to_test(tool, family, test, place)),
    };
    argv.map(|argv| join_argv(&argv)).into_iter().collect()
}

fn narrow_to_test(tool: &str, family: &str, test: &str, place: Option<&str>) -> Option<Vec<String>> {
    Some(match tool {
        "cargo-test" | "rust" | "nextest" | "cargo" => {
            // The name of a doc test holds its file and line; its item is enough for the filter.
            let name = test.split(" (line ").next()?.rsplit(" - ").next()?;
            words(&["cargo", "test", name])
        }
        "pytest" => words(&["pytest", test]),
        "unittest" => words(&["python3", "-m", "unittest", test]),
        "go-test" => {
            let folder = place.and_then(|place| place.rsplit_once('/')).map(|(folder, _)| folder);
            let package = match folder {
                Some(folder) if folder.starts_with("./") || folder == "." => folder.to_owned(),
                Some(folder) if folder.starts_with('/') => return None,
                Some(folder) => format!("./{folder}"),
                None => "./...".to_owned(),
            };
            // Every level of a subtest is a pattern of its own.
            let pattern: Vec<String> =
                test.split('/').map(|part| format!("^{}$", escape_pattern(part))).collect();
            words(&["go", "test", &package, "-run", &pattern.join("/")])
        }
        "jest" => {
            let (file, name) = split_test_id(test, '›', place)?;
            words(&["npx", "jest", &file, "-t", &escape_pattern(&name)])
        }
        "vitest" => {
            let (file, name) = split_test_id(test, '>', place)?;
            words(&["npx", "vitest", "run", &file, "-t", &escape_pattern(&name)])
        }
        "mocha" => {
            let mut argv = words(&["npx", "mocha"]);
            argv.extend(place.map(str::to_owned));
            argv.extend(words(&["--fgrep", test]));
            argv
        }
        "node-test" => {
            let pattern = format!("^{}$", escape_pattern(test));
            let mut argv = words(&["node", "--test", &format!("--test-name-pattern={pattern}")]);
            argv.extend(place.map(str::to_owned));
            argv
        }
        "rspec" => {
            let mut argv = words(&["bundle", "exec", "rspec"]);
            argv.extend(place.map(str::to_owned));
            argv.extend(words(&["--example", test]));
            argv
        }
        "phpunit" => {
            words(&["vendor/bin/phpunit", "--filter", &format!("^{}$", escape_pattern(&short_php(test)))])
        }
        "dotnet-test" => words(&["dotnet", "test", "--filter", &format!("FullyQualifiedName={test}")]),
        "junit" | "surefire" | "maven" if family == "java" => {
            let (class, method) = test.rsplit_once('.')?;
            words(&["mvn", "test", &format!("-Dtest={class}#{method}")])
        }
        "bats" => words(&["bats", "--filter", &format!("^{}$", escape_pattern(test)), place.unwrap_or(".")]),
        _ => return None,
    })
}

/// `cart.test.js › cart › adds` becomes its file and `cart adds`, as the runner joins the names.
fn split_test_id(test: &str, separator: char, place: Option<&str>) -> Option<(String, String)> {
    let separator = format!(" {separator} ");
    let mut parts: Vec<&str> = test.split(separator.as_str()).map(str::trim).collect();
    let first = parts.first().copied()?;
    let has_file = parts.len() > 1 && first.contains('.') && !first.contains(' ');
    if has_file {
        parts.remove(0);
    }
    // The place may have folders that the test's own id lacks.
    let file = match (has_file, place) {
        (true, Some(place)) if place.ends_with(first) => place,
        (true, _) => first,
        (false, place) => place?,
    };
    Some((file.to_owned(), parts.join(" ")))
}

/// `Shop\Tests\CartTest::testTotal` is found by its last part.
fn short_php(test: &str) -> String {
    test.rsplit('\\').next().unwrap_or(test).to_owned()
}

/// Escapes what a regular expression would interpret.
fn escape_pattern(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if ".*+?()[]{}|^$\\".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn is_safe_argument(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_control)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The words as one command line.
pub fn join_argv<S: AsRef<str>>(argv: &[S]) -> String {
    argv.iter().map(|word| quote_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// A word with single quotes around it where a shell would change it.
fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
#[path = "narrow_tests.rs"]
mod tests;
