//! `capsid init`: set up this repository, and the coding agents that work in it.

use super::{trail, variable, workspace};
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_disk::Lock;
use capsid_engine::workspace::Workspace;
use capsid_engine::workspace::init::{self, InitReport};
use capsid_model::text::inert_line;
use capsid_model::{Code, Object, Problem, Result, Value, json};
use capsid_seal::TrailHome;
use capsid_trail::install::{AgentPaths, FileEffect, InstallPlan, equip, unequip};
use capsid_transcript::Tool;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often files are looked at anew when somebody else changes them meanwhile.
const ATTEMPTS: usize = 5;

/// How long one set-up waits for another in the same repository.
const PATIENCE: Duration = Duration::from_secs(10);

/// Set up this repository: the asset store, the built-in genes and capsid.toml. Overwrites nothing.
///
/// With --agent, coding agents are set up too: the MCP server `capsid mcp`, the hooks that seal each turn, and a start hook
/// that tells a session what is proven here. All else in their settings stays as it is, to the byte.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid init                              set up the repository around the current folder
  capsid -C ~/project init                 set up another one
  capsid init --agent claude-code          set up Claude Code to work with it too
  capsid init --agent codex --agent cursor --dry-run
                                           show what would change in their settings
  capsid init --agent claude-code --remove take exactly that out again
  capsid init --print-config               read about every setting first")]
pub struct InitArgs {
    /// Print the commented capsid.toml with every default, and do nothing else.
    #[arg(long)]
    print_config: bool,

    /// Set up this agent too: claude-code, codex, cursor or cline; may be given more than once.
    #[arg(long = "agent", value_name = "TOOL", value_parser = PossibleValuesParser::new(Tool::ALL.map(Tool::name)))]
    #[arg(hide_possible_values = true)]
    agents: Vec<String>,

    /// Remove from the agents' settings what was put there. The store and what is sealed stay.
    #[arg(long, requires = "agents")]
    remove: bool,

    /// Show what would become of the agents' settings, and change nothing.
    #[arg(long, visible_alias = "print", requires = "agents")]
    dry_run: bool,
}

/// Runs the command.
pub fn run(arguments: &InitArgs, folder: &Path) -> Result<u8> {
    if arguments.print_config {
        output::print(&capsid_engine::config::template(&[], &[]));
        return Ok(0);
    }
    let workspace = workspace(folder)?;
    if arguments.agents.is_empty() {
        let report = set_up(&workspace)?;
        match output::is_json() {
            true => output::document(&Value::from(document(&workspace, &report))),
            false => {
                print(&workspace, &report);
                output::talk(format_args!("\nNext: {}", paint(HEAD, "capsid evolve --log FILE")));
            }
        }
        return Ok(0);
    }
    run_with_agents(arguments, &workspace)
}

fn run_with_agents(arguments: &InitArgs, workspace: &Workspace) -> Result<u8> {
    let set_up_too = !arguments.remove && !arguments.dry_run;
    // What cannot be edited safely is reported before anything is written.
    let mut plan = plan(arguments, workspace)?;
    let report = if set_up_too { Some(set_up(workspace)?) } else { None };
    if !arguments.dry_run {
        plan = apply_plan(arguments, workspace, plan)?;
    }
    let mut whole = match &report {
        Some(report) => document(workspace, report),
        None => Object::from_iter([("ok".to_owned(), Value::from(true))]),
    };
    if output::is_json() {
        whole.insert("ok".to_owned(), plan.blocked.is_empty().into());
        whole.insert("agents".to_owned(), agents_document(arguments, workspace, &plan));
        output::document(&Value::from(whole));
    } else {
        if let Some(report) = &report {
            print(workspace, report);
        }
        print_agents(arguments, workspace, &plan);
    }
    let Some(tool) = plan.blocked.first() else { return Ok(0) };
    let message = format!("{} was set up in part: something else is in the place of a hook.", tool.name());
    output::complain(&Problem::new(Code::HookFileInvalid, message).fix("The warning above says what to do."));
    Ok(1)
}

fn tools(arguments: &InitArgs) -> Vec<Tool> {
    Tool::ALL.into_iter().filter(|tool| arguments.agents.iter().any(|name| name == tool.name())).collect()
}

fn plan(arguments: &InitArgs, workspace: &Workspace) -> Result<InstallPlan> {
    let paths = AgentPaths {
        user: trail::install_paths()?,
        repository: workspace.repository.root.clone(),
        cline: trail::cline_folders()?,
        on_path: is_on_path(),
        home_words: trail::home_words(&TrailHome::find(None, &variable)?, None)?,
    };
    match arguments.remove {
        true => unequip(&tools(arguments), &paths),
        false => equip(&tools(arguments), &paths, &trail::own_path()?),
    }
}

/// Whether the name of this program starts this very program: the first of that name on the PATH counts.
pub(super) fn is_on_path() -> bool {
    let name = format!("capsid{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&folders)
        // A relative folder depends on the current directory, so it finds nothing from elsewhere.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .filter(|path| path.is_file());
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    programs
        .next()
        .and_then(|path| path.canonicalize().ok())
        .is_some_and(|path| own.is_ok_and(|own| own == path))
}

/// Writes the plan. Where somebody else wrote meanwhile, it is made anew from what is there then.
fn apply_plan(arguments: &InitArgs, workspace: &Workspace, mut made: InstallPlan) -> Result<InstallPlan> {
    let lock = workspace.repository.git_dir.join("capsid-init.lock");
    let _lock = Lock::acquire(&lock, "Another set-up of this repository", PATIENCE)?;
    let mut attempt = 1;
    loop {
        match made.apply() {
            Ok(()) => return Ok(made),
            Err(problem) if problem.code != Code::HookFileInvalid || attempt == ATTEMPTS => {
                return Err(problem);
            }
            Err(_) => made = plan(arguments, workspace)?,
        }
        attempt += 1;
    }
}

/// Sets a repository up.
pub(crate) fn set_up(workspace: &Workspace) -> Result<InitReport> {
    workspace.refuse_linked_folders()?;
    let paths = &workspace.paths;
    let report = init::init(
        &workspace.repository.root,
        &workspace.store,
        &paths.config(),
        &paths.evolution,
        &*workspace.env,
    )?;
    super::set_up_merge_driver(workspace);
    Ok(report)
}

fn show(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(&workspace.repository.root).unwrap_or(path).display().to_string()
}

fn document(workspace: &Workspace, report: &InitReport) -> Object {
    let display =
        |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(|path| show(workspace, path)).collect() };
    let members = [
        ("ok", json!(true)),
        ("created", json!(display(&report.created))),
        ("kept", json!(display(&report.existing))),
        ("genes", json!(report.genes)),
        ("validation", json!(report.validation)),
        ("hints", json!(report.hints)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn print(workspace: &Workspace, report: &InitReport) {
    for path in &report.created {
        output::line(format_args!("{}  {}", paint(GOOD, "created"), show(workspace, path)));
    }
    for path in &report.existing {
        output::line(format_args!(
            "{}  {}",
            paint(DIM, format_args!("{:<7}", "kept")),
            show(workspace, path)
        ));
    }
    match report.validation.as_slice() {
        [] => output::line(format_args!(
            "{} no test command was found; name one under [validation] commands in capsid.toml.",
            paint(WARN, "note:")
        )),
        commands => output::line(format_args!("A change must pass: {}", inert_line(&commands.join(", ")))),
    }
    for hint in &report.hints {
        output::line(format_args!("{} {hint}", paint(WARN, "note:")));
    }
}

fn agents_document(arguments: &InitArgs, workspace: &Workspace, plan: &InstallPlan) -> Value {
    let files: Vec<Value> = plan
        .changes()
        .iter()
        .map(|change| json!({"path": show(workspace, &change.path), "effect": change.effect.as_str()}))
        .collect();
    let tools: Vec<Value> = plan
        .messages
        .iter()
        .map(|(tool, messages)| json!({"tool": tool.name(), "changes": messages, "complete": !plan.blocked.contains(tool)}))
        .collect();
    json!({"dry_run": arguments.dry_run, "removed": arguments.remove, "files": files, "tools": tools})
}

/// One line for each file, what stands in the way, and what is left to the user.
fn print_agents(arguments: &InitArgs, workspace: &Workspace, plan: &InstallPlan) {
    for change in plan.changes() {
        let style = match change.effect {
            FileEffect::Created | FileEffect::Changed => GOOD,
            FileEffect::Kept => DIM,
            FileEffect::Removed => BAD,
        };
        let word = paint(style, format_args!("{:<7}", change.effect.as_str()));
        output::line(format_args!("{word}  {}", inert_line(&show(workspace, &change.path))));
    }
    for (tool, messages) in &plan.messages {
        for warning in messages.iter().filter_map(|line| line.strip_prefix("warning: ")) {
            output::line(format_args!("{} {}: {}", paint(WARN, "note:"), tool.name(), inert_line(warning)));
        }
    }
    if arguments.dry_run {
        output::talk("\nNothing was written: this is what would become of the files.");
        return;
    }
    if arguments.remove {
        output::talk("\nThe store and what is sealed stay as they are.");
        return;
    }
    for (tool, _) in &plan.messages {
        output::talk(format_args!("\n{}: {}", paint(NAME, tool.name()), next_step(*tool)));
    }
}

/// What no program may do for the user.
fn next_step(tool: Tool) -> &'static str {
    match tool {
        Tool::ClaudeCode => "start it in this repository, and approve the server `capsid` when it asks.",
        Tool::Codex => "start it in this repository, and trust the new hook when it asks (or with /hooks).",
        Tool::Cursor => "restart it, and switch the server `capsid` on in its settings under MCP.",
        Tool::Cline => {
            "enable hooks in its settings. Its server serves one repository at a time, now this one: run this \
             again in another to move it there."
        }
    }
}
