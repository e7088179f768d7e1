//! Which genes may not be chosen now, and by what. Bans hold for a pool of any size.

use super::pattern::SignalSet;
use capsid_model::signal::{banned_genes, normalise_errsig};
use capsid_model::{Object, Value};
use capsid_rules::memory::advice::Advice;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// How many of the newest failed capsules are looked at.
const LOOKED_AT: usize = 50;

/// A gene that may not be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneBan {
    pub gene: String,
    /// `memory`, `failed_capsules` or `signal`.
    pub by: String,
}

/// What a ban needs of a failed capsule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedCapsule {
    /// The gene that was tried.
    pub gene: String,
    /// The signals that it was tried on.
    pub trigger: Vec<String>,
    /// The class of failure, if recorded.
    pub failure_class: Option<String>,
    /// Whether nothing was changed, so that nothing was tried.
    pub is_empty: bool,
}

impl FailedCapsule {
    /// Reads a document, permissively.
    pub fn read(document: &Object) -> Self {
        let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let trigger = document.get("trigger").and_then(Value::as_array);
        Self {
            gene: text("gene").unwrap_or_default(),
            trigger: trigger.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            failure_class: text("failure_class"),
            is_empty: document.get("blast_radius").and_then(|blast| blast.get("files"))
                == Some(&Value::from(0)),
        }
    }

    /// Whether the failure was the gene's own, not the host's, the network's or the sandbox's, nor that of an agent which
    /// did nothing.
    fn is_charged(&self) -> bool {
        !self.is_empty && !matches!(self.failure_class.as_deref(), Some("host" | "network" | "sandbox"))
    }
}

/// All bans in force, each gene once, in the order memory, failed capsules, signals.
pub fn bans(
    signals: &[String],
    current: &SignalSet<'_>,
    advice: &Advice,
    failed: &[FailedCapsule],
) -> Vec<GeneBan> {
    let mut seen = HashSet::new();
    let by_memory = advice.banned.iter().map(|gene| (gene.as_str(), "memory"));
    let by_failures = failing_genes(current, failed);
    let by_failures = by_failures.iter().map(|gene| (*gene, "failed_capsules"));
    let by_signal = banned_genes(signals).map(|gene| (gene, "signal"));
    by_memory
        .chain(by_failures)
        .chain(by_signal)
        .filter(|(gene, _)| !gene.is_empty() && seen.insert(*gene))
        .map(|(gene, by)| GeneBan { gene: gene.to_owned(), by: by.to_owned() })
        .collect()
}

/// Genes with at least two charged failures on much the same signals.
fn failing_genes<'a>(current: &SignalSet<'_>, failed: &'a [FailedCapsule]) -> Vec<&'a str> {
    let mut failures: BTreeMap<&str, u32> = BTreeMap::new();
    let newest = &failed[failed.len().saturating_sub(LOOKED_AT)..];
    for capsule in newest.iter().filter(|capsule| capsule.is_charged()) {
        if overlap(current, &capsule.trigger) >= 0.6 && !is_about_other_error(current, &capsule.trigger) {
            *failures.entry(&capsule.gene).or_default() += 1;
        }
    }
    failures.into_iter().filter(|(_, count)| *count >= 2).map(|(gene, _)| gene).collect()
}

/// Whether there is an error now and the trigger names another one: a gene that fails on one problem may solve the next.
fn is_about_other_error(current: &SignalSet<'_>, trigger: &[String]) -> bool {
    let errors: HashSet<String> = current.raw.iter().filter_map(|signal| normalise_errsig(signal)).collect();
    let mut known = trigger.iter().filter_map(|signal| normalise_errsig(signal)).peekable();
    !errors.is_empty() && known.peek().is_some() && !known.any(|norm| errors.contains(&norm))
}

/// The share of the current signals that a trigger names, by the same text or the same normalised error.
fn overlap(current: &SignalSet<'_>, trigger: &[String]) -> f64 {
    let names: HashSet<String> = trigger
        .iter()
        .flat_map(|name| [Some(name.to_lowercase()), normalise_errsig(name)])
        .flatten()
        .collect();
    let repeats = current
        .raw
        .iter()
        .zip(&current.lower)
        .filter(|(raw, lower)| {
            names.contains(*lower) || normalise_errsig(raw).is_some_and(|norm| names.contains(&norm))
        })
        .count();
    repeats as f64 / current.raw.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(class: Option<&str>, trigger: &[&str]) -> FailedCapsule {
        FailedCapsule {
            gene: "g".to_owned(),
            trigger: trigger.iter().map(|s| (*s).to_owned()).collect(),
            failure_class: class.map(str::to_owned),
            is_empty: false,
        }
    }

    fn banned(failed: &[FailedCapsule]) -> bool {
        let current = SignalSet::new(vec!["log_error", "errsig:boom at /a/b:1", "slow"]);
        !bans(&[], &current, &Advice::default(), failed).is_empty()
    }

    #[test]
    fn two_failures_on_much_the_same_signals_ban_a_gene() {
        let near = failed(Some("gene"), &["LOG_ERROR", "errsig:boom at /c/d:77"]);
        let far = failed(None, &["log_error"]);
        assert!(banned(&[near.clone(), near.clone()]));
        assert!(!banned(&[near.clone(), far]));
        assert!(!banned(std::slice::from_ref(&near)));
        let old: Vec<_> = [vec![near; 2], vec![failed(None, &[]); 49]].concat();
        assert!(!banned(&old), "only the newest 50 count");
    }

    #[test]
    fn failures_on_one_problem_ban_no_gene_for_another() {
        let other = failed(Some("gene"), &["log_error", "errsig:bang", "slow"]);
        assert!(!banned(&[other.clone(), other]));
    }

    #[test]
    fn failures_of_host_network_and_sandbox_are_not_charged() {
        for class in ["host", "network", "sandbox"] {
            let foreign = failed(Some(class), &["log_error", "slow"]);
            assert!(!banned(&[foreign.clone(), foreign]));
        }
    }

    #[test]
    fn an_agent_that_changes_nothing_charges_no_gene() {
        let idle = FailedCapsule { is_empty: true, ..failed(None, &["log_error", "slow"]) };
        assert!(!banned(&[idle.clone(), idle]));
        let document = serde_json::from_str(r#"{"gene":"g","blast_radius":{"files":0,"lines":0}}"#);
        assert!(FailedCapsule::read(&document.unwrap()).is_empty);
    }

    #[test]
    fn a_document_of_odd_shapes_reads_as_far_as_it_goes() {
        let document = serde_json::from_str(r#"{"gene":1,"trigger":["a",2],"failure_class":"host"}"#);
        let capsule = FailedCapsule::read(&document.unwrap());
        assert_eq!(capsule.trigger, ["a"]);
        assert!(!capsule.is_charged());
    }
}
