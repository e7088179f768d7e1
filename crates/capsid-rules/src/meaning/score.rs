//! How well a text answers a question: rare terms count more, and what answers several words beats what repeats one.

use super::{MeaningTerms, QueryTerm, SemanticQuestion};
use std::collections::HashMap;

/// What a term in the signals, in the title and in the body says.
const PARTS: [f64; 3] = [1.6, 1.5, 0.6];
/// How many terms the parts usually have.
const DEFAULT: [f64; 3] = [16.0, 20.0, 80.0];
/// How much of a part's weight depends on its length.
const LENGTH: f64 = 0.3;
/// From which weight on more of the same says little.
const ENOUGH: f64 = 1.6;
/// How much further terms of an answered word say.
const FURTHER: f64 = 0.4;
/// How much of the score depends on how much of the question is answered.
const COVERED: f64 = 0.3;

/// How often terms occur in what is searched.
#[derive(Debug, Clone, Default)]
pub struct TermFrequencies {
    /// How many texts there are.
    pub texts: u64,
    /// How many of them have a term; of terms that are not here, none.
    pub counts: HashMap<String, u64>,
}

/// How well a text answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextScore {
    /// Above 0; comparable within one question only.
    pub score: f64,
    /// The words of the question that it answers.
    pub words: Vec<String>,
}

/// How well a text answers a question; nothing where it does not.
pub fn score(
    question: &SemanticQuestion,
    meaning: &MeaningTerms,
    corpus: &TermFrequencies,
) -> Option<TextScore> {
    TextScorer::new(question, corpus).score(meaning)
}

/// A question that is prepared for many texts.
#[derive(Debug, Clone)]
pub struct TextScorer<'a> {
    /// Where a term stands among the terms.
    places: HashMap<&'a str, usize>,
    /// The weight of each term by its rarity, and the number of its word.
    terms: Vec<(f64, usize)>,
    words: Vec<&'a str>,
    /// What each word weighs when it is answered; 0 where nothing answers it.
    masses: Vec<f64>,
}

impl<'a> TextScorer<'a> {
    /// Prepares a question.
    pub fn new(question: &'a SemanticQuestion, corpus: &TermFrequencies) -> Self {
        let mut judge =
            Self { places: HashMap::new(), terms: Vec::new(), words: Vec::new(), masses: Vec::new() };
        for asked in &question.terms {
            let number = judge.word(&asked.word);
            let count = corpus.counts.get(&asked.term).copied().unwrap_or_default();
            let weight = weight(asked, count, corpus.texts);
            judge.places.insert(&asked.term, judge.terms.len());
            judge.terms.push((weight, number));
            if let Some(mass) = judge.masses.get_mut(number).filter(|_| count > 0) {
                *mass = mass.max(weight);
            }
        }
        judge
    }

    /// How well a text answers; nothing where it does not.
    pub fn score(&self, meaning: &MeaningTerms) -> Option<TextScore> {
        let mut found = vec![0.0; self.terms.len()];
        for (part, (says, usual)) in meaning.parts().into_iter().zip(PARTS.into_iter().zip(DEFAULT)) {
            let length = 1.0 - LENGTH + LENGTH * part.len() as f64 / usual;
            for place in part.iter().filter_map(|term| self.places.get(term.as_str())) {
                if let Some(found) = found.get_mut(*place) {
                    *found += says / length;
                }
            }
        }
        let mut answered: Vec<(f64, f64)> = vec![(0.0, 0.0); self.words.len()];
        for ((weight, word), says) in self.terms.iter().zip(found) {
            if let Some((best, all)) = answered.get_mut(*word) {
                let score = weight * says / (says + ENOUGH);
                *best = best.max(score);
                *all += score;
            }
        }
        self.sum(&answered)
    }

    fn sum(&self, answered: &[(f64, f64)]) -> Option<TextScore> {
        let mut answer = TextScore::default();
        let (mut mass, mut covered) = (0.0, 0.0);
        for ((word, of_word), (best, all)) in self.words.iter().zip(&self.masses).zip(answered) {
            mass += of_word;
            if *best > 0.0 {
                covered += of_word;
                answer.score += best + FURTHER * (all - best);
                answer.words.push((*word).to_owned());
            }
        }
        let coverage = if mass > 0.0 { covered / mass } else { 1.0 };
        answer.score *= 1.0 - COVERED + COVERED * coverage;
        (answer.score > 0.0).then_some(answer)
    }

    fn word(&mut self, word: &'a str) -> usize {
        self.words.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.words.push(word);
            self.masses.push(0.0);
            self.words.len() - 1
        })
    }
}

/// How much a term says: more the rarer it is.
fn weight(asked: &QueryTerm, count: u64, texts: u64) -> f64 {
    let (count, texts) = (count as f64, texts as f64);
    asked.weight * (1.0 + (texts - count + 0.5).max(0.5) / (count + 0.5)).ln()
}
