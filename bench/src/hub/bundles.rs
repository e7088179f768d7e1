//! Bundles to publish: a gene, a capsule and an event with their true ids, about 4 KB together. No two are alike, for
//! near copies would be held back.

use capsid_model::asset::stamp;
use serde_json::{Value, json};

/// A signal that one bundle in ten answers.
pub const COMMON: [&str; 4] = ["TimeoutError", "ECONNREFUSED", "memory_leak", "flaky_test"];

/// A signal that only the bundle of this number answers.
pub fn rare(n: u64) -> String {
    format!("rare_{:x}", mix(n))
}

/// The payload of the bundle of a number.
pub fn payload(n: u64) -> Value {
    let mut words = Words(mix(n) | 1);
    let common = COMMON[(n % 4) as usize];
    let signals = if n % 10 < 4 { vec![common.to_owned(), rare(n)] } else { vec![words.text(1), rare(n)] };
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
    json!({"assets": [gene, capsule, event]})
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
        "POST /a2a/{kind} HTTP/1.1\r\nhost: hub\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// A read as a whole request.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: hub\r\n\r\n").into_bytes()
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

/// Words out of syllables, always the same for the same number.
struct Words(u64);

impl Words {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % below
    }

    fn text(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "ka", "ro", "ti", "men", "sol", "ver", "pul", "dan", "gri", "lo", "be", "nux", "fa", "qui",
            "zer", "ost", "im", "ul", "tra", "pho", "wen", "ys", "cor", "hel",
        ];
        let count = 2 + self.next(3);
        (0..count).map(|_| SYLLABLES[self.next(24) as usize]).collect()
    }
}
