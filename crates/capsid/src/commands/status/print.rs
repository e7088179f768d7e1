//! The status for a person: at most 16 lines.

use super::facts::{AgentFacts, RepositoryFacts, StatusFacts};
use super::next::NextStep;
use crate::commands::node::away;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::view::status::{FailedCycle, LearnedSolution, LoopActivity, PendingRun, StatusReport};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Clock, Result, SystemClock, Time};

/// The longest text of a problem on a line.
const MAX_SHOWN: usize = 60;
/// What is not longer ago happened just now.
const MOMENT_MS: i64 = 90_000;
/// How many solutions and failed attempts are shown together.
const MAX_LEARNED: usize = 2;

/// Prints it. `health` is what a hub that was named answered.
pub(super) fn print_status(
    facts: &StatusFacts,
    report: Option<&StatusReport>,
    steps: &[NextStep],
    health: Option<(&str, &Result<String>)>,
) {
    let rows = [agents_row(&facts.agents), repository_row(facts.repository.as_ref()), hub_row(facts, health)];
    output::print(&output::table(&rows));
    if let Some(report) = report.filter(|report| report.has_store) {
        print_pending(&report.pending);
        print_learned(&report.learned, &report.failed);
        print_loop(&report.activity);
    }
    output::line(paint(HEAD, "Next"));
    output::print(&output::table(&step_rows(steps)));
}

/// The suggested commands, one in each row.
pub(super) fn step_rows(steps: &[NextStep]) -> Vec<Vec<String>> {
    let row = |step: &NextStep| vec![format!("  {}", paint(NAME, &step.command)), step.reason.clone()];
    steps.iter().map(row).collect()
}

fn row(name: &str, what: String, more: impl Into<String>) -> Vec<String> {
    vec![paint(HEAD, format_args!("{name:<10}")), what, more.into()]
}

fn agents_row(agents: &[AgentFacts]) -> Vec<String> {
    if agents.is_empty() {
        return row("agents", "none found on this machine".to_owned(), "");
    }
    let describe = |(at, agent): (usize, &AgentFacts)| match (at, agent.sessions) {
        (_, 0) => format!("{} no session", agent.name),
        (0, 1) => format!("{} 1 session", agent.name),
        (0, count) => format!("{} {count} sessions", agent.name),
        (_, count) => format!("{} {count}", agent.name),
    };
    let described: Vec<String> = agents.iter().enumerate().map(describe).collect();
    let sessions: usize = agents.iter().map(|agent| agent.sessions).sum();
    let unsealed: usize = agents.iter().map(|agent| agent.unsealed).sum();
    let sealed = match (sessions, unsealed) {
        (0, _) => String::new(),
        (_, 0) => paint(GOOD, "all sealed"),
        (sessions, unsealed) if sessions == unsealed => paint(WARN, "none sealed yet"),
        (_, unsealed) => paint(WARN, format_args!("{unsealed} not sealed yet")),
    };
    row("agents", described.join(", "), sealed)
}

fn repository_row(repository: Option<&RepositoryFacts>) -> Vec<String> {
    let Some(repository) = repository else {
        return row("repository", "none here".to_owned(), "");
    };
    let name = inert_line(cut(&repository.name, MAX_SHOWN));
    if !repository.has_store {
        return row("repository", format!("{name}: no store yet"), "`capsid init` sets it up");
    }
    let what =
        format!("{name}: {}, {}", count(repository.genes, "gene"), count(repository.capsules, "capsule"));
    let last = repository.last_cycle.as_ref().map_or_else(
        || "no cycle yet".to_owned(),
        |last| {
            let when = last.at.map(|at| format!(", {}", describe_moment(at, SystemClock.now())));
            format!("last cycle {}{}", last.outcome, when.unwrap_or_default())
        },
    );
    row("repository", what, last)
}

/// Seconds are of no interest.
fn describe_moment(at: Time, now: Time) -> String {
    if now.0.saturating_sub(at.0) < MOMENT_MS { "just now".to_owned() } else { away(at, now) }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn hub_row(facts: &StatusFacts, health: Option<(&str, &Result<String>)>) -> Vec<String> {
    match (health, &facts.hub_url) {
        (Some((url, Ok(version))), _) => {
            let version = inert_line(cut(version, 40));
            row("hub", inert_line(url), paint(GOOD, format_args!("healthy, version {version}")))
        }
        (Some((url, Err(_))), _) => row("hub", inert_line(url), paint(BAD, "not healthy")),
        (None, Some(url)) => row("hub", inert_line(url), ""),
        (None, None) => row("hub", "none configured; nothing leaves this machine".to_owned(), ""),
    }
}

fn show(text: &str) -> String {
    cut(&inert_line(text), MAX_SHOWN).to_owned()
}

fn print_pending(pending: &[PendingRun]) {
    output::line(paint(HEAD, "Pending"));
    let Some(run) = pending.first() else {
        output::line("  nothing");
        return;
    };
    let more = match pending.len() {
        1 => String::new(),
        count => paint(DIM, format_args!("  and {} more", count - 1)),
    };
    output::line(format_args!("  {}  {}{more}", paint(NAME, inert_line(&run.run_id)), show(&run.problem)));
    output::line(format_args!("    {}", run.advice));
}

fn print_learned(learned: &[LearnedSolution], failed: &[FailedCycle]) {
    output::line(paint(HEAD, "Learned"));
    if learned.is_empty() && failed.is_empty() {
        output::line("  nothing yet: a cycle that succeeds makes a capsule");
    }
    let failures = failed.iter().take(1);
    for solution in learned.iter().take(MAX_LEARNED - failures.len()) {
        let grade = match solution.grade {
            "not proven" => paint(DIM, solution.grade),
            grade => paint(GOOD, grade),
        };
        let id = paint(NAME, inert_line(&solution.capsule_id));
        output::line(format_args!("  {id}  {}  {grade}, streak {}", show(&solution.title), solution.streak));
    }
    for attempt in failures {
        let id = paint(NAME, inert_line(&attempt.id));
        output::line(format_args!("  {id}  {}  {}", show(&attempt.problem), paint(BAD, "failed")));
    }
}

fn print_loop(activity: &LoopActivity) {
    output::line(paint(HEAD, "Loop"));
    let state = match (activity.is_running, activity.process) {
        (true, Some(process)) => paint(GOOD, format_args!("running (process {process})")),
        (true, None) => paint(GOOD, "running"),
        (false, _) => "not running".to_owned(),
    };
    let run = activity.run_id.as_ref().filter(|_| activity.is_running);
    let run = run.map(|run| format!(", works on {}", paint(NAME, inert_line(run)))).unwrap_or_default();
    output::line(format_args!("  {state}{run}; {}", activity.remaining));
    if let Some(suspended) = activity.suspended.first() {
        let more = match activity.suspended.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        output::line(format_args!(
            "  {} {}{more}; `capsid loop resume {}`",
            paint(WARN, "suspended"),
            show(&suspended.problem),
            inert_line(&suspended.id)
        ));
    }
}
