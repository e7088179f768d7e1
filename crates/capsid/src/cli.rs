//! The argument tree. Help texts are written for somebody who sees the program for the first time.

use crate::commands;
use crate::output::Color;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use clap::{CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Agents record what they did, learn from it, prove it and share it.
#[derive(Debug, Parser)]
#[command(name = "capsid", version = crate::version(), propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
First steps:
  capsid up                            start a hub for your agents, here on this machine
  capsid demo                          see a whole story in a scratch repository
  capsid init                          set up this repository
  capsid evolve --log app.log          print the prompt for the next change
  capsid evolve --agent claude -p      let an agent make it, and keep it only if it proves itself

Exit status: 0 done, 1 the thing asked failed, 2 wrong usage or input, 70 a bug.")]
pub struct Cli {
    /// Print JSON for programs.
    #[arg(long, global = true)]
    pub json: bool,

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

/// Every command. Each describes itself in its own file.
#[derive(Debug, Subcommand)]
// One is made a process, so its size does not matter.
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Command {
    Up(commands::up::UpArgs),
    Demo(commands::demo::DemoArgs),
    Init(commands::init::InitArgs),
    Evolve(commands::cycle::evolve::EvolveArgs),
    Solidify(commands::cycle::solidify::SolidifyArgs),
    Review(commands::cycle::review::ReviewArgs),
    Apply(commands::cycle::apply::ApplyArgs),
    Undo(commands::cycle::undo::UndoArgs),
    Cycle(commands::cycle::stop::CycleArgs),
    Loop(commands::cycle::loop_resume::LoopArgs),
    Status(commands::status::StatusArgs),
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
    MergeFile(commands::merge_file::MergeFileArgs),
}

impl Cli {
    /// Runs the command and gives the exit status.
    pub fn run(self) -> Result<u8> {
        let named = || std::env::var("EVOLVER_REPO_ROOT").ok().filter(|value| !value.trim().is_empty());
        let folder = self.repo.or_else(|| named().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
        self.command.refuse_inside_sandbox()?;
        match self.command {
            Command::Up(arguments) => commands::up::run(&arguments),
            Command::Demo(arguments) => commands::demo::run(&arguments),
            Command::Init(arguments) => commands::init::run(&arguments, &folder),
            Command::Evolve(arguments) => commands::cycle::run_evolve(&arguments, &folder),
            Command::Solidify(arguments) => commands::cycle::solidify::run(&arguments, &folder),
            Command::Review(arguments) => commands::cycle::review::run(&arguments, &folder),
            Command::Apply(arguments) => commands::cycle::apply::run(&arguments, &folder),
            Command::Undo(arguments) => commands::cycle::undo::run(&arguments, &folder),
            Command::Loop(arguments) => commands::cycle::loop_resume::run(&arguments, &folder),
            Command::Status(_) => commands::status::run(&folder),
            Command::Cycle(arguments) => commands::cycle::stop::run(&arguments, &folder),
            Command::Distill(arguments) => commands::cycle::distill::run(&arguments, &folder),
            Command::Signals(arguments) => commands::cycle::signals::run(&arguments, &folder),
            Command::Select(arguments) => commands::cycle::select::run(&arguments, &folder),
            Command::Explain(arguments) => commands::cycle::explain::run(&arguments, &folder),
            Command::Recall(arguments) => commands::recall::run(&arguments, &folder),
            Command::Genes(arguments) => commands::store::genes::run(&arguments, &folder),
            Command::Capsules(arguments) => commands::store::capsules::run(&arguments, &folder),
            Command::Events(arguments) => commands::store::events::run(&arguments, &folder),
            Command::Asset(arguments) => commands::store::asset::run(&arguments),
            Command::Archive(arguments) => commands::store::archive::run(&arguments, &folder),
            Command::Trail(arguments) => commands::trail::run(&arguments, &folder),
            Command::Key(arguments) => commands::key::run(&arguments),
            Command::Node(arguments) => commands::node::run(&arguments, &folder),
            Command::Hub(arguments) => commands::hub::run(&arguments),
            Command::Mcp(arguments) => commands::mcp::run(&arguments, &folder, Self::command()),
            Command::Doctor(_) => commands::doctor::run(&folder),
            Command::MergeFile(arguments) => commands::merge_file::run(&arguments),
            Command::Completions(arguments) => commands::completions::run(&arguments, &mut Self::command()),
        }
    }
}

impl Command {
    /// Inside the private view of a run nothing is recorded: what is written there is dropped or taken for a part of the
    /// change. Reading works.
    fn refuse_inside_sandbox(&self) -> Result<()> {
        let writes = matches!(
            self,
            Self::Init(_)
                | Self::Evolve(_)
                | Self::Solidify(_)
                | Self::Review(_)
                | Self::Apply(_)
                | Self::Undo(_)
                | Self::Cycle(_)
                | Self::Loop(_)
                | Self::Distill(_)
                | Self::Archive(_)
                | Self::Key(_)
                | Self::Up(_)
                | Self::Demo(_)
        );
        let writes = writes || matches!(self, Self::Genes(genes) if genes.is_change());
        if !writes || !capsid_sandbox::inside_sandbox() {
            return Ok(());
        }
        let run = std::env::var("CAPSID_RUN_ID").unwrap_or_else(|_| "a run".to_owned());
        Err(Problem::new(
            Code::InsideSandbox,
            format!("This is the private view of `{}`; nothing is recorded from inside.", inert_line(&run)),
        )
        .fix("Exit the agent; the cycle is finished outside."))
    }
}
