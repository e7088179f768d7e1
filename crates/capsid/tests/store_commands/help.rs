//! Help for somebody who sees the program for the first time.

use super::*;
use clap::{Command, CommandFactory};

fn without_examples(command: &Command, parent: &str, found: &mut Vec<String>) {
    let name = format!("{parent} {}", command.get_name());
    if command.get_after_help().is_none() {
        found.push(name.trim().to_owned());
    }
    for sub in command.get_subcommands() {
        without_examples(sub, &name, found);
    }
}

#[test]
fn every_command_gives_examples() {
    let mut found = Vec::new();
    for command in capsid::cli::Cli::command().get_subcommands() {
        without_examples(command, "", &mut found);
    }
    // These are shown in the examples of the command above them.
    found.retain(|name| !["genes ", "capsules ", "events "].iter().any(|list| name.starts_with(list)));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn completions_exist_for_every_shell() {
    let desk = desk();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = good(&desk, &["completions", shell]).stdout;
        assert!(script.contains("evolve") && script.len() > 1000, "{shell}: {script}");
    }
    let ran = run(&desk, &["completions", "tcsh"]);
    assert_status(2, &ran);
    assert!(ran.stderr.contains("bash"), "{ran}");
}
