//! Seed phrases of wallets: 12 to 24 words of the BIP-39 list, the last of which holds a checksum.

use crate::redact::ranges::Finding;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The English list, in its order, which is that of the alphabet.
const LIST: &str = include_str!("../bip39_english.txt");

/// The first four letters of each word, which no other has, with the word.
static WORDS: LazyLock<Vec<([u8; 4], &str)>> =
    LazyLock::new(|| LIST.lines().map(|word| (beginning(word.as_bytes()), word)).collect());

/// The shortest phrase has 12 words of three letters and a blank between two: one of these places is always in it.
const STEP: usize = 44;
const LENGTHS: [usize; 5] = [24, 21, 18, 15, 12];

/// A word of the list where it stands.
#[derive(Debug, Clone, Copy)]
struct ListedWord {
    start: usize,
    end: usize,
    number: u16,
}

/// Adds the phrases of a text.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut at = STEP - 1;
    while at < bytes.len() {
        let Some(word) = word_near(bytes, at) else {
            at += STEP;
            continue;
        };
        let run = run_around(bytes, word);
        let end = run.last().map_or(at, |last| last.end);
        if run.len() >= 12 {
            find_in_run(&run, found);
        }
        at = end.max(at) + STEP;
    }
}

/// The word of the list at a place, or right behind it where the place is between two words.
fn word_near(bytes: &[u8], at: usize) -> Option<ListedWord> {
    if bytes[at].is_ascii_alphabetic() {
        let start =
            at - bytes[..at].iter().rev().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
        return word_from(bytes, start);
    }
    word_from(bytes, at + gap(bytes[at..].iter()))
}

fn word_from(bytes: &[u8], start: usize) -> Option<ListedWord> {
    let length = bytes.get(start..)?.iter().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
    if !(3..=8).contains(&length) {
        return None;
    }
    let word = &bytes[start..start + length];
    let found = WORDS.binary_search_by_key(&beginning(word), |(key, _)| *key).ok()?;
    let is_listed = WORDS[found].1.as_bytes().eq_ignore_ascii_case(word);
    is_listed.then_some(ListedWord { start, end: start + length, number: found as u16 })
}

fn beginning(word: &[u8]) -> [u8; 4] {
    let mut key = [0; 4];
    for (to, from) in key.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    key
}

/// The length of what may stand between two words: blanks, commas, quotes, numbers of a list.
fn gap<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes
        .take(16)
        .take_while(|byte| {
            byte.is_ascii_whitespace() || byte.is_ascii_digit() || b"\"',.;:)|-#>[(".contains(byte)
        })
        .count()
}

/// The words of the list that follow each other around one of them.
fn run_around(bytes: &[u8], word: ListedWord) -> Vec<ListedWord> {
    let mut run = vec![word];
    let mut first = word;
    while let Some(before) = word_before(bytes, first.start) {
        run.push(before);
        first = before;
        // Longer than any phrase: the run is read from its beginning in any case.
        if run.len() > 48 {
            break;
        }
    }
    run.reverse();
    let mut last = word;
    loop {
        let length = gap(bytes[last.end..].iter());
        match word_from(bytes, last.end + length).filter(|_| length > 0) {
            Some(next) => {
                run.push(next);
                last = next;
            }
            None => return run,
        }
    }
}

fn word_before(bytes: &[u8], start: usize) -> Option<ListedWord> {
    let length = gap(bytes[..start].iter().rev());
    let end = start - length;
    let letters = bytes[..end].iter().rev().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
    word_from(bytes, end - letters).filter(|word| length > 0 && word.end == end)
}

fn find_in_run(run: &[ListedWord], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at + 12 <= run.len() {
        let phrase = LENGTHS.iter().filter(|&&length| at + length <= run.len()).find(|&&length| {
            let words = &run[at..at + length];
            // The list itself is no phrase.
            let is_sorted = words.windows(2).all(|pair| pair[0].number <= pair[1].number);
            !is_sorted && has_checksum(words)
        });
        match phrase {
            Some(length) => {
                found.push(Finding::new(run[at].start..run[at + length - 1].end));
                at += length;
            }
            None => at += 1,
        }
    }
}

/// Whether the last bits of a phrase are the first ones of the hash of the others.
fn has_checksum(words: &[ListedWord]) -> bool {
    let mut bits = [0_u8; 33];
    for (index, word) in words.iter().enumerate() {
        for bit in 0..11 {
            let at = index * 11 + bit;
            if word.number >> (10 - bit) & 1 == 1 {
                bits[at / 8] |= 0x80 >> (at % 8);
            }
        }
    }
    let entropy = words.len() / 3 * 4;
    let sum = Sha256::digest(&bits[..entropy]);
    let mask = 0xff_u8 << (8 - words.len() / 3);
    bits[entropy] == sum[0] & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|found| &text[found.secret]).collect()
    }

    #[test]
    fn the_list_is_the_public_one() {
        let hash: String = Sha256::digest(LIST).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda");
        assert!(WORDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_phrase_is_found_by_its_checksum_wherever_it_begins() {
        // The vectors of the standard: no entropy at all, and all bits set.
        let zero = format!("{}about", "abandon ".repeat(11));
        let ones = format!("{}wrong", "zoo ".repeat(11));
        for before in 0..60 {
            let text = format!("{}{ones}! ", "- ".repeat(before));
            assert_eq!(phrases(&text), [ones.as_str()], "{before}");
        }
        // In the order of the alphabet, like the list.
        assert!(phrases(&zero).is_empty());
        assert!(phrases(&ones.replace("wrong", "zone")).is_empty());
        assert!(phrases(LIST).is_empty());
        assert_eq!(phrases(&format!("Seed: {}vote", "zoo ".repeat(23))).len(), 1);
    }
}
