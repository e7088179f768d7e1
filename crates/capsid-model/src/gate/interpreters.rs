//! Programs that run code given in their arguments.

use super::program_names::{family, is_npm_interpreter};
use super::script;
use super::script_word::ScriptWord;
use super::{CommandPolicy, GateVerdict, inline_code, is_foreign_script, option_not_allowed};

/// Flags that every interpreter reads as a word of its own, without a value and without code.
const FLAGS: &[&str] = &["-u", "-v", "-w", "-x", "--version"];

/// The same, for python alone.
const PYTHON_FLAGS: &[&str] = &["-B", "-I", "-O", "-OO", "-V", "-b", "-q", "-s", "-S"];

/// Python modules that run their arguments or install packages.
const PYTHON_MODULES: &[&str] =
    &["asyncio", "cProfile", "code", "ensurepip", "pdb", "pip", "profile", "runpy", "timeit", "trace"];

/// Words by which an interpreter with subcommands takes code.
const NPM_CODE: &[&str] = &[
    "-c",
    "-e",
    "-E",
    "-i",
    "-p",
    "-pe",
    "-r",
    "--compiler",
    "--eval",
    "--import",
    "--interactive",
    "--loader",
    "--preload",
    "--print",
    "--require",
    "eval",
    "exec",
    "install",
    "repl",
    "x",
];

/// An interpreter may run a script, with options in front of it that take no value.
///
/// A value behind an option could be taken for the script and hide the code behind it, so unknown options are refused.
pub fn check(program: &str, args: &[String], policy: &CommandPolicy) -> GateVerdict {
    if is_npm_interpreter(program) {
        return check_npm_interpreter(args, policy);
    }
    let rest = behind_flags(program, args);
    let Some((word, following)) = rest.split_first() else { return Ok(()) };
    match word.as_str() {
        "-m" if is_python(program) => check_module(following.first()),
        script if is_foreign_script(script) => Err(inline_code(script)),
        option if option.starts_with(['-', '+']) => Err(if has_inline_code(option) {
            inline_code(&format!("{program} {option}"))
        } else {
            option_not_allowed(program, option)
        }),
        path => script::check(path, following, policy),
    }
}

/// The scripts among the arguments of an interpreter that passed the check.
pub fn scripts<'a>(program: &str, args: &'a [String]) -> Vec<ScriptWord<'a>> {
    if is_npm_interpreter(program) {
        let paths = args.iter().filter(|word| !word.starts_with('-'));
        return paths.map(|word| ScriptWord::Pattern(word)).collect();
    }
    let script = behind_flags(program, args).first().filter(|word| !word.starts_with('-'));
    script.map(|word| ScriptWord::File(word)).into_iter().collect()
}

fn is_python(program: &str) -> bool {
    matches!(family(program), "python" | "pythonw" | "pypy")
}

fn behind_flags<'a>(program: &str, args: &'a [String]) -> &'a [String] {
    let python = is_python(program);
    let is_flag = |flag: &str| FLAGS.contains(&flag) || (python && PYTHON_FLAGS.contains(&flag));
    &args[args.iter().take_while(|word| is_flag(word)).count()..]
}

fn check_module(module: Option<&String>) -> GateVerdict {
    match module {
        Some(name) if !PYTHON_MODULES.contains(&name.as_str()) => Ok(()),
        _ => Err(inline_code("python -m")),
    }
}

/// Which word is the script depends on the subcommand, so every word that is no option counts as one.
fn check_npm_interpreter(args: &[String], policy: &CommandPolicy) -> GateVerdict {
    for (at, word) in args.iter().enumerate() {
        let name = word.split('=').next().unwrap_or(word);
        if NPM_CODE.contains(&name) || is_foreign_script(word) {
            return Err(inline_code(word));
        }
        if !word.starts_with('-') {
            script::check(word, &args[at + 1..], policy)?;
        }
    }
    Ok(())
}

/// Only for the reason that is given: the option is refused either way.
fn has_inline_code(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => ["eval", "command", "exec", "require", "run"].iter().any(|name| long.starts_with(name)),
        None => option.contains(['c', 'e', 'E', 'r']),
    }
}
