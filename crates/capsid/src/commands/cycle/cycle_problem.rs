//! What a cycle prints about its problem, the command that shows it, and stored solutions.

use super::evolve::show_agent;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::cycle::evolve::Ready;
use capsid_engine::cycle::solve::SolveNote;
use capsid_engine::run::offer::CapsuleOffer;
use capsid_engine::run::reproduction::Reproduction;
use capsid_engine::solidify::CycleOutcome;
use capsid_model::text::{cut, inert_line};
use capsid_rules::diagnosis::ProblemRecord;
use capsid_rules::learning::match_level::MatchLevel;
use capsid_rules::learning::proof::ProofGrade;

/// The problem, what shows it, and what is known about it.
pub(super) fn print_problem(ready: &Ready) {
    let run = &ready.run;
    if let Some(problem) = &run.problem {
        output::talk(format_args!("  problem   {}", paint(BAD, describe_problem(problem))));
    }
    if let Some(known) = &run.reproduction {
        output::talk(format_args!("  check     {}", describe_check(known)));
    }
    for offer in &run.offers {
        output::talk(format_args!("  known     {}", describe_offer(offer)));
    }
    for note in &ready.notes {
        output::talk(format_args!("  {}      {}", paint(WARN, "note"), inert_line(note)));
    }
}

/// `rustc E0308 in config.rs: mismatched types`.
pub(crate) fn describe_problem(problem: &ProblemRecord) -> String {
    let code = problem.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
    let place = problem.test.as_deref().or(problem.place.as_deref());
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let text = format!("{}{code}{place}: {}", problem.tool, problem.text);
    cut(&inert_line(&text), 160).to_owned()
}

fn describe_check(known: &Reproduction) -> String {
    let command = inert_line(&known.command);
    if !known.is_reproduced {
        return format!("`{command}` {}", paint(DIM, "passes; it does not show the problem"));
    }
    let failed = known.runs.iter().find(|run| !run.ok);
    let ended = match failed.and_then(|run| run.exit_code) {
        Some(code) => format!("exit {code}"),
        None => "ended".to_owned(),
    };
    let seconds = failed.map_or(0.0, |run| run.duration_ms as f64 / 1000.0);
    let flaky = known.flaky.map(|flaky| format!("; fails {} of {} times", flaky.failures, flaky.runs));
    format!(
        "`{command}` fails {}",
        paint(DIM, format_args!("({ended}, {seconds:.1} s{})", flaky.unwrap_or_default()))
    )
}

fn describe_offer(offer: &CapsuleOffer) -> String {
    let proven = match (offer.is_foreign, offer.streak) {
        (true, _) => "from the hub".to_owned(),
        (false, 0) => "not proven here".to_owned(),
        (false, 1) => "proven here once".to_owned(),
        (false, streak) => format!("proven here {streak} times"),
    };
    let reason =
        if offer.reason.is_empty() { String::new() } else { format!("; {}", inert_line(&offer.reason)) };
    format!(
        "{}  {}  {}",
        paint(NAME, inert_line(&offer.capsule_id)),
        inert_line(&offer.title),
        paint(DIM, format_args!("{}, {proven}{reason}", describe_level(offer.level)))
    )
}

fn describe_level(level: MatchLevel) -> &'static str {
    match level {
        MatchLevel::Exact => "same problem",
        MatchLevel::Message => "same message elsewhere",
        MatchLevel::Site => "same place, another message",
        MatchLevel::Template => "same kind of problem",
    }
}

/// What happens while a problem is solved.
pub(crate) fn print_note(note: &SolveNote<'_>, quiet: bool) {
    match note {
        SolveNote::Output(bytes) => show_agent(bytes),
        SolveNote::Problem(problem) => output::caution("agent", problem),
        _ if quiet => {}
        SolveNote::Trying(offer) => {
            output::talk(format_args!("  trying    {}", paint(NAME, inert_line(&offer.capsule_id))));
        }
        SolveNote::NotSolved(offer) => {
            output::talk(format_args!("            {}", paint(DIM, inert_line(&offer.reason))));
        }
        SolveNote::Agent { attempt: 1 } | SolveNote::AgentEnded | SolveNote::Validating => {}
        SolveNote::Agent { attempt } => {
            output::talk(format_args!("  agent     attempt {attempt}"));
        }
        SolveNote::Retry(failed) => output::talk(format_args!(
            "  {}    {}",
            paint(WARN, "failed"),
            cut(&inert_line(&failed.reason), 200)
        )),
    }
}

/// What proves a finished change.
pub(super) fn print_proof(settled: &CycleOutcome) {
    if let Some(text) = settled.text.as_ref().filter(|text| settled.ok && !text.title.is_empty()) {
        output::line(format_args!("  title       {}", inert_line(&text.title)));
    }
    if let Some(reused) = &settled.reused {
        let times = match reused.streak {
            1 => "once".to_owned(),
            streak => format!("{streak} times"),
        };
        output::line(format_args!(
            "  solved by   {} (proven {times} before){}",
            paint(NAME, inert_line(&reused.capsule_id)),
            if settled.is_solved_without_agent() { "; no agent was needed" } else { "" }
        ));
    }
    let Some(proof) = settled.verdict.proof.as_ref().filter(|_| settled.ok) else { return };
    let grade = match proof.grade {
        ProofGrade::None => paint(WARN, "not proven"),
        ProofGrade::Passes => paint(WARN, "passes"),
        ProofGrade::FailToPass | ProofGrade::FailToPassReverts => paint(GOOD, "proven here"),
    };
    output::line(format_args!("  proof       {grade}: {}", inert_line(&proof.success_reason())));
    if let Some(missing) = settled.verdict.proof_gap.as_ref().filter(|_| !proof.grade.is_proven()) {
        output::line(format_args!("              {}", paint(DIM, inert_line(missing))));
    }
}
