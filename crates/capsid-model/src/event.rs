//! An EvolutionEvent: the immutable record of one cycle.

use crate::gene::{text, texts};
use crate::{Object, Time, Value};

/// How much a change touched: files, and lines added plus lines deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlastRadius {
    /// Changed files; a rename counts once.
    pub files: u64,
    /// Added plus deleted lines; a binary file counts none.
    pub lines: u64,
}

/// The size classes of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlastSize {
    /// Nothing changed.
    None,
    /// Up to 3 files and fewer than 50 lines.
    Small,
    /// Up to 10 files and up to 200 lines.
    Medium,
    /// Anything above.
    Large,
}

impl BlastSize {
    /// The class as it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

impl std::fmt::Display for BlastRadius {
    /// `1 file, 2 lines`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{} file{}, {} line{}", self.files, plural(self.files), self.lines, plural(self.lines))
    }
}

impl BlastRadius {
    /// Reads `{files, lines}`; what is absent or odd counts as zero.
    pub fn read(value: Option<&Value>) -> Self {
        let number = |name: &str| {
            value.and_then(|v| v.get(name)).and_then(Value::as_f64).map_or(0, |n| n.max(0.0) as u64)
        };
        Self { files: number("files"), lines: number("lines") }
    }

    /// `{"files": f, "lines": l}`.
    pub fn to_value(self) -> Value {
        serde_json::json!({"files": self.files, "lines": self.lines})
    }

    /// Whether nothing changed.
    pub fn is_empty(self) -> bool {
        self.files == 0 && self.lines == 0
    }

    /// Its size class.
    pub fn size(self) -> BlastSize {
        match self {
            _ if self.is_empty() => BlastSize::None,
            Self { files: 0..=3, lines: 0..50 } => BlastSize::Small,
            Self { files: 0..=10, lines: 0..=200 } => BlastSize::Medium,
            _ => BlastSize::Large,
        }
    }
}

/// How something ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventOutcome {
    /// `success` or `failed`; empty when the record does not say.
    pub status: String,
    /// From 0 to 1.
    pub score: f64,
}

impl EventOutcome {
    /// A success with the usual score.
    pub fn success() -> Self {
        Self { status: "success".to_owned(), score: 0.85 }
    }

    /// A failure with the usual score.
    pub fn failed() -> Self {
        Self { status: "failed".to_owned(), score: 0.2 }
    }

    /// Reads `{status, score}` or a bare status; `failure` is another word for `failed`.
    pub fn read(value: Option<&Value>) -> Self {
        let status = match value {
            Some(Value::String(status)) => status.clone(),
            Some(other) => text(other.get("status")),
            None => String::new(),
        };
        let status = if status == "failure" { "failed".to_owned() } else { status };
        let score = value.and_then(|v| v.get("score")).and_then(Value::as_f64);
        let usual = if status == "success" { 0.85 } else { 0.2 };
        Self { status, score: score.unwrap_or(usual).clamp(0.0, 1.0) }
    }

    /// `{"status": s, "score": n}`.
    pub fn to_value(&self) -> Value {
        serde_json::json!({"status": self.status, "score": self.score})
    }

    /// Whether it ended well.
    pub fn is_success(&self) -> bool {
        self.status == "success"
    }

    /// Whether it ended badly.
    pub fn is_failure(&self) -> bool {
        self.status == "failed"
    }
}

/// What the engine needs of an EvolutionEvent. The line itself stays in the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvolutionEvent {
    /// Its name, such as `evt_1770477654236`.
    pub id: String,
    /// The event before it in the tree.
    pub parent: Option<String>,
    /// The other heads that it joins, when the logs of several clones were merged before it.
    pub merge_parents: Vec<String>,
    /// `repair`, `optimize`, `innovate` or `explore`.
    pub intent: String,
    /// What was seen.
    pub signals: Vec<String>,
    /// The genes applied.
    pub genes_used: Vec<String>,
    /// The mutation that gated it.
    pub mutation_id: Option<String>,
    /// How much changed.
    pub blast_radius: BlastRadius,
    /// How it ended.
    pub outcome: EventOutcome,
    /// The capsule it made or reused.
    pub capsule_id: Option<String>,
    /// The capsule it applied again, whether that went well or not.
    pub reused_capsule_id: Option<String>,
    /// The report of its validation.
    pub validation_report_id: Option<String>,
    /// Where it ran.
    pub platform: String,
    /// What kind of failure it was, if it was one and says so.
    pub failure_class: Option<String>,
    /// When it was recorded.
    pub at: Option<Time>,
    /// Whether it changed nothing.
    pub is_empty: bool,
    /// How strongly its change is proven, as the record says it; none in records that say nothing of it.
    pub proof_grade: Option<String>,
    /// Stored solutions whose own change failed on the problem that they are for.
    pub failed_capsules: Vec<String>,
    /// The message id of the problem it was to solve; an older event has none.
    pub problem_id: Option<String>,
    /// Whether an agent or a patch ran. A cycle of which only the prompt was printed says nothing.
    pub has_run: bool,
}

impl EvolutionEvent {
    /// Reads a line's document; nothing when it is another kind of record.
    pub fn read(document: &Object) -> Option<Self> {
        if document.get("type").and_then(Value::as_str) != Some("EvolutionEvent") {
            return None;
        }
        let meta = document.get("meta");
        let of_meta = |name: &str| meta.and_then(|m| m.get(name));
        let optional = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let blast_radius = BlastRadius::read(document.get("blast_radius"));
        let id = text(document.get("id"));
        let at = of_meta("at").and_then(Value::as_str).and_then(Time::parse);
        let is_empty = of_meta("empty_cycle").and_then(Value::as_bool).unwrap_or(blast_radius.is_empty());
        Some(Self {
            parent: optional(document.get("parent").or_else(|| document.get("parent_id"))),
            merge_parents: texts(of_meta("merge_parents")),
            intent: text(document.get("intent")),
            signals: texts(document.get("signals")),
            genes_used: texts(document.get("genes_used")),
            mutation_id: optional(document.get("mutation_id")),
            outcome: EventOutcome::read(document.get("outcome")),
            capsule_id: optional(document.get("capsule_id")),
            reused_capsule_id: optional(of_meta("reused_capsule_id")),
            validation_report_id: optional(document.get("validation_report_id")),
            platform: text(document.get("env_fingerprint").and_then(|print| print.get("platform"))),
            failure_class: optional(of_meta("failure_class")),
            at: at.or_else(|| crate::id::stamp_of(&id).map(Time)),
            proof_grade: optional(of_meta("proof").and_then(|proof| proof.get("grade"))),
            failed_capsules: failed_offers(of_meta("offers")),
            is_empty,
            problem_id: optional(of_meta("problem").and_then(|problem| problem.pointer("/ids/message"))),
            has_run: of_meta("has_run").and_then(Value::as_bool).unwrap_or(!is_empty || is_agent_view(meta)),
            blast_radius,
            id,
        })
    }

    /// Whether a success counts for the streak of its capsule: it is proven, or it is of a time before proofs.
    pub fn counts_for_streak(&self) -> bool {
        self.outcome.is_success()
            && self.proof_grade.as_deref().is_none_or(|grade| grade.starts_with("fail_to_pass"))
    }

    /// What it means for the streak of a capsule: one more, the end of it, or nothing.
    pub fn streak_step(&self, capsule_id: &str) -> Option<bool> {
        if self.failed_capsules.iter().any(|id| id == capsule_id) {
            return Some(false);
        }
        match self.concerns_capsule(capsule_id) {
            true if self.outcome.is_success() => self.counts_for_streak().then_some(true),
            true => Some(false),
            false => None,
        }
    }

    /// Whether the failure, if it was one, was the change's own: not the host's, the network's or the sandbox's, and
    /// not a cycle that did nothing.
    pub fn is_own_failure(&self) -> bool {
        self.outcome.is_failure() && !self.is_foreign_failure() && !self.is_empty
    }

    /// Whether the host, the network or the sandbox broke it.
    pub fn is_foreign_failure(&self) -> bool {
        let foreign = matches!(self.failure_class.as_deref(), Some("host" | "network" | "sandbox"));
        self.outcome.is_failure() && foreign
    }
}

impl EvolutionEvent {
    /// Whether it made or applied a capsule. Only a success carries `capsule_id`; a failed reuse names its capsule in
    /// `meta`, and breaks the streak all the same. A failure that was not the capsule's own says nothing about it.
    pub fn concerns_capsule(&self, capsule_id: &str) -> bool {
        if self.capsule_id.as_deref() == Some(capsule_id) {
            return true;
        }
        self.reused_capsule_id.as_deref() == Some(capsule_id) && self.is_own_failure()
    }
}

/// The capsules of a list of offers whose trial failed.
fn failed_offers(offers: Option<&Value>) -> Vec<String> {
    let offers = offers.and_then(Value::as_array).into_iter().flatten();
    let failed = offers.filter(|offer| offer.get("outcome").and_then(Value::as_str) == Some("failed"));
    failed.map(|offer| text(offer.get("capsule_id"))).filter(|id| !id.is_empty()).collect()
}

/// Whether the change was made where only a started agent works.
fn is_agent_view(meta: Option<&Value>) -> bool {
    let level = meta.and_then(|meta| meta.pointer("/view/level")).and_then(Value::as_str);
    matches!(level, Some("overlay" | "copy"))
}

/// Successes in a row of one capsule, counted back from the newest event.
pub fn success_streak<'a>(capsule_id: &str, newest_first: impl Iterator<Item = &'a EvolutionEvent>) -> u64 {
    newest_first.filter_map(|event| event.streak_step(capsule_id)).take_while(|grows| *grows).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_seeds_classes() {
        let size = |files, lines| BlastRadius { files, lines }.size().as_str();
        assert_eq!(size(0, 0), "none");
        assert_eq!(size(3, 49), "small");
        assert_eq!(size(3, 50), "medium");
        assert_eq!(size(4, 1), "medium");
        assert_eq!(size(10, 200), "medium");
        assert_eq!(size(11, 1), "large");
        assert_eq!(size(1, 201), "large");
    }

    #[test]
    fn a_streak_ends_at_the_first_failure() {
        let event = |capsule: &str, outcome: EventOutcome| EvolutionEvent {
            capsule_id: Some(capsule.to_owned()),
            outcome,
            ..EvolutionEvent::default()
        };
        let events = [
            event("a", EventOutcome::success()),
            event("a", EventOutcome::failed()),
            event("a", EventOutcome::success()),
            event("b", EventOutcome::failed()),
            event("a", EventOutcome::success()),
        ];
        assert_eq!(success_streak("a", events.iter().rev()), 2);
        assert_eq!(success_streak("c", events.iter().rev()), 0);
    }

    #[test]
    fn failure_is_another_word_for_failed() {
        assert!(
            EventOutcome::read(Some(&serde_json::json!({"status": "failure", "score": 0.1}))).is_failure()
        );
    }
}
