//! Finds which of very many words are in a text, in time that hardly depends on how many there are.
//!
//! The words are sorted. Of all words that begin where the text stands, the one sorted last before the rest of the
//! text has every other as a prefix, so one search and a walk along prefixes finds them all. A bitmap of openings
//! spares the search where no word can begin. Against an automaton this builds many times faster, which counts for a
//! program that is started for one question.

/// A bit for each hash of an opening of one to four bytes.
const BITS: usize = 1 << 20;
const NONE: u32 = u32::MAX;

/// A set of words, numbered in sorted order.
#[derive(Debug)]
pub(super) struct WordSet {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The longest other word that is a prefix.
    prefix: Vec<u32>,
    openings: Vec<u64>,
    lengths: [bool; 4],
}

impl WordSet {
    /// Takes sorted, distinct words; an empty one would be in every text and is not expected.
    pub fn new<'a>(sorted: impl Iterator<Item = &'a str>) -> Self {
        let mut words = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            prefix: Vec::new(),
            openings: vec![0; BITS / 64],
            lengths: [false; 4],
        };
        for word in sorted {
            words.push(word.as_bytes());
        }
        words
    }

    fn push(&mut self, word: &[u8]) {
        let mut prefix = self.ends.len().checked_sub(1).map_or(NONE, |last| last as u32);
        while prefix != NONE && !word.starts_with(self.word(prefix)) {
            prefix = self.prefix[prefix as usize];
        }
        self.prefix.push(prefix);
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
        let length = word.len().clamp(1, 4);
        self.lengths[length - 1] = true;
        if let Some(opening) = word.get(..length) {
            let bit = bit_of(opening);
            self.openings[bit / 64] |= 1 << (bit % 64);
        }
    }

    fn word(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// Calls `found` with the number of each word in the text, once for each place.
    pub fn find(&self, text: &str, mut on_word: impl FnMut(u32)) {
        let text = text.as_bytes();
        for at in 0..text.len() {
            let rest = &text[at..];
            if !self.may_begin(rest) {
                continue;
            }
            let mut number = match self.last_up_to(rest) {
                0 => continue,
                after => after - 1,
            };
            while number != NONE && !rest.starts_with(self.word(number)) {
                number = self.prefix[number as usize];
            }
            while number != NONE {
                on_word(number);
                number = self.prefix[number as usize];
            }
        }
    }

    fn may_begin(&self, rest: &[u8]) -> bool {
        (1..=4.min(rest.len())).any(|length| {
            let bit = bit_of(&rest[..length]);
            self.lengths[length - 1] && self.openings[bit / 64] & (1 << (bit % 64)) != 0
        })
    }

    /// How many words sort at or before the text.
    fn last_up_to(&self, rest: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.ends.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.word(middle) <= rest {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

fn bit_of(opening: &[u8]) -> usize {
    let number = opening.iter().fold(opening.len() as u64, |number, byte| number << 8 | u64::from(*byte));
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44) as usize
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
