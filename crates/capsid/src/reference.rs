//! The reference pages that are made from the code: `docs/cli.md` and `docs/errors.md`. A test keeps them true.

use capsid_hub::error::HubCode;
use capsid_model::Code;
use clap::{Arg, Command, CommandFactory};

/// `docs/cli.md`: every command with its arguments.
pub fn cli_page() -> String {
    let mut page = String::from(
        "# The command line\n\nMade from the program's own help; `CAPSID_UPDATE_DOCS=1 make test` writes it anew.\n\n\
         Data goes to stdout, talk to stderr. Exit status: 0 done, 1 the thing asked failed, 2 wrong usage or input,\n\
         70 a bug. The codes of errors are in [errors.md](errors.md).\n",
    );
    let mut command = crate::cli::Cli::command();
    command.build();
    page.push_str("\n## Options of every command\n\n");
    for argument in command.get_arguments().filter(|argument| argument.is_global_set()) {
        page.push_str(&argument_line(argument));
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        write_command(&mut page, sub, "capsid", 2);
    }
    page
}

fn write_command(page: &mut String, command: &Command, parent: &str, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    page.push_str(&format!("\n{} `{name}`\n\n", "#".repeat(level)));
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    page.push_str(&format!("{}\n", about.unwrap_or_default()));
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !argument.is_global_set())
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .collect();
    if !arguments.is_empty() {
        page.push('\n');
    }
    for argument in arguments {
        page.push_str(&argument_line(argument));
    }
    if let Some(after) = command.get_after_help() {
        page.push_str(&format!("\n```\n{}\n```\n", after.to_string().trim_end()));
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        write_command(page, sub, &name, level + 1);
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

/// `docs/errors.md`: every code with its meaning and exit status.
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
