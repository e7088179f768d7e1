//! The score of a capsule: how much of its trigger is seen now, and how well it did before.

use super::pattern::{MatchPattern, SignalSet};
use capsid_model::capsule::Capsule;
use capsid_model::env::is_compatible;
use capsid_model::signal::{banned_genes, matchable, normalise_errsig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A capsule with every part of its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredCapsule {
    pub id: String,
    /// The gene that it came from.
    pub gene: String,
    /// How many trigger entries hit.
    pub matched: u32,
    /// Of how many that were looked at.
    pub considered: u32,
    pub confidence: f64,
    pub streak: u64,
    /// What its gene scores on its own; 0 when the gene does not match.
    #[serde(default)]
    pub gene_score: f64,
    pub score: f64,
}

impl ScoredCapsule {
    /// The score, computed from the parts.
    ///
    /// It starts from what its gene scores, if that is more: a gene with many patterns would otherwise always outscore
    /// the very solution that it led to.
    pub fn from_parts(&self) -> f64 {
        let matched = f64::from(self.matched);
        let share = matched / f64::from(self.considered.max(1));
        matched.max(self.gene_score) * share * (1.0 + self.confidence * self.streak.clamp(1, 5) as f64)
    }
}

/// A capsule that fits the signals but was proven on another platform, or is not what its id says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedCapsule {
    pub id: String,
    pub platform: String,
    /// Whether its content id does not verify.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unverified: bool,
}

impl SkippedCapsule {
    /// Why it is skipped, in words.
    pub fn reason(&self) -> String {
        match self.is_unverified {
            true => "its id does not verify".to_owned(),
            false => format!("proven on {}, not here", self.platform),
        }
    }
}

/// The best capsule, the first of equals, and those that only another platform rules out. One without an id is passed
/// over, because it could not be found again.
pub(super) fn best(
    capsules: &[Capsule],
    signals: &SignalSet<'_>,
    banned: &BTreeSet<&str>,
    platform: &str,
) -> (Option<ScoredCapsule>, Vec<SkippedCapsule>) {
    let errors = error_names(signals);
    let mut best: Option<ScoredCapsule> = None;
    let mut skipped = Vec::new();
    for capsule in capsules {
        if capsule.id.is_empty() || !capsule.outcome.is_success() || banned.contains(capsule.gene.as_str()) {
            continue;
        }
        let Some(scored) = scored(capsule, signals, &errors) else {
            continue;
        };
        if !is_compatible(&capsule.env_fingerprint, platform) {
            let platform = capsule.env_fingerprint["platform"].as_str().unwrap_or_default();
            let platform = platform.to_owned();
            skipped.push(SkippedCapsule { id: scored.id, platform, is_unverified: false });
        } else if best.as_ref().is_none_or(|best| scored.score > best.score) {
            best = Some(scored);
        }
    }
    (best, skipped)
}

/// Every success that answers the signals on this platform, best first; of equals the earlier one. Each with its place
/// in the list.
pub fn answering(capsules: &[Capsule], signals: &[String], platform: &str) -> Vec<(usize, ScoredCapsule)> {
    let banned: BTreeSet<&str> = banned_genes(signals).collect();
    let signals = SignalSet::new(matchable(signals));
    let errors = error_names(&signals);
    let fitting = capsules.iter().enumerate().filter(|(_, capsule)| may_answer(capsule, &banned, platform));
    let mut hits: Vec<(usize, ScoredCapsule)> =
        fitting.filter_map(|(at, capsule)| Some((at, scored(capsule, &signals, &errors)?))).collect();
    hits.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
    hits
}

/// Whether a capsule is a success that can be found again, of a gene that may be used, proven on a platform like this.
pub fn may_answer(capsule: &Capsule, banned: &BTreeSet<&str>, platform: &str) -> bool {
    !capsule.id.is_empty()
        && capsule.outcome.is_success()
        && !banned.contains(capsule.gene.as_str())
        && is_compatible(&capsule.env_fingerprint, platform)
}

/// The short names of the errors in the signals; a name may also be given as it is.
fn error_names(signals: &SignalSet<'_>) -> BTreeSet<String> {
    let short = |signal: &&str| signal.starts_with("errsig_norm:").then(|| (*signal).to_owned());
    signals.raw.iter().filter_map(|signal| normalise_errsig(signal).or_else(|| short(signal))).collect()
}

/// Scores a capsule; nothing when less than half of its trigger hits and none of it is this very error, or when it
/// answered another error.
fn scored(capsule: &Capsule, signals: &SignalSet<'_>, errors: &BTreeSet<String>) -> Option<ScoredCapsule> {
    let considered = matchable(&capsule.trigger);
    let matched = considered.iter().filter(|entry| entry_hits(entry, signals, errors)).count();
    let is_same_error = considered.iter().any(|entry| {
        errors.contains(*entry) || normalise_errsig(entry).is_some_and(|norm| errors.contains(&norm))
    });
    let hits_enough = is_same_error || (matched > 0 && matched * 2 >= considered.len());
    if !hits_enough || matches_other_error(&considered, signals, errors) {
        return None;
    }
    let mut scored = ScoredCapsule {
        id: capsule.id.clone(),
        gene: capsule.gene.clone(),
        matched: matched as u32,
        considered: considered.len() as u32,
        confidence: capsule.confidence,
        streak: capsule.success_streak,
        gene_score: 0.0,
        score: 0.0,
    };
    scored.score = scored.from_parts();
    Some(scored)
}

/// Whether there is an error now, and the capsule was made for errors of which none is it.
fn matches_other_error(considered: &[&str], signals: &SignalSet<'_>, errors: &BTreeSet<String>) -> bool {
    let mut known = considered.iter().filter(|entry| entry.starts_with("errsig")).peekable();
    !errors.is_empty() && known.peek().is_some() && !known.any(|entry| entry_hits(entry, signals, errors))
}

/// Whether a trigger entry hits. An error signature is text, never an alias; it hits what contains it, or what is the
/// same error once paths and numbers are left out.
fn entry_hits(entry: &str, signals: &SignalSet<'_>, errors: &BTreeSet<String>) -> bool {
    match normalise_errsig(entry) {
        Some(norm) => errors.contains(&norm) || MatchPattern::Words(vec![entry.to_lowercase()]).hits(signals),
        None => errors.contains(entry) || MatchPattern::parse(entry).hits(signals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;
    use capsid_model::json;

    fn capsule(id: &str, trigger: &[&str]) -> Capsule {
        Capsule {
            id: id.to_owned(),
            gene: "g".to_owned(),
            trigger: trigger.iter().map(|s| (*s).to_owned()).collect(),
            confidence: 0.8,
            success_streak: 1,
            outcome: EventOutcome::success(),
            ..Capsule::default()
        }
    }

    fn pick(capsules: &[Capsule], signals: &[&str]) -> (Option<ScoredCapsule>, Vec<SkippedCapsule>) {
        best(capsules, &SignalSet::new(signals.to_vec()), &BTreeSet::new(), "linux")
    }

    #[test]
    fn the_score_is_matches_times_share_times_confidence_and_streak() {
        let mut twice = capsule("c", &["log_error", "timeout"]);
        twice.success_streak = 9;
        let score = |capsule: &Capsule, signals: &[&str]| {
            pick(std::slice::from_ref(capsule), signals).0.map(|best| best.score)
        };
        assert_eq!(score(&twice, &["log_error", "timeout"]), Some(2.0 * (1.0 + 0.8 * 5.0)));
        assert_eq!(score(&twice, &["log_error"]), Some(0.5 * (1.0 + 0.8 * 5.0)));
        let fresh = Capsule { success_streak: 0, ..capsule("c", &["log_error"]) };
        assert_eq!(score(&fresh, &["log_error"]), Some(1.8));
        assert_eq!(score(&capsule("c", &["a", "b", "c"]), &["a"]), None, "less than half");
        assert_eq!(score(&capsule("c", &[]), &["a"]), None);
    }

    #[test]
    fn the_same_error_matches_whatever_its_paths_and_numbers() {
        let old = capsule("c", &["errsig:Error: boom at /a/b.js:10 | retry"]);
        assert!(pick(std::slice::from_ref(&old), &["errsig:Error: boom at /x.js:99 | retry"]).0.is_some());
        assert!(pick(&[old], &["errsig:retry"]).0.is_none(), "not an alias");
        let full = capsule("c", &["log_error", "errsig:Error: boom at /a/b.js:10", "exception"]);
        assert!(pick(&[full], &["errsig_norm:a7f34f18"]).0.is_some(), "an errsig_norm given as a signal");
        let named = capsule("c", &["errsig_norm:a7f34f18"]);
        assert!(pick(&[named], &["errsig:Error: boom at /a/b.js:10"]).0.is_some());
    }

    #[test]
    fn a_solution_that_fits_whole_outscores_the_gene_it_came_from() {
        let best = pick(&[capsule("c", &["log_error"])], &["log_error"]).0.unwrap();
        for gene_score in [0.5, 1.0, 6.0, 40.0] {
            let scored = ScoredCapsule { gene_score, ..best.clone() };
            assert!(scored.from_parts() > gene_score, "{gene_score}");
        }
    }

    #[test]
    fn a_capsule_for_one_error_does_not_answer_another() {
        let old = capsule("c", &["log_error", "errsig:Error: disk full"]);
        let pick = |signals: &[&str]| pick(std::slice::from_ref(&old), signals).0;
        assert!(pick(&["log_error", "errsig:Error: disk full"]).is_some());
        assert!(pick(&["log_error", "errsig:Error: out of ink"]).is_none());
        assert!(pick(&["log_error"]).is_some(), "an error without a name may be this one");
    }

    #[test]
    fn cosmetic_triggers_count_only_when_alone() {
        let mixed = capsule("c", &["log_error", "user_missing"]);
        let best = pick(std::slice::from_ref(&mixed), &["log_error"]).0.unwrap();
        assert_eq!((best.matched, best.considered), (1, 1));
        assert!(pick(&[capsule("c", &["user_missing"])], &["user_missing"]).0.is_some());
    }

    #[test]
    fn a_capsule_without_an_id_is_passed_over() {
        let picked = pick(&[capsule("", &["a"]), capsule("second", &["a"])], &["a"]).0;
        assert_eq!(picked.unwrap().id, "second");
        let foreign = Capsule { env_fingerprint: json!({"platform": "win32"}), ..capsule("", &["a"]) };
        assert_eq!(pick(&[foreign], &["a"]), (None, Vec::new()));
    }

    #[test]
    fn another_platform_and_a_failed_outcome_rule_a_capsule_out() {
        let mut foreign = capsule("foreign", &["a"]);
        foreign.env_fingerprint = json!({"platform": "win32"});
        let mut failed = capsule("failed", &["a"]);
        failed.outcome = EventOutcome::failed();
        let (best, skipped) =
            pick(&[foreign, failed, capsule("first", &["a"]), capsule("second", &["a"])], &["a"]);
        assert_eq!(best.unwrap().id, "first");
        assert_eq!(
            skipped,
            [SkippedCapsule { id: "foreign".into(), platform: "win32".into(), is_unverified: false }]
        );
    }
}
