//! Which models may do a task.

/// The tier of a model that the hub has not ranked.
pub const UNRANKED: i64 = 0;

/// What a task asks of the model that does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelRequirement<'a> {
    pub min_tier: Option<i64>,
    /// These models may do it, whatever their tier.
    pub allowed: &'a [String],
}

/// The tier of a model. Names are compared without regard to case.
pub fn tier(model: &str, tiers: &[(String, i64)]) -> i64 {
    tiers.iter().find(|(name, _)| same(name, model)).map_or(UNRANKED, |(_, tier)| *tier)
}

/// Whether a model is good enough. A node that did not say what it runs on counts as one that nobody ranked.
pub fn is_enough(model: Option<&str>, demand: ModelRequirement<'_>, tiers: &[(String, i64)]) -> bool {
    if model.is_some_and(|model| demand.allowed.iter().any(|allowed| same(allowed, model))) {
        return true;
    }
    match demand.min_tier {
        Some(least) => model.map_or(UNRANKED, |model| tier(model, tiers)) >= least,
        None => demand.allowed.is_empty(),
    }
}

fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enough(model: Option<&str>, min_tier: Option<i64>, allowed: &[&str]) -> bool {
        let tiers = [("large".to_owned(), 4), ("Small".to_owned(), 1)];
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        is_enough(model, ModelRequirement { min_tier, allowed: &allowed }, &tiers)
    }

    #[test]
    fn a_task_that_asks_for_nothing_is_for_everybody() {
        assert!(enough(None, None, &[]) && enough(Some("x"), None, &[]) && enough(None, Some(0), &[]));
    }

    #[test]
    fn a_tier_is_the_least() {
        assert!(enough(Some("large"), Some(4), &[]) && enough(Some(" LARGE "), Some(2), &[]));
        assert!(!enough(Some("small"), Some(2), &[]));
        assert!(!enough(Some("unheard-of"), Some(1), &[]) && !enough(None, Some(1), &[]));
    }

    #[test]
    fn a_named_model_may_whatever_its_tier() {
        assert!(enough(Some("small"), Some(4), &["Small", "other"]));
        assert!(enough(Some("other"), None, &["other"]));
        assert!(!enough(Some("large"), None, &["other"]) && !enough(None, None, &["other"]));
        assert!(enough(Some("large"), Some(4), &["other"]));
    }
}
