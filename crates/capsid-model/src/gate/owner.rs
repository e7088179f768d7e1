//! Programs the owner added: those that take code or commands as arguments get the same care as node.

use super::{CommandPolicy, GateVerdict, inline_code, interpreters, option_not_allowed, program_names};

/// Options of build tools that name a program to run in place of, or around, the real one.
const RUNS_OTHERS: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    ("go", &["-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"]),
];

/// Looks at the arguments of a program that the owner allows.
pub fn check(program: &str, args: &[String], policy: &CommandPolicy) -> GateVerdict {
    if program_names::is_launcher(program) {
        return Err(inline_code(program));
    }
    if program_names::is_interpreter(program) {
        return interpreters::check(program, args, policy);
    }
    for word in args {
        if runs_others(program, word) {
            return Err(option_not_allowed(program, word));
        }
    }
    Ok(())
}

fn runs_others(program: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let listed =
        RUNS_OTHERS.iter().filter(|(tool, _)| *tool == program).any(|(_, options)| options.contains(&name));
    listed || (matches!(program, "make" | "gmake") && is_make_code(word))
}

/// make pastes variables into shell lines, so a value may only hold characters that no shell reads.
fn is_make_code(word: &str) -> bool {
    if word.starts_with("--") {
        return word.starts_with("--ev");
    }
    if word.starts_with('-') {
        return word.contains('E');
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./,:+-=".contains(c);
    word.split_once('=').is_some_and(|(name, value)| name.contains("SHELL") || !value.chars().all(plain))
}
