//! The documents that a finished cycle leaves: the event, the capsule, the failed capsule. Pure.

use super::Run;
use super::credit::CycleCredit;
use super::facts::ChangeFacts;
use super::verdict::{FailureClass, Verdict};
use capsid_model::asset::stamp;
use capsid_model::capsule::Capsule;
use capsid_model::env::EnvFingerprint;
use capsid_model::event::{BlastRadius, EventOutcome};
use capsid_model::text::cut;
use capsid_model::{Object, SCHEMA_VERSION, Time, Value, json};
use capsid_rules::learning::capsule_text::CapsuleText;
use capsid_rules::learning::proof::{ProofGrade, ProofRecord};
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
    /// What the change is called and why it was made.
    pub text: &'a CapsuleText,
    /// The summary of the change.
    pub summary: &'a str,
    /// What it means for the solutions that it was offered.
    pub credit: &'a CycleCredit,
    /// When.
    pub now: Time,
}

impl FinishedCycle<'_> {
    fn outcome(&self) -> EventOutcome {
        if self.verdict.ok { EventOutcome::success() } else { EventOutcome::failed() }
    }

    /// Where the change comes from: `reused`, `reference` or `generated`.
    fn source_type(&self) -> &'static str {
        let offers = &self.run.offers;
        if self.credit.find_reused(offers).is_some() {
            "reused"
        } else if self.run.reused_asset_id.is_some() {
            "reference"
        } else {
            "generated"
        }
    }

    fn content(&self) -> String {
        let mut text = format!("{}\n\n", self.text.title);
        if !self.text.explanation.is_empty() {
            text.push_str(&format!("{}\n\n", self.text.explanation));
        }
        text.push_str(&format!("Intent: {}\nGene: {}\nSignals:\n", self.intent, self.gene_id));
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
        "source_type": cycle.source_type(),
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
    meta.insert("title".to_owned(), Value::from(cycle.text.title.as_str()));
    insert_value(&mut meta, "problem", run.problem.as_ref());
    insert_value(&mut meta, "proof", verdict.proof.as_ref());
    if let Some(missing) = &verdict.proof_gap {
        meta.insert("proof_missing".to_owned(), Value::from(missing.as_str()));
    }
    if let Some(reused) = cycle.credit.find_reused(&run.offers).filter(|offer| !offer.is_foreign) {
        meta.insert("reused_capsule_id".to_owned(), Value::from(reused.capsule_id.as_str()));
    }
    if !run.offers.is_empty() {
        let offers = run.offers.iter().zip(&cycle.credit.outcomes);
        let offers = offers.map(|(offer, outcome)| {
            json!({
                "capsule_id": offer.capsule_id,
                "level": offer.level,
                "trial": offer.trial,
                "outcome": outcome,
                "is_foreign": offer.is_foreign,
            })
        });
        meta.insert("offers".to_owned(), offers.collect());
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

/// A capsule that solved its problem again, stamped. Its change, its words and its problem stay as they are.
pub fn grown_capsule(cycle: &FinishedCycle<'_>, previous: &Object, streak: u64, quality: f64) -> Object {
    let mut capsule = previous.clone();
    let stored: Option<ProofRecord> =
        previous.get("proof").and_then(|proof| serde_json::from_value(proof.clone()).ok());
    let known = stored.map_or(ProofGrade::None, |proof| proof.grade);
    let best = known.max(cycle.verdict.grade());
    let blast = BlastRadius::read(previous.get("blast_radius"));
    let confidence = Capsule::confidence_for(blast, quality, best.initial_confidence());
    capsule.insert("confidence".to_owned(), confidence.into());
    capsule.insert("success_streak".to_owned(), streak.into());
    capsule.insert("outcome".to_owned(), cycle.outcome().to_value());
    if best > known || !previous.contains_key("proof") {
        insert_value(&mut capsule, "proof", cycle.verdict.proof.as_ref());
    }
    if !previous.contains_key("problem") {
        insert_value(&mut capsule, "problem", cycle.run.problem.as_ref());
    }
    mark_eligible(&mut capsule, cycle);
    stamp(&mut capsule);
    capsule
}

/// The capsule of a new solution, stamped.
pub fn new_capsule(cycle: &FinishedCycle<'_>, id: &str, streak: u64) -> Object {
    let run = cycle.run;
    let grade = cycle.verdict.grade();
    let source_type = cycle.source_type();
    let mut capsule = object(json!({
        "type": "Capsule",
        "schema_version": SCHEMA_VERSION,
        "id": id,
        "trigger": run.signals,
        "gene": cycle.gene_id,
        "summary": cycle.summary,
        "title": cycle.text.title,
        "explanation": cycle.text.explanation,
        "confidence": Capsule::confidence_for(cycle.blast, 1.0, grade.initial_confidence()),
        "blast_radius": cycle.blast.to_value(),
        "outcome": cycle.outcome().to_value(),
        "success_streak": streak,
        "success_reason": success_reason(cycle),
        "env_fingerprint": cycle.env.to_object(),
        "source_type": source_type,
        "content": cycle.content(),
        "diff": cycle.kept_diff(),
        "strategy": cycle.strategy,
        "resolution_status": grade.resolution_status(),
        "execution_trace": [{"stage": "validate", "ok": cycle.verdict.ok, "grade": grade}],
    }));
    insert_value(&mut capsule, "problem", run.problem.as_ref());
    insert_value(&mut capsule, "proof", cycle.verdict.proof.as_ref());
    if !cycle.patch_hash.is_empty() {
        capsule.insert("patch_sha256".to_owned(), cycle.patch_hash.into());
    }
    if let Some(asset_id) = &run.reused_asset_id {
        capsule.insert("reused_asset_id".to_owned(), asset_id.as_str().into());
        let source = run.reuse.get("source_node_id").and_then(Value::as_str).filter(|id| !id.is_empty());
        if let Some(source) = source {
            capsule.insert("a2a".to_owned(), json!({"source": source}));
        }
    }
    let parent = match (source_type, cycle.credit.find_parent(&run.offers)) {
        (_, Some(offer)) => Some((offer.asset_id.as_str(), true)),
        ("reference", None) => run.reused_asset_id.as_deref().map(|id| (id, false)),
        _ => None,
    };
    if let Some((parent, is_alternative)) = parent {
        capsule.insert("parent".to_owned(), parent.into());
        if is_alternative {
            capsule.insert("lineage".to_owned(), "alternative".into());
        }
    }
    mark_eligible(&mut capsule, cycle);
    stamp(&mut capsule);
    capsule
}

fn success_reason(cycle: &FinishedCycle<'_>) -> String {
    match &cycle.verdict.proof {
        Some(proof) => proof.success_reason(),
        None => "No command could check the change.".to_owned(),
    }
}

/// Notes whether the capsule may be offered to others, by the rule that `capsid capsules` and `node publish` ask too. What
/// they know of the store is here what the cycle is about to write.
fn mark_eligible(capsule: &mut Object, cycle: &FinishedCycle<'_>) {
    let is_validated = !cycle.verdict.commands.is_empty();
    let shown = SharingFacts::from_capsule(capsule);
    let has_strategy = cycle.strategy.iter().any(|step| !step.trim().is_empty());
    let facts = SharingFacts {
        is_validated,
        has_command: shown.has_command || is_validated,
        gene: GeneFacts::Present { has_id: true, has_strategy },
        ..shown
    };
    let mut a2a = capsule.get("a2a").and_then(Value::as_object).cloned().unwrap_or_default();
    a2a.insert("eligible_to_broadcast".to_owned(), check_sharing(&facts).is_ok().into());
    capsule.insert("a2a".to_owned(), a2a.into());
}

fn insert_value<T: serde::Serialize>(object: &mut Object, name: &str, value: Option<&T>) {
    if let Some(value) = value.and_then(|value| serde_json::to_value(value).ok()) {
        object.insert(name.to_owned(), value);
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
        "title": cycle.text.title,
        "explanation": cycle.text.explanation,
        "output_tail": verdict.output,
        "run_id": cycle.run.run_id,
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
    insert_value(&mut failed, "problem", cycle.run.problem.as_ref());
    insert_value(&mut failed, "proof", verdict.proof.as_ref());
    stamp(&mut failed);
    failed
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
