//! What a question asks for: its words, the ideas behind them, and a little of what lies near those.

use super::concepts::{ConceptMention, ConceptRelation, lexicon};
use super::tokenizer::{self, TextToken, TokenKind};
use std::collections::{HashMap, HashSet};

/// The most terms of a question.
pub const MAX_ASKED: usize = 48;
/// How many signals are looked at.
const MAX_SIGNALS: usize = 32;
/// How much more a signal says than a word.
const SIGNAL: f64 = 1.4;
/// How much of a word an idea says.
const IDEA: f64 = 1.1;
/// How much each further phrase for the same idea adds.
const AGREEING: f64 = 0.25;
/// The most that phrases for one idea say together.
const MAX: f64 = 1.6;

/// A term that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    pub term: String,
    /// How much it matters, above 0.
    pub weight: f64,
    /// The word of the question that it comes from.
    pub word: String,
    /// Whether it is not what the word means, but lies near that.
    pub is_near: bool,
}

/// What is asked, the weightiest term first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SemanticQuestion {
    pub terms: Vec<QueryTerm>,
}

impl SemanticQuestion {
    /// What words and signals ask for.
    pub fn parse(words: &str, signals: &[String]) -> Self {
        let mut asking = QuestionBuilder::default();
        asking.text(words, 1.0);
        for signal in signals.iter().take(MAX_SIGNALS) {
            asking.text(super::signal_text(signal), SIGNAL);
        }
        asking.conclude()
    }

    /// The same question without what merely lies near it.
    pub fn exact_terms(&self) -> Self {
        Self { terms: self.terms.iter().filter(|asked| !asked.is_near).cloned().collect() }
    }

    /// How many different words and phrases it has.
    pub fn word_count(&self) -> usize {
        self.terms.iter().map(|asked| asked.word.as_str()).collect::<HashSet<_>>().len()
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// A question while it is read.
#[derive(Default)]
struct QuestionBuilder {
    terms: Vec<QueryTerm>,
    places: HashMap<String, usize>,
    ideas: Vec<ConceptEvidence>,
}

/// What speaks for an idea.
struct ConceptEvidence {
    idea: usize,
    /// The phrases, and how much each says.
    phrases: Vec<(String, f64)>,
}

impl QuestionBuilder {
    fn text(&mut self, text: &str, boost: f64) {
        let tokens = tokenizer::tokens(text);
        for word in tokenizer::words(&tokens) {
            self.ask(QueryTerm {
                term: word.term,
                weight: word.force * boost,
                word: word.shown.into_owned(),
                is_near: false,
            });
        }
        for mention in lexicon().mentions(&tokens) {
            self.mention(&tokens, mention, boost);
        }
    }

    fn ask(&mut self, asked: QueryTerm) {
        match self.places.get(&asked.term).and_then(|at| self.terms.get_mut(*at)) {
            Some(known) if known.weight < asked.weight => {
                *known = QueryTerm { is_near: known.is_near && asked.is_near, ..asked };
            }
            Some(_) => {}
            None => {
                self.places.insert(asked.term.clone(), self.terms.len());
                self.terms.push(asked);
            }
        }
    }

    fn mention(&mut self, tokens: &[TextToken], mention: ConceptMention, boost: f64) {
        let phrase = tokens.get(mention.from..=mention.to).unwrap_or_default();
        let force = phrase
            .iter()
            .filter(|token| token.kind != TokenKind::Break)
            .map(|token| token.force)
            .fold(0.0, f64::max);
        let said = join_phrase(phrase);
        let strength = boost * force * specific(phrase, mention.length);
        let at = self.ideas.iter().position(|known| known.idea == mention.idea);
        let evidence = match at.and_then(|at| self.ideas.get_mut(at)) {
            Some(known) => known,
            None => {
                self.ideas.push(ConceptEvidence { idea: mention.idea, phrases: Vec::new() });
                let Some(new) = self.ideas.last_mut() else { return };
                new
            }
        };
        if evidence.phrases.iter().all(|(known, _)| *known != said) {
            evidence.phrases.push((said, strength));
        }
    }

    fn conclude(mut self) -> SemanticQuestion {
        let ideas: Vec<(usize, f64, String)> =
            std::mem::take(&mut self.ideas).into_iter().filter_map(ConceptEvidence::sum).collect();
        for (number, weight, word) in &ideas {
            if let Some(idea) = lexicon().idea(*number) {
                let term = idea.term.clone();
                self.ask(QueryTerm { term, weight: *weight, word: word.clone(), is_near: false });
            }
        }
        for (number, weight, word) in &ideas {
            let related = lexicon().idea(*number).map_or(&[][..], |idea| idea.related.as_slice());
            for (other, relation) in related {
                if let Some(other) = lexicon().idea(*other) {
                    let (term, weight) = (other.term.clone(), weight * share(*relation));
                    self.ask(QueryTerm { term, weight, word: word.clone(), is_near: true });
                }
            }
        }
        self.terms.retain(|asked| asked.weight > 0.0);
        self.terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        self.terms.truncate(MAX_ASKED);
        SemanticQuestion { terms: self.terms }
    }
}

impl ConceptEvidence {
    /// How much is asked for the idea, and by which phrase most.
    fn sum(self) -> Option<(usize, f64, String)> {
        let all: f64 = self.phrases.iter().map(|(_, strength)| strength).sum();
        let idea = self.idea;
        let (word, best) =
            self.phrases.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let weight = best + AGREEING * (all - best);
        Some((idea, IDEA * weight.min(MAX.max(best)), word))
    }
}

/// How much of an idea one related to it says.
fn share(relation: ConceptRelation) -> f64 {
    match relation {
        ConceptRelation::Broader => 0.3,
        ConceptRelation::Near => 0.2,
        ConceptRelation::Narrower => 0.1,
    }
}

/// How sure a phrase is: several words are surer than one.
fn specific(phrase: &[TextToken], length: usize) -> f64 {
    let is_unspaced = phrase.first().is_some_and(|token| token.kind == TokenKind::Character);
    match if is_unspaced { length.div_ceil(2) } else { length } {
        0 | 1 => 0.8,
        2 => 1.0,
        _ => 1.3,
    }
}

/// The words of a phrase as they were written.
fn join_phrase(phrase: &[TextToken]) -> String {
    let mut text = String::new();
    let mut was_unspaced = true;
    for token in phrase.iter().filter(|token| !token.shown.is_empty()) {
        let is_unspaced = token.kind == TokenKind::Character;
        if !(text.is_empty() || (was_unspaced && is_unspaced)) {
            text.push(' ');
        }
        text.push_str(&token.shown);
        was_unspaced = is_unspaced;
    }
    text
}
