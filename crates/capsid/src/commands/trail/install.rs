//! `capsid trail install` and `uninstall`: the hook in a tool's settings.

use crate::commands::{home_folder, variable};
use crate::output::{self, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::TrailHome;
use capsid_trail::install::{self, CommandSyntax, InstallOutcome, InstallPaths};
use capsid_transcript::Tool;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};

/// Add the hook to a tool's settings, so that each turn is sealed when it ends.
///
/// Nothing else in the settings is touched, and installing twice changes nothing. A folder that --home or a variable
/// names is written into the hook's command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail install claude-code
  capsid trail install codex
  capsid trail --home /data/trail install cursor
  capsid trail uninstall claude-code     takes it out again; what is sealed stays")]
pub(super) struct InstallArgs {
    /// claude-code, codex, cursor or cline.
    #[arg(value_parser = tools())]
    tool: String,
}

/// Take the hook out of a tool's settings. What is sealed stays.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail uninstall claude-code     the settings are as they were before, to the byte")]
pub(super) struct UninstallArgs {
    /// claude-code, codex, cursor or cline.
    #[arg(value_parser = tools())]
    tool: String,
}

/// The names that a tool may be given by.
pub(super) fn tools() -> PossibleValuesParser {
    PossibleValuesParser::new(Tool::ALL.map(Tool::name))
}

/// The tool of a name that the argument parser let through.
pub(super) fn tool(name: &str) -> Result<Tool> {
    Tool::named(name).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{name}` is no tool whose transcripts are read."))
            .fix("Name claude-code, codex, cursor or cline.")
    })
}

pub(super) fn install(arguments: &InstallArgs, home: &TrailHome, named: Option<&Path>) -> Result<u8> {
    let tool = tool(&arguments.tool)?;
    if !output::is_json() {
        output::line(format_args!("Installing the {} capsule hook...", paint(NAME, tool.name())));
    }
    let mut words = vec![program()?, "trail".to_owned(), "hook".to_owned(), tool.name().to_owned()];
    words.extend(home_words(home, named)?);
    let installed = install::install(tool, &install_paths()?, &words)?;
    print(tool, &installed, output::is_json());
    if !installed.registered {
        let message = format!("{} does not call Capsid: something else is in its place.", tool.name());
        output::complain(
            &Problem::new(Code::HookFileInvalid, message).fix("The warning above says what to do."),
        );
        return Ok(1);
    }
    if !output::is_json() {
        output::talk(match home.shared() {
            None => format!("Chains go to {}.", inert_line(&home.root().to_string_lossy())),
            Some(shared) => format!(
                "Chains go to {} if AGENT_CAPSULE_DB is also set where {} runs.",
                inert_line(&shared.to_string_lossy()),
                tool.name()
            ),
        });
    }
    Ok(0)
}

pub(super) fn uninstall(arguments: &UninstallArgs) -> Result<u8> {
    let tool = tool(&arguments.tool)?;
    if !output::is_json() {
        output::line(format_args!("Removing the {} capsule hook...", paint(NAME, tool.name())));
    }
    let removed = install::uninstall(tool, &install_paths()?)?;
    print(tool, &removed, output::is_json());
    Ok(0)
}

fn print(tool: Tool, done: &InstallOutcome, as_json: bool) {
    if as_json {
        output::document(
            &json!({"tool": tool.name(), "files": done.files, "changes": done.changes, "registered": done.registered}),
        );
        return;
    }
    for file in &done.files {
        output::line(format_args!("  {}", inert_line(&file.to_string_lossy())));
    }
    for change in &done.changes {
        output::line(format_args!("   {}", inert_line(change)));
    }
}

/// Where the tools of this user keep their settings.
pub(in crate::commands) fn install_paths() -> Result<InstallPaths> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty()).map(PathBuf::from);
    Ok(InstallPaths {
        home: home_folder()?,
        claude_config: set("CLAUDE_CONFIG_DIR"),
        codex_home: set("CODEX_HOME"),
        os: CommandSyntax::here(),
    })
}

/// What a hook's command says about the home. A tool may run without the variables that are set here, so a home that it
/// would not find by itself goes along. One database for all sessions has no option, so it stays a variable.
pub(in crate::commands) fn home_words(home: &TrailHome, named: Option<&Path>) -> Result<Vec<String>> {
    let of_user = |name: &str| matches!(name, "HOME" | "USERPROFILE" | "APPDATA");
    let by_itself = TrailHome::find(None, &|name| variable(name).filter(|_| of_user(name)));
    let is_found = named.is_none() && by_itself.is_ok_and(|found| found.root() == home.root());
    if is_found || home.shared().is_some() {
        return Ok(Vec::new());
    }
    let root = std::path::absolute(home.root()).map_err(|error| Problem::io("find", home.root(), &error))?;
    Ok(vec!["--home".to_owned(), text(&root)?])
}

/// The path of this program, as settings hold it.
pub(in crate::commands) fn program() -> Result<String> {
    let program = std::env::current_exe().map_err(|error| {
        Problem::new(Code::Internal, format!("This program does not know its own path: {error}."))
    })?;
    text(&program)
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("The path `{}` is not UTF-8.", path.display()))
            .fix("Use a path that is: the tools' settings can hold no other.")
    })
}
