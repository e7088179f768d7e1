//! Programs that only start another one. The command behind them is what counts, so none of them changes a verdict.

use super::programs::{NOTHING, name_of, within};
use super::{ProofResult, strongest};

/// Programs that are only a way to start another, with the options that take a value of their own.
const LAUNCHERS: &[(&str, &[&str])] = &[
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("time", &["-f", "--format", "-o", "--output"]),
    ("sudo", &["-u", "--user", "-g", "--group"]),
    ("nice", &["-n", "--adjustment"]),
    ("exec", &["-a"]),
    ("cross-env", &[]),
    ("cross-env-shell", &[]),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"]),
    ("gtimeout", &["-s", "--signal", "-k", "--kill-after"]),
    ("xvfb-run", &["-n", "--server-num", "-s", "--server-args", "-e", "--error-file"]),
    ("dotenv", &["-e", "-v", "-p"]),
    ("c8", COVERAGE),
    ("nyc", COVERAGE),
];

/// Options of c8 and nyc that take a value.
const COVERAGE: &[&str] = &[
    "-r",
    "--reporter",
    "-n",
    "--include",
    "-x",
    "--exclude",
    "-o",
    "--reports-dir",
    "--report-dir",
    "--src",
    "--temp-directory",
    "-t",
    "--temp-dir",
    "--lines",
    "--functions",
    "--branches",
    "--statements",
    "--cwd",
    "-c",
    "--config",
    "--nycrc-path",
    "-e",
    "--extension",
];

/// The command behind `CI=1`, `env`, `timeout 60`, `c8 --reporter text` and the like.
pub fn without_launcher(words: &[String]) -> &[String] {
    let mut words = words;
    let mut options: Option<&[&str]> = None;
    while let [first, rest @ ..] = words {
        let launcher = LAUNCHERS.iter().find(|(name, _)| *name == name_of(first) && !rest.is_empty());
        if let Some((_, with_value)) = launcher {
            options = Some(with_value);
            words = rest;
        } else if is_assignment(first) {
            words = rest;
        } else if let Some(with_value) = options {
            let is_option = first.starts_with('-') || first.starts_with(|c: char| c.is_ascii_digit());
            if !is_option {
                break;
            }
            let skipped = if with_value.contains(&first.as_str()) { 1 } else { 0 };
            words = rest.get(skipped..).unwrap_or(&[]);
        } else {
            break;
        }
    }
    words
}

/// Whether a word is `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// `concurrently 'npm test' 'npm run lint'`: each argument is a command line, and all must pass.
pub fn concurrently(args: &[&str], depth: usize) -> ProofResult {
    const WITH_VALUE: &[&str] = &[
        "-n",
        "--names",
        "-c",
        "--prefix-colors",
        "-p",
        "--prefix",
        "-m",
        "--max-processes",
        "-s",
        "--success",
    ];
    let mut commands = Vec::new();
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let skipped = usize::from(WITH_VALUE.contains(first));
        if !first.starts_with('-') {
            commands.push(within(first, depth));
        }
        rest = tail.get(skipped..).unwrap_or(&[]);
    }
    strongest(commands).unwrap_or(Err(NOTHING))
}

/// `run-s build test`: each argument is a script of the package, perhaps with arguments of its own.
pub fn run_scripts(args: &[&str], depth: usize) -> ProofResult {
    let scripts = args.iter().filter(|word| !word.starts_with('-'));
    strongest(scripts.map(|script| within(&format!("npm run {script}"), depth))).unwrap_or(Err(NOTHING))
}
