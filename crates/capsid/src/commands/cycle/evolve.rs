//! `capsid evolve`: one cycle, or many.

use super::cycle_problem;
use super::hub_search;
use super::inputs::InputArgs;
use super::review;
use super::solidify::conclude;
use crate::commands::trail::seal::seal_since;
use crate::output::progress::ElapsedLine;
use crate::output::{self, DIM, HEAD, NAME, WARN, paint};
use capsid_engine::config::ReuseConfig;
use capsid_engine::cycle::agent::{AgentOptions, AgentOutcome};
use capsid_engine::cycle::evolve::{self, EvolveRequest, Prepared, Ready};
use capsid_engine::cycle::solve::{self, SolveHooks, SolveNote, SolveOptions, SolveOutcome};
use capsid_engine::rules::strategy;
use capsid_engine::run::agent_permit::Unlimited;
use capsid_engine::run::{ViewLevel, level};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, json};
use capsid_sandbox::{Isolation, best_isolation};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Run one evolution cycle: read signals, choose a gene, print the prompt or let an agent make the change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid evolve --log app.log                      print the prompt; edit; then `capsid solidify`
  capsid evolve --log - < build.log                the same, from stdin
  capsid evolve --agent ./fix.sh                   an agent makes the change, the prompt on its stdin
  capsid evolve --repro 'npm test' --agent ./fix.sh    the command fails now and must pass after the change
  capsid evolve --retry 2 --agent ./fix.sh         the agent may try again after a failed validation
  capsid evolve --review --agent claude -p         look at the diff before it is kept
  capsid evolve --loop --agent codex exec -        cycle after cycle until stopped
  capsid evolve --loop --until-clean --agent ./fix.sh  until there is no live problem
  capsid evolve --offline --agent ./fix.sh         without asking the hub for a proven solution first
  MEMORY_GRAPH_PROVIDER=remote capsid evolve       with the advice of a memory that a hub keeps

`--agent` takes the rest of the line as the agent's command, so put it last.")]
pub struct EvolveArgs {
    #[command(flatten)]
    inputs: InputArgs,

    /// The strategy preset.
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = PossibleValuesParser::new(strategy::names()))]
    strategy: Option<String>,

    /// Print the prompt and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Show the diff and ask before the change is kept.
    #[arg(long)]
    review: bool,

    /// Commit exactly the cycle's files when it succeeded.
    #[arg(long)]
    pub(super) commit: bool,

    /// Run even if nothing is new since the last cycle, or if an earlier run still waits.
    #[arg(long)]
    force: bool,

    /// Let chance take part in the selection.
    #[arg(long)]
    drift: bool,

    /// The seed of chance, to repeat a drift.
    #[arg(long, value_name = "N", requires = "drift")]
    seed: Option<u64>,

    /// Cycle after cycle, whenever there is a problem or a request, until stopped by a signal.
    #[arg(long = "loop", conflicts_with_all = ["dry_run", "review"])]
    pub(super) looping: bool,

    /// With --loop: stop after this many cycles.
    #[arg(long, value_name = "N", requires = "looping")]
    pub(super) max_cycles: Option<u64>,

    /// With --loop: stop when there is no live problem.
    #[arg(long, requires = "looping")]
    pub(super) until_clean: bool,

    /// With --loop: stop with status 1 when the day's budget for agent calls is used up.
    #[arg(long, requires = "looping")]
    pub(super) exit_on_budget: bool,

    /// Ask no hub for a proven solution or for advice, and report the result to none.
    #[arg(long, visible_alias = "no-hub")]
    pub(super) offline: bool,

    /// Let the agent try again this often after its change failed validation, in the same cycle.
    #[arg(long, value_name = "N")]
    pub(super) retry: Option<u32>,

    /// Seconds until the agent is stopped.
    #[arg(long, value_name = "SECONDS")]
    pub(super) agent_timeout: Option<u64>,

    /// Run this agent: its command and arguments, the prompt on its stdin. Must come last.
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true, trailing_var_arg = true)]
    agent: Vec<String>,
}

/// What the arguments ask the engine for.
pub(super) fn request(arguments: &EvolveArgs, workspace: &Workspace) -> Result<EvolveRequest> {
    Ok(EvolveRequest {
        sources: arguments.inputs.sources()?,
        strategy: arguments.strategy.clone(),
        dry_run: arguments.dry_run,
        review: arguments.review,
        force: arguments.force,
        drift: arguments.drift.then(|| arguments.seed.unwrap_or_else(|| fastrand::u64(..))),
        seen: None,
        hub: hub_search::node(workspace, arguments.offline || workspace.config.hub.reuse == ReuseConfig::Off),
        memory: hub_search::memory(workspace, arguments.offline),
        agent: !agent_command(arguments, workspace).is_empty(),
    })
}

/// Runs one cycle.
pub(super) fn run(arguments: &EvolveArgs, workspace: &Workspace, request: &EvolveRequest) -> Result<u8> {
    let argv = if arguments.dry_run { Vec::new() } else { agent_command(arguments, workspace) };
    require_agent(&argv, workspace)?;
    match evolve::prepare(workspace, request)? {
        Prepared::Skipped(reason) => {
            print_skipped(&reason, output::is_json());
            Ok(0)
        }
        Prepared::Refused(problem) => Err(problem),
        Prepared::Ready(mut ready) => {
            if argv.is_empty() {
                print_prompt(&ready, arguments);
                return Ok(0);
            }
            with_agent(arguments, workspace, &mut ready, argv)
        }
    }
}

pub(super) fn agent_command(arguments: &EvolveArgs, workspace: &Workspace) -> Vec<String> {
    if arguments.agent.is_empty() { workspace.config.cycle.agent.clone() } else { arguments.agent.clone() }
}

/// An agent that is not there is refused before a run begins, so that nothing is recorded about it.
pub(super) fn require_agent(argv: &[String], workspace: &Workspace) -> Result<()> {
    argv.first()
        .map_or(Ok(()), |name| capsid_sandbox::find_agent(name, &workspace.repository.root).map(|_| ()))
}

fn print_skipped(reason: &str, as_json: bool) {
    if as_json {
        output::document(&json!({"ok": true, "skipped": true, "reason": reason}));
    } else {
        output::talk(format_args!("{} {}", paint(WARN, "skipped:"), inert_line(reason)));
    }
}

fn print_prompt(ready: &Ready, arguments: &EvolveArgs) {
    if output::is_json() {
        output::document(&ready.to_json(arguments.dry_run));
        return;
    }
    talk_of(ready);
    output::print(&ready.prompt);
    if arguments.dry_run {
        output::talk(paint(DIM, "dry run: nothing was written."));
    } else {
        output::talk(format_args!(
            "\nRecorded as {}. Make the change, then run {} (or {} to reject it).",
            paint(NAME, &ready.run.run_id),
            paint(HEAD, "capsid solidify"),
            paint(HEAD, "capsid review --reject")
        ));
    }
}

/// What was seen and chosen, on a few lines.
pub(crate) fn talk_of(ready: &Ready) {
    let run = &ready.run;
    let signals: Vec<String> = run.signals.iter().map(|s| cut(&inert_line(s), 60).to_owned()).collect();
    output::talk(format_args!(
        "{} #{:04}  {}",
        paint(HEAD, "cycle"),
        run.cycle,
        paint(DIM, inert_line(&run.run_id))
    ));
    cycle_problem::print_problem(ready);
    output::talk(format_args!("  signals   {}", signals.join(", ")));
    if let Some(search) = &ready.search {
        hub_search::print_search_result(search);
    }
    if let Some(consulted) = &ready.consulted {
        hub_search::print_advice(consulted);
    }
    let selected = ready.selection.selected.as_deref().unwrap_or("none; a gene will be made");
    output::talk(format_args!("  selected  {}", paint(NAME, inert_line(selected))));
    for reason in ready.selection.reason.iter().filter(|reason| !reason.starts_with("signals:")) {
        output::talk(format_args!("            {}", paint(DIM, cut(&inert_line(reason), 100))));
    }
    for skipped in &ready.selection.skipped_capsules {
        output::talk(format_args!(
            "            {}",
            paint(
                DIM,
                format_args!("skipped {}: {}", inert_line(&skipped.id), inert_line(&skipped.reason()))
            )
        ));
    }
}

fn with_agent(
    arguments: &EvolveArgs,
    workspace: &Workspace,
    ready: &mut Ready,
    argv: Vec<String>,
) -> Result<u8> {
    let quiet = output::is_json();
    if !quiet {
        talk_of(ready);
        output::talk(format_args!("  agent     {}", inert_line(&argv.join(" "))));
        print_level(workspace, ready);
    }
    let options = SolveOptions {
        agent: AgentOptions {
            argv,
            timeout: arguments.agent_timeout.map(Duration::from_secs),
            stop: stop_flag()?,
        },
        commit: arguments.commit,
        retries: arguments.retry.unwrap_or(workspace.config.cycle.retries),
    };
    let start = workspace.now();
    let run_id = ready.run.run_id.clone();
    let mut review = |ended: &AgentOutcome| review::reviewed(workspace, ended.failure.is_some());
    let mut progress = None;
    let mut on_note = |note: &SolveNote<'_>| {
        // The line goes before anything else is printed.
        drop(progress.take());
        cycle_problem::print_note(note, quiet);
        progress = match note {
            SolveNote::Agent { .. } if !quiet => ElapsedLine::on_terminal("agent"),
            SolveNote::Validating if !quiet => ElapsedLine::start("validating"),
            _ => None,
        };
    };
    let mut hooks = SolveHooks { permit: &mut Unlimited, on_note: &mut on_note, review: None };
    if arguments.review {
        hooks.review = Some(&mut review);
    }
    let outcome = solve::solve(workspace, ready, &options, &mut hooks);
    drop(progress);
    let outcome = outcome?;
    if let Err(problem) = seal_since(start) {
        output::caution("not sealed", &problem);
    }
    let settled = match outcome {
        SolveOutcome::Finished(settled) => settled,
        SolveOutcome::Declined => return Ok(1),
        SolveOutcome::Stopped => {
            return Err(Problem::new(
                Code::Interrupted,
                format!("The agent was stopped; the change of `{run_id}` waits and is not applied."),
            )
            .fix("Look at it with `capsid review`, finish it with `capsid solidify`, or drop it with `capsid review --reject`."));
        }
    };
    let status = conclude(&settled, output::is_json());
    hub_search::deliver(workspace, arguments.offline);
    Ok(status)
}

/// Where the agent works. A level below the best says why.
fn print_level(workspace: &Workspace, ready: &Ready) {
    match (ready.run.level, level::choose(workspace)) {
        (ViewLevel::Overlay, _) => {
            output::talk(format_args!(
                "  view      {}",
                paint(DIM, "overlay: your tree is not touched until the change is proven")
            ));
        }
        (_, Ok(chosen)) => {
            output::talk(format_args!(
                "  view      {} {}",
                paint(WARN, "copy:"),
                inert_line(&chosen.reason.unwrap_or_default())
            ));
            print_isolation();
        }
        (_, Err(_)) => {}
    }
}

/// How the agent is confined, where it is not as well as it could be.
fn print_isolation() {
    let (isolation, meaning) = match best_isolation() {
        Ok(Isolation::Namespaces) => return,
        Ok(Isolation::Landlock) => {
            (Isolation::Landlock, "no namespaces here; the agent works with a home of its own")
        }
        Ok(Isolation::None) | Err(_) => (Isolation::None, "no sandbox works here"),
    };
    let name = paint(WARN, format_args!("{}:", isolation.as_str()));
    output::talk(format_args!("  isolation {name} {meaning}"));
}

pub(super) fn show_agent(bytes: &[u8]) {
    use std::io::Write;
    // The agent's talk is talk; nobody listening is no error.
    let _ = anstream::stderr().lock().write_all(bytes);
}

/// Set by SIGINT and SIGTERM: what is being written is finished, then the program stops.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        // The second signal ends the program at once, whatever it is waiting for.
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| {
                capsid_model::Problem::new(
                    capsid_model::Code::Internal,
                    format!("Signals cannot be handled: {error}."),
                )
            })?;
    }
    Ok(flag)
}
