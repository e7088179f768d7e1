//! Templates of the corpora, filled from a fixed seed: no value that looks like a secret stands in a file.

use fastrand::Rng;
use sha2::{Digest, Sha256};

const WORDS: &str = include_str!("../../src/redact/bip39_english.txt");

/// A part of a text: as it stands, or filled in.
#[derive(Debug, Clone)]
pub struct Part {
    pub text: String,
    pub is_secret: bool,
}

/// A template with every `{{kind:length}}` filled in; `{{~kind:length}}` is filled in and no secret.
pub fn fill(template: &str, chance: &mut Rng) -> Vec<Part> {
    let plain = |text: &str| Part { text: text.to_owned(), is_secret: false };
    let mut filler = Filler { chance, seeds: Vec::new() };
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..].find("}}").map(|end| start + end);
        // `{{{alnum:4}}}` is a brace, a value and a brace.
        let start = if rest[start..].starts_with("{{{") { start + 1 } else { start };
        let made = end.and_then(|end| {
            let spec = &rest[start + 2..end];
            let value = filler.value(spec.trim_start_matches('~'))?;
            Some((end, Part { text: value, is_secret: !spec.starts_with('~') }))
        });
        match made {
            Some((end, part)) => {
                parts.push(plain(&rest[..start]));
                parts.push(part);
                rest = &rest[end + 2..];
            }
            None => {
                parts.push(plain(&rest[..start + 2]));
                rest = &rest[start + 2..];
            }
        }
    }
    parts.push(plain(rest));
    parts.retain(|part| !part.text.is_empty());
    parts
}

struct Filler<'a> {
    chance: &'a mut Rng,
    seeds: Vec<String>,
}

impl Filler<'_> {
    /// The value of one template, if it is one.
    fn value(&mut self, spec: &str) -> Option<String> {
        let mut fields = spec.split(':');
        let kind = fields.next()?;
        let numbers: Option<Vec<usize>> = fields.map(|field| field.parse().ok()).collect();
        let numbers = numbers?;
        let length = numbers.first().copied();
        let alphabet = match kind {
            "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "lower" => "abcdefghijklmnopqrstuvwxyz",
            "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "digits" => "0123456789",
            "hex" => "0123456789abcdef",
            "HEX" => "0123456789ABCDEF",
            "base32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "base64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            "base64url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            "crypt" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./",
            "b64" => return Some(base64(self.password(length?).as_bytes())),
            "pass" => return Some(self.password(length?)),
            "word" => return Some(self.word(length?)),
            "uuid" => {
                return Some(
                    [8, 4, 4, 4, 12].map(|part| self.characters("0123456789abcdef", part)).join("-"),
                );
            }
            "seed" => return Some(self.phrase(length?).join(" ")),
            "SEED" => return Some(self.phrase(length?).join(" ").to_uppercase()),
            "seedlist" => {
                return Some(
                    self.phrase(length?)
                        .iter()
                        .map(|word| format!("\"{word}\""))
                        .collect::<Vec<_>>()
                        .join(", "),
                );
            }
            "seedword" => {
                if self.seeds.len() != length? {
                    self.seeds = self.phrase(length?);
                }
                return self.seeds.get(*numbers.get(1)?).cloned();
            }
            _ => return None,
        };
        Some(self.characters(alphabet, length?))
    }

    fn characters(&mut self, alphabet: &str, length: usize) -> String {
        (0..length).map(|_| char::from(alphabet.as_bytes()[self.chance.usize(..alphabet.len())])).collect()
    }

    /// As password managers make them: both cases, a digit and a sign, a letter first.
    fn password(&mut self, length: usize) -> String {
        let letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
        let mut made: Vec<char> = self.characters(letters, length).chars().collect();
        let (digit, sign) = (self.chance.usize(1..length / 2), self.chance.usize(length / 2..length));
        made[digit] = char::from(b'2' + self.chance.u8(..8));
        made[sign] = char::from(b"!#%*+-_=?^~.@"[self.chance.usize(..13)]);
        made.into_iter().collect()
    }

    /// A word as people choose it for a password.
    fn word(&mut self, length: usize) -> String {
        let mut fitting = WORDS.lines().filter(|word| word.len() == length.min(8));
        let count = fitting.clone().count();
        fitting.nth(self.chance.usize(..count)).unwrap().to_owned()
    }

    /// A phrase with the right checksum.
    fn phrase(&mut self, count: usize) -> Vec<String> {
        let words: Vec<&str> = WORDS.lines().collect();
        let entropy: Vec<u8> = (0..count / 3 * 4).map(|_| self.chance.u8(..)).collect();
        let sum = Sha256::digest(&entropy);
        let bit = |at: usize| {
            let byte = entropy.get(at / 8).copied().unwrap_or_else(|| sum[at / 8 - entropy.len()]);
            usize::from(byte >> (7 - at % 8) & 1)
        };
        (0..count)
            .map(|word| words[(0..11).fold(0, |n, at| n * 2 + bit(word * 11 + at))].to_owned())
            .collect()
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let n = (0..3).fold(0_usize, |n, at| n << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let sign = ALPHABET[n >> (18 - 6 * at) & 63];
            text.push(if at <= chunk.len() { char::from(sign) } else { '=' });
        }
    }
    text
}
