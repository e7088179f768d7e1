//! The reference pages that are made from the code: `docs/reference/cli.md` and `docs/reference/errors.md`. A test keeps
//! them true.

use capsid_hub::error::HubCode;
use capsid_model::Code;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;

/// An option of so many commands is explained once.
const SHARED: usize = 4;

/// `docs/reference/cli.md`: every command with its arguments.
pub fn cli_page() -> String {
    let mut page = String::from(
        "# The command line\n\nMade from the program's own help, which also has examples: `capsid COMMAND --help`.\n\n\
         Results go to stdout, messages to stderr. Exit status: 0 done, 1 the thing asked failed, 2 wrong usage or input,\n\
         70 a bug. [Errors](errors.md) lists the codes of errors.\n",
    );
    let mut command = crate::cli::Cli::command();
    command.build();
    page.push_str("\n## Options of every command\n\n");
    for argument in command.get_arguments().filter(|argument| argument.is_global_set()) {
        page.push_str(&argument_line(argument));
    }
    let mut counts = BTreeMap::new();
    count_options(&command, &mut counts);
    let shared: Vec<&String> =
        counts.iter().filter(|(_, count)| **count >= SHARED).map(|(line, _)| line).collect();
    page.push_str("\n## Options of many commands\n\nA command that has one of these names it without repeating what it means.\n\n");
    for line in &shared {
        page.push_str(line);
    }
    for sub in visible_subcommands(&command) {
        write_command(&mut page, sub, "capsid", 2, &shared);
    }
    page
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
}

/// The arguments of a command that are its own.
fn own_arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !argument.is_global_set())
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
}

/// How many commands have an option that is explained in the same words.
fn count_options(command: &Command, counts: &mut BTreeMap<String, usize>) {
    for argument in own_arguments(command).filter(|argument| !argument.is_positional()) {
        *counts.entry(argument_line(argument)).or_default() += 1;
    }
    for sub in visible_subcommands(command) {
        count_options(sub, counts);
    }
}

fn write_command(page: &mut String, command: &Command, parent: &str, level: usize, shared: &[&String]) {
    let name = format!("{parent} {}", command.get_name());
    page.push_str(&format!("\n{} `{name}`\n\n", "#".repeat(level.min(4))));
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    page.push_str(&format!("{}\n", about.unwrap_or_default()));
    let (common, own): (Vec<&Arg>, Vec<&Arg>) =
        own_arguments(command).partition(|argument| shared.contains(&&argument_line(argument)));
    if !(common.is_empty() && own.is_empty()) {
        page.push('\n');
    }
    for argument in own {
        page.push_str(&argument_line(argument));
    }
    if !common.is_empty() {
        let names: Vec<String> = common.iter().map(|argument| format!("`{argument}`")).collect();
        page.push_str(&format!("- also {}\n", names.join(", ")));
    }
    for sub in visible_subcommands(command) {
        write_command(page, sub, &name, level + 1, shared);
    }
}

fn argument_line(argument: &Arg) -> String {
    let mut parts = vec![argument.get_help().map(ToString::to_string).unwrap_or_default()];
    let code =
        |texts: Vec<String>| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    if argument.get_action().takes_values() {
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() && !argument.is_hide_possible_values_set() {
            parts.push(format!("one of {}", code(values)));
        }
        let default: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        if !default.is_empty() {
            parts.push(format!("default {}", code(default)));
        }
    }
    format!("- `{}`: {}\n", argument.to_string().replace('`', "'"), parts.join("; "))
}

/// `docs/reference/errors.md`: every code with its meaning and exit status.
pub fn errors_page() -> String {
    let mut page = String::from(
        "# Errors\n\nEvery error has a stable code, a sentence and usually a fix, the same in every interface:\n\n\
         ```\nerror[not_initialised]: There is no asset store at `assets/gep`.\n  fix: Run `capsid init` in the repository.\n```\n\n\
         With `--json` the same comes as `{\"ok\": false, \"error\": {\"code\", \"message\", \"fix\"}}` on stdout.\n\n\
         | code | exit status | meaning |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        page.push_str(&format!("| `{code}` | {} | {} |\n", code.exit_status(), code.meaning()));
    }
    page.push_str(
        "\n## What a hub answers\n\nA hub refuses with `{\"error\": \"<code>\", \"correction\": {\"problem\", \"fix\", \"doc\"}}` \
         and one of these.\n\n| code | HTTP status | meaning |\n|---|---|---|\n",
    );
    for code in HubCode::ALL {
        page.push_str(&format!("| `{}` | {} | {} |\n", code.as_str(), code.status(), code.meaning()));
    }
    page
}
