//! Strategies: how much of the work goes to repair, to tuning and to new things.

use capsid_model::event::EvolutionEvent;

/// How many recent cycles a share of repairs is taken over, and how few say nothing yet.
const RECENT: usize = 8;
const TOO_FEW: usize = 4;

/// The shares of a strategy, and the share of repairs above which another intent is forced.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Its name, as requested.
    pub name: String,
    pub label: &'static str,
    pub repair: f64,
    pub optimize: f64,
    /// The share of new things.
    pub innovate: f64,
    /// More repairs than this share of the recent past are a loop.
    pub repair_loop_threshold: f64,
}

/// Name, label, repair, optimize, innovate, repair-loop threshold.
type StrategyPreset = (&'static str, &'static str, f64, f64, f64, f64);

const BALANCED: StrategyPreset = ("balanced", "Balanced", 0.20, 0.30, 0.50, 0.50);

const PRESETS: [StrategyPreset; 6] = [
    BALANCED,
    ("innovate", "Innovation Focus", 0.05, 0.15, 0.80, 0.30),
    ("harden", "Hardening", 0.40, 0.40, 0.20, 0.70),
    ("repair-only", "Repair Only", 0.80, 0.20, 0.00, 1.00),
    ("early-stabilize", "Early Stabilization", 0.60, 0.25, 0.15, 0.80),
    ("steady-state", "Steady State", 0.60, 0.30, 0.10, 0.90),
];

/// The names that can be requested.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.0).chain(["auto"])
}

impl Strategy {
    /// The preset of that name; an unknown name gets the balanced numbers.
    pub fn named(name: &str) -> Self {
        let preset = PRESETS.iter().find(|preset| preset.0 == name).unwrap_or(&BALANCED);
        let (_, label, repair, optimize, innovate, repair_loop_threshold) = *preset;
        Self { name: name.to_owned(), label, repair, optimize, innovate, repair_loop_threshold }
    }

    /// Finds the strategy of a cycle: the requested one, or what the age of the store and the signals suggest.
    ///
    /// Cycles count from 1; `force_innovation` is the owner's setting.
    pub fn resolve(requested: Option<&str>, force_innovation: bool, cycle: u64, signals: &[String]) -> Self {
        let requested = requested.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty());
        let has = |name: &str| signals.iter().any(|signal| signal == name);
        match requested.as_deref() {
            None if force_innovation => Self::named("innovate"),
            None | Some("balanced" | "auto") => match cycle {
                1..=5 => Self::named("early-stabilize"),
                _ if has("force_steady_state") || has("evolution_saturation") => Self::named("steady-state"),
                _ => Self::named("balanced"),
            },
            Some(name) => Self::named(name),
        }
    }

    /// Whether repairs took more than their share of the recent past, so that another intent must have its turn.
    ///
    /// A cycle that changed nothing, or that the host, the network or the sandbox broke, took no one's turn.
    pub fn repairs_too_much(&self, oldest_first: &[EvolutionEvent]) -> bool {
        let counted = |event: &&EvolutionEvent| !event.is_empty && !event.is_foreign_failure();
        let recent: Vec<&EvolutionEvent> = oldest_first.iter().rev().filter(counted).take(RECENT).collect();
        let repairs = recent.iter().filter(|event| event.intent == "repair").count();
        recent.len() >= TOO_FEW && repairs as f64 > self.repair_loop_threshold * recent.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;

    fn resolve(requested: Option<&str>, force: bool, cycle: u64, signal: &str) -> String {
        Strategy::resolve(requested, force, cycle, &[signal.to_owned()]).name
    }

    #[test]
    fn shares_sum_to_one() {
        for name in names() {
            let s = Strategy::named(name);
            assert!((s.repair + s.optimize + s.innovate - 1.0).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn a_strategy_is_found_from_wish_age_and_signals() {
        assert_eq!(resolve(None, false, 3, ""), "early-stabilize");
        assert_eq!(resolve(None, false, 6, ""), "balanced");
        assert_eq!(resolve(Some("auto"), false, 6, "evolution_saturation"), "steady-state");
        assert_eq!(resolve(Some("Balanced "), false, 9, "force_steady_state"), "steady-state");
        assert_eq!(resolve(None, true, 3, ""), "innovate");
        assert_eq!(resolve(Some("harden"), true, 3, "evolution_saturation"), "harden");
        let odd = Strategy::resolve(Some("mine"), false, 1, &[]);
        assert_eq!((odd.name.as_str(), odd.innovate), ("mine", 0.5));
    }

    #[test]
    fn the_repair_loop_threshold_is_in_use() {
        let events = |repairs: usize, others: usize| {
            let event =
                |intent: &str| EvolutionEvent { intent: intent.to_owned(), ..EvolutionEvent::default() };
            [vec![event("repair"); repairs], vec![event("optimize"); others]].concat()
        };
        let balanced = Strategy::named("balanced");
        assert!(balanced.repairs_too_much(&events(5, 3)));
        assert!(!balanced.repairs_too_much(&events(4, 4)));
        assert!(!balanced.repairs_too_much(&events(3, 0)), "three events say nothing yet");
        assert!(!balanced.repairs_too_much(&events(50, 8)), "only the recent past counts");
        assert!(!Strategy::named("repair-only").repairs_too_much(&events(8, 0)));
    }

    #[test]
    fn cycles_that_say_nothing_about_repairs_are_not_counted() {
        let repair = EvolutionEvent {
            intent: "repair".to_owned(),
            outcome: EventOutcome::failed(),
            ..EvolutionEvent::default()
        };
        let balanced = Strategy::named("balanced");
        assert!(balanced.repairs_too_much(&vec![repair.clone(); 4]));
        let empty = EvolutionEvent { is_empty: true, ..repair.clone() };
        assert!(!balanced.repairs_too_much(&vec![empty; 8]));
        for class in ["host", "network", "sandbox"] {
            let broken = EvolutionEvent { failure_class: Some(class.to_owned()), ..repair.clone() };
            assert!(!balanced.repairs_too_much(&vec![broken.clone(); 8]), "{class}");
            let mixed = [vec![repair.clone(); 4], vec![broken; 8]].concat();
            assert!(balanced.repairs_too_much(&mixed), "the repairs before {class} failures still count");
        }
    }
}
