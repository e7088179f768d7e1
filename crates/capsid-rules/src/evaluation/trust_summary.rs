//! Why an asset can be trusted, in one line: tested or not, by how many independent owners, when and where.

use crate::evaluation::proof::ProofLevel;
use capsid_model::text_enum;
use capsid_model::time::Time;
use serde::{Deserialize, Serialize};

/// How many environments are named.
const MAX_ENVIRONMENTS: usize = 3;

/// What others showed of an asset, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// The reports that count failed, or as much of them as passed.
    Failed,
    /// No report by another owner counts.
    Untested,
    /// Other owners used it; it has no test that could fail.
    Used,
    /// Its test passed for other owners.
    Tested,
    /// Another owner or the hub's runner reproduced it: the test fails without the change and passes with it.
    Proven,
}

text_enum!(TrustLevel {
    Failed = "failed",
    Untested = "untested",
    Used = "used",
    Tested = "tested",
    Proven = "proven",
});

/// The reports of other owners that count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrustFacts {
    pub validation: ProofLevel,
    /// Weight of the reports that it passed, and of those that it failed.
    pub passes: f64,
    pub fails: f64,
    /// How many independent owners it passed for.
    pub owners_passed: u32,
    /// How many it failed for.
    pub owners_failed: u32,
    /// How many of the first reproduced it. The hub's runner is one.
    pub owners_reproduced: u32,
    /// When the last of these reports came.
    pub last_at: Option<Time>,
    /// Where it passed, such as `linux_x64`.
    pub environments: Vec<String>,
    /// Whether its reports come from a time when less was asked of them.
    pub is_unproven: bool,
}

/// Why an asset can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrustSummary {
    pub level: TrustLevel,
    /// How many independent owners it passed for.
    pub owners: u32,
    /// When the last report came that counts, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = false))]
    pub last_at: Option<String>,
    /// Where it passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub environments: Vec<String>,
    /// One line in words.
    pub text: String,
}

/// Says in one line why an asset can be trusted.
pub fn summarize_trust(facts: &TrustFacts) -> TrustSummary {
    let is_real = facts.validation == ProofLevel::Real;
    let level = if facts.fails > 0.0 && facts.fails >= facts.passes {
        TrustLevel::Failed
    } else if facts.owners_passed == 0 {
        TrustLevel::Untested
    } else if is_real && facts.owners_reproduced > 0 {
        TrustLevel::Proven
    } else if is_real {
        TrustLevel::Tested
    } else {
        TrustLevel::Used
    };
    let mut environments = facts.environments.clone();
    environments.sort_unstable();
    environments.dedup();
    let last_at = facts.last_at.map(|at| at.iso());
    TrustSummary {
        level,
        owners: facts.owners_passed,
        text: text(level, facts, last_at.as_deref(), &environments),
        last_at,
        environments,
    }
}

fn text(level: TrustLevel, facts: &TrustFacts, last_at: Option<&str>, environments: &[String]) -> String {
    let test = match facts.validation {
        ProofLevel::Real => "",
        ProofLevel::Weak => " Its test passes where there is nothing to run.",
        ProofLevel::Vacuous => " Its test proves nothing.",
        ProofLevel::Absent => " It has no test.",
    };
    let day = last_at.and_then(|at| at.get(..10));
    let when = day.map(|day| format!(", last on {day}")).unwrap_or_default();
    let named = environments.iter().take(MAX_ENVIRONMENTS).map(String::as_str).collect::<Vec<_>>();
    let wheres = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    let owners = |count: u32| match count {
        1 => "1 independent owner".to_owned(),
        count => format!("{count} independent owners"),
    };
    let line = match level {
        TrustLevel::Failed => {
            format!("Failed for {}{when}; passed for {}.", owners(facts.owners_failed), facts.owners_passed)
        }
        TrustLevel::Untested => "Not tested by anyone else.".to_owned(),
        TrustLevel::Used => format!("Used by {}{when}{wheres}.", owners(facts.owners_passed)),
        TrustLevel::Tested => format!("Tested by {}{when}{wheres}.", owners(facts.owners_passed)),
        TrustLevel::Proven => format!(
            "Proven: reproduced by {}, passed for {}{when}{wheres}.",
            owners(facts.owners_reproduced),
            facts.owners_passed
        ),
    };
    let unproven = if facts.is_unproven { " Its reports are from before the hub graded them." } else { "" };
    format!("{line}{test}{unproven}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(validation: ProofLevel, owners: u32) -> TrustFacts {
        TrustFacts {
            validation,
            passes: f64::from(owners),
            owners_passed: owners,
            last_at: Some(Time(1_763_424_000_000)),
            environments: vec!["linux_x64".to_owned(), "darwin_arm64".to_owned(), "linux_x64".to_owned()],
            ..TrustFacts::default()
        }
    }

    #[test]
    fn one_line_says_tested_or_not_by_whom_when_and_where() {
        let line = |facts: &TrustFacts| summarize_trust(facts).text;
        let untested = TrustFacts { validation: ProofLevel::Real, ..TrustFacts::default() };
        assert_eq!(line(&untested), "Not tested by anyone else.");
        assert_eq!(line(&TrustFacts::default()), "Not tested by anyone else. It has no test.");
        let real = passed(ProofLevel::Real, 2);
        assert_eq!(
            line(&real),
            "Tested by 2 independent owners, last on 2025-11-18 (darwin_arm64, linux_x64)."
        );
        let proven = TrustFacts { owners_reproduced: 1, ..real.clone() };
        assert_eq!(
            line(&proven),
            "Proven: reproduced by 1 independent owner, passed for 2, last on 2025-11-18 (darwin_arm64, linux_x64)."
        );
        let failed = TrustFacts { fails: 3.0, owners_failed: 3, ..real };
        assert_eq!(line(&failed), "Failed for 3 independent owners, last on 2025-11-18; passed for 2.");
    }

    #[test]
    fn what_has_no_test_that_could_fail_is_used_and_never_proven() {
        for validation in [ProofLevel::Absent, ProofLevel::Vacuous, ProofLevel::Weak] {
            let facts = TrustFacts { owners_reproduced: 2, ..passed(validation, 3) };
            assert_eq!(summarize_trust(&facts).level, TrustLevel::Used);
        }
    }
}
