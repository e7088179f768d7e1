//! One option has one spelling, one value and one meaning in all commands.

use super::{program, run};
use capsid_testkit::program::assert_status;
use clap::{Arg, Command, CommandFactory};
use std::collections::{BTreeMap, BTreeSet};

/// Options whose value differs between commands, and why that is no trap.
const EXCEPTIONS: [&str; 9] = [
    // The rest of the line is a command in `evolve`; `init` names a tool.
    "agent",
    // An old form of `select` takes the seed, which has an option of its own.
    "drift",
    // A switch in `events seal` and `review`; `hub admin bounties` names the bounty.
    "accept",
    "reject",
    // USER.md of a cycle, and a user of the machine.
    "user",
    // A name of the caller's choice.
    "reference",
    "reason",
    // `node search` matches its spans by the same words as the lists of the store.
    "since",
    "until",
];

/// Spellings that are gone: their commands accept them as hidden aliases.
const RETIRED: [&str; 3] = ["signals", "state", "anyway"];

fn walk<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Arg)>) {
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        found.push((path.to_owned(), argument));
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        walk(sub, &format!("{path} {}", sub.get_name()), found);
    }
}

/// The name of an option's value; none for a switch.
fn value_name(argument: &Arg) -> Option<String> {
    let takes_value = argument.get_action().takes_values();
    takes_value.then(|| argument.get_value_names().map_or_else(String::new, |names| names[0].to_string()))
}

#[test]
fn each_option_has_one_value_in_all_commands() {
    let mut tree = capsid::cli::Cli::command();
    tree.build();
    let mut found = Vec::new();
    walk(&tree, "capsid", &mut found);
    let mut values: BTreeMap<&str, BTreeMap<Option<String>, Vec<String>>> = BTreeMap::new();
    for (path, argument) in &found {
        if let Some(long) = argument.get_long() {
            values.entry(long).or_default().entry(value_name(argument)).or_default().push(path.clone());
        }
    }
    assert!(values.len() > 80, "{}", values.len());
    let several: BTreeMap<_, _> = values.iter().filter(|(_, values)| values.len() > 1).collect();
    let unknown: Vec<_> = several.iter().filter(|(long, _)| !EXCEPTIONS.contains(long)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let retired: BTreeSet<_> = values.keys().filter(|long| RETIRED.contains(long)).collect();
    assert!(retired.is_empty(), "{retired:?}");
}

#[test]
fn an_old_spelling_works_and_names_the_new_one_on_stderr() {
    let desk = capsid_testkit::program_repo::ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    let old = desk.program.expect(0, &desk.repo, &["events", "--signal", "log_error"]);
    assert!(old.stderr.contains("--signal is called --matching now"), "{old}");
    let new = desk.program.expect(0, &desk.repo, &["events", "--matching", "log_error"]);
    assert!(!new.stderr.contains("is called"), "{new}");
    assert_eq!(old.stdout, new.stdout);
    let first = desk.program.expect(0, &desk.repo, &["select", "--drift", "7", "--json"]);
    let second = desk.program.expect(0, &desk.repo, &["select", "--drift", "--seed", "7", "--json"]);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_file_to_write_is_given_by_its_place_or_by_out() {
    let desk = capsid_testkit::program_repo::ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    desk.program.expect(0, &desk.repo, &["archive", "export", "one.gepx"]);
    desk.program.expect(0, &desk.repo, &["archive", "export", "--out", "two.gepx"]);
    assert!(desk.repo.file("one.gepx").exists() && desk.repo.file("two.gepx").exists());
    desk.program.expect(0, &desk.repo, &["archive", "export", "--force", "one.gepx"]);
    assert_status(2, &run(&program(), desk.repo.path(), &["archive", "export"]));
}

#[test]
fn the_first_digits_of_an_id_and_last_name_a_record() {
    let desk = capsid_testkit::program_repo::ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    let made = desk.evolve(&[], "echo good > state.txt");
    assert_status(0, &made);
    let shown = |words: &[&str]| desk.program.expect(0, &desk.repo, words).stdout;
    let last = shown(&["events", "show", "last"]);
    let id = desk.program.expect(0, &desk.repo, &["events", "show", "last", "--json"]).json()["id"].clone();
    let digits = id.as_str().unwrap().rsplit('_').next().unwrap();
    assert_eq!(shown(&["events", "show", digits]), last);
    assert!(shown(&["capsules", "show", "last"]).contains("capsule_"));
}
