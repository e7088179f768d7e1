//! Options that had another name. The old one goes on working, and what it is called now is said on stderr.

use crate::output::{self, DIM, paint};
use std::ffi::OsString;

/// An option with its old and its new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenamedOption {
    /// The command, and with it every command below it.
    pub command: &'static str,
    pub old: &'static str,
    pub new: &'static str,
}

const fn renamed(command: &'static str, old: &'static str, new: &'static str) -> RenamedOption {
    RenamedOption { command, old, new }
}

/// All of them.
pub const RENAMED: [RenamedOption; 17] = [
    renamed("events", "signal", "matching"),
    renamed("node fetch", "signals", "signal"),
    renamed("node ask", "signals", "signal"),
    renamed("node propose", "signals", "signal"),
    renamed("node bounty create", "signals", "signal"),
    renamed("hub admin webhooks", "state", "status"),
    renamed("up", "log", "log-format"),
    renamed("hub serve", "log", "log-format"),
    renamed("archive export", "force", "replace"),
    renamed("archive import", "memory", "with-memory"),
    renamed("trail verify", "since", "after-record"),
    renamed("node publish", "anyway", "force"),
    renamed("node fetch", "lines", "format jsonl"),
    renamed("node export", "jsonl", "format jsonl"),
    renamed("hub admin ledger", "csv", "format csv"),
    renamed("recall", "in", "where"),
    renamed("node validator", "in", "dir"),
];

/// Reports the old names in a command line that the parser accepted. A hub's log is on stderr too, where programs read it,
/// so nothing is said there.
pub fn print_notes(command: &str, words: &[OsString]) {
    for option in find_renamed(command, words).into_iter().filter(|option| option.new != "log-format") {
        output::talk(paint(DIM, format_args!("note: --{} is called --{} now", option.old, option.new)));
    }
}

/// The names of the commands, such as `hub admin webhooks`.
pub fn command_path(matches: &clap::ArgMatches) -> String {
    let mut names = Vec::new();
    let mut level = matches.subcommand();
    while let Some((name, below)) = level {
        names.push(name);
        level = below.subcommand();
    }
    names.join(" ")
}

fn find_renamed(command: &str, words: &[OsString]) -> Vec<&'static RenamedOption> {
    let words = || words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    let is_used = |option: &&RenamedOption| {
        let is_below =
            command.strip_prefix(option.command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        is_below
            && words().any(|word| {
                word.strip_prefix("--").and_then(|word| word.split('=').next()) == Some(option.old)
            })
    };
    RENAMED.iter().filter(is_used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_old_name_is_a_hidden_form_of_the_new_one() {
        let mut tree = crate::cli::Cli::command();
        tree.build();
        for option in RENAMED {
            let command = option.command.split(' ').fold(&tree, |command, name| {
                command.find_subcommand(name).unwrap_or_else(|| panic!("{option:?}"))
            });
            let named = |name: &str| {
                let found = command.get_arguments().find(|argument| argument.get_long() == Some(name));
                found.unwrap_or_else(|| panic!("{option:?}"))
            };
            let Some((new, value)) = option.new.split_once(' ') else {
                let new = named(option.new);
                assert!(new.get_all_aliases().unwrap_or_default().contains(&option.old), "{option:?}");
                assert!(new.get_visible_aliases().unwrap_or_default().is_empty(), "{option:?}");
                continue;
            };
            // A switch that is a value of another option now.
            assert!(named(option.old).is_hide_set() && !named(new).is_hide_set(), "{option:?}");
            let values = named(new).get_possible_values();
            assert!(values.iter().any(|possible| possible.get_name() == value), "{option:?}");
        }
    }

    #[test]
    fn old_names_are_found_in_every_form_and_only_where_they_are_names() {
        let found = |command: &str, line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            find_renamed(command, &words).iter().map(|option| option.new).collect::<Vec<_>>()
        };
        assert_eq!(found("events list", "capsid events list --signal x"), ["matching"]);
        assert_eq!(found("node ask", "capsid node ask --signals=A,B"), ["signal"]);
        assert!(found("evolve", "capsid evolve --signal x --log y").is_empty());
        assert!(found("recall", "capsid recall -- --in").is_empty());
    }
}
