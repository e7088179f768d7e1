//! `[loop] watch`: commands that run when the tree changed. Their output is a log.

use crate::cycle::evolve::EvolveRequest;
use crate::cycle::observation::Sources;
use crate::run::base;
use crate::run::validation::{self, Validated, ValidationTree};
use crate::tree::private_tree::BaseManifest;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use std::path::Path;

/// What the commands printed on one state of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchLog {
    /// The command that failed; none if all passed.
    pub(super) failed_command: Option<String>,
    /// The output of all of them, each after its command.
    pub(super) text: String,
}

/// Runs the commands, once for each state of the tree.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    tree: Option<String>,
    log: Option<WatchLog>,
}

impl Watcher {
    /// The output for the tree as it is now; none without commands. Nothing runs if the tree is as it was.
    pub(super) fn refresh(&mut self, workspace: &Workspace, sources: &Sources) -> Result<Option<&WatchLog>> {
        if workspace.config.evolve_loop.watch.is_empty() {
            return Ok(None);
        }
        let tree = hash_tree(workspace, sources)?;
        if self.tree.as_ref() != Some(&tree) {
            // A command that cannot run is reported once for each state of the tree, too.
            self.tree = Some(tree);
            self.log = None;
            self.log = Some(run_commands(workspace)?);
        }
        Ok(self.log.as_ref())
    }
}

/// Changes whenever a file of the user does. Logs that are read grow by themselves and do not count.
fn hash_tree(workspace: &Workspace, sources: &Sources) -> Result<String> {
    let root = &workspace.repository.root;
    let inside = |path: &Path| {
        let path = path.canonicalize().ok()?;
        Some(path.strip_prefix(root).ok()?.to_str()?.to_owned())
    };
    let logs: Vec<String> = sources.logs.iter().filter_map(|path| inside(path)).collect();
    let scope = base::scope(workspace, &logs)?;
    BaseManifest::record(root, &scope, workspace.repository.head.clone())?.sha256()
}

fn run_commands(workspace: &Workspace) -> Result<WatchLog> {
    let commands = &workspace.config.evolve_loop.watch;
    let scratch = workspace.create_state_dir()?.join("watch");
    let ran = validation::run(commands, false, workspace, &ValidationTree { change: None, scratch })?;
    refuse_broken_run(&ran)?;
    let failed = ran.commands.iter().find(|command| !command.ok);
    let texts = ran
        .commands
        .iter()
        .map(|command| format!("$ {}\n{}\n{}\n", command.command, command.stdout, command.stderr));
    Ok(WatchLog { failed_command: failed.map(|command| command.command.clone()), text: texts.collect() })
}

/// A command that did not run says nothing about the tree.
fn refuse_broken_run(ran: &Validated) -> Result<()> {
    let last = ran.commands.last();
    let (command, reason) = last.map_or(("", ""), |last| (last.command.as_str(), last.stderr.trim()));
    if ran.gate_refused {
        return Err(Problem::new(Code::CommandRefused, format!("`{command}` of `[loop] watch`: {reason}"))
            .fix("Name a command that the gate lets through, or allow its program in capsid.toml."));
    }
    if ran.sandbox_failed {
        return Err(Problem::new(
            Code::SandboxUnavailable,
            format!("`{command}` of `[loop] watch` did not run: {reason}"),
        )
        .fix("`capsid doctor` shows what the sandbox needs."));
    }
    match &ran.host_failure {
        Some(failure) => {
            Err(Problem::new(Code::ProgramNotFound, format!("`{command}` of `[loop] watch`: {failure}"))
                .fix("Install the program, or remove the command from `[loop] watch`."))
        }
        None => Ok(()),
    }
}

/// A request that works on the output of a failed command and on nothing else.
pub(super) fn watch_request(like: &EvolveRequest, log: &WatchLog, command: &str) -> EvolveRequest {
    let sources = Sources {
        logs: Vec::new(),
        stdin: Some(log.text.clone()),
        sessions: false,
        repro: Some(command.to_owned()),
        ..like.sources.clone()
    };
    EvolveRequest { sources, ..like.clone() }
}
