//! Whether a capsule of this store may be offered to others: the facts for the one rule of sharing. Pure.

use super::history::CapsuleHistory;
use capsid_model::Object;
use capsid_model::gene::Gene;
use capsid_rules::learning::sharing::{
    GeneFacts, SharingFacts, SharingLimits, SharingRefusal, check_sharing,
};

/// Whether a capsule can be published, with the reason if it cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Eligibility {
    /// Whether it may be offered.
    pub eligible: bool,
    /// Why not, in one sentence; empty where it may be.
    pub reasons: Vec<String>,
    /// How often it worked in a row, by the event log and by the reports of others.
    pub streak: u64,
}

impl Eligibility {
    /// Why it is not offered; empty where it may be.
    pub fn reason(&self) -> &str {
        self.reasons.first().map(String::as_str).unwrap_or_default()
    }
}

/// What the store and its owner know about a capsule.
#[derive(Debug, Clone, Copy)]
pub struct SharingContext<'a> {
    /// Its record in the event log.
    pub record: &'a CapsuleHistory,
    /// The gene that it came from, if it is in the store.
    pub gene: Option<&'a Object>,
    /// The owner's own validation commands.
    pub commands: &'a [String],
    pub limits: SharingLimits,
    /// Whether the event log is as it was sealed.
    pub is_log_intact: bool,
}

/// Decides whether a stored capsule may be offered to others.
pub fn check_eligibility(capsule: &Object, context: &SharingContext<'_>) -> Eligibility {
    let streak = context.record.streak.saturating_add(context.record.reuses_by_others);
    match check_sharing(&collect_facts(capsule, context)) {
        Ok(()) => Eligibility { eligible: true, reasons: Vec::new(), streak },
        Err(refusal) => Eligibility { eligible: false, reasons: vec![refusal.to_string()], streak },
    }
}

fn collect_facts<'a>(capsule: &'a Object, context: &SharingContext<'_>) -> SharingFacts<'a> {
    let shown = SharingFacts::from_capsule(capsule);
    let of_gene = context.gene.map(Gene::read).unwrap_or_default();
    SharingFacts {
        limits: context.limits,
        streak: context.record.streak,
        reuses_by_others: context.record.reuses_by_others,
        is_validated: context.record.validated,
        has_command: shown.has_command || has_text(context.commands) || has_text(&of_gene.validation),
        gene: match context.gene {
            Some(_) => GeneFacts::Present {
                has_id: !of_gene.id.is_empty(),
                has_strategy: has_text(&of_gene.strategy),
            },
            None => GeneFacts::Missing,
        },
        is_log_intact: context.is_log_intact,
        ..shown
    }
}

/// What a gene lacks to be offered by itself.
pub fn check_gene(gene: &Object) -> Result<(), SharingRefusal> {
    let view = Gene::read(gene);
    if view.id.is_empty() {
        return Err(SharingRefusal::GeneWithoutId);
    }
    if !has_text(&view.strategy) {
        return Err(SharingRefusal::GeneWithoutStrategy);
    }
    if has_text(&view.validation) { Ok(()) } else { Err(SharingRefusal::NoCommand) }
}

fn has_text(list: &[String]) -> bool {
    list.iter().any(|item| !item.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::{Value, json};

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    fn eligibility(gene: &Value, commands: &[&str], proof: &Value) -> Eligibility {
        let capsule = object(json!({
            "type": "Capsule", "id": "c", "gene": "g", "success_streak": 2,
            "outcome": {"status": "success", "score": 0.85}, "blast_radius": {"files": 1, "lines": 2}, "proof": proof,
        }));
        let record = CapsuleHistory { streak: 2, validated: true, ..CapsuleHistory::default() };
        let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
        let gene = gene.is_object().then(|| object(gene.clone()));
        let context = SharingContext {
            record: &record,
            gene: gene.as_ref(),
            commands: &commands,
            limits: SharingLimits::default(),
            is_log_intact: true,
        };
        check_eligibility(&capsule, &context)
    }

    #[test]
    fn a_command_of_the_owner_of_the_proof_or_of_the_gene_counts() {
        let bare = json!({"type": "Gene", "id": "g", "strategy": ["a"], "validation": []});
        let tested = json!({"type": "Gene", "id": "g", "strategy": ["a"], "validation": ["node t.js"]});
        let proof = json!({"grade": "fail_to_pass"});
        assert_eq!(
            eligibility(&bare, &[" "], &proof).reason(),
            "No command can validate it: neither its proof nor its gene nor `[validation] commands` names one."
        );
        assert!(eligibility(&bare, &["npm test"], &proof).eligible);
        assert!(eligibility(&tested, &[], &proof).eligible);
        assert!(eligibility(&bare, &[], &json!({"grade": "fail_to_pass", "command": "npm test"})).eligible);
    }

    #[test]
    fn there_is_one_reason_and_it_is_a_sentence() {
        let gene = json!({"type": "Gene", "id": "g", "strategy": [], "validation": ["node t.js"]});
        assert_eq!(eligibility(&gene, &[], &Value::Null).reasons.len(), 1);
        assert_eq!(
            eligibility(&gene, &[], &Value::Null).reason(),
            "It carries no proof; it is proven the next time it solves the problem."
        );
        let proof = json!({"grade": "fail_to_pass_reverts"});
        assert_eq!(eligibility(&gene, &[], &proof).reason(), "Its gene has no strategy.");
        assert_eq!(
            eligibility(&Value::Null, &["npm test"], &proof).reason(),
            "Its gene is not in the store."
        );
    }
}
