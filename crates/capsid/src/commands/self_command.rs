//! `capsid self`: this program, how it was installed, and how to remove it.

use super::{trail, variable};
use crate::output::{self, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::home::data_folder;
use capsid_trail::install::{HookStatus, status, uninstall};
use capsid_transcript::Tool;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Show which program this is and how it was installed, or remove it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid self version                      version, system and place of this program
  capsid self uninstall                    remove the program and its hooks; asks first, and leaves your data")]
pub struct SelfArgs {
    #[command(subcommand)]
    action: SelfAction,
}

#[derive(Debug, Subcommand)]
enum SelfAction {
    /// Show the version, the system it was built for, where it is and how it was installed.
    #[command(after_help = "Examples:\n  capsid self version --json")]
    Version,
    /// Remove this program and its hooks from the settings of your coding agents. Your data stays.
    ///
    /// Lists what will be removed and asks first. Stores in repositories, the trail with its key, the node's identity and a
    /// hub's data are never touched; the command says where they are.
    #[command(after_help = "\
Examples:
  capsid self uninstall
  capsid self uninstall --yes              without asking, for scripts")]
    Uninstall {
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
}

/// What put the program where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstallMethod {
    /// The installer or a hand put one file there.
    File,
    Cargo,
    Npm,
    Pip,
    /// The system's packages: deb, rpm, apk or Arch.
    System,
    /// Built here and not installed at all.
    Build,
}

impl InstallMethod {
    /// Goes by where the program is.
    fn detect(program: &Path) -> Self {
        let has_part = |name: &str| program.components().any(|part| part.as_os_str() == name);
        let beside = |name: &str| {
            program.parent().and_then(Path::parent).is_some_and(|above| above.join(name).exists())
        };
        if has_part("node_modules") {
            Self::Npm
        } else if has_part("target") && (has_part("debug") || has_part("release") || has_part("dist")) {
            Self::Build
        } else if has_part(".cargo") {
            Self::Cargo
        } else if beside("pyvenv.cfg") || has_part("site-packages") {
            Self::Pip
        } else if ["/usr/bin", "/bin", "/usr/sbin"]
            .iter()
            .any(|folder| program.parent() == Some(Path::new(folder)))
        {
            Self::System
        } else {
            Self::File
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::File => "a single file",
            Self::Cargo => "cargo",
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::System => "the system's packages",
            Self::Build => "built here, not installed",
        }
    }

    /// The command that removes what another program keeps account of.
    fn removal(self) -> Option<&'static str> {
        match self {
            Self::File => None,
            Self::Cargo => Some("cargo uninstall capsid"),
            Self::Npm => Some("npm uninstall --global capsid-cli"),
            Self::Pip => Some("pip uninstall capsid-cli"),
            Self::System => Some("apt remove capsid (or the same with dnf, apk or pacman)"),
            Self::Build => Some("cargo clean"),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &SelfArgs) -> Result<u8> {
    let program = own_program()?;
    match arguments.action {
        SelfAction::Version => version(&program),
        SelfAction::Uninstall { yes } => remove(&program, yes),
    }
}

fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| {
        Problem::new(Code::IoError, format!("The path of this program is not known: {error}."))
    })
}

fn version(program: &Path) -> Result<u8> {
    let method = InstallMethod::detect(program);
    let system = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let version = env!("CARGO_PKG_VERSION");
    if output::is_json() {
        output::document(
            &json!({"ok": true, "version": version, "system": system, "program": program, "installed_by": method.as_str()}),
        );
        return Ok(0);
    }
    let rows = [
        ("version", version.to_owned()),
        ("system", system),
        ("program", inert_line(&program.display().to_string())),
        ("installed", method.as_str().to_owned()),
    ];
    let rows = rows.map(|(name, value)| vec![paint(DIM, name), value]);
    output::print(&output::table(&rows));
    Ok(0)
}

fn remove(program: &Path, yes: bool) -> Result<u8> {
    let method = InstallMethod::detect(program);
    let hooks = hooked_tools();
    if let Some(command) = method.removal() {
        let problem = Problem::new(
            Code::ChangeRefused,
            format!("`{}` was not installed as a single file ({}).", program.display(), method.as_str()),
        );
        let hooks: Vec<String> =
            hooks.iter().map(|tool| format!("`capsid trail uninstall {}`", tool.name())).collect();
        let first =
            if hooks.is_empty() { String::new() } else { format!("First run {}. ", hooks.join(", ")) };
        return Err(problem.fix(format!("{first}Remove it with `{command}`.")));
    }
    if !output::is_json() {
        output::talk("This will be removed:");
        output::talk(format_args!("  {}", inert_line(&program.display().to_string())));
        for tool in &hooks {
            output::talk(format_args!("  the hook of Capsid in the settings of {}", tool.name()));
        }
    }
    if !yes && !output::confirm("Remove it?", "Removing the program")? {
        output::talk("Nothing was removed.");
        return Ok(1);
    }
    // Without the program a hook would only fail, so hooks go first.
    let paths = trail::install_paths()?;
    for tool in &hooks {
        uninstall(*tool, &paths)?;
    }
    std::fs::remove_file(program).map_err(|error| Problem::io("remove", program, &error))?;
    print_removal(program, &hooks);
    Ok(0)
}

/// The tools whose settings call this program.
fn hooked_tools() -> Vec<Tool> {
    let Ok(paths) = trail::install_paths() else { return Vec::new() };
    let is_hooked =
        |tool: &Tool| matches!(status(*tool, &paths), HookStatus::Installed | HookStatus::Partly(_));
    Tool::ALL.into_iter().filter(is_hooked).collect()
}

/// Where this user's data is: removing a program is no reason to lose it.
fn data_folders() -> Vec<PathBuf> {
    let node = super::home_folder().ok().map(|home| home.join(".evomap"));
    let trail = capsid_seal::TrailHome::find(None, &variable).ok().map(|home| home.root().to_owned());
    let mut folders: Vec<PathBuf> = [data_folder(&variable).ok(), trail, node]
        .into_iter()
        .flatten()
        .filter(|path| path.exists())
        .collect();
    folders.dedup_by(|trail, data| trail.starts_with(data));
    folders
}

fn print_removal(program: &Path, hooks: &[Tool]) {
    let folders = data_folders();
    if output::is_json() {
        let hooks: Vec<Value> = hooks.iter().map(|tool| tool.name().into()).collect();
        output::document(&json!({"ok": true, "removed": program, "hooks": hooks, "data": folders}));
        return;
    }
    output::line(format_args!("{}  {}", paint(GOOD, "removed"), inert_line(&program.display().to_string())));
    for tool in hooks {
        output::line(format_args!("{}  the hook of {}", paint(GOOD, "removed"), paint(NAME, tool.name())));
    }
    for folder in &folders {
        output::line(format_args!(
            "{}     {} (your data; remove it yourself if nobody needs it)",
            paint(WARN, "left"),
            inert_line(&folder.display().to_string())
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_program_is_shows_what_put_it_there() {
        let cases = [
            ("/home/ann/.local/bin/capsid", InstallMethod::File),
            ("/usr/local/bin/capsid", InstallMethod::File),
            ("/home/ann/.cargo/bin/capsid", InstallMethod::Cargo),
            ("/usr/lib/node_modules/capsid-cli-linux-x64/bin/capsid", InstallMethod::Npm),
            ("/usr/bin/capsid", InstallMethod::System),
            ("/src/capsid/target/release/capsid", InstallMethod::Build),
        ];
        for (path, method) in cases {
            assert_eq!(InstallMethod::detect(Path::new(path)), method, "{path}");
            assert_eq!(method.removal().is_none(), method == InstallMethod::File);
        }
    }
}
