//! Advice for somebody who asks from elsewhere: what their own records advise, what others found beside it, and why.

use super::advice::{Advice, GeneAdvice};
use std::collections::BTreeMap;

/// The most reasons that are given.
const MAX_REASONS: usize = 12;

/// What others found out about a gene on signals like these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedExperience {
    /// Solutions that follow it and that were found to work.
    pub capsules: u64,
    pub publishers: u64,
}

/// What is answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdviceAnswer {
    /// The gene that did best for the asker.
    pub preferred: Option<String>,
    /// Genes that keep failing for the asker.
    pub banned: Vec<String>,
    /// Why, one reason a line.
    pub explanation: Vec<String>,
}

/// Makes an answer of what the asker's own records advise. What others found decides only between genes that did
/// equally well for the asker; it never bans one. Whoever wants chance to decide is not kept from any gene.
pub fn answer(
    advice: &Advice,
    genes: &[String],
    others: &BTreeMap<String, SharedExperience>,
    by_chance: bool,
) -> AdviceAnswer {
    let preferred = preferred(advice, genes, others);
    let banned = if by_chance { Vec::new() } else { advice.banned.clone() };
    let mut explanation: Vec<String> = Vec::new();
    let known = |gene: &String| advice.genes.get(gene).map(|known| (gene.clone(), *known));
    explanation.extend(preferred.iter().filter_map(known).map(|(gene, known)| did_best(&gene, &known)));
    explanation.extend(banned.iter().filter_map(known).map(|(gene, known)| is_failing(&gene, &known)));
    explanation
        .extend(genes.iter().filter_map(|gene| others.get(gene).map(|found| found_by_others(gene, *found))));
    explanation.truncate(MAX_REASONS);
    AdviceAnswer { preferred, banned, explanation }
}

/// The gene that did best; of equals the one that the most others had success with, then the first.
fn preferred(
    advice: &Advice,
    genes: &[String],
    others: &BTreeMap<String, SharedExperience>,
) -> Option<String> {
    let highest = advice.genes.get(advice.preferred.as_ref()?)?.combined;
    let equals = genes.iter().filter(|gene| {
        !advice.banned.contains(gene)
            && advice.genes.get(*gene).is_some_and(|known| known.successes > 0 && known.combined >= highest)
    });
    let publishers = |gene: &String| others.get(gene).map_or(0, |found| found.publishers);
    // Of equals `max_by_key` would take the last.
    equals.rev().max_by_key(|gene| publishers(gene)).cloned()
}

fn did_best(gene: &str, known: &GeneAdvice) -> String {
    let (went_well, all) = (known.successes, known.prior_attempts);
    match known.best > 0.0 {
        true => format!(
            "{gene} did best on signals like these: {went_well} of {all} of your outcomes with it went well."
        ),
        false => format!(
            "{gene} was not tried on signals like these; elsewhere {went_well} of {all} of your outcomes with it went well."
        ),
    }
}

fn is_failing(gene: &str, known: &GeneAdvice) -> String {
    let failed = known.prior_attempts.saturating_sub(known.successes);
    format!("{gene} keeps failing: {failed} of {} of your outcomes with it did.", known.prior_attempts)
}

fn found_by_others(gene: &str, found: SharedExperience) -> String {
    format!(
        "{gene}: {} promoted solution(s) of {} other publisher(s) on this hub follow a gene of that name on such signals.",
        found.capsules, found.publishers
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gene(combined: f64, successes: u64) -> GeneAdvice {
        GeneAdvice { combined, successes, prior_attempts: 4, best: combined, ..GeneAdvice::default() }
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn advice(genes: &[(&str, GeneAdvice)], preferred: Option<&str>, banned: &[&str]) -> Advice {
        let genes = genes.iter().map(|(id, known)| ((*id).to_owned(), *known)).collect();
        Advice { preferred: preferred.map(str::to_owned), banned: names(banned), genes }
    }

    fn others(list: &[(&str, u64)]) -> BTreeMap<String, SharedExperience> {
        list.iter()
            .map(|(id, publishers)| {
                ((*id).to_owned(), SharedExperience { capsules: 9, publishers: *publishers })
            })
            .collect()
    }

    #[test]
    fn others_decide_between_equals_and_nothing_else() {
        let genes = names(&["a", "b", "c"]);
        let equal = advice(&[("a", gene(0.5, 1)), ("b", gene(0.5, 1)), ("c", gene(0.4, 1))], Some("a"), &[]);
        assert_eq!(answer(&equal, &genes, &others(&[]), false).preferred.as_deref(), Some("a"));
        let told = answer(&equal, &genes, &others(&[("b", 2), ("c", 50)]), false);
        assert_eq!(told.preferred.as_deref(), Some("b"));
        assert_eq!(told.explanation.len(), 3, "{:?}", told.explanation);
        let none = answer(&advice(&[], None, &[]), &genes, &others(&[("a", 9)]), false);
        assert_eq!((none.preferred, none.banned), (None, Vec::new()));
        assert!(none.explanation[0].contains("other publisher"), "{:?}", none.explanation);
    }

    #[test]
    fn whoever_wants_chance_is_kept_from_nothing() {
        let failing = advice(&[("a", gene(0.1, 0))], None, &["a"]);
        let genes = names(&["a"]);
        let told = answer(&failing, &genes, &others(&[("a", 9)]), false);
        assert_eq!((told.banned, told.preferred), (names(&["a"]), None));
        assert_eq!(told.explanation[0], "a keeps failing: 4 of 4 of your outcomes with it did.");
        assert!(answer(&failing, &genes, &others(&[]), true).banned.is_empty());
    }
}
