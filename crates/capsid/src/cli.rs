//! The argument tree. Help texts are written for somebody who sees the program for the first time.

use crate::commands;
use crate::help::group_commands;
use crate::output::{self, Color};
use crate::renamed;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Agents record what they did, learn from it, prove it and share it.
#[derive(Debug, Parser)]
#[command(name = "capsid", version = crate::version(), propagate_version = true)]
#[command(after_long_help = "\
First steps:
  capsid                               see what is here, and what to do next
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

    /// None is `capsid status` on a terminal.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The argument tree with the commands in groups, as the program shows it.
pub fn command() -> clap::Command {
    group_commands(Cli::command())
}

/// Reads the command line. Old spellings are accepted, and reported with the new ones.
pub fn parse() -> std::result::Result<Cli, clap::Error> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut tree = command();
    let mut matches = tree.try_get_matches_from_mut(&words)?;
    let path = renamed::command_path(&matches);
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut tree))?;
    renamed::print_notes(&path, &words);
    Ok(cli)
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
    Man(commands::man::ManArgs),
    #[command(name = "self")]
    SelfCommand(commands::self_command::SelfArgs),
    MergeFile(commands::merge_file::MergeFileArgs),
}

impl Cli {
    /// Runs the command and gives the exit status.
    pub fn run(self) -> Result<u8> {
        let named = || std::env::var("EVOLVER_REPO_ROOT").ok().filter(|value| !value.trim().is_empty());
        let folder = self.repo.or_else(|| named().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
        let Some(command) = self.command else { return run_without_command(&folder) };
        command.refuse_inside_sandbox()?;
        let has_hints = command.has_hints();
        let status = command.run(&folder)?;
        if has_hints {
            commands::status::print_hints(&folder);
        }
        Ok(status)
    }
}

/// On a terminal it is the status; elsewhere a command is missing.
fn run_without_command(folder: &Path) -> Result<u8> {
    if std::io::stdout().is_terminal() {
        return commands::status::run(&commands::status::StatusArgs::default(), folder);
    }
    output::talk(command().render_help().ansi());
    Ok(2)
}

impl Command {
    fn run(self, folder: &Path) -> Result<u8> {
        match self {
            Self::Up(arguments) => commands::up::run(&arguments),
            Self::Demo(arguments) => commands::demo::run(&arguments),
            Self::Init(arguments) => commands::init::run(&arguments, folder),
            Self::Evolve(arguments) => commands::cycle::run_evolve(&arguments, folder),
            Self::Solidify(arguments) => commands::cycle::solidify::run(&arguments, folder),
            Self::Review(arguments) => commands::cycle::review::run(&arguments, folder),
            Self::Apply(arguments) => commands::cycle::apply::run(&arguments, folder),
            Self::Undo(arguments) => commands::cycle::undo::run(&arguments, folder),
            Self::Loop(arguments) => commands::cycle::loop_resume::run(&arguments, folder),
            Self::Status(arguments) => commands::status::run(&arguments, folder),
            Self::Cycle(arguments) => commands::cycle::stop::run(&arguments, folder),
            Self::Distill(arguments) => commands::cycle::distill::run(&arguments, folder),
            Self::Signals(arguments) => commands::cycle::signals::run(&arguments, folder),
            Self::Select(arguments) => commands::cycle::select::run(&arguments, folder),
            Self::Explain(arguments) => commands::cycle::explain::run(&arguments, folder),
            Self::Recall(arguments) => commands::recall::run(&arguments, folder),
            Self::Genes(arguments) => commands::store::genes::run(&arguments, folder),
            Self::Capsules(arguments) => commands::store::capsules::run(&arguments, folder),
            Self::Events(arguments) => commands::store::events::run(&arguments, folder),
            Self::Asset(arguments) => commands::store::asset::run(&arguments),
            Self::Archive(arguments) => commands::store::archive::run(&arguments, folder),
            Self::Trail(arguments) => commands::trail::run(&arguments, folder),
            Self::Key(arguments) => commands::key::run(&arguments),
            Self::Node(arguments) => commands::node::run(&arguments, folder),
            Self::Hub(arguments) => commands::hub::run(&arguments),
            Self::Mcp(arguments) => commands::mcp::run(&arguments, folder, Cli::command()),
            Self::Doctor(_) => commands::doctor::run(folder),
            Self::MergeFile(arguments) => commands::merge_file::run(&arguments),
            Self::Man(arguments) => commands::man::run(&arguments, command()),
            Self::SelfCommand(arguments) => commands::self_command::run(&arguments),
            Self::Completions(arguments) => commands::completions::run(&arguments, &mut Cli::command()),
        }
    }

    /// Whether what to do next is printed when it is done.
    fn has_hints(&self) -> bool {
        match self {
            Self::Init(_) | Self::Evolve(_) | Self::Demo(_) => true,
            Self::Node(node) => node.has_hints(),
            Self::Trail(trail) => trail.has_hints(),
            _ => false,
        }
    }

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
