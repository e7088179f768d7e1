//! The part of `capsid explain` about the problem: what the log shows, what history means for it, and what proves it.

use super::problem_text::{print_lines, print_problem, render_place};
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, paint};
use capsid_engine::cycle::record::{FiredRule, RunEvidence};
use capsid_engine::run::offer::CapsuleOffer;
use capsid_engine::run::reproduction::Reproduction;
use capsid_model::text::inert_line;
use capsid_model::{Object, Value};
use capsid_rules::diagnosis::describe_not_chosen;
use capsid_rules::learning::proof::{ProofEvidence, ProofRecord, ProofRun, missing_for_next_grade};
use capsid_rules::learning::repro_command::CommandSource;
use capsid_rules::learning::reuse_outcome::PatchTrial;

/// Prints the problem with its lines, and the others with the reason why each was not chosen.
pub(super) fn print_evidence(evidence: &RunEvidence) {
    let Some(problem) = &evidence.problem else { return };
    print_problem(problem, evidence.problem_source.as_deref());
    print_lines(problem, &evidence.windows);
    for other in &evidence.also {
        let code = other.code.as_deref().map(|code| format!(" {}", inert_line(code))).unwrap_or_default();
        let place = render_place(other).map(|place| format!(" ({})", inert_line(&place))).unwrap_or_default();
        output::line(format_args!(
            "{}     {}{code}: {}{place}",
            paint(HEAD, "also"),
            inert_line(&other.tool),
            inert_line(&other.text)
        ));
        let reason = describe_not_chosen(problem, other);
        output::line(paint(DIM, format_args!("         not chosen: {reason}")));
    }
}

/// Prints each history rule that fired and what it would have dropped.
pub(super) fn print_history(history: &[FiredRule]) {
    for fired in history {
        let rule = inert_line(&fired.rule);
        output::line(format_args!("{}  {rule}: {}", paint(HEAD, "history"), inert_line(&fired.reason)));
        for signal in &fired.added {
            output::line(format_args!("  {} {}", paint(DIM, "added"), inert_line(signal)));
        }
        for (signal, fate) in &fired.would_drop {
            output::line(format_args!("  {}  {}", inert_line(signal), paint(DIM, inert_line(fate))));
        }
    }
}

/// Prints the command that decides, and where it comes from.
pub(super) fn print_reproduction(reproduction: &Reproduction) {
    print_command(&reproduction.command, Some(reproduction.source));
    for run in &reproduction.runs {
        print_run(run);
    }
    if !reproduction.is_reproduced {
        output::line(paint(DIM, "  it does not fail with this problem, so it proves nothing about it"));
    }
}

/// Prints every run of a proof, its grade and what the next grade needs.
pub(super) fn print_proof(proof: &ProofRecord, event: &Object, evidence: &RunEvidence) {
    if let Some(command) = &proof.command {
        print_command(command, proof.command_source);
    }
    for run in &proof.runs {
        print_run(run);
    }
    let grade = proof.grade.as_str();
    let grade = if proof.grade.is_proven() { paint(GOOD, grade) } else { paint(BAD, grade) };
    output::line(format_args!("{}   {grade}", paint(HEAD, "grade")));
    if let Some(missing) = describe_missing(proof, event, evidence) {
        output::line(paint(DIM, format_args!("         for the next grade: {missing}")));
    }
}

fn print_command(command: &str, source: Option<CommandSource>) {
    let source = source.map(describe_source).unwrap_or_default();
    output::line(format_args!("{}  {}  {}", paint(HEAD, "command"), inert_line(command), paint(DIM, source)));
}

fn describe_source(source: CommandSource) -> &'static str {
    match source {
        CommandSource::Repro => "named with --repro",
        CommandSource::Log => "read from the log",
        CommandSource::Narrowed => "narrowed to the failing test or file",
        CommandSource::Gene => "from the gene",
        CommandSource::Owner => "from capsid.toml",
    }
}

fn print_run(run: &ProofRun) {
    let result = if run.ok { paint(GOOD, "passed") } else { paint(BAD, "failed") };
    let exit = run.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
    let tests = run.tests.map(|tests| {
        format!(", {} tests ran, {} failed, {} skipped", tests.ran, tests.failed, tests.skipped)
    });
    let problem = run.problem.as_deref().map(|id| format!(", problem {}", inert_line(id)));
    output::line(format_args!(
        "  {:<14} {result}  {}",
        run.run.as_str(),
        paint(
            DIM,
            format_args!(
                "{exit}, {} ms{}{}",
                run.duration_ms,
                tests.unwrap_or_default(),
                problem.unwrap_or_default()
            )
        )
    ));
}

/// What the next grade needs, from what the event records.
pub(super) fn describe_missing(
    proof: &ProofRecord,
    event: &Object,
    evidence: &RunEvidence,
) -> Option<String> {
    let meta = |name: &str| event.get("meta").and_then(|meta| meta.get(name));
    let violations = meta("constraint_violations").and_then(Value::as_array).into_iter().flatten();
    let message_id = evidence.problem.as_ref().map(|problem| problem.ids().message);
    missing_for_next_grade(&ProofEvidence {
        problem: message_id.as_deref(),
        runs: &proof.runs,
        has_check_changes: !proof.check_files.is_empty(),
        is_vacuous: proof.command.is_some()
            && meta("validation_vacuous").and_then(Value::as_bool) == Some(true),
        is_weakened: violations.filter_map(Value::as_str).any(|name| name.contains("tests_weakened")),
        has_new_failing_test: false,
    })
    .filter(|_| proof.grade != capsid_rules::learning::proof::ProofGrade::FailToPassReverts)
}

/// Prints the stored solutions that matched, with level and reason.
pub(super) fn print_offers(offers: &[CapsuleOffer]) {
    for offer in offers {
        let title = inert_line(&offer.title);
        output::line(format_args!(
            "{}    {}  {}",
            paint(HEAD, "offer"),
            paint(NAME, inert_line(&offer.capsule_id)),
            paint(
                DIM,
                format_args!(
                    "same {}, {}, streak {}",
                    offer.level.as_str(),
                    offer.grade.as_str(),
                    offer.streak
                )
            )
        ));
        if !title.is_empty() {
            output::line(format_args!("         {title}"));
        }
        let trial = match offer.trial {
            PatchTrial::NotTried => "not tried",
            PatchTrial::Rejected => "the patch did not apply",
            PatchTrial::Failed => "the patch applied and did not solve the problem",
            PatchTrial::Applied => "applied",
        };
        let reason = match offer.reason.is_empty() {
            true => String::new(),
            false => format!(": {}", inert_line(&offer.reason)),
        };
        output::line(paint(DIM, format_args!("         {trial}{reason}")));
    }
}
