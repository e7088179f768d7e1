//! Whether a capsule may be offered to others. Lists, files, `publish` and the loop all ask this one rule.

use super::proof::ProofGrade;
use capsid_model::event::{BlastRadius, EventOutcome};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Value};

/// The least score.
const LEAST_SCORE: f64 = 0.7;
/// The least number of successes in a row.
const LEAST_STREAK: u64 = 2;

/// The largest change that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharingLimits {
    pub files: u64,
    pub lines: u64,
}

impl Default for SharingLimits {
    fn default() -> Self {
        Self { files: 5, lines: 200 }
    }
}

impl SharingLimits {
    /// The usual limits, unless `A2A_MAX_FILES` and `A2A_MAX_LINES` set others. What is no number counts as unset.
    pub fn from_env(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name)?.trim().parse().ok();
        let usual = Self::default();
        Self {
            files: set("A2A_MAX_FILES").unwrap_or(usual.files),
            lines: set("A2A_MAX_LINES").unwrap_or(usual.lines),
        }
    }
}

/// The gene of a capsule, as far as the rule asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneFacts {
    /// It is not in the store.
    Missing,
    Present {
        has_id: bool,
        has_strategy: bool,
    },
}

/// All that the decision depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct SharingFacts<'a> {
    /// Why only somebody else may offer it, or nobody.
    pub origin: Result<(), SharingRefusal>,
    pub is_capsule: bool,
    pub outcome: Option<&'a Value>,
    /// The grade of its proof record; none if it carries none.
    pub grade: Option<ProofGrade>,
    pub blast: BlastRadius,
    pub limits: SharingLimits,
    /// Successes in a row, by the event log.
    pub streak: u64,
    /// Successes of other nodes since the last failure here, by their reports.
    pub reuses_by_others: u64,
    /// The streak that the capsule states.
    pub stated_streak: u64,
    /// Whether a command ran when it last worked, by the event log.
    pub is_validated: bool,
    /// Whether a command can validate it: the owner's, the proof's or the gene's.
    pub has_command: bool,
    pub gene: GeneFacts,
    /// Whether the event log is as it was sealed.
    pub is_log_intact: bool,
}

impl<'a> SharingFacts<'a> {
    /// What the capsule itself shows, with the usual limits. What only the store knows is taken as the capsule has it:
    /// callers that have the store replace it.
    pub fn from_capsule(capsule: &'a Object) -> Self {
        let proof = |name: &str| capsule.get("proof")?.get(name)?.as_str();
        let grade = proof("grade").and_then(ProofGrade::parse);
        let stated_streak = capsule.get("success_streak").and_then(Value::as_u64).unwrap_or_default();
        Self {
            origin: check_origin(capsule),
            is_capsule: capsule.get("type").and_then(Value::as_str) == Some("Capsule"),
            outcome: capsule.get("outcome"),
            grade,
            blast: BlastRadius::read(capsule.get("blast_radius")),
            limits: SharingLimits::default(),
            streak: stated_streak,
            reuses_by_others: 0,
            stated_streak,
            is_validated: grade.is_some_and(ProofGrade::is_proven),
            has_command: proof("command").is_some_and(|command| !command.trim().is_empty()),
            gene: GeneFacts::Present { has_id: true, has_strategy: true },
            is_log_intact: true,
        }
    }

    fn score(&self) -> Option<f64> {
        self.outcome?.get("score").and_then(Value::as_f64)
    }

    fn is_success(&self) -> bool {
        self.outcome.is_some_and(Value::is_object) && EventOutcome::read(self.outcome).is_success()
    }
}

/// Why a capsule is not offered to others.
#[derive(Debug, Clone, PartialEq)]
pub enum SharingRefusal {
    FromOthers(String),
    Reused,
    Private,
    NoCapsule,
    NoSuccess,
    NoProof,
    NotProven(ProofGrade),
    NoScore,
    LowScore(f64),
    TooManyFiles { files: u64, limit: u64 },
    TooManyLines { lines: u64, limit: u64 },
    EmptyChange(BlastRadius),
    ShortStreak(u64),
    OverstatedStreak { stated: u64, counted: u64 },
    NotValidated,
    NoCommand,
    NoGene,
    GeneWithoutId,
    GeneWithoutStrategy,
    ChangedLog,
}

/// Decides whether a capsule may be offered to others.
pub fn check_sharing(facts: &SharingFacts<'_>) -> Result<(), SharingRefusal> {
    facts.origin.clone()?;
    let refuse_if =
        |is_refused: bool, refusal: SharingRefusal| if is_refused { Err(refusal) } else { Ok(()) };
    refuse_if(!facts.is_capsule, SharingRefusal::NoCapsule)?;
    refuse_if(!facts.is_success(), SharingRefusal::NoSuccess)?;
    let grade = facts.grade.ok_or(SharingRefusal::NoProof)?;
    refuse_if(!grade.can_be_offered(), SharingRefusal::NotProven(grade))?;
    let score = facts.score().ok_or(SharingRefusal::NoScore)?;
    refuse_if(score < LEAST_SCORE, SharingRefusal::LowScore(score))?;
    check_size(facts.blast, facts.limits)?;
    refuse_if(facts.streak < LEAST_STREAK, SharingRefusal::ShortStreak(facts.streak))?;
    let (stated, counted) = (facts.stated_streak, facts.streak.saturating_add(facts.reuses_by_others));
    refuse_if(stated > counted, SharingRefusal::OverstatedStreak { stated, counted })?;
    refuse_if(!facts.is_validated, SharingRefusal::NotValidated)?;
    refuse_if(!facts.has_command, SharingRefusal::NoCommand)?;
    match facts.gene {
        GeneFacts::Missing => return Err(SharingRefusal::NoGene),
        GeneFacts::Present { has_id: false, .. } => return Err(SharingRefusal::GeneWithoutId),
        GeneFacts::Present { has_strategy: false, .. } => return Err(SharingRefusal::GeneWithoutStrategy),
        GeneFacts::Present { .. } => {}
    }
    refuse_if(!facts.is_log_intact, SharingRefusal::ChangedLog)
}

/// Refuses an asset of somebody else, which only its author may offer, and a private one. A capsule that was made here
/// after somebody else's is another solution: it names the other one as its parent.
pub fn check_origin(asset: &Object) -> Result<(), SharingRefusal> {
    let text = |name: &str| asset.get(name).and_then(Value::as_str);
    let a2a = |name: &str| asset.get("a2a")?.get(name)?.as_str();
    // What came as a whole says under which id it came, or what became of it here.
    let is_received = a2a("received_asset_id").is_some() || a2a("status").is_some();
    let is_made_here = text("source_type") == Some("reference") && !is_received;
    match a2a("source").map(str::trim).filter(|_| !is_made_here) {
        Some("") => return Err(SharingRefusal::FromOthers("unknown".to_owned())),
        Some(source) => return Err(SharingRefusal::FromOthers(source.to_owned())),
        None => {}
    }
    match (text("source_type"), text("visibility")) {
        (Some("reused"), _) => Err(SharingRefusal::Reused),
        (_, Some("private")) => Err(SharingRefusal::Private),
        _ => Ok(()),
    }
}

fn check_size(blast: BlastRadius, limits: SharingLimits) -> Result<(), SharingRefusal> {
    if blast.files > limits.files {
        return Err(SharingRefusal::TooManyFiles { files: blast.files, limit: limits.files });
    }
    if blast.lines > limits.lines {
        return Err(SharingRefusal::TooManyLines { lines: blast.lines, limit: limits.lines });
    }
    if blast.files == 0 || blast.lines == 0 {
        return Err(SharingRefusal::EmptyChange(blast));
    }
    Ok(())
}

impl std::fmt::Display for SharingRefusal {
    /// One sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FromOthers(source) => {
                write!(f, "It came from `{}`, and only its author may offer it.", inert_line(cut(source, 80)))
            }
            Self::Reused => f.write_str("It is somebody else's solution that was applied here."),
            Self::Private => f.write_str("Its owner keeps it private."),
            Self::NoCapsule => f.write_str("It is no Capsule."),
            Self::NoSuccess => f.write_str("Its outcome is no success."),
            Self::NoProof => {
                f.write_str("It carries no proof; it is proven the next time it solves the problem.")
            }
            Self::NotProven(ProofGrade::Passes) => {
                f.write_str("Its command was not seen to fail before the change, so nothing shows what it solved.")
            }
            Self::NotProven(_) => f.write_str("No command proves that it solved the problem."),
            Self::NoScore => f.write_str("Its outcome has no score."),
            Self::LowScore(score) => write!(f, "Its score is {score}; at least {LEAST_SCORE} is needed."),
            Self::TooManyFiles { files, limit } => {
                write!(f, "It changed {files} files; at most {limit} are shared.")
            }
            Self::TooManyLines { lines, limit } => {
                write!(f, "It changed {lines} lines; at most {limit} are shared.")
            }
            Self::EmptyChange(blast) => {
                write!(f, "It changed {blast}; a hub takes only changes of at least one of each.")
            }
            Self::ShortStreak(streak) => write!(
                f,
                "It worked {streak} times in a row by the event log; at least {LEAST_STREAK} are needed."
            ),
            Self::OverstatedStreak { stated, counted } => {
                write!(f, "It claims a streak of {stated}, of which the event log shows {counted}.")
            }
            Self::NotValidated => {
                f.write_str("No validation command ran when it last worked, so nothing shows that it does.")
            }
            Self::NoCommand => f.write_str(
                "No command can validate it: neither its proof nor its gene nor `[validation] commands` names one.",
            ),
            Self::NoGene => f.write_str("Its gene is not in the store."),
            Self::GeneWithoutId => f.write_str("Its gene has no id."),
            Self::GeneWithoutStrategy => f.write_str("Its gene has no strategy."),
            Self::ChangedLog => {
                f.write_str("The event log is not as it was sealed; `capsid events verify` shows where.")
            }
        }
    }
}

#[cfg(test)]
#[path = "sharing_tests.rs"]
mod tests;
