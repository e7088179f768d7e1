//! Finding by meaning: what a text says beyond its letters, and how well it answers a question.
//!
//! A text becomes terms: stems of its words (`m_retri`), and the ideas that they stand for (`c_timeout`), in whatever
//! language they are written. A question becomes weighted terms. The same judgement serves assets, a node's memories
//! and a repository's own past.

mod concepts;
pub mod fuse;
mod noise;
mod question;
mod score;
mod stems;
pub mod stop_words;
pub mod terms;
pub mod tokenizer;
pub mod vectors;

pub use question::{MAX_ASKED, QueryTerm, SemanticQuestion};
pub use score::{TermFrequencies, TextScore, TextScorer, score};

/// Texts are looked up word by word, many of them for each publish.
type WordMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// The most terms of a text, in all its parts.
pub const MAX_TERMS: usize = 160;
/// The most terms of the signals, and of the title.
const MAX_PART: usize = 56;
/// Lines that count less than this say only where something happened.
const TOO_WEAK: f64 = 0.2;

/// The texts of something that can be found.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchableText<'a> {
    /// Names of signals and errors.
    pub signals: &'a [&'a str],
    /// What it is, in a sentence.
    pub title: &'a str,
    pub body: &'a str,
}

/// The terms of a text, each once in each part, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeaningTerms {
    pub signals: Vec<String>,
    pub title: Vec<String>,
    pub body: Vec<String>,
}

impl MeaningTerms {
    pub fn parse(text: &SearchableText<'_>) -> Self {
        let signals = terms_of(&joined(text.signals), MAX_PART);
        let title = terms_of(text.title, MAX_PART);
        let body = terms_of(text.body, MAX_TERMS - signals.len() - title.len());
        Self { signals, title, body }
    }

    /// One line, from which [`Meaning::read`] makes the same again.
    pub fn line(&self) -> String {
        self.parts().map(|part| part.join(" ")).join("|")
    }

    /// Reads what [`Meaning::line`] wrote.
    pub fn read(line: &str) -> Self {
        let mut parts = line
            .split('|')
            .map(|part| part.split(' ').filter(|term| !term.is_empty()).map(str::to_owned).collect());
        let mut next = || parts.next().unwrap_or_default();
        Self { signals: next(), title: next(), body: next() }
    }

    pub fn terms(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.parts().into_iter().flatten().map(String::as_str).filter(|term| seen.insert(*term)).collect()
    }

    fn parts(&self) -> [&Vec<String>; 3] {
        [&self.signals, &self.title, &self.body]
    }
}

/// A signal without the word that only says what kind it is.
fn signal_text(signal: &str) -> &str {
    let is_error = signal.starts_with("errsig") || signal.starts_with("recurring_errsig");
    signal.split_once(':').filter(|_| is_error).map_or(signal, |(_, text)| text)
}

/// Signals as lines, no more than are looked at.
fn joined(signals: &[&str]) -> String {
    let mut text = String::new();
    for signal in signals {
        if text.len() >= tokenizer::MAX_TEXT {
            break;
        }
        text.push_str(signal_text(signal));
        text.push('\n');
    }
    text
}

/// The terms of a text in its order. Where there are too many, those that it says most often.
fn terms_of(text: &str, most: usize) -> Vec<String> {
    let tokens = tokenizer::tokens(text);
    let is_heard = |at: usize| tokens.get(at).is_some_and(|token| token.force > TOO_WEAK);
    let stems = tokenizer::words(&tokens).into_iter().map(|word| (word.at, word.term));
    let lexicon = concepts::lexicon();
    let ideas = lexicon.mentions(&tokens).into_iter();
    let ideas = ideas.filter_map(|mention| Some((mention.from, lexicon.idea(mention.idea)?.term.clone())));
    let mut counts: WordMap<String, (usize, usize)> = WordMap::default();
    for (order, (_, term)) in stems.chain(ideas).filter(|(at, _)| is_heard(*at)).enumerate() {
        counts.entry(term).or_insert((0, order)).0 += 1;
    }
    let mut terms: Vec<(String, (usize, usize))> = counts.into_iter().collect();
    if terms.len() > most {
        terms.sort_by_key(|(_, (count, order))| (usize::MAX - count, *order));
        terms.truncate(most);
    }
    terms.sort_by_key(|(_, (_, order))| *order);
    terms.into_iter().map(|(term, _)| term).collect()
}

#[cfg(test)]
mod tests;
