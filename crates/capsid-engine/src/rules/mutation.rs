//! The rules of a Mutation: what a cycle means to change, and how much it may risk.

use crate::rules::strategy::Strategy;
use capsid_model::event::EvolutionEvent;
use capsid_model::mutation::Mutation;
use capsid_model::personality::Personality;
use capsid_model::text::trim;

/// Signals that invite something new, bare or with a snippet after a colon.
const OPPORTUNITIES: [&str; 9] = [
    "user_feature_request",
    "user_improvement_suggestion",
    "perf_bottleneck",
    "capability_gap",
    "stable_success_plateau",
    "external_opportunity",
    "issue_already_resolved",
    "openclaw_self_healed",
    "empty_cycle_loop_detected",
];

/// Everything a mutation depends on.
#[derive(Debug, Clone, Copy)]
pub struct MutationInput<'a> {
    pub id: &'a str,
    pub signals: &'a [String],
    pub gene_id: Option<&'a str>,
    pub personality: &'a Personality,
    /// Whether results of this personality are on record.
    pub personality_known: bool,
    pub strategy: &'a Strategy,
    pub recent: &'a [EvolutionEvent],
    /// Whether drift was requested.
    pub drift: bool,
}

/// Builds the mutation of a cycle, made safe for the personality that carries it out.
pub fn build(input: MutationInput<'_>) -> Mutation {
    let forced = input.signals.iter().any(|signal| signal.starts_with("force_innovation"));
    let pressed = !input.drift && innovation_pressure(input.personality, input.recent);
    let category = category(&input, forced, pressed);
    let mut triggers = distinct(input.signals);
    if pressed {
        push_new(&mut triggers, "stable_success_plateau");
    }
    if forced {
        push_new(&mut triggers, "force_innovation");
    }
    let mutation = Mutation {
        id: input.id.to_owned(),
        category: category.to_owned(),
        trigger_signals: triggers,
        target: input.gene_id.map_or_else(|| "behavior:protocol".to_owned(), |gene| format!("gene:{gene}")),
        expected_effect: expected_effect(category).to_owned(),
        risk_level: risk_of(category, may_offer_high_risk(&input)).to_owned(),
        rationale: None,
    };
    downgrade_risky(mutation, input.personality)
}

/// What the cycle is for; the first rule that applies decides. A forced innovation outranks even errors.
fn category(input: &MutationInput<'_>, forced: bool, pressed: bool) -> &'static str {
    if forced {
        return "innovate";
    }
    // An error that is still there is repaired, however many repairs there were.
    if is_errorish(input.signals) {
        return "repair";
    }
    if input.drift || pressed || has_opportunity(input.signals) || input.strategy.innovate >= 0.5 {
        return "innovate";
    }
    "optimize"
}

/// Whether the signals show an error that is still there.
pub fn is_errorish(signals: &[String]) -> bool {
    let has = |test: fn(&str) -> bool| signals.iter().any(|signal| test(signal));
    has(|s| s == "log_error" || s.starts_with("errsig:") || s.starts_with("errsig_norm:"))
        && !has(|s| matches!(s, "issue_already_resolved" | "openclaw_self_healed"))
}

/// Whether a signal invites something new.
pub fn has_opportunity(signals: &[String]) -> bool {
    signals.iter().any(|signal| {
        let name = signal.split_once(':').map_or(signal.as_str(), |(name, _)| name);
        OPPORTUNITIES.contains(&name)
    })
}

/// Whether a creative personality has had it too easy: six successes in a row, with good scores.
pub fn innovation_pressure(personality: &Personality, oldest_first: &[EvolutionEvent]) -> bool {
    let Some(last) = oldest_first.len().checked_sub(6).map(|start| &oldest_first[start..]) else {
        return false;
    };
    let mean = last.iter().map(|event| event.outcome.score).sum::<f64>() / 6.0;
    personality.creativity >= 0.75 && last.iter().all(|event| event.outcome.is_success()) && mean >= 0.7
}

/// Whether this personality may carry out a change of high risk.
pub fn may_take_high_risk(personality: &Personality) -> bool {
    personality.rigor >= 0.6 && personality.risk_tolerance <= 0.5
}

/// Whether this personality is itself a risk.
pub fn is_high_risk_personality(personality: &Personality) -> bool {
    personality.rigor < 0.5 || personality.risk_tolerance > 0.6
}

fn may_offer_high_risk(input: &MutationInput<'_>) -> bool {
    let personality = input.personality;
    input.drift
        && input.personality_known
        && personality.rigor >= 0.8
        && personality.risk_tolerance <= 0.3
        && !input.signals.iter().any(|signal| signal == "log_error")
}

fn risk_of(category: &str, may_be_high: bool) -> &'static str {
    match category {
        "innovate" if may_be_high => "high",
        "innovate" | "explore" => "medium",
        _ => "low",
    }
}

/// Lowers what a personality must not do.
pub fn downgrade_risky(mut mutation: Mutation, personality: &Personality) -> Mutation {
    if mutation.category == "innovate" && is_high_risk_personality(personality) {
        mutation.category = "optimize".to_owned();
        mutation.risk_level = "low".to_owned();
        mutation.expected_effect = "keep to safe, small gains until the personality is steadier".to_owned();
        push_new(&mut mutation.trigger_signals, "safety:avoid_innovate_with_high_risk_personality");
    }
    if mutation.risk_level == "high" && !may_take_high_risk(personality) {
        mutation.risk_level = "medium".to_owned();
        push_new(&mut mutation.trigger_signals, "safety:downgrade_high_risk");
    }
    mutation
}

/// The protocol's own words, so that records of all engines read alike.
fn expected_effect(category: &str) -> &'static str {
    match category {
        "repair" => "reduce runtime errors, increase stability, and lower failure rate",
        "optimize" => "improve success rate and reduce repeated operational cost",
        "innovate" => "explore new strategy combinations to escape local optimum",
        _ => "improve robustness and success probability",
    }
}

fn distinct(signals: &[String]) -> Vec<String> {
    let mut list = Vec::new();
    for signal in signals.iter().map(|signal| trim(signal)).filter(|signal| !signal.is_empty()) {
        push_new(&mut list, signal);
    }
    list
}

fn push_new(list: &mut Vec<String>, signal: &str) {
    if !list.iter().any(|known| known == signal) {
        list.push(signal.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;

    struct Case {
        personality: Personality,
        known: bool,
        strategy: &'static str,
        recent: Vec<EvolutionEvent>,
        drift: bool,
    }

    impl Default for Case {
        fn default() -> Self {
            let personality = Personality::default();
            Self { personality, known: true, strategy: "harden", recent: Vec::new(), drift: false }
        }
    }

    impl Case {
        fn build(&self, signals: &[&str]) -> Mutation {
            let signals: Vec<String> = signals.iter().map(|s| (*s).to_owned()).collect();
            build(MutationInput {
                id: "mut_1",
                signals: &signals,
                gene_id: Some("g"),
                personality: &self.personality,
                personality_known: self.known,
                strategy: &Strategy::named(self.strategy),
                recent: &self.recent,
                drift: self.drift,
            })
        }

        fn category(&self, signals: &[&str]) -> String {
            self.build(signals).category
        }
    }

    fn event(intent: &str, outcome: EventOutcome) -> EvolutionEvent {
        EvolutionEvent { intent: intent.to_owned(), outcome, ..EvolutionEvent::default() }
    }

    #[test]
    fn the_first_rule_that_applies_decides_the_category() {
        let case = Case::default();
        assert_eq!(case.category(&["log_error", "perf_bottleneck"]), "repair");
        assert_eq!(case.category(&["errsig_norm:1"]), "repair");
        assert_eq!(case.category(&["log_error", "issue_already_resolved"]), "innovate");
        assert_eq!(case.category(&["user_feature_request:dark mode"]), "innovate");
        assert_eq!(case.category(&["perf_bottlenecks"]), "optimize");
        assert_eq!(Case { strategy: "balanced", ..Case::default() }.category(&["x"]), "innovate");
        assert_eq!(Case { drift: true, ..Case::default() }.category(&["x"]), "innovate");
    }

    #[test]
    fn forced_innovation_forces_even_with_errors() {
        let mutation = Case::default().build(&["log_error", "force_innovation_after_repair_loop"]);
        assert_eq!((mutation.category.as_str(), mutation.risk_level.as_str()), ("innovate", "medium"));
        assert!(mutation.trigger_signals.contains(&"force_innovation".to_owned()));
    }

    #[test]
    fn an_error_is_repaired_however_many_repairs_there_were() {
        let recent = vec![event("repair", EventOutcome::failed()); 8];
        for strategy in ["balanced", "innovate", "repair-only"] {
            let case = Case { recent: recent.clone(), strategy, ..Case::default() };
            assert_eq!(case.category(&["log_error"]), "repair");
        }
    }

    #[test]
    fn a_mutation_names_its_target_and_its_signals_once() {
        let mutation = Case::default().build(&[" log_error ", "log_error", " "]);
        assert_eq!(mutation.trigger_signals, ["log_error"]);
        assert_eq!((mutation.target.as_str(), mutation.risk_level.as_str()), ("gene:g", "low"));
        let value = capsid_model::Value::Object(mutation.to_object());
        assert_eq!(Mutation::read_strict(&value), Some(mutation));
    }

    #[test]
    fn the_expected_effect_is_in_the_protocols_words() {
        let case = Case::default();
        let effect = |signal| case.build(&[signal]).expected_effect;
        assert_eq!(effect("log_error"), "reduce runtime errors, increase stability, and lower failure rate");
        assert_eq!(effect("x"), "improve success rate and reduce repeated operational cost");
        assert_eq!(effect("capability_gap"), "explore new strategy combinations to escape local optimum");
        assert_eq!(expected_effect("explore"), "improve robustness and success probability");
    }

    #[test]
    fn a_risky_personality_does_not_innovate() {
        for (rigor, risk_tolerance) in [(0.49, 0.4), (0.7, 0.61)] {
            let personality = Personality { rigor, risk_tolerance, ..Personality::default() };
            let mutation = Case { personality, ..Case::default() }.build(&["capability_gap"]);
            assert_eq!((mutation.category.as_str(), mutation.risk_level.as_str()), ("optimize", "low"));
            assert_eq!(mutation.trigger_signals[1], "safety:avoid_innovate_with_high_risk_personality");
        }
    }

    #[test]
    fn high_risk_needs_drift_and_a_careful_known_personality() {
        let careful = Personality { rigor: 0.8, risk_tolerance: 0.3, ..Personality::default() };
        let case = Case { personality: careful, drift: true, ..Case::default() };
        assert_eq!(case.build(&["x"]).risk_level, "high");
        assert_eq!(Case { known: false, ..case }.build(&["x"]).risk_level, "medium");
        let mut mutation = Case { personality: careful, drift: true, ..Case::default() }.build(&["x"]);
        let loose = Personality { rigor: 0.59, ..Personality::default() };
        mutation = downgrade_risky(mutation, &loose);
        assert_eq!(mutation.risk_level, "medium");
        assert!(mutation.trigger_signals.contains(&"safety:downgrade_high_risk".to_owned()));
    }

    #[test]
    fn six_easy_successes_press_a_creative_personality() {
        let creative = Personality { creativity: 0.75, ..Personality::default() };
        let recent = vec![event("optimize", EventOutcome::success()); 6];
        assert!(innovation_pressure(&creative, &recent));
        assert!(!innovation_pressure(&creative, &recent[1..]));
        assert!(!innovation_pressure(&Personality::default(), &recent));
        let weak = EventOutcome { score: 0.69, ..EventOutcome::success() };
        assert!(!innovation_pressure(&creative, &vec![event("optimize", weak); 6]));
        let mutation = Case { personality: creative, recent, ..Case::default() }.build(&["x"]);
        assert_eq!(mutation.trigger_signals, ["x", "stable_success_plateau"]);
        assert_eq!(mutation.category, "innovate");
    }
}
