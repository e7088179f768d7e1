//! The argument tree. Help texts are written for somebody who sees the program for the first time.

use crate::commands;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Agents record what they did, learn from it, prove it and share it.
#[derive(Debug, Parser)]
#[command(name = "capsid", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
First steps:
  capsid up                            start a hub for your agents, here on this machine
  capsid demo                          see a whole story in a scratch repository
  capsid init                          set up this repository
  capsid evolve --log app.log          print the prompt for the next change
  capsid evolve --agent claude -p      let an agent make it, and keep it only if it proves itself

Exit status: 0 done, 1 the thing asked failed, 2 wrong usage or input, 70 a bug.")]
pub struct Cli {
    /// Work in this repository instead of the current folder.
    #[arg(short = 'C', long = "repo", value_name = "DIR", global = true)]
    pub repo: Option<PathBuf>,

    /// When to use colour: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Color,

    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Makes the choice hold for everything printed.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Every command. Each tells what it does in its own file.
#[derive(Debug, Subcommand)]
// One is made a process, so its size does not matter.
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Command {
    Up(commands::up::UpArgs),
    Demo(commands::demo::DemoArgs),
    Init(commands::init::InitArgs),
    Evolve(commands::cycle::evolve::EvolveArgs),
    Solidify(commands::cycle::solidify::SolidifyArgs),
    Review(commands::cycle::solidify::ReviewArgs),
    Distill(commands::cycle::distill::DistillArgs),
    Signals(commands::cycle::signals::SignalsArgs),
    Select(commands::cycle::select::SelectArgs),
    Explain(commands::cycle::explain::ExplainArgs),
    Recall(commands::recall::RecallArgs),
    Genes(commands::store::genes::GenesArgs),
    Capsules(commands::store::capsules::CapsulesArgs),
    Events(commands::store::events::EventsArgs),
    Asset(commands::store::asset::AssetArgs),
    Archive(commands::store::archive::ArchiveArgs),
    Trail(commands::trail::TrailArgs),
    Key(commands::key::KeyArgs),
    Node(commands::node::NodeArgs),
    Hub(commands::hub::HubArgs),
    Mcp(commands::mcp::McpArgs),
    Doctor(commands::doctor::DoctorArgs),
    Completions(commands::completions::CompletionsArgs),
}

impl Command {
    /// Whether problems are to be told as JSON too.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Up(_) | Self::Demo(_) | Self::Mcp(_) | Self::Completions(_) => false,
            Self::Init(arguments) => arguments.json.json,
            Self::Evolve(arguments) => arguments.json.json,
            Self::Solidify(arguments) => arguments.json.json,
            Self::Review(arguments) => arguments.json.json,
            Self::Distill(arguments) => arguments.json.json,
            Self::Signals(arguments) => arguments.json.json,
            Self::Select(arguments) => arguments.json.json,
            Self::Explain(arguments) => arguments.json.json,
            Self::Recall(arguments) => arguments.json.json,
            Self::Genes(arguments) => arguments.json(),
            Self::Capsules(arguments) => arguments.json(),
            Self::Events(arguments) => arguments.json(),
            Self::Asset(arguments) => arguments.json(),
            Self::Archive(arguments) => arguments.json(),
            Self::Trail(arguments) => arguments.json(),
            Self::Key(arguments) => arguments.json(),
            Self::Node(arguments) => arguments.json(),
            Self::Hub(arguments) => arguments.json(),
            Self::Doctor(arguments) => arguments.json.json,
        }
    }
}

/// The switch that every reading command has.
#[derive(Debug, Args, Clone, Copy)]
pub struct JsonFlag {
    /// Print JSON for programs.
    #[arg(long)]
    pub json: bool,
}
