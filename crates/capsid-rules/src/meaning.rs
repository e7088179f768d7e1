//! Finding by meaning: what a text says beyond its letters, and how well it answers a question.
//!
//! A text becomes terms: stems of its words (`m_retri`), and the ideas that they stand for (`c_timeout`), in whatever
//! language they are written. A question becomes weighted terms. The same judgement serves assets, a node's memories
//! and a repository's own past.

use std::collections::HashMap;

pub mod fuse;

/// The texts of something that can be found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Text<'a> {
    /// Names of signals and errors.
    pub signals: &'a [&'a str],
    /// What it is, in a sentence.
    pub title: &'a str,
    /// What else it says.
    pub body: &'a str,
}

/// The terms of a text, each once in each part, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meaning {
    /// Of its signals.
    pub signals: Vec<String>,
    /// Of its title.
    pub title: Vec<String>,
    /// Of the rest.
    pub body: Vec<String>,
}

impl Meaning {
    /// The terms of a text.
    pub fn of(text: &Text<'_>) -> Self {
        let words = |text: &str| -> Vec<String> {
            crate::terms::of_words(text).into_iter().map(|word| format!("m_{word}")).collect()
        };
        let signals = text.signals.iter().flat_map(|signal| words(signal)).collect();
        Self { signals, title: words(text.title), body: words(text.body) }
    }

    /// One line, from which [`Meaning::read`] makes the same again.
    pub fn line(&self) -> String {
        [&self.signals, &self.title, &self.body].map(|part| part.join(" ")).join("|")
    }

    /// Reads what [`Meaning::line`] wrote.
    pub fn read(line: &str) -> Self {
        let mut parts = line
            .split('|')
            .map(|part| part.split(' ').filter(|term| !term.is_empty()).map(str::to_owned).collect());
        let mut next = || parts.next().unwrap_or_default();
        Self { signals: next(), title: next(), body: next() }
    }

    /// Every term once.
    pub fn terms(&self) -> Vec<&str> {
        let mut terms: Vec<&str> = Vec::new();
        for term in self.signals.iter().chain(&self.title).chain(&self.body) {
            if !terms.contains(&term.as_str()) {
                terms.push(term);
            }
        }
        terms
    }
}

/// A term that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The term.
    pub term: String,
    /// How much it matters, above 0.
    pub weight: f64,
    /// The word of the question that it comes from.
    pub word: String,
}

/// What is asked, the weightiest term first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// Its terms.
    pub terms: Vec<Asked>,
}

impl Question {
    /// What words and signals ask for.
    pub fn of(words: &str, signals: &[String]) -> Self {
        let all = signals.iter().map(String::as_str).chain([words]).collect::<Vec<_>>().join(" ");
        let words = crate::terms::of_words(&all);
        Self {
            terms: words
                .into_iter()
                .map(|word| Asked { term: format!("m_{word}"), weight: 1.0, word })
                .collect(),
        }
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// How often terms occur in what is searched.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// How many texts there are.
    pub texts: u64,
    /// How many of them have a term; of terms that are not here, none.
    pub counts: HashMap<String, u64>,
}

/// How well a text answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Above 0; comparable within one question only.
    pub score: f64,
    /// The words of the question that it answers.
    pub words: Vec<String>,
}

/// How well a text answers a question; nothing where it does not.
pub fn judge(question: &Question, meaning: &Meaning, corpus: &Corpus) -> Option<Answer> {
    let mut answer = Answer::default();
    for asked in &question.terms {
        let parts = [(&meaning.signals, 3.0), (&meaning.title, 2.0), (&meaning.body, 1.0)];
        let weight: f64 = parts.iter().filter(|(part, _)| part.contains(&asked.term)).map(|(_, w)| w).sum();
        if weight > 0.0 {
            let count = corpus.counts.get(&asked.term).copied().unwrap_or_default() as f64;
            let rarity = (1.0 + (corpus.texts as f64 - count + 0.5).max(0.5) / (count + 0.5)).ln();
            answer.score += asked.weight * rarity * weight / (weight + 1.2);
            if !answer.words.contains(&asked.word) {
                answer.words.push(asked.word.clone());
            }
        }
    }
    (answer.score > 0.0).then_some(answer)
}
