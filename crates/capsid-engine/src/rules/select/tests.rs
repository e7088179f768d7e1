use super::*;
use capsid_model::event::EventOutcome;
use capsid_model::gene::EpigeneticMark;
use capsid_model::json;
use capsid_rules::memory::advice::GeneAdvice;

fn card(id: &str, patterns: &[&str]) -> GeneCard {
    GeneCard {
        id: id.to_owned(),
        patterns: patterns.iter().map(|s| (*s).to_owned()).collect(),
        marks: Vec::new(),
    }
}

fn capsule(id: &str, gene: &str, trigger: &[&str]) -> Capsule {
    Capsule {
        id: id.to_owned(),
        gene: gene.to_owned(),
        trigger: trigger.iter().map(|s| (*s).to_owned()).collect(),
        confidence: 0.5,
        success_streak: 1,
        outcome: EventOutcome::success(),
        ..Capsule::default()
    }
}

fn tried(gene: &str, combined: f64, prior: f64) -> (String, GeneAdvice) {
    let advice = GeneAdvice { combined, prior, successes: 1, ..GeneAdvice::default() };
    (gene.to_owned(), advice)
}

#[derive(Default)]
struct Case {
    cards: Vec<GeneCard>,
    capsules: Vec<Capsule>,
    advice: Advice,
    drift: Option<u64>,
}

impl Case {
    fn genes(cards: &[(&str, &[&str])]) -> Self {
        let cards = cards.iter().map(|(id, patterns)| card(id, patterns)).collect();
        Self { cards, ..Self::default() }
    }

    /// Selects both ways and gives the result, which is one.
    fn select(&self, signals: &[&str]) -> Selection {
        let signals: Vec<String> = signals.iter().map(|s| (*s).to_owned()).collect();
        let index = GeneIndex::build(self.cards.clone());
        let with = |genes| {
            select(SelectInput {
                signals: &signals,
                genes,
                capsules: &self.capsules,
                advice: &self.advice,
                failed: &[],
                env_context: "linux/x64",
                platform: "linux",
                drift: self.drift,
            })
        };
        let plain = with(GenePoolRef::Plain(&self.cards));
        assert_eq!(with(GenePoolRef::Indexed(&index)), plain);
        assert_eq!(plain.replay(), plain);
        assert_eq!(Selection::read(&plain.to_value()), Some(plain.clone()));
        plain
    }
}

fn selected(selection: &Selection) -> Option<&str> {
    selection.selected.as_deref()
}

#[test]
fn the_protocols_selector_json_comes_out() {
    let mut case = Case::genes(&[
        ("gene_gep_repair_from_errors", &["error", "exception", "failed"]),
        ("gene_gep_innovate_from_opportunity", &["/fail.*/", "feature|idea"]),
    ]);
    case.advice.preferred = Some("gene_gep_repair_from_errors".to_owned());
    case.advice.genes.extend([tried("gene_gep_repair_from_errors", 0.74, 2.0 / 3.0)]);
    let selection = case.select(&["log_error", "exception", "failed"]);
    assert_eq!(
        selection.to_json(),
        json!({
            "selected": "gene_gep_repair_from_errors",
            "reason": [
                "signals match gene.signals_match",
                "signals: log_error, exception, failed",
                "memory_graph: memory_prefer:gene_gep_repair_from_errors | gene_prior:0.667"
            ],
            "alternatives": ["gene_gep_innovate_from_opportunity"]
        })
    );
    assert_eq!(selection.selected_by, "memory_graph+selector");
}

#[test]
fn the_selector_lists_alternatives_as_the_seeds_show() {
    let case = Case::genes(&[
        ("gene_gep_repair_from_errors", &["error", "exception", "failed"]),
        ("gene_gep_innovate_from_opportunity", &["user_feature_request", "perf_bottleneck"]),
    ]);
    let alternatives = |signals: &[&str]| case.select(signals).alternatives;
    assert_eq!(alternatives(&["log_error", "exception", "failed"]), ["gene_gep_innovate_from_opportunity"]);
    assert_eq!(alternatives(&["log_error", "perf_bottleneck"]).len(), 1);
    assert_eq!(alternatives(&["user_missing", "user_feature_request"]), Vec::<String>::new());
}

#[test]
fn bans_hold_for_a_pool_of_two_genes() {
    let mut case = Case::genes(&[("bad", &["error", "log"]), ("good", &["error"])]);
    case.advice.banned = vec!["bad".to_owned()];
    for drift in [None, Some(1), Some(2), Some(3)] {
        case.drift = drift;
        let selection = case.select(&["log_error"]);
        assert_eq!(selected(&selection), Some("good"));
        assert!(selection.alternatives.is_empty());
        assert!(selection.scores[0].banned, "the ban is shown with its score");
    }
    case.advice.banned.push("good".to_owned());
    case.drift = None;
    let selection = case.select(&["log_error"]);
    assert_eq!(selected(&selection), None);
    assert_eq!(selection.alternatives, ["bad", "good"]);
    assert_eq!(
        selection.reason,
        [
            "no matching gene found; new gene may be required",
            "signals: log_error",
            "memory_graph: memory_ban:bad,good"
        ]
    );
}

#[test]
fn the_first_gene_in_the_file_is_not_preferred_on_an_empty_graph() {
    let case = Case::genes(&[("first", &["error"]), ("second", &["error", "log"])]);
    let selection = case.select(&["log_error"]);
    assert_eq!(selected(&selection), Some("second"));
    assert_eq!(selection.alternatives, ["first"]);
    assert_eq!(selection.selected_by, "selector");
    let tie = Case::genes(&[("first", &["error"]), ("second", &["log"])]);
    assert_eq!(selected(&tie.select(&["log_error"])), Some("first"));
}

#[test]
fn a_ban_signal_does_not_select_the_gene_it_bans() {
    let case = Case::genes(&[("gene_repair_errors", &["error"]), ("other", &["slow"])]);
    let selection = case.select(&["ban_gene:gene_repair_errors", "slow"]);
    assert_eq!(selected(&selection), Some("other"));
    assert_eq!(selection.scores.len(), 1);
    let selection = case.select(&["ban_gene:gene_repair_errors", "log_error"]);
    assert_eq!(selected(&selection), None);
    assert_eq!(selection.banned, [GeneBan { gene: "gene_repair_errors".into(), by: "signal".into() }]);
}

#[test]
fn memory_boosts_a_gene_but_does_not_override_a_better_match() {
    let mut case = Case::genes(&[("a", &["log", "error", "x"]), ("b", &["error"])]);
    case.advice.preferred = Some("b".to_owned());
    case.advice.genes.extend([tried("b", 0.8, 0.5)]);
    assert_eq!(selected(&case.select(&["log_error"])), Some("a"));
    assert_eq!(selected(&case.select(&["error"])), Some("b"));
}

#[test]
fn a_specific_gene_wins_a_tie_over_a_built_in_one() {
    let case = Case::genes(&[("gene_gep_repair_from_errors", &["error"]), ("gene_ours", &["error"])]);
    assert_eq!(selected(&case.select(&["error"])), Some("gene_ours"));
    let case = Case::genes(&[("gene_gep_repair_from_errors", &["error", "log"]), ("gene_ours", &["error"])]);
    assert_eq!(selected(&case.select(&["log_error"])), Some("gene_gep_repair_from_errors"), "no tie");
}

#[test]
fn marks_of_this_environment_weigh() {
    let mut case = Case::genes(&[("a", &["error"]), ("b", &["error"]), ("gene_distilled_c", &["error"])]);
    case.cards[1].marks = vec![EpigeneticMark { context: "linux/x64".to_owned(), boost: 0.1 }];
    let selection = case.select(&["error"]);
    let order: Vec<(&str, f64)> = selection.scores.iter().map(|s| (s.gene.as_str(), s.score)).collect();
    assert_eq!(order, [("b", 1.1), ("a", 1.0), ("gene_distilled_c", 0.8)]);
}

#[test]
fn a_capsule_wins_when_it_scores_as_high_and_names_its_gene() {
    let mut case = Case::genes(&[("g", &["error"]), ("h", &["error"])]);
    case.capsules = vec![capsule("capsule_1", "g", &["error"])];
    let selection = case.select(&["error"]);
    assert_eq!(selected(&selection), Some("capsule_1"));
    assert_eq!(selection.gene_id.as_deref(), Some("g"));
    assert_eq!(selection.alternatives, ["g", "h"]);
    assert_eq!(
        selection.reason[..2],
        ["signals match gene.signals_match", "capsule trigger matches signals"]
    );
    case.cards[1] = card("h", &["error", "err", "e"]);
    let selection = case.select(&["error"]);
    assert_eq!(selected(&selection), Some("h"));
    assert_eq!((selection.capsule_id, selection.capsule.is_some()), (None, true));
    case.advice.banned = vec!["g".to_owned()];
    assert_eq!(case.select(&["error"]).capsule, None, "its gene is banned");
}

#[test]
fn nothing_matching_selects_nothing() {
    let selection = Case::genes(&[("g", &["error"])]).select(&["calm"]);
    assert_eq!(selected(&selection), None);
    assert!(selection.alternatives.is_empty());
    assert_eq!(Case::default().select(&[]).reason, ["no matching gene found; new gene may be required"]);
}

#[test]
fn drift_is_told_and_repeats_from_its_seed() {
    let mut case = Case::genes(&[("a", &["e"]), ("b", &["e"]), ("c", &["e"]), ("d", &["e"])]);
    assert!(case.select(&["e"]).reason.iter().all(|line| !line.contains("drift")));
    let mut winners = BTreeSet::new();
    for seed in 0..40 {
        case.drift = Some(seed);
        let selection = case.select(&["e"]);
        assert_eq!(selection, case.select(&["e"]));
        assert_eq!(
            selection.reason[2..],
            ["memory_graph: random_drift:enabled", "random_drift_override: true", "drift_intensity: 0.800"]
        );
        winners.extend(selection.selected);
    }
    assert!(winners.len() > 1);
}

#[test]
fn a_changed_record_does_not_replay() {
    let case = Case::genes(&[("a", &["error"]), ("b", &["error", "log"])]);
    let mut record = case.select(&["log_error"]).to_value();
    record["selected"] = json!("a");
    let changed = Selection::read(&record).unwrap();
    assert_ne!(changed.replay(), changed);
    assert_eq!(Selection::read(&json!({"scores": 7})), None);
}
