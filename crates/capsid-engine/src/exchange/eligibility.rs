//! Whether a capsule may be offered to others. Pure.

use super::history::CapsuleHistory;
use super::origin::source;
use capsid_model::capsule::Capsule;
use capsid_model::event::BlastRadius;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Value};

/// The least score.
const LEAST_SCORE: f64 = 0.7;
/// The least number of successes in a row.
const LEAST_STREAK: u64 = 2;

/// Whether a capsule can be published, with reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Eligibility {
    /// Whether it may be offered.
    pub eligible: bool,
    /// Why not, one sentence each.
    pub reasons: Vec<String>,
    /// How often it worked in a row, by the event log.
    pub streak: u64,
}

/// The largest change that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EligibilityLimits {
    pub files: u64,
    pub lines: u64,
}

impl Default for EligibilityLimits {
    fn default() -> Self {
        Self { files: 5, lines: 200 }
    }
}

impl EligibilityLimits {
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

/// Decides eligibility from the stored capsule, its record in the event log, and the gene that it came from.
pub fn check_eligibility(
    capsule: &Object,
    record: &CapsuleHistory,
    gene: Option<&Object>,
    limits: EligibilityLimits,
) -> Eligibility {
    let mut reasons = Vec::new();
    reasons.extend(check_origin(capsule));
    reasons.extend(check_result(capsule));
    reasons.extend(check_size(BlastRadius::read(capsule.get("blast_radius")), limits));
    reasons.extend(check_streak(Capsule::read(capsule).success_streak, record.streak));
    if record.last_success.is_some() && !record.validated {
        reasons
            .push("No validation command ran when it last worked, so nothing shows that it does.".to_owned());
    }
    match gene {
        Some(gene) => reasons.extend(check_gene(gene)),
        None => reasons.push("Its gene is not in the store.".to_owned()),
    }
    Eligibility { eligible: reasons.is_empty(), reasons, streak: record.streak }
}

/// Why an asset of somebody else is not eligible: only its author may offer it.
pub fn check_origin(asset: &Object) -> Option<String> {
    let text = |name: &str| asset.get(name).and_then(Value::as_str);
    if let Some(source) = source(asset) {
        return Some(format!("It came from `{}`, whose it is to offer.", inert_line(cut(source, 80))));
    }
    if text("source_type") == Some("reused") {
        return Some("It is somebody else's solution that was applied here.".to_owned());
    }
    (text("visibility") == Some("private")).then(|| "Its owner keeps it private.".to_owned())
}

fn check_result(capsule: &Object) -> Vec<String> {
    let mut reasons = Vec::new();
    if capsule.get("type").and_then(Value::as_str) != Some("Capsule") {
        reasons.push("It is no Capsule.".to_owned());
    }
    let outcome = capsule.get("outcome");
    if outcome.and_then(|outcome| outcome.get("status")).and_then(Value::as_str) != Some("success") {
        reasons.push("Its outcome is no success.".to_owned());
    }
    match outcome.and_then(|outcome| outcome.get("score")).and_then(Value::as_f64) {
        Some(score) if score >= LEAST_SCORE => {}
        Some(score) => reasons.push(format!("Its score is {score}; at least {LEAST_SCORE} is needed.")),
        None => reasons.push("Its outcome has no score.".to_owned()),
    }
    reasons
}

fn check_size(blast: BlastRadius, limits: EligibilityLimits) -> Vec<String> {
    let mut reasons = Vec::new();
    if blast.files > limits.files {
        reasons.push(format!("It changed {} files; at most {} are shared.", blast.files, limits.files));
    }
    if blast.lines > limits.lines {
        reasons.push(format!("It changed {} lines; at most {} are shared.", blast.lines, limits.lines));
    }
    if blast.files == 0 || blast.lines == 0 {
        reasons.push(format!("It changed {blast}; a hub takes only changes of at least one of each."));
    }
    reasons
}

fn check_streak(stored: u64, counted: u64) -> Vec<String> {
    let mut reasons = Vec::new();
    if counted < LEAST_STREAK {
        reasons.push(format!(
            "It worked {counted} times in a row by the event log; at least {LEAST_STREAK} are needed."
        ));
    }
    if stored > counted {
        reasons.push(format!("It claims a streak of {stored}, of which the event log shows {counted}."));
    }
    reasons
}

/// What a gene lacks to be offered, one sentence each.
pub fn check_gene(gene: &Object) -> Vec<String> {
    let view = Gene::read(gene);
    let filled = |list: &[String]| list.iter().any(|item| !item.trim().is_empty());
    let lacks = [
        (view.id.is_empty(), "Its gene has no id."),
        (!filled(&view.strategy), "Its gene has no strategy."),
        (!filled(&view.validation), "Its gene has no validation command."),
    ];
    lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, reason)| reason.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;
    use proptest::prelude::*;

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    fn gene() -> Object {
        object(json!({"type": "Gene", "id": "g", "strategy": ["a"], "validation": ["node t.js"]}))
    }

    fn capsule(score: f64, files: u64, lines: u64, streak: u64) -> Object {
        object(json!({
            "type": "Capsule", "id": "c", "gene": "g", "success_streak": streak,
            "outcome": {"status": "success", "score": score}, "blast_radius": {"files": files, "lines": lines},
        }))
    }

    fn record(streak: u64, validated: bool) -> CapsuleHistory {
        CapsuleHistory { streak, validated, last_success: (streak > 0).then(Object::new) }
    }

    proptest! {
        #[test]
        fn exactly_what_the_rule_says_is_offered(
            score in 0.0..1.0_f64, files in 0..9_u64, lines in 0..260_u64,
            stored in 0..5_u64, counted in 0..5_u64, validated: bool,
        ) {
            let eligibility = check_eligibility(
                &capsule(score, files, lines, stored), &record(counted, validated), Some(&gene()), EligibilityLimits::default(),
            );
            let expected = score >= 0.7 && (1..=5).contains(&files) && (1..=200).contains(&lines)
                && counted >= 2 && stored <= counted && validated;
            prop_assert_eq!(eligibility.eligible, expected);
            prop_assert_eq!(eligibility.reasons.is_empty(), expected);
            prop_assert!(eligibility.reasons.iter().all(|reason| reason.ends_with('.')));
        }

        #[test]
        fn no_document_makes_the_rule_fall(odd in document(), other in document(), streak in 0..4_u64) {
            let (odd, other) = (object(odd), object(other));
            prop_assert!(!check_eligibility(&odd, &CapsuleHistory::default(), Some(&other), EligibilityLimits::default()).eligible);
            let eligibility = check_eligibility(&odd, &record(streak, true), Some(&other), EligibilityLimits::default());
            prop_assert_eq!(eligibility.eligible, eligibility.reasons.is_empty());
        }
    }

    /// An object with the names that the rule reads, each with anything behind it.
    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            proptest::sample::select(vec!["Capsule", "success", "g", "reused", "private"])
                .prop_map(Value::from),
        ];
        let names = vec![
            "type",
            "id",
            "gene",
            "outcome",
            "status",
            "score",
            "blast_radius",
            "files",
            "lines",
            "a2a",
            "source",
            "success_streak",
            "source_type",
            "visibility",
            "strategy",
            "validation",
        ];
        let map = move |value: BoxedStrategy<Value>| {
            let name = proptest::sample::select(names.clone()).prop_map(str::to_owned);
            proptest::collection::hash_map(name, value, 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect()))
        };
        let inner = leaf.prop_recursive(2, 16, 4, {
            let map = map.clone();
            move |value| {
                let value = value.boxed();
                prop_oneof![proptest::collection::vec(value.clone(), 0..4).prop_map(Value::from), map(value)]
            }
        });
        map(inner.boxed())
    }

    #[test]
    fn what_others_made_is_not_offered() {
        let offered = |more: Value| {
            let mut capsule = capsule(0.9, 1, 1, 2);
            capsule.extend(object(more));
            check_eligibility(&capsule, &record(2, true), Some(&gene()), EligibilityLimits::default())
                .eligible
        };
        assert!(offered(json!({"source_type": "generated", "a2a": {"eligible_to_broadcast": false}})));
        assert!(offered(json!({"source_type": "reference"})));
        assert!(!offered(json!({"source_type": "reused"})));
        assert!(!offered(json!({"a2a": {"source": "node_1", "status": "promoted"}})));
        assert!(!offered(json!({"visibility": "private"})));
        assert!(!offered(json!({"outcome": {"status": "failed", "score": 0.9}})));
        assert!(!offered(json!({"outcome": {"status": "success"}})));
    }

    #[test]
    fn a_gene_without_steps_or_commands_holds_its_capsule_back() {
        for (member, value) in [("id", json!(7)), ("strategy", json!([])), ("validation", json!([" "]))] {
            let mut gene = gene();
            gene.insert(member.to_owned(), value);
            let eligibility = check_eligibility(
                &capsule(0.9, 1, 1, 2),
                &record(2, true),
                Some(&gene),
                EligibilityLimits::default(),
            );
            assert_eq!((eligibility.eligible, eligibility.reasons.len()), (false, 1), "{member}");
        }
        assert!(
            !check_eligibility(&capsule(0.9, 1, 1, 2), &record(2, true), None, EligibilityLimits::default())
                .eligible
        );
    }

    #[test]
    fn limits_come_from_the_environment_and_empty_ones_do_not() {
        let of = |files: &'static str| {
            EligibilityLimits::from_env(&move |name| (name == "A2A_MAX_FILES").then(|| files.to_owned()))
        };
        assert_eq!(of("9"), EligibilityLimits { files: 9, lines: 200 });
        assert_eq!(of(""), EligibilityLimits::default());
        assert_eq!(of("many"), EligibilityLimits::default());
    }
}
