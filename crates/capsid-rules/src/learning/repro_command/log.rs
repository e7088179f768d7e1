//! The command whose output a log is, as far as the log shows it.

/// Script names that npm runs before or after another script.
const HOOKS: [&str; 2] = ["pre", "post"];

/// The last command that the log shows: `$ cmd`, `+ cmd`, `> pkg@1.0.0 script`, or a step `Run cmd` of a CI system.
pub fn find_log_command(log: &str) -> Option<String> {
    let (mut found, mut previous) = (None, "");
    for line in log.lines() {
        let line = strip_prefixes(line);
        if line.is_empty() {
            continue;
        }
        // yarn prints the program of a script, which only yarn itself finds.
        if !previous.starts_with("yarn run v")
            && let Some(command) = parse_command_line(line)
        {
            found = Some(command);
        }
        previous = line;
    }
    found
}

fn parse_command_line(line: &str) -> Option<String> {
    let command = if let Some(command) = line.strip_prefix("$ ") {
        command
    } else if let Some(command) = line.strip_prefix("+ ") {
        // A diff has such lines too; a traced command begins with the name of a program.
        let is_program = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase() || c == '.' || c == '/')
                && word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
        };
        command.split(' ').next().filter(|word| is_program(word))?;
        (!command.ends_with([';', '{', ','])).then_some(command)?
    } else if let Some(script) = line.strip_prefix("> ") {
        return parse_npm_header(script);
    } else {
        line.strip_prefix("##[group]Run ").or_else(|| line.strip_prefix("::group::Run "))?
    };
    // `Run actions/checkout@v4` is a step, not a command.
    let command = command.trim();
    let is_action = command.split(' ').next().is_some_and(|word| word.contains('@') && word.contains('/'));
    let is_command = !command.is_empty() && !is_action && !command.contains(char::is_control);
    is_command.then(|| command.to_owned())
}

/// `shop@1.0.0 test` becomes `npm test`; what pnpm writes after the script is ignored.
fn parse_npm_header(header: &str) -> Option<String> {
    let mut words = header.split_whitespace();
    let (package, script) = (words.next()?, words.next()?);
    let (name, version) = package.rsplit_once('@')?;
    let is_header = !name.is_empty()
        && version.starts_with(|c: char| c.is_ascii_digit())
        && script.chars().all(|c| c.is_ascii_alphanumeric() || ":._-".contains(c));
    if !is_header {
        return None;
    }
    let script =
        HOOKS.iter().find_map(|hook| script.strip_prefix(hook)).filter(|s| *s == "test").unwrap_or(script);
    Some(if script == "test" { "npm test".to_owned() } else { format!("npm run {script}") })
}

/// The line without a time stamp in front, as CI systems write one.
fn strip_prefixes(line: &str) -> &str {
    let line = line.trim_end();
    match line.split_once(' ') {
        Some((stamp, rest)) if is_time_stamp(stamp) => rest,
        _ => line,
    }
}

/// `2026-02-07T15:20:54.1553210Z`.
fn is_time_stamp(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 20
        && bytes.ends_with(b"Z")
        && bytes.get(4) == Some(&b'-')
        && bytes.get(10) == Some(&b'T')
        && bytes.iter().all(|b| b.is_ascii_digit() || b"-T:.Z".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_command_of_a_log_is_found() {
        let table = [
            ("$ cargo build\nok\n$ cargo test --lib\nerror", Some("cargo test --lib")),
            ("+ npm ci\n+ make test\nmake: *** Error 1", Some("make test")),
            ("\n> shop@1.0.0 test\n> jest --ci\n\nFAIL ./a.test.js", Some("npm test")),
            ("> @scope/shop@1.0.0-rc.1 lint:ci\n> eslint .", Some("npm run lint:ci")),
            ("> shop@1.0.0 pretest\n> tsc", Some("npm test")),
            ("> shop@1.0.0 test /home/dev/shop\n> vitest run", Some("npm test")),
            ("2026-02-07T15:20:54.1553210Z ##[group]Run npx tsc\nerror", Some("npx tsc")),
            ("##[group]Run actions/checkout@v4\nSyncing", None),
            ("$ yarn test\nyarn run v1.22.19\n$ jest --ci\nFAIL", Some("yarn test")),
            ("no command\n> quoted text\n$ \n", None),
            ("-  old\n+ let x = 1;\n", None),
            ("      + expected - actual\n\n      -8\n      +7\n", None),
            ("+ Received\n", None),
        ];
        for (log, command) in table {
            assert_eq!(find_log_command(log).as_deref(), command, "{log}");
        }
    }

    proptest! {
        #[test]
        fn no_log_panics_the_search(log in "(?s).{0,300}", line in "([$+>] |##\\[group\\]Run )\\PC{0,40}") {
            find_log_command(&log);
            let command = find_log_command(&line);
            prop_assert!(command.is_none_or(|c| !c.is_empty() && !c.contains('\n')));
        }
    }
}
