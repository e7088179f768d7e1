//! Whether a validation proves anything: could its commands tell a good change from a bad one?
//!
//! A command is vacuous when it only prints, asks for a version or for help, lists, installs, evaluates a constant, looks at
//! nothing but syntax (`node --check`: a file that parses may still do anything), or throws its own result away. Whatever is
//! not known to be vacuous is taken for real: calling an honest command worthless is the worse mistake.
//!
//! A command is weak when it passes where there is nothing to run, as `npm test --if-present` does in an empty folder. It
//! counts as vacuous until somebody shows that it fails without the change.

mod inline;
mod launchers;
mod programs;
mod runners;
mod shell;

use capsid_model::text_enum;
use serde::Serialize;
use shell::{ShellStep, StepJoin};

/// What the validation of an asset proves: nothing where it is absent or vacuous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Proof))]
#[serde(rename_all = "snake_case")]
pub enum ProofLevel {
    #[default]
    Absent,
    /// No command could tell a good change from a bad one.
    Vacuous,
    /// It passes where there is nothing to run.
    Weak,
    /// At least one command could.
    Real,
}

text_enum!(ProofLevel {
    Absent = "absent",
    Vacuous = "vacuous",
    Weak = "weak",
    Real = "real",
});

/// What one command is worth, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandProof {
    pub command: String,
    /// [`Proof::Absent`] when it is blank.
    pub verdict: ProofLevel,
    pub why: &'static str,
}

/// What a list of commands is worth, and what each is.
pub fn proof<S: AsRef<str>>(commands: &[S]) -> (ProofLevel, Vec<CommandProof>) {
    let findings: Vec<CommandProof> = commands.iter().map(|command| finding(command.as_ref())).collect();
    (findings.iter().map(|finding| finding.verdict).max().unwrap_or_default(), findings)
}

/// What one command is worth.
pub fn finding(command: &str) -> CommandProof {
    let steps = shell::split(command);
    let (verdict, why) = if steps.is_empty() {
        (ProofLevel::Absent, "It is blank.")
    } else {
        match evaluate(&steps, 0) {
            Ok(()) => (ProofLevel::Real, "It can fail when the change is wrong."),
            Err(weakness) => (weakness.level, weakness.why),
        }
    };
    CommandProof { command: command.to_owned(), verdict, why }
}

/// Why something proves nothing, or little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Weakness {
    level: ProofLevel,
    why: &'static str,
}

const fn vacuous(why: &'static str) -> Weakness {
    Weakness { level: ProofLevel::Vacuous, why }
}

const fn weak(why: &'static str) -> Weakness {
    Weakness { level: ProofLevel::Weak, why }
}

/// Nothing, or why something proves nothing, or little.
type ProofResult = Result<(), Weakness>;

const THROWN_AWAY: Weakness = vacuous("It throws its own result away, so it always passes.");
const CONSTANT: Weakness = vacuous("It only evaluates a constant.");
const PRINTS: Weakness = vacuous("It only prints.");
/// A command within a command within a command is taken as real.
const MAX_DEPTH: usize = 3;

/// What the strongest of several commands proves; the first of equal ones is named.
fn strongest(judged: impl IntoIterator<Item = ProofResult>) -> Option<ProofResult> {
    let level = |judged: &ProofResult| judged.map_or_else(|weakness| weakness.level, |()| ProofLevel::Real);
    judged.into_iter().reduce(|best, next| if level(&next) > level(&best) { next } else { best })
}

/// What a whole command line proves.
fn evaluate(steps: &[ShellStep], depth: usize) -> ProofResult {
    if steps.iter().any(ShellStep::is_control_flow) {
        return Ok(());
    }
    let stops_at_errors = steps.iter().any(ShellStep::stops_at_errors);
    let lines = steps.chunk_by(|_, next| next.join != StepJoin::Then).map(|line| evaluate_line(line, depth));
    if stops_at_errors {
        return strongest(lines).unwrap_or(Err(PRINTS));
    }
    // What a shell answers is what its last line answers.
    let lines: Vec<ProofResult> = lines.collect();
    match lines.split_last() {
        Some((Err(_), before)) if steps.last().is_some_and(ShellStep::passes_status) => {
            strongest(before.iter().copied()).unwrap_or(Err(PRINTS))
        }
        Some((Err(last), before))
            if last.level == ProofLevel::Vacuous && before.iter().any(Result::is_ok) =>
        {
            Err(THROWN_AWAY)
        }
        Some((last, _)) => *last,
        None => Ok(()),
    }
}

/// What pipelines joined by `&&` and `||` prove.
fn evaluate_line(line: &[ShellStep], depth: usize) -> ProofResult {
    let pipelines: Vec<&[ShellStep]> = line.chunk_by(|_, next| next.join == StepJoin::Pipe).collect();
    let joined_by = |pipeline: &[ShellStep]| pipeline.first().map(|step| step.join);
    let always_passes = |pipeline: &&[ShellStep]| {
        joined_by(pipeline) == Some(StepJoin::Or) && pipeline.first().is_some_and(ShellStep::always_passes)
    };
    let swallowed = pipelines.iter().rposition(always_passes);
    let kept = pipelines.iter().skip(swallowed.unwrap_or(0));
    let judged = strongest(kept.map(|pipeline| evaluate_pipeline(pipeline, depth))).unwrap_or(Ok(()));
    match judged {
        Err(weakness) if swallowed.is_some() && weakness.level == ProofLevel::Vacuous => Err(THROWN_AWAY),
        judged => judged,
    }
}

/// What commands joined by `|` prove. A filter of constant text only ever says the same.
fn evaluate_pipeline(pipeline: &[ShellStep], depth: usize) -> ProofResult {
    let Some((first, filters)) = pipeline.split_first() else { return Ok(()) };
    let judged = programs::evaluate_program(&first.words, depth);
    let real_filter = || filters.iter().any(|step| programs::evaluate_program(&step.words, depth).is_ok());
    match judged {
        Err(_) if programs::shows_data(&first.words) && real_filter() => Ok(()),
        Err(_) if !filters.is_empty() && first.always_passes() => Err(CONSTANT),
        judged => judged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_is_worth_its_best_command() {
        assert_eq!(proof::<&str>(&[]).0, ProofLevel::Absent);
        assert_eq!(proof(&["", "  "]).0, ProofLevel::Absent);
        assert_eq!(proof(&["node --version", ""]).0, ProofLevel::Vacuous);
        let (proof, findings) = proof(&["node --version", "node tests/retry.test.js"]);
        assert_eq!(proof, ProofLevel::Real);
        assert_eq!(
            findings.iter().map(|f| f.verdict).collect::<Vec<_>>(),
            [ProofLevel::Vacuous, ProofLevel::Real]
        );
    }

    #[test]
    fn commands_within_commands_come_to_an_end() {
        let mut command = "npx ".repeat(20_000);
        command.push_str("echo ok");
        assert_eq!(finding(&command).verdict, ProofLevel::Real);
        let nested = (0..6).fold("echo ok".to_owned(), |inner, _| format!("sh -c {inner:?}"));
        assert_eq!(finding(&nested).verdict, ProofLevel::Real);
    }

    #[test]
    fn words_are_read_back() {
        assert!(ProofLevel::ALL.is_sorted());
        for proof in ProofLevel::ALL {
            assert_eq!(ProofLevel::parse(proof.as_str()), Some(proof));
        }
    }

    proptest! {
        #[test]
        fn any_text_gets_a_verdict(command in "[a-z0-9 '\"`;&|<>()$#=./\\\\-]{0,80}") {
            let finding = finding(&command);
            prop_assert!(!finding.why.is_empty());
        }

        #[test]
        fn any_inline_code_gets_a_verdict(code in any::<String>()) {
            let _ = finding(&format!("node -e \"{code}\""));
            let _ = finding(&format!("python3 -c '{code}'"));
        }
    }
}
