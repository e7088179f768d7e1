//! `capsid evolve --loop`: cycle after cycle, and what passes between them and a hub.

use crate::commands::cycle::cycle_problem;
use crate::commands::cycle::evolve::{
    EvolveArgs, agent_command, require_agent, show_agent, stop_flag, talk_of,
};
use crate::commands::cycle::solidify::print_settled;
use crate::commands::trail::seal::seal_since;
use crate::commands::{variable, workspace};
use crate::output::{self, DIM, GOOD, WARN, paint};
use capsid_engine::cycle::evolve::EvolveRequest;
use capsid_engine::evolve_loop::{self as looping, LoopNote, LoopOptions};
use capsid_engine::network::hub_link::HubLink;
use capsid_engine::workspace::Workspace;
use capsid_model::Result;
use capsid_model::text::inert_line;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs the loop until it is stopped.
pub(crate) fn run(arguments: &EvolveArgs, folder: &Path, request: EvolveRequest) -> Result<u8> {
    let opened = workspace(folder)?;
    opened.require_store()?;
    require_agent(&agent_command(arguments, &opened), &opened)?;
    let stop = stop_flag()?;
    let options = LoopOptions {
        request,
        agent: agent_command(arguments, &opened),
        agent_timeout: arguments.agent_timeout.map(Duration::from_secs),
        commit: arguments.commit,
        retries: arguments.retry,
        max_cycles: arguments.max_cycles,
        until_clean: arguments.until_clean,
        exit_on_budget: arguments.exit_on_budget,
        link: if arguments.offline { None } else { link(&opened, Arc::clone(&stop))? },
        stop,
    };
    let as_json = output::is_json();
    let open = || workspace(folder);
    let mut start = opened.now();
    let mut on_note = |message: &LoopNote<'_>| {
        print_loop_message(message, as_json);
        if matches!(message, LoopNote::Settled(_)) {
            if let Err(problem) = seal_since(start) {
                output::caution("not sealed", &problem);
            }
            start = opened.now();
        }
    };
    let ended = looping::run(&open, &options, &mut on_note, &mut |bytes| show_agent(bytes))?;
    let (cycles, reason) = (ended.cycles, ended.reason.describe());
    output::talk(format_args!("{} {cycles} cycle(s); {reason}.", paint(GOOD, "loop:")));
    ended.reason.problem().map_or(Ok(0), |problem| Err(problem.clone()))
}

/// The line to the hub; none where none is named.
fn link(workspace: &Workspace, stop: Arc<AtomicBool>) -> Result<Option<HubLink>> {
    let Some(settings) = workspace.config.hub.settings(&variable)? else { return Ok(None) };
    let node = workspace.node(&settings)?;
    let hub = inert_line(&settings.url);
    output::talk(format_args!("{} {} at {hub}", paint(DIM, "hub:"), inert_line(node.id())));
    let root: PathBuf = workspace.repository.root.clone();
    let open = Arc::new(move || crate::commands::workspace(&root));
    HubLink::new(node, open, stop).map(Some)
}

fn print_loop_message(message: &LoopNote<'_>, as_json: bool) {
    match message {
        LoopNote::Settled(settled) => print_settled(settled, as_json),
        LoopNote::Prompt(ready) if as_json => output::document(&ready.to_json(false)),
        LoopNote::Prompt(ready) => {
            talk_of(ready);
            output::print(&ready.prompt);
        }
        LoopNote::Solve(note) => cycle_problem::print_note(note, as_json),
        LoopNote::Event(text) => {
            output::talk(format_args!("{} {}", paint(WARN, "loop:"), inert_line(text)));
        }
        LoopNote::PassEnded(summary) => {
            output::talk(format_args!("{} {}", paint(DIM, "loop:"), inert_line(&summary.to_string())));
        }
        LoopNote::Problem(problem) => {
            let message = inert_line(&problem.message);
            output::talk(format_args!("{} [{}] {message}", paint(WARN, "loop:"), problem.code));
            output::print_fix(problem);
        }
        LoopNote::Hub(message) => {
            let text = inert_line(&message.text);
            match message.code {
                Some(code) => output::talk(format_args!("{} [{code}] {text}", paint(WARN, "hub:"))),
                None => output::talk(format_args!("{} {text}", paint(DIM, "hub:"))),
            }
        }
    }
}
