//! What known programs prove with the arguments they are given.

use super::launchers::without_launcher;
use super::{
    CONSTANT, MAX_DEPTH, PRINTS, ProofResult, THROWN_AWAY, Weakness, evaluate as judge_steps, inline,
    launchers, runners, shell, vacuous,
};

pub(super) const INFO: Weakness = vacuous("It only asks for a version or for help.");
pub(super) const LISTS: Weakness = vacuous("It only lists what there is.");
pub(super) const INSTALLS: Weakness = vacuous("It only installs something.");
pub(super) const SYNTAX: Weakness =
    vacuous("It only looks at syntax; nothing that the change does is checked.");
pub(super) const NOTHING: Weakness = vacuous("It runs nothing.");

/// Programs that print what there is, which a filter may then look at.
const SHOW_DATA: &[&str] = &["cat", "curl", "find", "git", "head", "ls", "tail", "wget"];

/// What one simple command proves.
pub fn evaluate_program(words: &[String], depth: usize) -> ProofResult {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let words = without_launcher(words);
    let Some((program, args)) = words.split_first() else { return Err(NOTHING) };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let args = args.as_slice();
    let program = name_of(program);
    if is_info_request(program, args) {
        return Err(INFO);
    }
    match program {
        "echo" | "printf" | "cat" | "ls" | "pwd" | "date" | "whoami" | "hostname" | "uname" | "head"
        | "tail" | "tee" | "wc" | "less" | "more" | "sort" | "yes" | "clear" | "env" | "printenv"
        | "find" => Err(PRINTS),
        "true" | ":" | "exit" | "sleep" | "cd" | "set" | "export" | "wait" | "mkdir" | "touch" => {
            Err(NOTHING)
        }
        "which" | "where" | "type" | "command" => {
            Err(vacuous("It only looks whether a program is installed."))
        }
        "test" | "[" | "[[" => constant_test(args),
        "node" | "nodejs" => node(args),
        "npm" => npm(args, depth),
        "pnpm" => npm(args, depth).and_then(|()| runners::forwarded_flags(args)),
        "yarn" => yarn(args, depth),
        "npx" | "pnpx" | "bunx" => npx(args, depth),
        "bun" => bun(args, depth),
        "deno" => deno(args),
        "python" | "python3" | "python2" | "py" => python(args, depth),
        "sh" | "bash" | "zsh" | "dash" => shell_of(args, depth),
        "cargo" => cargo(args),
        "go" => go(args),
        "make" | "gmake" => make(args),
        "git" => git(args),
        "curl" | "wget" => fetches(args),
        "jest" | "vitest" | "playwright" | "mocha" | "_mocha" | "cypress" => {
            runners::evaluate_runner(program, args)
        }
        "concurrently" => launchers::concurrently(args, depth),
        "run-s" | "run-p" | "npm-run-all" => launchers::run_scripts(args, depth),
        "pip" | "pip3" | "apt" | "apt-get" | "brew" | "apk" | "gem" | "corepack" => installer(args),
        _ => lists_only(args).and_then(|()| runners::weak_flags(args)),
    }
}

/// Whether a program shows something that can differ, so that a filter behind it can tell.
pub fn shows_data(words: &[String]) -> bool {
    without_launcher(words).first().is_some_and(|program| SHOW_DATA.contains(&name_of(program)))
}

pub(super) fn name_of(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    [".exe", ".cmd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// `-v` is a version for some programs and talkativeness for others.
fn is_info_request(program: &str, args: &[&str]) -> bool {
    const SHORT: &[&str] = &[
        "node", "nodejs", "npm", "npx", "pnpm", "yarn", "bun", "tsc", "python", "python3", "cargo", "rustc",
        "git", "deno", "eslint", "java", "ruby", "php",
    ];
    match args {
        ["--version" | "--help" | "-h" | "help" | "version" | "-version" | "--v8-options", ..] => {
            !matches!(program, "npm" | "pnpm" | "yarn") || !args.contains(&"test")
        }
        ["-v" | "-V"] => SHORT.contains(&program),
        [.., "--version" | "--help"] => {
            matches!(program, "npm" | "cargo" | "jest" | "vitest" | "mocha" | "tsc" | "eslint" | "pytest")
        }
        _ => false,
    }
}

/// A comparison of literals with literals.
fn constant_test(args: &[&str]) -> ProofResult {
    let literal = |word: &&str| !word.contains('$') && !word.contains('`');
    match args {
        [] => Err(NOTHING),
        ["-e" | "-f" | "-d" | "-s" | "-r" | "-x" | "-L", ..] | ["!", ..] => Ok(()),
        args if args.iter().all(literal) => Err(CONSTANT),
        _ => Ok(()),
    }
}

fn node(args: &[&str]) -> ProofResult {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        match *first {
            "-e" | "--eval" | "-p" | "--print" | "-pe" => {
                return inline::javascript(tail.first().unwrap_or(&""));
            }
            "-c" | "--check" => return Err(SYNTAX),
            "-v" | "--version" | "-h" | "--help" => return Err(INFO),
            "--run" => return script(tail.first()),
            "-i" | "--interactive" => return Err(NOTHING),
            "-r"
            | "--require"
            | "--import"
            | "--loader"
            | "--experimental-loader"
            | "-C"
            | "--conditions"
            | "--env-file" => rest = tail.get(1..).unwrap_or(&[]),
            "--" | "-" => return if tail.is_empty() && *first == "--" { Err(NOTHING) } else { Ok(()) },
            flag if flag == "--test" || flag.starts_with("--test-") => return runners::node_test(rest),
            flag if flag.starts_with("--eval=") || flag.starts_with("--print=") => {
                return inline::javascript(flag.split_once('=').map_or("", |(_, code)| code));
            }
            flag if flag.starts_with('-') => rest = tail,
            // A runner that is started by the path of its script.
            script => return runners::by_script(script, tail),
        }
    }
    Err(NOTHING)
}

/// A named script of a package. Its text is not known, so only names that promise nothing are taken at their word.
fn script(name: Option<&&str>) -> ProofResult {
    match name.copied() {
        None => Err(LISTS),
        Some(
            "echo" | "hello" | "noop" | "nop" | "ok" | "dummy" | "placeholder" | "true" | "print" | "version",
        ) => Err(PRINTS),
        Some("install" | "postinstall" | "preinstall" | "clean") => Err(INSTALLS),
        Some(_) => Ok(()),
    }
}

fn npm(args: &[&str], depth: usize) -> ProofResult {
    npm_command(args, depth).and_then(|()| runners::script_flags(args))
}

fn npm_command(args: &[&str], depth: usize) -> ProofResult {
    let mut words = args.iter().filter(|word| !word.starts_with('-'));
    match words.next().copied() {
        None => Err(NOTHING),
        Some("run" | "run-script" | "rum" | "urn") => script(words.next()),
        Some("exec" | "x" | "dlx") => {
            let behind = args.iter().skip_while(|word| !matches!(**word, "exec" | "x" | "dlx")).skip(1);
            npx(&behind.copied().collect::<Vec<_>>(), depth)
        }
        Some(
            "install" | "i" | "ci" | "add" | "install-clean" | "link" | "rebuild" | "update" | "dedupe"
            | "prune",
        ) => Err(INSTALLS),
        Some(
            "ls" | "list" | "ll" | "la" | "outdated" | "view" | "info" | "show" | "root" | "prefix" | "bin"
            | "config" | "get" | "fund" | "search" | "ping" | "whoami" | "why" | "explain" | "docs" | "repo"
            | "pkg",
        ) => Err(LISTS),
        Some("version" | "help") => Err(INFO),
        Some("init" | "create" | "cache" | "pack") => Err(NOTHING),
        Some(_) => Ok(()),
    }
}

/// Yarn, and pnpm and bun like it, hand to a script all that follows its name.
fn yarn(args: &[&str], depth: usize) -> ProofResult {
    yarn_command(args, depth).and_then(|()| runners::forwarded_flags(args))
}

fn yarn_command(args: &[&str], depth: usize) -> ProofResult {
    let mut words = args.iter().filter(|word| !word.starts_with('-'));
    match words.next() {
        None => Err(INSTALLS),
        Some(&"run") => script(words.next()),
        Some(&("info" | "versions" | "licenses")) => Err(LISTS),
        Some(&"test") => Ok(()),
        // A program of a dependency may be named like a script.
        Some(&("jest" | "vitest" | "playwright" | "mocha" | "cypress")) => npx(args, depth),
        Some(name) => script(Some(name)).and_then(|()| npm(args, depth)),
    }
}

/// `npx` and what it starts.
fn npx(args: &[&str], depth: usize) -> ProofResult {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        match *first {
            "-p" | "--package" => rest = tail.get(1..).unwrap_or(&[]),
            "-c" | "--call" => return within(tail.first().unwrap_or(&""), depth),
            flag if flag.starts_with('-') => rest = tail,
            _ => break,
        }
    }
    let Some((program, args)) = rest.split_first() else { return Err(NOTHING) };
    // `tool@1.2` is the tool.
    let name = program.rfind('@').filter(|at| *at > 0).and_then(|at| program.get(..at)).unwrap_or(program);
    let words: Vec<String> = std::iter::once(&name).chain(args).map(|word| (*word).to_owned()).collect();
    let info = matches!(args, ["--version" | "--help", ..] | [.., "--version" | "--help"] | ["-v" | "-V"]);
    if info { Err(INFO) } else { evaluate_program(&words, depth + 1) }
}

fn bun(args: &[&str], depth: usize) -> ProofResult {
    match args {
        ["-e" | "--eval" | "-p" | "--print", code, ..] => inline::javascript(code),
        ["x", rest @ ..] => npx(rest, depth),
        ["test", rest @ ..] => runners::weak_flags(rest),
        [first, ..] if first.ends_with("js") || first.ends_with("ts") => Ok(()),
        _ => npm(args, depth).and_then(|()| runners::forwarded_flags(args)),
    }
}

fn deno(args: &[&str]) -> ProofResult {
    match args {
        ["eval", code, ..] => inline::javascript(code),
        ["info" | "types" | "upgrade" | "cache" | "install", ..] => Err(INSTALLS),
        [] => Err(NOTHING),
        _ => Ok(()),
    }
}

fn python(args: &[&str], depth: usize) -> ProofResult {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        match *first {
            "-c" => return inline::python(tail.first().unwrap_or(&"")),
            "-m" => return python_module(tail, depth),
            "-V" | "--version" => return Err(INFO),
            flag if flag.starts_with('-') && flag.len() > 1 => rest = tail,
            _ => return Ok(()),
        }
    }
    Err(NOTHING)
}

fn python_module(args: &[&str], depth: usize) -> ProofResult {
    match args {
        ["py_compile" | "compileall", ..] => Err(SYNTAX),
        ["venv" | "ensurepip" | "site" | "this", ..] => Err(NOTHING),
        [] => Err(NOTHING),
        args => evaluate_program(&args.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), depth + 1),
    }
}

fn shell_of(args: &[&str], depth: usize) -> ProofResult {
    let code =
        args.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
    match (code, args) {
        (Some(at), _) => within(args.get(at + 1).unwrap_or(&""), depth),
        (None, ["-n", ..]) => Err(SYNTAX),
        (None, []) => Err(NOTHING),
        (None, _) => Ok(()),
    }
}

/// A command line within a command line.
pub(super) fn within(command: &str, depth: usize) -> ProofResult {
    let steps = shell::split(command);
    if steps.is_empty() { Err(NOTHING) } else { judge_steps(&steps, depth + 1) }
}

fn cargo(args: &[&str]) -> ProofResult {
    let mut words = args.iter().filter(|word| !word.starts_with('-') && !word.starts_with('+'));
    match words.next() {
        None => Err(NOTHING),
        Some(&("install" | "fetch" | "update" | "add" | "vendor")) => Err(INSTALLS),
        Some(&("metadata" | "tree" | "search" | "info" | "locate-project" | "pkgid" | "config")) => {
            Err(LISTS)
        }
        Some(&("clean" | "new" | "init" | "doc")) => Err(NOTHING),
        Some(_) => lists_only(args),
    }
}

fn go(args: &[&str]) -> ProofResult {
    match args {
        [] => Err(NOTHING),
        ["env" | "list" | "doc", ..] => Err(LISTS),
        ["get" | "install", ..] | ["mod", "download" | "tidy" | "graph", ..] => Err(INSTALLS),
        args => lists_only(args),
    }
}

fn make(args: &[&str]) -> ProofResult {
    // Short flags without a value may be written together.
    let short = |arg: &str, flag: char| {
        arg.strip_prefix('-').is_some_and(|flags| {
            flags.contains(flag) && flags.chars().all(|flag| "bBdeikLnpqrRsStvw".contains(flag))
        })
    };
    let any = |flag: char, long: &[&str]| args.iter().any(|arg| short(arg, flag) || long.contains(arg));
    if any('n', &["--dry-run", "--just-print", "--recon"]) {
        return Err(LISTS);
    }
    if any('i', &["--ignore-errors"]) {
        return Err(THROWN_AWAY);
    }
    if any('t', &["--touch"]) || any('q', &["--question"]) {
        return Err(NOTHING);
    }
    match args {
        ["help" | "clean" | "install" | "deps"] => Err(NOTHING),
        _ => Ok(()),
    }
}

/// Git tells by its exit code only when asked to.
fn git(args: &[&str]) -> ProofResult {
    let tells = |arg: &&str| matches!(*arg, "--check" | "--exit-code" | "--quiet" | "-q" | "--error-unmatch");
    match args {
        [
            "status" | "log" | "diff" | "show" | "branch" | "remote" | "config" | "ls-files" | "rev-parse",
            rest @ ..,
        ] => {
            if rest.iter().any(tells) {
                Ok(())
            } else {
                Err(PRINTS)
            }
        }
        [] => Err(INFO),
        _ => Ok(()),
    }
}

/// A download fails on an error page only when asked to.
fn fetches(args: &[&str]) -> ProofResult {
    let fails = |arg: &&str| {
        arg.starts_with("--fail") || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains('f'))
    };
    if args.iter().any(fails) { Ok(()) } else { Err(PRINTS) }
}

fn installer(args: &[&str]) -> ProofResult {
    match args.iter().find(|word| !word.starts_with('-')) {
        None => Err(NOTHING),
        Some(&("list" | "show" | "freeze" | "search" | "config")) => Err(LISTS),
        Some(&("install" | "update" | "upgrade" | "download" | "add" | "enable")) => Err(INSTALLS),
        Some(_) => Ok(()),
    }
}

/// Test runners and compilers that are told to run nothing.
pub(super) fn lists_only(args: &[&str]) -> ProofResult {
    let lists = |arg: &&str| {
        matches!(
            *arg,
            "--listTests"
                | "--list-tests"
                | "--collect-only"
                | "--co"
                | "--showConfig"
                | "--print-config"
                | "--no-run"
                | "--listFilesOnly"
        )
    };
    let only = matches!(args, ["list", ..] | ["--init"] | ["test", "--list"]) || args.iter().any(lists);
    if only { Err(LISTS) } else { Ok(()) }
}
