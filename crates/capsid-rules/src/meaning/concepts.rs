//! The lexicon: ideas of software trouble and repair, and finding them in a text whatever words it uses.

use super::WordMap;
use super::tokenizer::{self, TextToken, TokenKind};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The ideas and their phrases; its head says how it is read.
const TEXT: &str = include_str!("concepts.txt");
/// How many characters `…` leaves room for.
const ROOM: u8 = 7;
/// The shortest word whose phrase may also stand the other way round.
const TURNABLE: usize = 4;
/// The shortest word that is made by writing a phrase without spaces: `on` is not `o n`.
const SHORTEST_JOINED: usize = 6;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(TEXT));

/// The ideas, prepared for looking up.
pub(super) struct Lexicon {
    ideas: Vec<Concept>,
    /// Numbers of the words and characters that phrases are made of.
    keys: WordMap<String, u32>,
    /// The phrases by their first word or character.
    phrases: Vec<Vec<ConceptPhrase>>,
}

/// An idea.
#[derive(Debug)]
pub(super) struct Concept {
    /// Its term, such as `c_timeout`.
    pub term: String,
    /// Ideas that it hangs together with, and how much, in the order of the lexicon.
    pub related: Vec<(usize, ConceptRelation)>,
}

/// How an idea hangs together with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConceptRelation {
    /// The other is the broader one.
    Broader,
    /// The other is the narrower one.
    Narrower,
    /// They lie near each other.
    Near,
}

/// The rest of a phrase after its first word.
struct ConceptPhrase {
    idea: usize,
    /// What follows, and how many others may stand before it.
    rest: Vec<(u32, u8)>,
}

/// An idea in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConceptMention {
    pub idea: usize,
    /// The first token of the phrase.
    pub from: usize,
    /// The last token of the phrase.
    pub to: usize,
    /// How many words or characters the phrase has.
    pub length: usize,
}

/// The lexicon that comes with the program.
pub(super) fn lexicon() -> &'static Lexicon {
    &LEXICON
}

impl Lexicon {
    fn read(text: &str) -> Self {
        let entries = entries(text);
        let numbers: HashMap<&str, usize> =
            entries.iter().enumerate().map(|(at, entry)| (entry.name, at)).collect();
        let mut lexicon = Self { ideas: Vec::new(), keys: WordMap::default(), phrases: Vec::new() };
        lexicon.ideas.extend(
            entries.iter().map(|entry| Concept { term: format!("c_{}", entry.name), related: Vec::new() }),
        );
        for (at, entry) in entries.iter().enumerate() {
            for (relation, names) in
                [(ConceptRelation::Broader, &entry.broader), (ConceptRelation::Near, &entry.near)]
            {
                for other in names.iter().filter_map(|name| numbers.get(name)) {
                    lexicon.relate(at, *other, relation);
                }
            }
            for phrase in &entry.phrases {
                lexicon.learn(at, phrase);
            }
        }
        lexicon
    }

    /// The idea with a number.
    pub fn idea(&self, number: usize) -> Option<&Concept> {
        self.ideas.get(number)
    }

    /// The ideas in a text.
    pub fn mentions(&self, tokens: &[TextToken]) -> Vec<ConceptMention> {
        let mut mentions = Vec::new();
        let line: Vec<(Option<u32>, usize)> = (tokens.iter().enumerate())
            .filter(|(_, token)| {
                !matches!(token.kind, TokenKind::Small | TokenKind::Whole) && token.key != "的"
            })
            .map(|(at, token)| (self.keys.get(&token.key).copied(), at))
            .collect();
        for from in 0..line.len() {
            for phrase in self.beginning(line.get(from).and_then(|(key, _)| *key)) {
                if let Some(last) = follow(&line, from, phrase, tokens) {
                    let at = |place: usize| line.get(place).map_or(0, |(_, at)| *at);
                    mentions.push(ConceptMention {
                        idea: phrase.idea,
                        from: at(from),
                        to: at(last),
                        length: phrase.rest.len() + 1,
                    });
                }
            }
        }
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Whole) {
            let single = self
                .beginning(self.keys.get(&token.key).copied())
                .iter()
                .filter(|phrase| phrase.rest.is_empty());
            mentions.extend(single.map(|phrase| ConceptMention {
                idea: phrase.idea,
                from: at,
                to: at,
                length: 2,
            }));
        }
        mentions.sort_by_key(|mention| mention.from);
        mentions
    }

    fn beginning(&self, key: Option<u32>) -> &[ConceptPhrase] {
        key.and_then(|key| self.phrases.get(key as usize)).map_or(&[], Vec::as_slice)
    }

    fn relate(&mut self, one: usize, other: usize, relation: ConceptRelation) {
        let back = if relation == ConceptRelation::Broader { ConceptRelation::Narrower } else { relation };
        for (from, to, relation) in [(one, other, relation), (other, one, back)] {
            let Some(idea) = self.ideas.get_mut(from) else { continue };
            if from != to && idea.related.iter().all(|(known, _)| *known != to) {
                idea.related.push((to, relation));
            }
        }
    }

    /// Learns a phrase: as it stands, turned round where that is likely to mean the same, and written as one word.
    fn learn(&mut self, idea: usize, phrase: &str) {
        let mut steps: Vec<(String, TokenKind, bool)> = Vec::new();
        for (at, part) in phrase.split('…').enumerate() {
            let tokens = tokenizer::phrase(part).into_iter().enumerate();
            steps.extend(tokens.map(|(place, token)| (token.key, token.kind, at > 0 && place == 0)));
        }
        self.insert(idea, &steps);
        let is_spaced = steps.iter().all(|(_, kind, _)| *kind == TokenKind::Word);
        if let ([one, other], true) = (steps.as_slice(), is_spaced)
            && one.0.len().min(other.0.len()) >= TURNABLE
        {
            self.insert(idea, &[other.clone(), one.clone()]);
        }
        if is_spaced && (2..=4).contains(&steps.len()) {
            let joined: String = phrase.split(|c: char| !c.is_alphanumeric()).collect();
            if joined.len() < SHORTEST_JOINED {
                return;
            }
            self.insert(idea, &[(super::stems::stem(&joined), TokenKind::Word, false)]);
        }
    }

    fn insert(&mut self, idea: usize, steps: &[(String, TokenKind, bool)]) {
        let mut before = None;
        let mut rest = Vec::new();
        for (key, kind, has_room) in steps {
            let gap = match (before, kind) {
                _ if *has_room => ROOM,
                (Some(TokenKind::Character), TokenKind::Character) => 0,
                (Some(TokenKind::Word), TokenKind::Word) => 1,
                _ => 2,
            };
            before = Some(*kind);
            rest.push((self.number(key), gap));
        }
        if rest.is_empty() {
            return;
        }
        let (first, _) = rest.remove(0);
        let Some(phrases) = self.phrases.get_mut(first as usize) else { return };
        if phrases.iter().all(|known| known.idea != idea || known.rest != rest) {
            phrases.push(ConceptPhrase { idea, rest });
        }
    }

    fn number(&mut self, key: &str) -> u32 {
        let next = u32::try_from(self.phrases.len()).unwrap_or(u32::MAX);
        let number = *self.keys.entry(key.to_owned()).or_insert(next);
        if number == next {
            self.phrases.push(Vec::new());
        }
        number
    }
}

/// Where the last word of a phrase stands that begins at a place, if all of it does.
fn follow(
    line: &[(Option<u32>, usize)],
    from: usize,
    phrase: &ConceptPhrase,
    tokens: &[TextToken],
) -> Option<usize> {
    let is_break = |at: usize| tokens.get(at).is_none_or(|token| token.kind == TokenKind::Break);
    let mut place = from;
    for (key, gap) in &phrase.rest {
        let ahead = line.iter().enumerate().skip(place + 1).take(usize::from(*gap) + 1);
        let mut reachable = ahead.take_while(|(_, (_, at))| *gap == ROOM || !is_break(*at));
        place = reachable.find(|(_, (found, _))| *found == Some(*key))?.0;
    }
    Some(place)
}

/// What the lexicon says of an idea.
#[derive(Default)]
struct LexiconEntry<'a> {
    name: &'a str,
    broader: Vec<&'a str>,
    near: Vec<&'a str>,
    phrases: Vec<&'a str>,
}

fn entries(text: &str) -> Vec<LexiconEntry<'_>> {
    let mut entries: Vec<LexiconEntry<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut phrases = line;
        if let Some((head, rest)) = line.split_once(": ").filter(|_| !line.starts_with(' ')) {
            entries.push(head_of(head));
            phrases = rest;
        }
        if let Some(entry) = entries.last_mut() {
            entry.phrases.extend(listed(phrases));
        }
    }
    entries
}

fn head_of(head: &str) -> LexiconEntry<'_> {
    let (front, near) = head.split_once('~').unwrap_or((head, ""));
    let (name, broader) = front.split_once('<').unwrap_or((front, ""));
    LexiconEntry {
        name: name.trim(),
        broader: listed(broader).collect(),
        near: listed(near).collect(),
        phrases: Vec::new(),
    }
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn ideas(text: &str) -> Vec<&'static str> {
        let mentions = lexicon().mentions(&tokenizer::tokens(text));
        mentions
            .into_iter()
            .filter_map(|mention| lexicon().idea(mention.idea))
            .map(|idea| &idea.term[2..])
            .collect()
    }

    #[test]
    fn the_lexicon_is_well_formed() {
        let entries = entries(TEXT);
        let names: HashSet<&str> = entries.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), entries.len(), "an idea stands there twice");
        assert!(entries.len() >= 250);
        for entry in &entries {
            let name = entry.name;
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
                "{name}"
            );
            assert!(name.len() <= 40 && !name.is_empty(), "{name}");
            for other in entry.broader.iter().chain(&entry.near) {
                assert!(names.contains(other) && *other != name, "{name} names {other}");
            }
            assert!(!entry.phrases.is_empty(), "{name} has no phrase");
            let mut seen = HashSet::new();
            for phrase in &entry.phrases {
                let tokens: usize = phrase.split('…').map(|part| tokenizer::phrase(part).len()).sum();
                assert!(tokens > 0, "{name}: {phrase:?} says nothing");
                assert!(seen.insert(*phrase), "{name}: {phrase} twice");
                let unspaced = phrase.chars().any(crate::meaning::tokenizer::is_unspaced);
                assert!(
                    unspaced || *phrase == phrase.to_lowercase(),
                    "{name}: {phrase} is not in lower case"
                );
            }
        }
    }

    #[test]
    fn nearly_every_idea_has_both_languages() {
        let entries = entries(TEXT);
        let is_chinese = |phrase: &&str| phrase.chars().any(crate::meaning::tokenizer::is_unspaced);
        let both = entries
            .iter()
            .filter(|entry| entry.phrases.iter().any(is_chinese) && !entry.phrases.iter().all(is_chinese));
        assert!(both.count() * 20 >= entries.len() * 19);
    }

    #[test]
    fn ideas_are_found_in_whatever_words() {
        for (text, idea) in [
            ("The pod was OOMKilled with exit code 137", "oom"),
            ("it eats up all the RAM", "oom"),
            ("java.lang.OutOfMemoryError: Java heap space", "oom"),
            ("进程因为内存不足被系统杀掉了", "oom"),
            ("内存占用一直在缓慢上涨", "memory_leak"),
            ("the connections were suddenly refused", "connection_refused"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connection_refused"),
            ("TypeError: Cannot read properties of undefined (reading 'x')", "undefined"),
            ("we can't find the module", "module_not_found"),
            ("客户被重复扣款", "duplicate_processing"),
            ("customers are charged twice", "duplicate_processing"),
            ("token已经过期", "expired"),
            ("ImagePullBackOff", "image_pull"),
            ("N+1 queries", "n_plus_one"),
            ("retry_storm", "retry_storm"),
        ] {
            assert!(ideas(text).contains(&idea), "{text}: {:?}", ideas(text));
        }
    }

    #[test]
    fn phrases_do_not_reach_over_sentences() {
        assert!(!ideas("The memory. Leak the story").contains(&"memory_leak"));
        assert!(!ideas("a port of the game").contains(&"deadlock"));
    }
}
