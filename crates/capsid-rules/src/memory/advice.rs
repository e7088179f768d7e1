//! What the memory graph advises for a set of signals: which gene to prefer, and which to leave alone.

use super::graph::{GeneTally, GraphStats, signal_set};
use capsid_model::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// After how many days an outcome on the same signals counts half.
pub const EDGE_HALF_LIFE: f64 = 30.0;
/// After how many days an outcome on any signals counts half.
pub const GENE_HALF_LIFE: f64 = 45.0;
/// From here on, two sets of signals are one situation.
const SIMILAR: f64 = 0.34;

/// The graph's advice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// The tried gene with the highest value; the first on ties.
    pub preferred: Option<String>,
    pub banned: Vec<String>,
    /// What is known of each gene that was tried. An untried one is absent.
    pub genes: BTreeMap<String, GeneAdvice>,
}

/// What is known of one gene.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GeneAdvice {
    /// Its best value on signals like these.
    pub best: f64,
    /// The most attempts on one such set of signals.
    pub attempts: u64,
    /// Its value over all signals.
    pub prior: f64,
    /// Its attempts over all signals.
    pub prior_attempts: u64,
    /// Its successes over all signals.
    pub successes: u64,
    pub combined: f64,
    /// Whether it went well on signals like these at least as often as not.
    pub proven: bool,
}

impl Advice {
    /// What memory adds to a gene's score, as a share. Only a success earns it.
    pub fn boost(&self, gene: &str) -> f64 {
        let known = self.genes.get(gene).filter(|gene| gene.successes > 0);
        known.map_or(0.0, |gene| gene.combined)
    }
}

/// Weighs the genes of a pool by what became of them. Only genes in the graph cost anything.
pub fn advise<'a>(
    graph: &GraphStats,
    signals: &[String],
    genes: impl Iterator<Item = &'a str>,
    now: Time,
) -> Advice {
    let here = signal_set(signals);
    let mut known: HashMap<&str, GeneAdvice> =
        graph.genes.iter().map(|(gene, tally)| (gene.as_str(), gene_advice(tally, now))).collect();
    for ((_, gene), edge) in &graph.edges {
        let alike = jaccard(&here, &edge.signals);
        if alike < SIMILAR {
            continue;
        }
        let advice = known.entry(gene).or_default();
        advice.best = advice.best.max(edge.tally.value(EDGE_HALF_LIFE, now) * alike);
        advice.attempts = advice.attempts.max(edge.tally.attempts());
        advice.proven |= edge.tally.success >= edge.tally.fail;
    }
    let mut advice = Advice::default();
    let mut highest = 0.0;
    for gene in genes {
        if known.is_empty() {
            break;
        }
        let Some(mut found) = known.remove(gene) else {
            continue;
        };
        found.combined = if found.best > 0.0 { found.best + 0.12 * found.prior } else { 0.4 * found.prior };
        if is_banned(&found) {
            advice.banned.push(gene.to_owned());
        } else if found.successes > 0 && found.combined > highest {
            highest = found.combined;
            advice.preferred = Some(gene.to_owned());
        }
        advice.genes.insert(gene.to_owned(), found);
    }
    advice
}

fn gene_advice(tally: &GeneTally, now: Time) -> GeneAdvice {
    GeneAdvice {
        prior: tally.value(GENE_HALF_LIFE, now),
        prior_attempts: tally.attempts(),
        successes: tally.success,
        ..GeneAdvice::default()
    }
}

/// Whether a gene fails too often. Values fade with time, so a record of successes is never held against a gene
/// because it is old.
fn is_banned(gene: &GeneAdvice) -> bool {
    if gene.attempts >= 2 {
        gene.best < 0.18 && !gene.proven
    } else {
        let mostly_failed = gene.successes * 2 < gene.prior_attempts;
        gene.prior_attempts >= 3 && gene.prior < 0.12 && mostly_failed
    }
}

/// The share of signals that two sets have in common.
fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;
    const NOW: Time = Time(1000 * DAY);

    fn signals(names: &[&str]) -> Vec<String> {
        names.iter().map(|s| (*s).to_owned()).collect()
    }

    fn graph(outcomes: &[(&[&str], &str, bool, i64)]) -> GraphStats {
        let lines: Vec<String> = outcomes
            .iter()
            .map(|(names, gene, ok, days)| {
                let status = if *ok { "success" } else { "failed" };
                capsid_model::json!({
                    "kind": "outcome", "ts": Time(NOW.0 - days * DAY).iso(),
                    "signal": {"signals": names}, "gene": {"id": gene},
                    "outcome": {"status": status},
                })
                .to_string()
            })
            .collect();
        GraphStats::of_lines(lines.iter().map(String::as_str))
    }

    fn ask(graph: &GraphStats, names: &[&str], genes: &[&str]) -> Advice {
        advise(graph, &signals(names), genes.iter().copied(), NOW)
    }

    #[test]
    fn two_successes_of_sixty_days_ago_have_faded() {
        let graph = graph(&[(&["a"], "g", true, 60), (&["a"], "g", true, 60)]);
        let advice = ask(&graph, &["a"], &["g"]);
        let gene = advice.genes["g"];
        assert!((gene.best - 0.1875).abs() < 1e-12);
        assert!((gene.prior - 0.297_638).abs() < 1e-6);
        assert!((gene.combined - (0.1875 + 0.12 * gene.prior)).abs() < 1e-12);
        assert_eq!((gene.attempts, gene.prior_attempts), (2, 2));
        assert_eq!(advice.preferred.as_deref(), Some("g"));
    }

    #[test]
    fn signals_that_overlap_by_a_third_are_one_situation() {
        let graph = graph(&[(&["a", "b"], "g", true, 0)]);
        let best = |names: &[&str]| ask(&graph, names, &["g"]).genes["g"].best;
        assert!((best(&["a", "b"]) - 2.0 / 3.0).abs() < 1e-12);
        assert!((best(&["a"]) - 1.0 / 3.0).abs() < 1e-12, "similarity scales the value");
        assert_eq!(best(&["a", "c"]), 0.0, "one of three is below 0.34");
        let elsewhere = ask(&graph, &["x"], &["g"]).genes["g"];
        assert!((elsewhere.combined - 0.4 * elsewhere.prior).abs() < 1e-12);
    }

    #[test]
    fn four_fresh_failures_ban_and_three_do_not() {
        let failures = |count: usize| graph(&vec![(&["a"] as &[&str], "g", false, 0); count]);
        assert!(ask(&failures(3), &["a"], &["g"]).banned.is_empty());
        assert_eq!(ask(&failures(4), &["a"], &["g"]).banned, ["g"]);
        assert!(ask(&failures(6), &["x"], &["g"]).banned.is_empty(), "elsewhere six are not enough");
        assert_eq!(ask(&failures(7), &["x"], &["g"]).banned, ["g"]);
    }

    #[test]
    fn old_successes_do_not_ban() {
        let old = graph(&[(&["a"], "g", true, 400), (&["a"], "g", true, 400), (&["a"], "g", true, 400)]);
        assert!(ask(&old, &["a"], &["g"]).banned.is_empty());
        assert!(ask(&old, &["x"], &["g"]).banned.is_empty());
    }

    #[test]
    fn an_untried_a_failing_or_a_banned_gene_is_never_preferred() {
        assert_eq!(ask(&GraphStats::default(), &["a"], &["first", "second"]), Advice::default());
        let failing = graph(&[(&["a"], "bad", false, 0)]);
        let advice = ask(&failing, &["a"], &["untried", "bad"]);
        assert_eq!(advice.preferred, None);
        assert_eq!(advice.boost("bad"), 0.0);
        let mut outcomes = vec![(&["a"] as &[&str], "g", false, 0); 11];
        outcomes.push((&["a"], "g", true, 0));
        let advice = ask(&graph(&outcomes), &["a"], &["g"]);
        assert_eq!((advice.preferred, advice.banned), (None, vec!["g".to_owned()]));
    }

    #[test]
    fn genes_that_are_not_in_the_pool_are_left_out_and_the_first_wins_ties() {
        let graph = graph(&[(&["a"], "gone", true, 0), (&["a"], "y", true, 0), (&["a"], "x", true, 0)]);
        let advice = ask(&graph, &["a"], &["y", "x"]);
        assert_eq!(advice.preferred.as_deref(), Some("y"));
        assert_eq!(advice.genes.len(), 2);
    }
}
