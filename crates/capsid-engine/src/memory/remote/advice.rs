//! What a hub advises, checked: it is somebody else's word. Pure.

use capsid_model::text::{cut, inert_line};
use capsid_model::{Value, json};
use capsid_rules::memory::advice::{Advice, GeneAdvice};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The most reasons that are stored, and the longest of them.
const MAX_REASONS: usize = 12;
const MAX_REASON_LEN: usize = 240;
/// The longest signal key that is stored.
const MAX_KEY_LEN: usize = 400;
/// The most bans that are looked at.
const MAX_BANS: usize = 2000;

/// What the word of a hub adds to a gene that it prefers: as much as one fresh success on other signals.
const PREFERRED: f64 = 0.4 * 2.0 / 3.0;

/// What a hub advises, as far as it can be followed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteAdvice {
    /// The key by which it learns these signals.
    pub signal_key: String,
    /// The preferred gene, which is one of the requested genes.
    pub preferred: Option<String>,
    /// The banned genes, which are among the requested genes.
    pub banned: Vec<String>,
    /// Why, in its own words, made inert.
    pub explanation: Vec<String>,
    /// Advice that is not followed: genes that were not requested, or a ban of every gene.
    pub not_followed: Vec<String>,
}

impl RemoteAdvice {
    /// Parses an answer; `None` if it is no advice. `genes` are the requested genes.
    pub fn read(answer: &Value, genes: &[String]) -> Option<Self> {
        let banned = answer.get("bannedGeneIds")?.as_array()?;
        let preferred = match answer.get("preferredGeneId") {
            None | Some(Value::Null) => None,
            Some(Value::String(gene)) => Some(gene.as_str()),
            Some(_) => return None,
        };
        let gene_ids: HashSet<&str> = genes.iter().map(String::as_str).collect();
        let mut advice = Self {
            signal_key: answer
                .get("currentSignalKey")
                .and_then(Value::as_str)
                .map(short_key)
                .unwrap_or_default(),
            explanation: reasons(answer.get("explanation")),
            ..Self::default()
        };
        let mut strangers = usize::from(preferred.is_some_and(|gene| !gene_ids.contains(gene)));
        advice.preferred = preferred.filter(|gene| gene_ids.contains(gene)).map(str::to_owned);
        for gene in banned.iter().take(MAX_BANS) {
            match gene.as_str().filter(|gene| gene_ids.contains(gene)) {
                Some(gene) if advice.banned.iter().any(|known| known == gene) => {}
                Some(gene) => advice.banned.push(gene.to_owned()),
                None => strangers += 1,
            }
        }
        if strangers > 0 {
            advice.not_followed.push(format!("{strangers} gene(s) that it was not asked about"));
        }
        if !genes.is_empty() && advice.banned.len() >= gene_ids.len() {
            advice.banned.clear();
            advice.not_followed.push("a ban of every gene there is".to_owned());
        }
        let contradicts = advice.preferred.as_ref().is_some_and(|gene| advice.banned.contains(gene));
        if contradicts {
            advice.preferred = None;
            advice.not_followed.push("a gene that it prefers and bans".to_owned());
        }
        Some(advice)
    }

    /// Adds it to what this repository's own memory advises. What is proven here is not banned by somebody else's
    /// word, what failed here is not preferred by it, and the better known of two preferred genes stays preferred.
    pub fn join(&self, own: &mut Advice) {
        for gene in &self.banned {
            let proven = own.genes.get(gene).is_some_and(|known| known.proven && known.successes > 0);
            if !proven && !own.banned.contains(gene) {
                own.banned.push(gene.clone());
            }
        }
        let gone = own.preferred.take_if(|gene| own.banned.contains(gene)).is_some();
        if let Some(gene) = self.preferred.as_ref().filter(|gene| !own.banned.contains(gene)) {
            let known = own.genes.entry(gene.clone()).or_default();
            if known.successes == 0 || known.combined < PREFERRED {
                known.combined = known.combined.max(PREFERRED);
                known.successes = known.successes.max(1);
            }
        }
        if gone || self.preferred.is_some() {
            own.preferred = best(own);
        }
    }

    /// For programs, and for the record of the run.
    pub fn to_json(&self) -> Value {
        json!(self)
    }
}

/// The gene with the highest value; of equals the one that was preferred before, then the first by name.
fn best(advice: &Advice) -> Option<String> {
    let open = advice
        .genes
        .iter()
        .filter(|(gene, known)| known.successes > 0 && known.combined > 0.0 && !advice.banned.contains(gene));
    let is_preferred = |gene: &String| advice.preferred.as_ref() == Some(gene);
    let better = |a: &(&String, &GeneAdvice), b: &(&String, &GeneAdvice)| {
        let by_value = a.1.combined.total_cmp(&b.1.combined);
        by_value.then(is_preferred(a.0).cmp(&is_preferred(b.0))).then(b.0.cmp(a.0))
    };
    open.max_by(better).map(|(gene, _)| gene.clone())
}

fn short_key(key: &str) -> String {
    inert_line(cut(key, MAX_KEY_LEN))
}

/// Its reasons on lines of their own; one text or a list of texts.
fn reasons(value: Option<&Value>) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let lines = texts.into_iter().map(|text| inert_line(cut(text.trim(), MAX_REASON_LEN)));
    lines.filter(|line| !line.is_empty()).take(MAX_REASONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn heard(preferred: Option<&str>, banned: &[&str], genes: &[&str]) -> RemoteAdvice {
        let answer = json!({"preferredGeneId": preferred, "bannedGeneIds": banned});
        RemoteAdvice::read(&answer, &names(genes)).unwrap()
    }

    fn own(genes: &[(&str, GeneAdvice)], preferred: Option<&str>, banned: &[&str]) -> Advice {
        let genes = genes.iter().map(|(id, known)| ((*id).to_owned(), *known)).collect();
        Advice { preferred: preferred.map(str::to_owned), banned: names(banned), genes }
    }

    fn tried(combined: f64, successes: u64, proven: bool) -> GeneAdvice {
        GeneAdvice { combined, successes, proven, ..GeneAdvice::default() }
    }

    #[test]
    fn strangers_contradictions_and_a_ban_of_everything_are_not_followed() {
        let odd = heard(Some("x"), &["y", "a", "a"], &["a", "b"]);
        assert_eq!((odd.preferred, odd.banned), (None, names(&["a"])));
        assert_eq!(odd.not_followed, ["2 gene(s) that it was not asked about"]);
        let all = heard(Some("a"), &["a", "b"], &["a", "b"]);
        assert_eq!((all.preferred.as_deref(), all.banned.len()), (Some("a"), 0));
        let both = heard(Some("a"), &["a"], &["a", "b"]);
        assert_eq!((both.preferred, both.banned), (None, names(&["a"])));
    }

    #[test]
    fn what_is_no_advice_is_none() {
        for answer in [
            json!({}),
            json!([]),
            json!("x"),
            json!({"bannedGeneIds": "a"}),
            json!({"bannedGeneIds": [], "preferredGeneId": 7}),
        ] {
            assert_eq!(RemoteAdvice::read(&answer, &names(&["a"])), None, "{answer}");
        }
    }

    #[test]
    fn its_words_are_cut_and_inert() {
        let words = vec![json!(format!("\u{1b}[2J\u{202e}{}\nsecond", "x".repeat(9000))); 50];
        let answer =
            json!({"bannedGeneIds": [], "explanation": words, "currentSignalKey": "\u{1b}".repeat(9000)});
        let advice = RemoteAdvice::read(&answer, &[]).unwrap();
        assert_eq!(advice.explanation.len(), MAX_REASONS);
        let text = advice.to_json().to_string();
        assert!(text.len() < 20_000 && !text.contains("\\u001b") && !text.contains('\u{202e}'), "{text}");
        let one = RemoteAdvice::read(&json!({"bannedGeneIds": [], "explanation": "because"}), &[]).unwrap();
        assert_eq!(one.explanation, ["because"]);
    }

    #[test]
    fn what_is_proven_here_is_not_banned_and_what_failed_here_is_not_preferred() {
        let mut advice =
            own(&[("good", tried(0.7, 3, true)), ("bad", tried(0.1, 0, false))], Some("good"), &["bad"]);
        heard(Some("bad"), &["good", "other"], &["good", "bad", "other"]).join(&mut advice);
        assert_eq!(advice.preferred.as_deref(), Some("good"));
        assert_eq!(advice.banned, ["bad", "other"]);
        assert_eq!(advice.boost("bad"), 0.0);
    }

    #[test]
    fn a_preferred_gene_counts_as_one_success_and_no_more() {
        let mut advice = own(&[], None, &[]);
        heard(Some("a"), &[], &["a", "b"]).join(&mut advice);
        assert_eq!((advice.preferred.as_deref(), advice.boost("a")), (Some("a"), PREFERRED));
        let mut advice = own(&[("b", tried(0.7, 2, true))], Some("b"), &[]);
        heard(Some("a"), &[], &["a", "b"]).join(&mut advice);
        assert_eq!(advice.preferred.as_deref(), Some("b"), "what went well here is worth more");
        let mut weak = own(&[("b", tried(0.1, 1, false))], Some("b"), &[]);
        heard(Some("a"), &["b"], &["a", "b"]).join(&mut weak);
        assert_eq!((weak.preferred.as_deref(), weak.banned), (Some("a"), names(&["b"])));
    }

    #[test]
    fn no_word_changes_nothing() {
        let before = own(&[("a", tried(0.3, 1, true)), ("b", tried(0.3, 1, true))], Some("b"), &["c"]);
        let mut after = before.clone();
        RemoteAdvice::default().join(&mut after);
        assert_eq!(after, before);
    }

    proptest! {
        #[test]
        fn no_answer_prefers_or_bans_a_stranger(
            preferred in proptest::option::of("[a-d]"),
            banned in proptest::collection::vec("[a-d]", 0..6),
        ) {
            let genes = names(&["a", "b"]);
            let answer = json!({"preferredGeneId": preferred, "bannedGeneIds": banned});
            let remote = RemoteAdvice::read(&answer, &genes).unwrap();
            let mut advice = Advice::default();
            remote.join(&mut advice);
            prop_assert!(advice.banned.iter().chain(&advice.preferred).all(|gene| genes.contains(gene)));
            prop_assert!(advice.banned.len() < 2, "one is always left");
        }
    }
}
