//! The scripts that a command names.

use super::script_word::ScriptWord;
use super::{CommandPolicy, interpreters, node, npm, program_names};

/// The scripts that a command, which passed the gate, names. Where the owner allows inline code there are none to check.
pub fn scripts<'a>(argv: &'a [String], policy: &CommandPolicy) -> Vec<ScriptWord<'a>> {
    let Some((program, args)) = argv.split_first() else { return Vec::new() };
    match program.as_str() {
        "npm" => Vec::new(),
        "npx" => match npm::started_by_npx(args).split_first() {
            Some((program, args)) => scripts_of(program, args, policy),
            None => Vec::new(),
        },
        program => scripts_of(program, args, policy),
    }
}

fn scripts_of<'a>(program: &str, args: &'a [String], policy: &CommandPolicy) -> Vec<ScriptWord<'a>> {
    if policy.inline_code {
        return Vec::new();
    }
    match program {
        "node" => node::scripts(args),
        _ if program_names::is_interpreter(program) => interpreters::scripts(program, args),
        _ => Vec::new(),
    }
}
