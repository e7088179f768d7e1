//! How much two texts say the same: shingles of three words, and sketches by which a store finds near duplicates.
//!
//! A store keeps a sketch and its band keys. Texts that share a band key are candidates; [`Sketch::estimate`] or, better,
//! [`jaccard`] over both texts then decides. Two texts that are 80 % alike miss each other once in four thousand times,
//! and 60 % alike once in ten.

use serde::Serialize;
use std::borrow::Borrow;

/// How many minima a sketch keeps.
pub const WIDTH: usize = 64;
/// How many minima make a band.
const ROWS: usize = 4;
/// Words in a shingle.
const WORDS: usize = 3;
/// With fewer shingles than this a text is too short to call it a copy: two honest people may well write the same ten
/// words. Such texts are at most warned about.
pub const ENOUGH_SHINGLES: u32 = 8;

/// The text whose likeness is looked at: what an asset says, without what it is called.
pub fn text_of<S: Borrow<str>>(summary: &str, content: &str, strategy: &[S]) -> String {
    let mut text = format!("{summary}\n{content}");
    for step in strategy {
        text.push('\n');
        text.push_str(step.borrow());
    }
    text
}

/// How much two texts have in common: shared shingles among all, 0 to 1. Nothing is like an empty text.
pub fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    let shared = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// What remains of a text: enough to estimate how alike it is to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSketch {
    minima: [u32; WIDTH],
    shingles: u32,
}

/// The sketch of a text; the same on every machine, for stores keep it.
pub fn sketch(text: &str) -> TextSketch {
    let shingles = shingles(text);
    let mut minima = [u32::MAX; WIDTH];
    for shingle in &shingles {
        for (least, (factor, offset)) in minima.iter_mut().zip(&FAMILY) {
            let value = (shingle.wrapping_mul(*factor).wrapping_add(*offset) >> 32) as u32;
            *least = value.min(*least);
        }
    }
    TextSketch { minima, shingles: u32::try_from(shingles.len()).unwrap_or(u32::MAX) }
}

impl TextSketch {
    /// How many different shingles the text had.
    pub fn shingles(&self) -> u32 {
        self.shingles
    }

    /// The keys by which likely duplicates are found; none for a text without words.
    pub fn bands(&self) -> Vec<i64> {
        if self.shingles == 0 {
            return Vec::new();
        }
        let band = |(number, rows): (usize, &[u32])| {
            let key = rows.iter().fold(number as u64 + 1, |key, row| mix(key ^ u64::from(*row)));
            i64::from_ne_bytes(key.to_ne_bytes())
        };
        self.minima.chunks(ROWS).enumerate().map(band).collect()
    }

    /// The estimated likeness of two texts, 0 to 1, good to about 0.06.
    pub fn estimate(&self, other: &Self) -> f64 {
        if self.shingles == 0 || other.shingles == 0 {
            return 0.0;
        }
        let same = self.minima.iter().zip(&other.minima).filter(|(a, b)| a == b).count();
        same as f64 / WIDTH as f64
    }

    /// The sketch as bytes to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.shingles].iter().chain(&self.minima).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The sketch that was kept; nothing when the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let (shingles, minima) = numbers.split_first()?;
        let minima: [[u8; 4]; WIDTH] = minima.try_into().ok()?;
        let sketch = Self { minima: minima.map(u32::from_le_bytes), shingles: u32::from_le_bytes(*shingles) };
        rest.is_empty().then_some(sketch)
    }
}

/// What follows from a likeness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SimilarityVerdict {
    Fresh,
    /// It is close to something; it stays a candidate and earns nothing for being promoted.
    Warn,
    /// It is a copy; it is held back.
    Quarantine,
}

/// What follows when a new text with so many shingles is so much like a known one.
///
/// Repeating oneself is cheaper than copying others and is stopped earlier. A short text is never held back.
pub fn judge(likeness: f64, same_author: bool, shingles: u32) -> SimilarityVerdict {
    let (warn, quarantine) = if same_author { (0.60, 0.80) } else { (0.80, 0.95) };
    if likeness >= quarantine && shingles >= ENOUGH_SHINGLES {
        SimilarityVerdict::Quarantine
    } else if likeness >= warn {
        SimilarityVerdict::Warn
    } else {
        SimilarityVerdict::Fresh
    }
}

/// The different shingles of a text, sorted.
fn shingles(text: &str) -> Vec<u64> {
    let words = word_hashes(text);
    let shingle = |words: &[u64]| words.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, word| mix(hash ^ word));
    let mut all: Vec<u64> = match words.len() {
        0 => Vec::new(),
        1..WORDS => vec![shingle(&words)],
        _ => words.windows(WORDS).map(shingle).collect(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

/// A number for each word, whatever its case. Scripts that write no spaces give a word for each character.
fn word_hashes(text: &str) -> Vec<u64> {
    const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, c: char| (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3);
    let mut hashes = Vec::with_capacity(text.len() / 6 + 1);
    let mut word = EMPTY;
    for c in text.chars() {
        let alone = crate::meaning::tokenizer::is_unspaced(c);
        if word != EMPTY && (alone || !c.is_alphanumeric()) {
            hashes.push(word);
            word = EMPTY;
        }
        if alone {
            hashes.push(step(EMPTY, c));
        } else if c.is_ascii_alphanumeric() {
            word = step(word, c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            word = c.to_lowercase().fold(word, step);
        }
    }
    if word != EMPTY {
        hashes.push(word);
    }
    hashes
}

/// A number that differs everywhere from its neighbours' (the finaliser of splitmix64).
const fn mix(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    b ^ (b >> 31)
}

/// The hash functions of the minima: a factor and an offset each, drawn once and for all.
const FAMILY: [(u64, u64); WIDTH] = {
    let mut family = [(0, 0); WIDTH];
    let mut index = 0;
    while index < WIDTH {
        let at = index as u64;
        family[index] = (mix(2 * at + 1) | 1, mix(2 * at + 2));
        index += 1;
    }
    family
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "Retry with exponential backoff on timeout errors, cap the delay at thirty seconds, add jitter \
        so that clients do not come back all at once, and give up after five attempts with a clear error.";

    #[test]
    fn case_and_punctuation_do_not_matter() {
        let shouted = TEXT.to_uppercase().replace(',', " -- ");
        assert_eq!(jaccard(TEXT, &shouted), 1.0);
        assert_eq!(sketch(TEXT), sketch(&shouted));
    }

    #[test]
    fn different_texts_share_nothing() {
        let other =
            "Cache parsed configuration by modification time and drop entries when the file changes on disk.";
        assert_eq!(jaccard(TEXT, other), 0.0);
        assert!(sketch(TEXT).estimate(&sketch(other)) < 0.1);
    }

    #[test]
    fn a_copy_with_one_changed_word_is_found_by_a_band() {
        let copy = TEXT.replace("thirty", "forty");
        let shared = sketch(TEXT).bands().iter().filter(|band| sketch(&copy).bands().contains(band)).count();
        assert!(shared > 0);
        let exact = jaccard(TEXT, &copy);
        assert!((0.75..0.95).contains(&exact), "{exact}");
        assert!((sketch(TEXT).estimate(&sketch(&copy)) - exact).abs() < 0.2);
    }

    #[test]
    fn the_thresholds() {
        use SimilarityVerdict::{Fresh, Quarantine, Warn};
        for (likeness, other, own) in [
            (0.59, Fresh, Fresh),
            (0.60, Fresh, Warn),
            (0.79, Fresh, Warn),
            (0.80, Warn, Quarantine),
            (0.95, Quarantine, Quarantine),
        ] {
            assert_eq!(judge(likeness, false, 40), other);
            assert_eq!(judge(likeness, true, 40), own);
        }
    }

    #[test]
    fn short_texts_are_never_held_back() {
        let short = "Fix the failing build by pinning the compiler";
        assert!(sketch(short).shingles() < ENOUGH_SHINGLES);
        assert_eq!(judge(1.0, true, sketch(short).shingles()), SimilarityVerdict::Warn);
        assert_eq!(judge(f64::NAN, true, 40), SimilarityVerdict::Fresh);
    }

    #[test]
    fn texts_without_words_are_like_nothing() {
        for empty in ["", " \n", "!!! ---"] {
            assert_eq!(jaccard(empty, empty), 0.0);
            assert_eq!(sketch(empty).estimate(&sketch(empty)), 0.0);
            assert!(sketch(empty).bands().is_empty());
        }
        assert_eq!(jaccard("one", "ONE"), 1.0);
    }

    #[test]
    fn scripts_without_spaces_have_words_too() {
        let text = "修复超时错误并加入指数退避重试机制";
        assert!(sketch(text).shingles() > 10);
        let near = jaccard(text, "修复超时错误并加入指数退避重试策略");
        assert!((0.7..1.0).contains(&near), "{near}");
    }

    #[test]
    fn sketches_stay_as_they_are() {
        // Stores keep these: a change here makes every kept sketch worthless.
        assert_eq!(sketch("one two three").bands().first(), Some(&295_372_701_025_923_122));
    }

    #[test]
    fn bytes_are_read_back() {
        let bytes = sketch(TEXT).to_bytes();
        assert_eq!(bytes.len(), 4 * (WIDTH + 1));
        assert_eq!(TextSketch::from_bytes(&bytes), Some(sketch(TEXT)));
        assert_eq!(TextSketch::from_bytes(&bytes[1..]), None);
        assert_eq!(TextSketch::from_bytes(&[]), None);
        assert_eq!(text_of("a", "b", &["c", "d"]), "a\nb\nc\nd");
    }

    proptest! {
        #[test]
        fn likeness_is_mutual_and_in_range(a in "[a-d ]{0,60}", b in "[a-d ]{0,60}") {
            let likeness = jaccard(&a, &b);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert_eq!(likeness, jaccard(&b, &a));
            let estimate = sketch(&a).estimate(&sketch(&b));
            prop_assert!((0.0..=1.0).contains(&estimate));
            if likeness == 1.0 {
                prop_assert_eq!(estimate, 1.0);
            }
        }

        #[test]
        fn any_text_has_a_sketch(text in any::<String>()) {
            let sketch = sketch(&text);
            prop_assert_eq!(TextSketch::from_bytes(&sketch.to_bytes()), Some(sketch));
        }
    }
}
