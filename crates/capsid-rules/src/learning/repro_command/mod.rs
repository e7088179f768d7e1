//! Which commands can reproduce a problem, in the order in which they are tried.

pub mod log;
pub mod narrow;

use capsid_model::text_enum;
use log::find_log_command;
use narrow::narrow_commands;
use serde::{Deserialize, Serialize};

/// Where a command comes from; the first that can run is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandSource {
    /// `--repro`.
    Repro,
    /// The log shows it.
    Log,
    /// The failing test or the file of the problem gives it.
    Narrowed,
    /// The gene's validation.
    Gene,
    /// The owner's configuration.
    Owner,
}

text_enum!(CommandSource {
    Repro = "repro",
    Log = "log",
    Narrowed = "narrowed",
    Gene = "gene",
    Owner = "owner",
});

/// A command that may reproduce the problem. The command gate has not seen it yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReproCommand {
    pub command: String,
    pub source: CommandSource,
}

/// The part of a problem that narrows a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailingCheck<'a> {
    /// The program that reported the problem, such as `cargo-test`.
    pub tool: &'a str,
    /// What several tools share, such as `js`.
    pub family: &'a str,
    /// The id of the failing test.
    pub test: Option<&'a str>,
    /// The file of the problem, with its folders if they are known.
    pub place: Option<&'a str>,
}

/// All that commands are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReproInputs<'a> {
    /// The command of `--repro`.
    pub repro: Option<&'a str>,
    /// The text of the log.
    pub log: Option<&'a str>,
    pub check: FailingCheck<'a>,
    pub gene_commands: &'a [String],
    pub owner_commands: &'a [String],
}

/// The commands that may reproduce a problem, best first, each once.
pub fn list_repro_commands(inputs: &ReproInputs<'_>) -> Vec<ReproCommand> {
    let repro = inputs.repro.map(str::to_owned).into_iter().map(|command| (command, CommandSource::Repro));
    let log = inputs.log.and_then(find_log_command).into_iter().map(|command| (command, CommandSource::Log));
    let narrowed =
        narrow_commands(&inputs.check).into_iter().map(|command| (command, CommandSource::Narrowed));
    let gene = inputs.gene_commands.iter().map(|command| (command.clone(), CommandSource::Gene));
    let owner = inputs.owner_commands.iter().map(|command| (command.clone(), CommandSource::Owner));
    let mut commands: Vec<ReproCommand> = Vec::new();
    for (command, source) in repro.chain(log).chain(narrowed).chain(gene).chain(owner) {
        let command = command.trim();
        if !command.is_empty() && commands.iter().all(|known| known.command != command) {
            commands.push(ReproCommand { command: command.to_owned(), source });
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_listed_in_the_order_of_their_sources() {
        let inputs = ReproInputs {
            repro: Some("make port-test"),
            log: Some("$ npm test\n> shop@1.0.0 test\n> jest\n"),
            check: FailingCheck {
                tool: "jest",
                family: "js",
                test: Some("cart.test.js › cart › adds the prices"),
                place: Some("cart.test.js"),
            },
            gene_commands: &["npm test".to_owned(), "npm run lint".to_owned()],
            owner_commands: &["make check".to_owned(), " ".to_owned()],
        };
        let commands = list_repro_commands(&inputs);
        let listed: Vec<(&str, &str)> =
            commands.iter().map(|c| (c.source.as_str(), c.command.as_str())).collect();
        assert_eq!(
            listed,
            [
                ("repro", "make port-test"),
                ("log", "npm test"),
                ("narrowed", "npx jest cart.test.js -t 'cart adds the prices'"),
                ("gene", "npm run lint"),
                ("owner", "make check"),
            ]
        );
    }

    #[test]
    fn no_input_gives_no_command() {
        assert_eq!(list_repro_commands(&ReproInputs::default()), []);
    }
}
