//! Bundles to publish: a gene, a capsule and an event with their true ids, about 4 KB together. No two are alike, for
//! near copies would be held back. Half of them are of invented words, so that no word helps; the other half is of words as
//! people use them, and as often as they do.

use capsid_model::asset::stamp;
use capsid_rules::assets::safety::{SafetyVerdict, scan_asset};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// How the bundles are made. Data that was made in another way is made again.
pub const GENERATOR: &str = include_str!("bundles.rs");

/// The bundles by which the hub's search is judged.
const REAL: &str = include_str!("../../../crates/capsid-hub/tests/relevance/bundles.jsonl");

/// All words of their texts, one after the other, so that a random one is as common as it is there.
static REAL_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    REAL.split(|c: char| !c.is_alphanumeric()).filter(is_word).collect()
});

/// A signal that one bundle in ten answers.
pub const COMMON: [&str; 4] = ["TimeoutError", "ECONNREFUSED", "memory_leak", "flaky_test"];

/// A signal that only the bundle of this number answers.
pub fn rare(n: u64) -> String {
    format!("rare_{:x}", mix(n))
}

/// The payload of the bundle of a number. Words in any order look like a credential now and then, which a hub would hold
/// back; such a bundle gets invented ones.
pub fn payload(n: u64) -> Value {
    let is_clean = |asset: &Value| {
        asset.as_object().is_some_and(|asset| scan_asset(asset).verdict() == SafetyVerdict::Clean)
    };
    let mut assets = assets(n, n % 2 == 1);
    if !assets.iter().all(is_clean) {
        assets = self::assets(n, false);
    }
    json!({"assets": assets})
}

fn assets(n: u64, are_real: bool) -> [Value; 3] {
    let mut words = Words { state: mix(n) | 1, are_real };
    let common = COMMON[(n % 4) as usize];
    let signals = if n % 10 < 4 { vec![common.to_owned(), rare(n)] } else { vec![words.invented(), rare(n)] };
    let mut gene = json!({
        "type": "Gene", "schema_version": "1.5.0", "category": "repair", "signals_match": signals,
        "summary": words.text(14), "strategy": [words.text(12), words.text(12), words.text(12)],
        "validation": [format!("node tests/case_{n}.test.js")],
    });
    set_id(&mut gene);
    let mut capsule = json!({
        "type": "Capsule", "schema_version": "1.5.0", "trigger": signals, "gene": gene["asset_id"],
        "summary": words.text(24), "content": words.text(160), "confidence": 0.8,
        "blast_radius": {"files": 1 + n % 5, "lines": 3 + n % 90},
        "outcome": {"status": "success", "score": 0.85}, "success_streak": n % 12,
        "env_fingerprint": {"platform": "linux", "arch": "x64"},
    });
    set_id(&mut capsule);
    let mut event = json!({
        "type": "EvolutionEvent", "intent": "repair", "capsule_id": capsule["asset_id"],
        "genes_used": [gene["asset_id"]], "outcome": {"status": "success", "score": 0.85},
        "mutations_tried": 3, "total_cycles": n % 1_000_000,
    });
    set_id(&mut event);
    [gene, capsule, event]
}

/// The same as a whole request.
pub fn publish(n: u64) -> Vec<u8> {
    message("publish", &format!("node_{}", n % 64), n, &payload(n))
}

/// A message in its envelope as a whole request.
pub fn message(kind: &str, sender: &str, n: u64, payload: &Value) -> Vec<u8> {
    let body = json!({
        "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
        "message_id": format!("msg_{kind}_{n}"), "sender_id": sender,
        "timestamp": "2026-11-15T12:00:00.000Z", "payload": payload,
    })
    .to_string();
    let head = format!(
        "POST /a2a/{kind} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// A read as a whole request.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
}

/// A call without an envelope as a whole request.
pub fn post(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

fn set_id(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        stamp(object);
    }
}

/// Spreads numbers that are near to each other.
fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// Words, always the same for the same number.
struct Words {
    state: u64,
    are_real: bool,
}

impl Words {
    fn next(&mut self, below: u64) -> u64 {
        self.state = mix(self.state);
        self.state % below
    }

    fn text(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn word(&mut self) -> String {
        if self.are_real {
            let at = self.next(REAL_WORDS.len() as u64);
            return REAL_WORDS[at as usize].to_owned();
        }
        self.invented()
    }

    /// A word out of syllables.
    fn invented(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "ka", "ro", "ti", "men", "sol", "ver", "pul", "dan", "gri", "lo", "be", "nux", "fa", "qui",
            "zer", "ost", "im", "ul", "tra", "pho", "wen", "ys", "cor", "hel",
        ];
        let count = 2 + self.next(3);
        (0..count).map(|_| SYLLABLES[self.next(24) as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_bundles_use_real_words_and_no_two_bundles_are_alike() {
        let summaries: Vec<String> =
            (0..40).map(|n| payload(n)["assets"][1]["summary"].as_str().unwrap().to_owned()).collect();
        let is_real = |summary: &&String| summary.split(' ').all(|word| REAL_WORDS.contains(&word));
        assert_eq!(summaries.iter().filter(is_real).count(), 20);
        let distinct: std::collections::BTreeSet<&String> = summaries.iter().collect();
        assert_eq!(distinct.len(), 40);
        assert_eq!(payload(7), payload(7));
    }
    #[test]
    fn zz_scan() {
        let mut bad = 0;
        for n in 0..20000 {
            let p = payload(n);
            for a in p["assets"].as_array().unwrap() {
                let s = capsid_rules::assets::safety::scan_asset(a.as_object().unwrap());
                if s.verdict() != capsid_rules::assets::safety::SafetyVerdict::Clean { bad += 1; if bad < 12 { println!("{n} {:?}", s.findings);
                for f in ["summary","content"] { if let Some(t) = a[f].as_str() { let r = capsid_model::redact::redact(t, capsid_model::redact::RedactProfile::Secrets); if r != t { println!("   {t}\n   {r}"); } } } } }
            }
        }
        println!("bad {bad}");
    }
}
