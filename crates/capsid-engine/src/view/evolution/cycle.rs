//! One recorded cycle, as far as a page shows it.

use super::{LineSeal, SelectionReasons, clean, text, texts};
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Value};
use serde::Serialize;

/// The most signals, paths and commands of one cycle.
const MAX: usize = 20;

/// One recorded cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvolutionCycle {
    pub id: String,
    /// The cycle before it in the tree; it need not be in the log.
    pub parent: Option<String>,
    /// When it was recorded, if that is known.
    pub at: Option<String>,
    pub intent: String,
    pub signals: Vec<String>,
    pub genes: Vec<String>,
    /// The capsule it made, grew or applied.
    pub capsule: Option<String>,
    /// `success`, `failed`, `skipped` or `other`.
    pub status: &'static str,
    /// From 0 to 1.
    pub score: f64,
    pub files: u64,
    pub lines: u64,
    /// `none`, `small`, `medium` or `large`.
    pub size: &'static str,
    /// Some of the changed files.
    pub paths: Vec<String>,
    /// Where the solution came from: `generated`, `reused` or `reference`; empty when the event does not say.
    pub source: String,
    pub failure: Option<CycleFailure>,
    pub validation: CycleChecks,
    /// The mutation that gated it.
    pub mutation: Option<CyclePlan>,
    /// The engine's dials, from 0 to 1, by name.
    pub personality: Vec<(String, f64)>,
    /// Why this was chosen; nothing where that was not recorded.
    pub why: Option<SelectionReasons>,
    /// Whether its line is the one that was sealed.
    pub seal: LineSeal,
}

/// Why a cycle failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleFailure {
    /// Its kind, such as `constraint` or `validation`.
    pub class: String,
    pub reason: String,
}

/// The commands that judged the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleChecks {
    /// `passed`, `failed`, `nothing_ran`, or `not_recorded`.
    pub state: &'static str,
    /// Each command, and whether it passed.
    pub commands: Vec<CycleCommand>,
    /// The isolation of the commands; empty if the event does not name it.
    pub isolation: String,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleCommand {
    pub command: String,
    pub ok: bool,
}

/// What was planned before the change was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CyclePlan {
    pub id: String,
    pub category: String,
    /// How bold: `low`, `medium` or `high`.
    pub risk: String,
    pub effect: String,
}

impl EvolutionCycle {
    /// A view of an event, with data from elsewhere.
    pub(super) fn read(
        event: &EvolutionEvent,
        document: &Object,
        seal: LineSeal,
        why: Option<SelectionReasons>,
    ) -> Self {
        let meta = |name: &str| document.get("meta").and_then(|meta| meta.get(name));
        let paths = meta("git").and_then(|git| git.get("files"));
        Self {
            id: event.id.clone(),
            parent: event.parent.clone(),
            at: event.at.map(|at| at.iso()),
            intent: event.intent.clone(),
            signals: some(&event.signals),
            genes: event.genes_used.iter().take(MAX).cloned().collect(),
            capsule: event.capsule_id.clone().or_else(|| event.reused_capsule_id.clone()),
            status: status(&event.outcome.status),
            score: event.outcome.score,
            files: event.blast_radius.files,
            lines: event.blast_radius.lines,
            size: event.blast_radius.size().as_str(),
            paths: some(&texts(paths)),
            source: text(document.get("source_type")),
            failure: failure(event, meta("failure_reason")),
            validation: checked(&meta),
            mutation: meta("mutation").and_then(plan),
            personality: dials(document.get("personality_state")),
            why,
            seal,
        }
    }
}

fn some(texts: &[String]) -> Vec<String> {
    texts.iter().take(MAX).map(|text| clean(text)).collect()
}

fn status(value: &str) -> &'static str {
    match value {
        "success" => "success",
        "failed" => "failed",
        "skipped" => "skipped",
        _ => "other",
    }
}

fn failure(event: &EvolutionEvent, reason: Option<&Value>) -> Option<CycleFailure> {
    let class = event.failure_class.clone().filter(|_| event.outcome.is_failure())?;
    Some(CycleFailure { class, reason: clean(&text(reason)) })
}

fn checked<'a>(meta: &impl Fn(&str) -> Option<&'a Value>) -> CycleChecks {
    let says = |name: &str| meta(name).and_then(Value::as_bool);
    let list = meta("validation").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let state = match (says("validation_ok"), says("validation_vacuous")) {
        (_, Some(true)) => "nothing_ran",
        (Some(true), _) => "passed",
        (Some(false), _) => "failed",
        (None, _) => "not_recorded",
    };
    let commands = list.iter().take(MAX).map(|command| CycleCommand {
        command: clean(&text(command.get("cmd"))),
        ok: command.get("ok").and_then(Value::as_bool).unwrap_or_default(),
    });
    CycleChecks { state, commands: commands.collect(), isolation: text(meta("isolation")) }
}

fn plan(mutation: &Value) -> Option<CyclePlan> {
    let field_text = |name: &str| clean(&text(mutation.get(name)));
    let plan = CyclePlan {
        id: field_text("id"),
        category: field_text("category"),
        risk: field_text("risk_level"),
        effect: field_text("expected_effect"),
    };
    (!plan.id.is_empty()).then_some(plan)
}

fn dials(personality: Option<&Value>) -> Vec<(String, f64)> {
    let dial = |name: &str| Some((name.to_owned(), personality?.get(name)?.as_f64()?.clamp(0.0, 1.0)));
    ["rigor", "creativity", "verbosity", "risk_tolerance", "obedience"].into_iter().filter_map(dial).collect()
}
