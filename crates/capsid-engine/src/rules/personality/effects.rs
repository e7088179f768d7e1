//! The effects of the dials: the length and wording of a prompt, the allowed width of a change, the checks.

use capsid_model::personality::Personality;

/// How much the prompt contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PromptDetail {
    /// The task and its limits.
    Brief,
    /// Also why this gene was chosen.
    Normal,
    /// Also the alternatives and the history.
    Full,
}

/// How the strategy is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Its steps are to be followed exactly.
    Strict,
    /// Its steps are a guide that may be adapted.
    Adaptive,
}

/// A check that a cycle must pass besides the gene's own validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraCheck {
    NoConflictMarkers,
    /// At least one validation command ran.
    SomeValidation,
    /// Validation passes a second time.
    ValidationTwice,
}

impl ExtraCheck {
    /// The check as records name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoConflictMarkers => "no_conflict_markers",
            Self::SomeValidation => "some_validation",
            Self::ValidationTwice => "validation_twice",
        }
    }
}

/// How much the prompt contains, from verbosity.
pub fn prompt_detail(personality: &Personality) -> PromptDetail {
    match personality.verbosity {
        low if low < 0.2 => PromptDetail::Brief,
        middle if middle < 0.7 => PromptDetail::Normal,
        _ => PromptDetail::Full,
    }
}

/// How the strategy is worded, from obedience.
pub fn wording(personality: &Personality) -> Wording {
    if personality.obedience >= 0.6 { Wording::Strict } else { Wording::Adaptive }
}

/// How many files a change should keep to, from risk tolerance: half the gene's limit at 0, all of it from 0.5 on.
pub fn soft_file_limit(personality: &Personality, max_files: u64) -> u64 {
    let share = (0.5 + personality.risk_tolerance).min(1.0);
    ((max_files as f64 * share).ceil() as u64).clamp(1, max_files.max(1))
}

/// The checks that rigor adds.
pub fn required_checks(personality: &Personality) -> Vec<ExtraCheck> {
    [
        (0.6, ExtraCheck::NoConflictMarkers),
        (0.75, ExtraCheck::SomeValidation),
        (0.9, ExtraCheck::ValidationTwice),
    ]
    .into_iter()
    .filter(|(from, _)| personality.rigor >= *from)
    .map(|(_, check)| check)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dial_has_its_effect() {
        let with = |dial: &str, value: f64| {
            let mut state = Personality::default();
            state.set(dial, value);
            state
        };
        assert_eq!(prompt_detail(&with("verbosity", 0.1)), PromptDetail::Brief);
        assert_eq!(prompt_detail(&with("verbosity", 0.25)), PromptDetail::Normal);
        assert_eq!(prompt_detail(&with("verbosity", 0.7)), PromptDetail::Full);
        assert_eq!(wording(&with("obedience", 0.85)), Wording::Strict);
        assert_eq!(wording(&with("obedience", 0.5)), Wording::Adaptive);
        assert_eq!(required_checks(&with("rigor", 0.5)), []);
        assert_eq!(required_checks(&with("rigor", 0.7)), [ExtraCheck::NoConflictMarkers]);
        assert_eq!(required_checks(&with("rigor", 0.9)).len(), 3);
    }

    #[test]
    fn the_soft_limit_never_exceeds_the_genes() {
        let limit = |risk_tolerance, max| {
            soft_file_limit(&Personality { risk_tolerance, ..Personality::default() }, max)
        };
        assert_eq!((limit(0.0, 12), limit(0.4, 12), limit(0.5, 12), limit(1.0, 12)), (6, 11, 12, 12));
        assert_eq!((limit(0.0, 1), limit(1.0, 0), limit(1.0, u64::MAX)), (1, 1, u64::MAX));
    }
}
