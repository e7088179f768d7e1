//! The commands in groups, for the help of the whole program. clap has headings for options only.

use clap::Command;
use std::fmt::Write;

/// Every command that the help shows, under its heading.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Start here", &["status", "demo", "up", "init", "doctor"]),
    (
        "Repair and learn",
        &[
            "evolve", "loop", "review", "apply", "undo", "cycle", "solidify", "recall", "signals", "select",
            "explain", "distill",
        ],
    ),
    ("Inspect the asset store", &["genes", "capsules", "events", "asset", "archive"]),
    ("Prove what agents did", &["trail", "key"]),
    ("Share", &["node", "hub", "mcp"]),
    ("Help and completions", &["completions", "man", "self", "help"]),
];

/// The column at which descriptions begin.
const INDENT: usize = 15;
/// Descriptions are no wider on a wide terminal, and on none at all.
const MAX_WIDTH: usize = 100;
const MIN_WIDTH: usize = 50;

/// What the parser itself says of its `help`, which it adds late.
const HELP_ABOUT: &str = "Print this message or the help of a command";

/// The program with a help that shows its commands in groups, each with its own description.
pub fn group_commands(command: Command) -> Command {
    let template = write_template(&command, terminal_width());
    command.help_template(template)
}

fn terminal_width() -> usize {
    let width = terminal_size::terminal_size().map_or(MAX_WIDTH, |(width, _)| usize::from(width.0));
    width.clamp(MIN_WIDTH, MAX_WIDTH)
}

fn write_template(command: &Command, width: usize) -> String {
    let (header, name_style) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
         {header}Options:{header:#}\n{{options}}\n"
    );
    for (heading, names) in GROUPS {
        // Writing to a text cannot fail.
        let _ = writeln!(template, "\n{header}{heading}:{header:#}");
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
                None => HELP_ABOUT.to_owned(),
            };
            let about = wrap(first_sentence(&about), width);
            let gap = " ".repeat(INDENT.saturating_sub(name.len() + 2));
            let _ = writeln!(template, "  {name_style}{name}{name_style:#}{gap}{about}");
        }
    }
    template.push_str("{after-help}");
    template
}

/// What a list has room for.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

/// Breaks a text between words so that it fits beside the names.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = INDENT;
    for word in text.split_whitespace() {
        if column > INDENT && column + 1 + word.chars().count() > width {
            let _ = write!(out, "\n{:INDENT$}", "");
            column = INDENT;
        } else if column > INDENT {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.chars().count();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeMap;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let mut command = crate::cli::Cli::command();
        command.build();
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        for name in GROUPS.iter().flat_map(|(_, names)| names.iter()) {
            *groups.entry(name).or_default() += 1;
        }
        let visible: BTreeMap<&str, usize> = command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .map(|sub| (sub.get_name(), 1))
            .collect();
        assert_eq!(groups, visible);
    }

    #[test]
    fn the_help_shows_each_command_with_its_description_and_the_short_one_ends_with_the_groups() {
        let mut command = group_commands(crate::cli::Cli::command());
        let short = command.render_help().to_string();
        assert!(short.trim_end().ends_with(HELP_ABOUT), "{short}");
        assert!(short.contains("Prove what agents did:\n  trail") && short.contains("--json"), "{short}");
        let long = command.render_long_help().to_string();
        assert!(long.contains("First steps:") && long.contains("Exit status:"), "{long}");
    }

    #[test]
    fn descriptions_are_broken_between_words_and_hold_nothing_that_a_template_means() {
        assert_eq!(wrap("one two three", 23), format!("one two\n{:INDENT$}three", ""));
        for sub in crate::cli::Cli::command().get_subcommands() {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.contains(['{', '}']), "{}: {about}", sub.get_name());
        }
    }
}
