//! npm and npx: they may run what the repository declares or has installed, and nothing else.

use super::{
    CommandPolicy, CommandRefusal, CommandRefusalCode, GateVerdict, check_arguments, option_not_allowed,
    program_names,
};

/// What npm may be asked to do: run a declared script, or tell about the tree.
const SUBCOMMANDS: &[&str] = &["test", "t", "tst", "run", "run-script", "ls", "list"];

/// Options that change what is shown or which workspace is meant, never what is run or where from.
const FLAGS: &[&str] = &[
    "--all",
    "--foreground-scripts",
    "--if-present",
    "--ignore-scripts",
    "--include-workspace-root",
    "--json",
    "--long",
    "--no-audit",
    "--no-color",
    "--no-fund",
    "--no-update-notifier",
    "--offline",
    "--parseable",
    "--quiet",
    "--silent",
    "--version",
    "--workspaces",
    "-q",
    "-s",
    "-v",
    "-ws",
];

/// Options whose value stands behind `=`.
const SETTINGS: &[&str] = &["--color", "--depth", "--loglevel", "--omit", "--workspace"];

/// Options of npx that only forbid it something.
const NPX_FLAGS: &[&str] = &["--", "--no", "--no-install", "--offline"];

/// Looks at an npm command up to `--`, behind which the words belong to the script.
pub fn check(args: &[String]) -> GateVerdict {
    let mut subcommand = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            // In front of the subcommand it would hide the subcommand from us.
            "--" if subcommand.is_some() => return Ok(()),
            "-w" | "--workspace" => {
                words
                    .next()
                    .filter(|name| !name.starts_with('-'))
                    .ok_or_else(|| option_not_allowed("npm", word))?;
            }
            option if option.starts_with('-') => check_option(option)?,
            name => {
                if !SUBCOMMANDS.contains(subcommand.get_or_insert(name)) {
                    return Err(CommandRefusal::new(
                        CommandRefusalCode::OptionNotAllowed,
                        format!("`npm {name}` does more than run a script of the repository."),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn check_option(option: &str) -> GateVerdict {
    let known = match option.split_once('=') {
        None => FLAGS.contains(&option),
        Some((name, _)) => SETTINGS.contains(&name),
    };
    if known {
        return Ok(());
    }
    Err(option_not_allowed("npm", option))
}

/// Looks at an npx command: its own options, and the program that it starts.
pub fn check_npx(args: &[String], policy: &CommandPolicy) -> GateVerdict {
    let command = started_by_npx(args);
    let options = &args[..args.len() - command.len()];
    if let Some(option) = options.iter().find(|word| !NPX_FLAGS.contains(&word.as_str())) {
        return Err(option_not_allowed("npx", option));
    }
    let Some((program, args)) = command.split_first() else {
        return Err(CommandRefusal::new(
            CommandRefusalCode::ProgramNotAllowed,
            "`npx` is not told which program to start.",
        ));
    };
    check_package(program, policy)?;
    check_arguments(program, args, policy)
}

/// The words of an npx command from the program on.
pub fn started_by_npx(args: &[String]) -> &[String] {
    &args[args.iter().take_while(|word| word.starts_with('-')).count()..]
}

/// A plain name of an installed program: no version, no path, no address, no shell and no launcher.
pub fn check_package(program: &str, policy: &CommandPolicy) -> GateVerdict {
    let name = match program.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        None => program,
        Some(Some((scope, name))) if is_plain_name(scope) => name,
        Some(_) => "",
    };
    let starts_others = program == "npx" || program_names::is_launcher(name) || is_shell(name);
    if is_plain_name(name) && (!starts_others || policy.allows(program)) {
        return Ok(());
    }
    Err(CommandRefusal::new(
        CommandRefusalCode::ProgramNotAllowed,
        format!("`npx {program}` is not a plain program of an installed package."),
    ))
}

/// Interpreters that are no npm packages: asking npx for them is asking for the one of the system.
fn is_shell(name: &str) -> bool {
    program_names::is_interpreter(name) && !program_names::is_npm_interpreter(name)
}

fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}
