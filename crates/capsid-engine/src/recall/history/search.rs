//! A search through texts that come one after the other.

use super::{RecallHit, RecallLocation, RecallPiece, SEARCHED};
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::cut;
use capsid_rules::meaning::{MeaningTerms, SearchableText, SemanticQuestion, TermFrequencies, TextScorer};
use std::collections::{HashMap, HashSet};

/// What answers less than this share of what the best one does is no answer.
const WORTH: f64 = 0.2;
/// How many answers of one conversation, or about one solution, are shown.
const OF_ONE: usize = 2;

/// A search. Only texts that may answer are held.
#[derive(Debug)]
pub struct RecallSearch {
    question: SemanticQuestion,
    terms: HashSet<String>,
    corpus: TermFrequencies,
    held: Vec<HeldPiece>,
}

#[derive(Debug)]
struct HeldPiece {
    piece: RecallPiece,
    meaning: MeaningTerms,
    /// What belongs together, such as the records of one conversation.
    group: Option<String>,
}

impl RecallSearch {
    /// A search for words and signals.
    pub fn new(words: &str, signals: &[String]) -> Self {
        let question = SemanticQuestion::parse(&redact(words, RedactProfile::Secrets), signals);
        let terms = question.terms.iter().map(|term| term.term.clone()).collect();
        Self { question, terms, corpus: TermFrequencies::default(), held: Vec::new() }
    }

    /// Whether the query is empty.
    pub fn is_empty(&self) -> bool {
        self.question.is_empty()
    }

    /// Looks at a text; what it comes from is worked out only where it may answer.
    pub fn scan_text(
        &mut self,
        text: &SearchableText<'_>,
        group: Option<&str>,
        piece: impl FnOnce() -> RecallPiece,
    ) {
        let meaning = MeaningTerms::parse(&SearchableText {
            title: cut(text.title, SEARCHED),
            body: cut(text.body, SEARCHED),
            ..*text
        });
        self.corpus.texts += 1;
        let mut answers = false;
        for term in meaning.terms().into_iter().filter(|term| self.terms.contains(*term)) {
            *self.corpus.counts.entry(term.to_owned()).or_default() += 1;
            answers = true;
        }
        if answers {
            self.held.push(HeldPiece { piece: piece(), meaning, group: group.map(str::to_owned) });
        }
    }

    /// The best answers; of equals the newer.
    pub fn best(self, limit: usize) -> Vec<RecallHit> {
        let Self { question, corpus, held, .. } = self;
        let judge = TextScorer::new(&question, &corpus);
        let mut hits: Vec<(RecallHit, Option<String>)> = held
            .into_iter()
            .filter_map(|HeldPiece { piece, meaning, group }| {
                let answer = judge.score(&meaning)?;
                Some((RecallHit { piece, score: answer.score, words: answer.words, more: 0 }, group))
            })
            .collect();
        hits.sort_by(|(one, _), (other, _)| {
            other.score.total_cmp(&one.score).then_with(|| other.piece.at.cmp(&one.piece.at))
        });
        let threshold = hits.first().map_or(0.0, |(best, _)| best.score * WORTH);
        let mut answers = RecallAnswers { limit, ..RecallAnswers::default() };
        for (one, group) in hits.into_iter().take_while(|(one, _)| one.score >= threshold) {
            answers.add(one, group);
        }
        answers.list
    }
}

/// The answers that are shown, while they are collected.
#[derive(Default)]
struct RecallAnswers {
    limit: usize,
    list: Vec<RecallHit>,
    /// How many there are of each conversation or solution.
    of_one: HashMap<String, usize>,
    /// The index of the answer with the same text.
    seen: HashMap<(RecallLocation, Option<String>, String), usize>,
}

impl RecallAnswers {
    fn add(&mut self, mut one: RecallHit, group: Option<String>) {
        let words = (one.piece.location, one.piece.ended.clone(), one.piece.text.clone());
        if let Some(same) = self.seen.get(&words).and_then(|at| self.list.get_mut(*at)) {
            same.more += 1;
            return;
        }
        let count = group.map_or(0, |group| {
            let count = self.of_one.entry(group).or_default();
            *count += 1;
            *count
        });
        if count <= OF_ONE && self.list.len() < self.limit {
            self.seen.insert(words, self.list.len());
            one.score = (one.score * 1000.0).round() / 1000.0;
            self.list.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(id: &str, at: &str) -> RecallPiece {
        RecallPiece {
            location: RecallLocation::Trail,
            id: id.to_owned(),
            at: Some(at.to_owned()),
            ended: None,
            text: id.to_owned(),
            show: String::new(),
        }
    }

    fn search_order(words: &str, texts: &[(&str, Option<&str>)]) -> Vec<usize> {
        let mut search = RecallSearch::new(words, &[]);
        for (n, (title, group)) in texts.iter().enumerate() {
            search.scan_text(&SearchableText { title, ..SearchableText::default() }, *group, || {
                piece(&n.to_string(), &n.to_string())
            });
        }
        search.best(9).into_iter().map(|hit| hit.piece.id.parse().unwrap()).collect()
    }

    #[test]
    fn what_answers_more_words_comes_first_and_of_equals_the_newer() {
        let texts = [
            ("the cart total is wrong", None),
            ("the cart is slow", None),
            ("nothing of the kind", None),
            ("the cart total is wrong", None),
        ];
        assert_eq!(search_order("cart total", &texts)[..2], [3, 0]);
        assert_eq!(search_order("zebra", &texts), Vec::<usize>::new());
        assert_eq!(search_order("", &texts), Vec::<usize>::new());
    }

    #[test]
    fn chinese_words_are_found() {
        let texts = [("购物车总价计算错误", None), ("登录页面很慢", None)];
        assert_eq!(search_order("购物车总价", &texts)[0], 0);
    }

    #[test]
    fn one_conversation_does_not_fill_the_list() {
        let texts =
            [("parser", Some("s1")), ("parser", Some("s1")), ("parser", Some("s1")), ("parser", Some("s2"))];
        assert_eq!(search_order("parser", &texts), [3, 2, 1]);
    }

    #[test]
    fn what_says_the_very_same_is_told_once_and_counted() {
        let mut search = RecallSearch::new("cart", &[]);
        for n in ["1", "2", "3"] {
            let text = if n == "2" { "other" } else { "same" };
            let piece = || RecallPiece { text: text.to_owned(), ..piece(n, n) };
            search.scan_text(&SearchableText { title: "the cart", ..SearchableText::default() }, None, piece);
        }
        let pairs: Vec<(String, usize)> =
            search.best(9).into_iter().map(|hit| (hit.piece.id, hit.more)).collect();
        assert_eq!(pairs, [("3".to_owned(), 1), ("2".to_owned(), 0)]);
    }
}
