//! The gate for validation commands: a command is turned into words that run without a shell, or refused.
//!
//! Commands come from genes, and genes come from anywhere. Nothing here interprets a command; what the gate does not
//! know to be harmless it refuses, and only the owner's configuration can allow more.

mod interpreters;
mod node;
mod npm;
mod owner;
mod program_names;
mod script;
mod script_word;
mod scripts;
mod words;

#[cfg(test)]
mod tests;

pub use script_word::ScriptWord;
pub use scripts::scripts;

use crate::text::is_invisible;
use crate::{Code, Problem};
use std::fmt;

/// The longest command that is looked at, in characters.
const MAX_CHARS: usize = 4096;

/// Programs that every repository may use to validate.
const ALWAYS_ALLOWED: [&str; 3] = ["node", "npm", "npx"];

/// What the owner of the repository allows beyond node, npm and npx.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPolicy {
    /// Further programs, by the name a command must start with.
    pub programs: Vec<String>,
    /// Whether a command may carry code in its arguments, as `node -e` does.
    pub inline_code: bool,
}

impl CommandPolicy {
    fn allows(&self, program: &str) -> bool {
        self.programs.iter().any(|name| name == program)
    }
}

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRefusal {
    /// The rule it broke.
    pub code: CommandRefusalCode,
    /// One sentence about this command.
    pub message: String,
}

impl CommandRefusal {
    fn new(code: CommandRefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for CommandRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BLOCKED: validation command rejected by safety check: {}", self.message)
    }
}

impl std::error::Error for CommandRefusal {}

impl From<CommandRefusal> for Problem {
    fn from(refusal: CommandRefusal) -> Self {
        Problem::new(Code::CommandRefused, refusal.to_string()).fix(
            "Change the gene's validation command, or allow the program or inline code in `capsid.toml`.",
        )
    }
}

/// The rules a command can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandRefusalCode {
    /// There is no command.
    Empty,
    /// It is longer than the gate reads.
    TooLong,
    /// It holds a control or invisible character, or white space that is not a space.
    ControlCharacter,
    /// It holds a command substitution.
    Substitution,
    /// It holds a shell operator outside quotes.
    ShellOperator,
    /// A quote or a backslash has no partner.
    UnbalancedQuote,
    /// Its program is not one of the allowed ones.
    ProgramNotAllowed,
    /// It carries or names code outside the repository's files.
    InlineCode,
    /// It carries an option that is not known to be harmless.
    OptionNotAllowed,
}

impl CommandRefusalCode {
    /// The code as it is printed and stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::ControlCharacter => "control_character",
            Self::Substitution => "substitution",
            Self::ShellOperator => "shell_operator",
            Self::UnbalancedQuote => "unbalanced_quote",
            Self::ProgramNotAllowed => "program_not_allowed",
            Self::InlineCode => "inline_code",
            Self::OptionNotAllowed => "option_not_allowed",
        }
    }
}

type GateVerdict = Result<(), CommandRefusal>;

/// Turns a command into the words to run, or says why it must not run.
pub fn check(command: &str, policy: &CommandPolicy) -> Result<Vec<String>, CommandRefusal> {
    check_characters(command)?;
    let command = command.trim_matches(' ');
    if command.is_empty() {
        return Err(CommandRefusal::new(CommandRefusalCode::Empty, "The command is empty."));
    }
    if command.contains('`') || command.contains("$(") {
        return Err(CommandRefusal::new(
            CommandRefusalCode::Substitution,
            "A backtick or `$(` would run another command.",
        ));
    }
    let argv = words::split(command)?;
    let Some((program, args)) = argv.split_first() else {
        return Err(CommandRefusal::new(CommandRefusalCode::Empty, "The command is empty."));
    };
    check_program(command, program, policy)?;
    check_arguments(program, args, policy)?;
    Ok(argv)
}

/// The words as they are really run: `npx` only starts what is installed and never downloads.
///
/// The `--` matters: npx takes the word behind `--no` for its value and would read the program's options as its own.
pub fn argv_to_run(argv: &[String]) -> Vec<String> {
    match argv.split_first() {
        Some((program, args)) if program == "npx" => {
            let command = args.iter().skip_while(|word| word.starts_with('-'));
            let own = ["npx", "--no", "--"].map(str::to_owned);
            own.into_iter().chain(command.cloned()).collect()
        }
        _ => argv.to_vec(),
    }
}

fn check_characters(command: &str) -> GateVerdict {
    let acts = |c: char| c.is_control() || is_invisible(c) || (c.is_whitespace() && c != ' ');
    if let Some(c) = command.chars().find(|&c| acts(c)) {
        return Err(CommandRefusal::new(
            CommandRefusalCode::ControlCharacter,
            format!("The command holds the character U+{:04X}, which cannot be seen.", u32::from(c)),
        ));
    }
    if command.chars().count() > MAX_CHARS {
        return Err(CommandRefusal::new(
            CommandRefusalCode::TooLong,
            format!("The command is longer than {MAX_CHARS} characters."),
        ));
    }
    Ok(())
}

/// The name must stand in the text as it is, unquoted, so that a reader and the gate see the same program.
fn check_program(command: &str, program: &str, policy: &CommandPolicy) -> GateVerdict {
    let written_plainly =
        command.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let stands_alone = command == program;
    if written_plainly && (policy.allows(program) || (ALWAYS_ALLOWED.contains(&program) && !stands_alone)) {
        return Ok(());
    }
    let message = if ALWAYS_ALLOWED.contains(&program) {
        format!("`{program}` must be written plainly and be followed by its arguments.")
    } else {
        format!("`{program}` is not an allowed program; a command starts with node, npm or npx.")
    };
    Err(CommandRefusal::new(CommandRefusalCode::ProgramNotAllowed, message))
}

fn check_arguments(program: &str, args: &[String], policy: &CommandPolicy) -> GateVerdict {
    match program {
        "node" if policy.inline_code => Ok(()),
        "node" => node::check(args, policy),
        "npm" => npm::check(args),
        "npx" => npm::check_npx(args, policy),
        _ if policy.inline_code => Ok(()),
        _ => owner::check(program, args, policy),
    }
}

fn inline_code(what: &str) -> CommandRefusal {
    CommandRefusal::new(
        CommandRefusalCode::InlineCode,
        format!("`{what}` runs code that is not a file of the repository."),
    )
}

fn option_not_allowed(program: &str, option: &str) -> CommandRefusal {
    CommandRefusal::new(
        CommandRefusalCode::OptionNotAllowed,
        format!("`{option}` is not an option of `{program}` that a validation command may use."),
    )
}

/// Whether a word names code by address (`data:`, `https:`, `file:`) or by a stream; a drive letter is neither.
fn is_foreign_script(word: &str) -> bool {
    let scheme = word.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b))
    });
    scheme || word == "-" || word.starts_with("/dev/") || word.starts_with("/proc/")
}
