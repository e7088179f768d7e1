//! The documents that a finished cycle leaves: the event, the capsule, the failed capsule. Pure.

use super::Run;
use super::facts::ChangeFacts;
use super::verdict::{FailureClass, Verdict};
use capsid_model::asset::stamp;
use capsid_model::capsule::Capsule;
use capsid_model::env::EnvFingerprint;
use capsid_model::event::{BlastRadius, EventOutcome};
use capsid_model::text::cut;
use capsid_model::{Object, SCHEMA_VERSION, Time, Value, json};
use capsid_rules::learning::sharing::{GeneFacts, SharingFacts, check_sharing};

/// The most that is kept of a diff or of a capsule's content, in UTF-16 units.
const KEPT_TEXT: usize = 8000;

/// What every record of one finished cycle draws from.
pub struct FinishedCycle<'a> {
    /// The run that is finished.
    pub run: &'a Run,
    /// What was decided.
    pub verdict: &'a Verdict,
    /// The gene that was applied.
    pub gene_id: &'a str,
    /// Its steps.
    pub strategy: &'a [String],
    /// What the cycle was for.
    pub intent: &'a str,
    /// How much it changed.
    pub blast: BlastRadius,
    /// The changed files, for people to read.
    pub files: &'a [String],
    /// The change as text.
    pub diff: &'a str,
    /// The hash of the whole patch; empty when nothing changed.
    pub patch_hash: &'a str,
    /// The trees of the work tree before and after the cycle.
    pub trees: (&'a str, &'a str),
    /// How and where the change was made.
    pub facts: &'a ChangeFacts,
    /// Where it ran.
    pub env: &'a EnvFingerprint,
    /// A summary from the caller.
    pub summary: Option<&'a str>,
    /// When.
    pub now: Time,
}

impl FinishedCycle<'_> {
    fn outcome(&self) -> EventOutcome {
        if self.verdict.ok { EventOutcome::success() } else { EventOutcome::failed() }
    }

    fn auto_summary(&self) -> String {
        let signals = match self.run.signals.as_slice() {
            [] => "(none)".to_owned(),
            signals => signals.join(", "),
        };
        format!(
            "固化：{} 命中信号 {signals}，变更 {} 文件 / {} 行。",
            self.gene_id, self.blast.files, self.blast.lines
        )
    }

    fn success_reason(&self) -> String {
        let signals = self.run.signals.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        let steps = self.strategy.iter().take(3).cloned().collect::<Vec<_>>().join(" ");
        let text = format!(
            "{} ({}) answered {signals}. Scope: {} files, {} lines. Score: {}. Steps: {steps}",
            self.gene_id,
            self.intent,
            self.blast.files,
            self.blast.lines,
            self.outcome().score,
        );
        cut(&text, 1000).to_owned()
    }

    fn content(&self) -> String {
        let mut text = format!("Intent: {}\nGene: {}\nSignals:\n", self.intent, self.gene_id);
        for signal in self.run.signals.iter().take(8) {
            text.push_str(&format!("- {}\n", cut(signal, 200)));
        }
        text.push_str("Strategy:\n");
        for (at, step) in self.strategy.iter().enumerate() {
            text.push_str(&format!("{}. {step}\n", at + 1));
        }
        text.push_str(&format!("Scope: {} files, {} lines\n", self.blast.files, self.blast.lines));
        for file in self.files.iter().take(20) {
            text.push_str(&format!("- {file}\n"));
        }
        cut(&text, KEPT_TEXT).to_owned()
    }

    fn kept_diff(&self) -> String {
        match cut(self.diff, KEPT_TEXT) {
            whole if whole.len() == self.diff.len() => whole.to_owned(),
            part => format!("{part}\n... [TRUNCATED]"),
        }
    }
}

/// The event of a finished cycle, stamped.
pub fn event(cycle: &FinishedCycle<'_>, id: &str, report_id: &str, capsule_id: Option<&str>) -> Object {
    let run = cycle.run;
    let mut event = object(json!({
        "type": "EvolutionEvent",
        "schema_version": SCHEMA_VERSION,
        "id": id,
        "parent": run.parent_event_id,
        "intent": cycle.intent,
        "signals": run.signals,
        "genes_used": [cycle.gene_id],
        "mutation_id": run.mutation.get("id"),
        "personality_state": run.personality,
        "blast_radius": cycle.blast.to_value(),
        "outcome": cycle.outcome().to_value(),
        "capsule_id": capsule_id,
        "source_type": run.source_type,
        "env_fingerprint": cycle.env.to_object(),
        "validation_report_id": report_id,
        "meta": meta(cycle),
    }));
    if let Some(reused) = &run.reused_asset_id {
        event.insert("reused_asset_id".to_owned(), Value::from(reused.as_str()));
    }
    stamp(&mut event);
    event
}

fn meta(cycle: &FinishedCycle<'_>) -> Object {
    let (run, verdict) = (cycle.run, cycle.verdict);
    let mut meta = object(json!({
        "at": cycle.now.iso(),
        "run_id": run.run_id,
        "signal_key": run.signal_key,
        "selector": run.selector,
        "mutation": run.mutation,
        "personality": {
            "key": run.personality_key,
            "known": run.personality_known,
            "mutations": run.personality_mutations,
        },
        "gene": {"id": cycle.gene_id, "created": verdict.gene_created, "reason": verdict.gene_reason},
        "blast_radius_estimate": run.blast_estimate.to_value(),
        "blast_size": cycle.blast.size().as_str(),
        "blast_severity": verdict.severity,
        "constraints_ok": verdict.constraint_violations.is_empty(),
        "constraint_violations": verdict.constraint_violations,
        "constraint_warnings": verdict.warnings,
        "validation_ok": verdict.validation_ok(),
        "validation_vacuous": verdict.commands.is_empty(),
        "validation": verdict.commands.iter().map(|c| json!({"cmd": c.command, "ok": c.ok})).collect::<Vec<_>>(),
        "isolation": verdict.isolation,
        "canary_ok": verdict.load_check.unwrap_or(true),
        "canary_skipped": verdict.load_check.is_none(),
        "protocol_ok": verdict.protocol_violations.is_empty(),
        "protocol_violations": verdict.protocol_violations,
        "git": {
            "head": run.head,
            "patch_sha256": (!cycle.patch_hash.is_empty()).then_some(cycle.patch_hash),
            "tree_before": cycle.trees.0,
            "tree_after": cycle.trees.1,
            "files": cycle.files.iter().take(50).collect::<Vec<_>>(),
        },
    }));
    if let Ok(Value::Object(facts)) = serde_json::to_value(cycle.facts) {
        meta.extend(facts);
    }
    if !run.reuse.is_null() {
        let member = |name: &str| (name.to_owned(), run.reuse.get(name).cloned().unwrap_or_default());
        let reuse = ["mode", "score", "source_node_id", "hub"].map(member);
        meta.insert("reuse".to_owned(), Object::from_iter(reuse).into());
    }
    if !run.merge_parents.is_empty() {
        meta.insert("merge_parents".to_owned(), json!(run.merge_parents));
    }
    if let Some(capsule) = &run.selected_capsule_id {
        meta.insert("reused_capsule_id".to_owned(), Value::from(capsule.as_str()));
    }
    if !run.drift.is_null() {
        meta.insert("drift".to_owned(), run.drift.clone());
    }
    if cycle.blast.is_empty() {
        meta.insert("empty_cycle".to_owned(), Value::from(true));
    }
    if let Some(class) = verdict.failure_class {
        meta.insert("failure_class".to_owned(), Value::from(class.as_str()));
        meta.insert("failure_reason".to_owned(), Value::from(verdict.reason()));
        if !verdict.constraint_violations.is_empty() {
            meta.insert("blast_breakdown".to_owned(), Value::from(verdict.breakdown.clone()));
        }
    }
    meta
}

/// The capsule of a successful cycle, stamped: a new one, or the reused one grown in place.
pub fn capsule(
    cycle: &FinishedCycle<'_>,
    id: &str,
    previous: Option<&Object>,
    streak: u64,
    quality: f64,
) -> Object {
    let mut capsule = previous.cloned().unwrap_or_default();
    let validated = !cycle.verdict.commands.is_empty();
    let mut put = |name: &str, value: Value| {
        capsule.insert(name.to_owned(), value);
    };
    put("type", "Capsule".into());
    put("schema_version", SCHEMA_VERSION.into());
    put("id", id.into());
    let trigger = previous.and_then(|old| old.get("trigger")).cloned();
    put("trigger", trigger.unwrap_or_else(|| cycle.run.signals.clone().into()));
    put("gene", cycle.gene_id.into());
    let old_summary = previous.and_then(|old| old.get("summary")).and_then(Value::as_str);
    let summary = cycle.summary.or(old_summary).map_or_else(|| cycle.auto_summary(), str::to_owned);
    put("summary", summary.into());
    put("confidence", Capsule::confidence_for(cycle.blast, quality, validated).into());
    put("blast_radius", cycle.blast.to_value());
    put("outcome", cycle.outcome().to_value());
    put("success_streak", streak.into());
    put("success_reason", cycle.success_reason().into());
    put("env_fingerprint", cycle.env.to_object().into());
    let origin = Origin::resolve(cycle.run, previous);
    put("source_type", origin.source_type.into());
    if let Some(asset_id) = origin.asset_id {
        put("reused_asset_id", asset_id.into());
    }
    if let Some(parent) = origin.asset_id.filter(|_| origin.source_type == "reference") {
        put("parent", parent.into());
    }
    let mut a2a =
        previous.and_then(|old| old.get("a2a")).and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(source) = origin.source {
        a2a.insert("source".to_owned(), source.into());
    }
    put("a2a", a2a.into());
    put("content", cycle.content().into());
    put("diff", cycle.kept_diff().into());
    put("strategy", cycle.strategy.into());
    let eligible = may_be_shared(&capsule, validated, cycle.strategy);
    if let Some(Value::Object(a2a)) = capsule.get_mut("a2a") {
        a2a.insert("eligible_to_broadcast".to_owned(), eligible.into());
    }
    stamp(&mut capsule);
    capsule
}

/// Whether the capsule may be offered to others, by the rule that `capsid capsules` and `node publish` ask too. What they
/// know of the store is here what the cycle is about to write.
fn may_be_shared(capsule: &Object, validated: bool, strategy: &[String]) -> bool {
    let shown = SharingFacts::from_capsule(capsule);
    let has_strategy = strategy.iter().any(|step| !step.trim().is_empty());
    let facts = SharingFacts {
        is_validated: validated,
        has_command: shown.has_command || validated,
        gene: GeneFacts::Present { has_id: true, has_strategy },
        ..shown
    };
    check_sharing(&facts).is_ok()
}

/// Where a capsule comes from. It stays what it once was: a capsule that came from others does not become one's own by
/// being applied again.
struct Origin<'a> {
    source_type: &'a str,
    asset_id: Option<&'a str>,
    /// Who published what it was reused from.
    source: Option<&'a str>,
}

impl<'a> Origin<'a> {
    fn resolve(run: &'a Run, previous: Option<&'a Object>) -> Self {
        let of_run = Self {
            source_type: &run.source_type,
            asset_id: run.reused_asset_id.as_deref(),
            source: run.reuse.get("source_node_id").and_then(Value::as_str).filter(|id| !id.is_empty()),
        };
        let text = |name: &str| previous.and_then(|old| old.get(name)).and_then(Value::as_str);
        let before = text("source_type").unwrap_or_default();
        let weight = |source_type: &str| match source_type {
            "reused" => 2,
            "reference" => 1,
            _ => 0,
        };
        match weight(before) > weight(of_run.source_type) {
            true => Self { source_type: before, asset_id: text("reused_asset_id"), source: None },
            false => of_run,
        }
    }
}

/// A capsule whose reuse failed: its streak is broken and it is offered to nobody.
pub fn broken_streak(previous: &Object) -> Object {
    let mut capsule = previous.clone();
    capsule.insert("success_streak".to_owned(), 0.into());
    let mut a2a = previous.get("a2a").and_then(Value::as_object).cloned().unwrap_or_default();
    a2a.insert("eligible_to_broadcast".to_owned(), false.into());
    capsule.insert("a2a".to_owned(), a2a.into());
    stamp(&mut capsule);
    capsule
}

/// The failed capsule of a cycle, stamped, with the fields of both public forms.
pub fn failed_capsule(cycle: &FinishedCycle<'_>, id: &str, class: FailureClass) -> Object {
    let signals = &cycle.run.signals;
    let named = signals.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let verdict = cycle.verdict;
    let mut failed = object(json!({
        "type": "Capsule",
        "schema_version": SCHEMA_VERSION,
        "id": id,
        "trigger": signals.iter().take(8).collect::<Vec<_>>(),
        "gene": cycle.gene_id,
        "summary": format!("Failed: {} on signals [{named}]", cycle.gene_id),
        "blast_radius": cycle.blast.to_value(),
        "outcome": cycle.outcome().to_value(),
        "failure_class": class.as_str(),
        "failure_reason": verdict.reason(),
        "validation_errors": verdict.errors(),
        "constraint_violations": verdict.constraint_violations,
        "diff_snapshot": cycle.kept_diff(),
        "env_fingerprint": cycle.env.to_object(),
        "created_at": cycle.now.iso(),
    }));
    stamp(&mut failed);
    failed
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
