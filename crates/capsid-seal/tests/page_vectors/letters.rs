//! Texts that are records or nearly so, and numbers as they are written.

use capsid_model::exact::{canonical, canonical_ascii, float_text, parse, parse_unambiguous};
use capsid_model::{Value, json};
use capsid_seal::hash::sha3_hex;
use capsid_seal::verify::skim;

/// What follows the three fields that make a record.
const REST: &[&str] = &[
    "",
    r#","x":1"#,
    r#", "x" : 1 "#,
    r#","x":{"id":"b","sequence":9}"#,
    r#","x":[1e999,-0,0.0,1E+5,1e-7,123456789012345678901234567890]"#,
    r#","x":NaN"#,
    r#","x":[-Infinity,Infinity]"#,
    r#","x":[NaN, 1]"#,
    r#","x":1.50,"y":NaN"#,
    r#","x":"\ud83d""#,
    r#","x":"\ude00\ud83d""#,
    r#","x":"\ud83d\ude00""#,
    r#","x":{"\ud83d":1}"#,
    r#","\ud83d":1"#,
    r#","x":"\u12""#,
    r#","x":"\u12g4""#,
    r#","x":"\x""#,
    r#","x":"\/""#,
    ",\"x\":\"\t\"",
    ",\"x\":\"\u{7f}\u{2028}é🍐\"",
    ",\"é\":NaN",
    ",\"x\":\"é\",\"y\":NaN",
    r#","x":"\u00e9","y":NaN"#,
    r#","x":1,"x":2"#,
    r#","id":"a""#,
    r#","\u0069d":"a""#,
    r#","sequence":7"#,
    r#","previous_hash":null"#,
    r#","x":01"#,
    r#","x":1."#,
    r#","x":.5"#,
    r#","x":+1"#,
    r#","x":-"#,
    r#","x":1e"#,
    r#","x":tru"#,
    r#","x":nullx"#,
    r#","x":[1,]"#,
    r#","x":[,1]"#,
    r#","x":[1"#,
    r#","x":{"a"}"#,
    r#","x":{1:1}"#,
    r#","x":{}"#,
    r#","x":[{},[],""]"#,
    r#","#,
    r#","x":'a'"#,
    ",\"x\":\u{a0}1",
];

/// Complete texts.
const WHOLE: &[&str] = &[
    "",
    " ",
    "null",
    "[]",
    "{}",
    r#"["a",7,null]"#,
    "{\"id\":\"a\"",
    r#"{"id":"a","sequence":7}"#,
    r#"{"previous_hash":null,"sequence":7}"#,
    r#"{"id":"a","previous_hash":null}"#,
    r#"{"id":7,"previous_hash":null,"sequence":7}"#,
    r#"{"id":null,"previous_hash":null,"sequence":7}"#,
    r#"{"id":"a","previous_hash":7,"sequence":7}"#,
    r#"{"id":"a","previous_hash":"p","sequence":7}"#,
    r#"{"id":"a","previous_hash":"\ud800","sequence":7}"#,
    r#"{"id":"\u0061","previous_hash":"\u0070","sequence":7}"#,
    r#"{"id":"a","previous_hash":null,"sequence":7.0}"#,
    r#"{"id":"a","previous_hash":null,"sequence":-1}"#,
    r#"{"id":"a","previous_hash":null,"sequence":-0}"#,
    r#"{"id":"a","previous_hash":null,"sequence":-0,"x":NaN}"#,
    r#"{"id":"a","previous_hash":null,"sequence":0,"x":NaN}"#,
    r#"{"id":"a","previous_hash":null,"sequence":true}"#,
    r#"{"id":"a","previous_hash":null,"sequence":"7"}"#,
    r#"{"id":"a","previous_hash":null,"sequence":7e0}"#,
    r#"{"id":"a","previous_hash":null,"sequence":9007199254740993}"#,
    r#"{"id":"a","previous_hash":null,"sequence":18446744073709551615}"#,
    r#"{"id":"a","previous_hash":null,"sequence":18446744073709551616}"#,
    r#"{"id":"a","previous_hash":null,"sequence":9223372036854775808,"x":NaN}"#,
    r#"{"sequence":7,"previous_hash":null,"id":"a"}"#,
    r#"{"sequence":7,"previous_hash":null,"id":"a","x":NaN}"#,
    " {\"id\":\"a\",\"previous_hash\":null,\"sequence\":7}\n",
    "\u{feff}{\"id\":\"a\",\"previous_hash\":null,\"sequence\":7}",
    "\u{2003}{\"id\":\"a\",\"previous_hash\":null,\"sequence\":7}",
    r#"{"id":"a","previous_hash":null,"sequence":7}x"#,
    r#"{"id":"a","previous_hash":null,"sequence":7,}"#,
];

/// Each text with its hash, and with the place that it claims where it is a record.
pub fn texts() -> Value {
    let deep = |depth: usize| {
        let nest = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"id":"a","previous_hash":null,"sequence":7,"x":{nest}}}"#)
    };
    let rest = REST.iter().map(|rest| format!(r#"{{"id":"a","previous_hash":null,"sequence":7{rest}}}"#));
    let whole = WHOLE.iter().map(|&text| text.to_owned());
    rest.chain(whole).chain([deep(3), deep(1500)]).map(|text| text_verdict(&text)).collect()
}

fn text_verdict(text: &str) -> Value {
    let head = skim(text).ok().map(|head| json!([head.id, head.sequence.to_string(), head.previous_hash]));
    let written = parse(text).ok().map(|value| json!([canonical(&value), canonical_ascii(&value)]));
    json!({
        "text": text,
        "hash": sha3_hex(text.as_bytes()),
        "head": head,
        "canonical": written,
        "unambiguous": parse_unambiguous(text).is_ok(),
    })
}

/// Floats by their bits, and how Python prints them: edges, ties, and many at random.
pub fn numbers() -> Value {
    let mut random = fastrand::Rng::with_seed(7);
    let edges =
        [0.0, -0.0, 1.0, 0.1 + 0.7, 1e-4, 1e-5, 1e15, 1e16, 5e-324, f64::MAX, 1e21, 1e22, 1e23, 9.5e-5];
    let ties = [-736_209_221_398_973.0 / 8.0, 736_209_221_398_975.0 / 8.0, 9_007_199_254_740_993.0, 2e-44];
    let mut bits: Vec<u64> = edges.into_iter().chain(ties).map(f64::to_bits).collect();
    bits.extend((0..400).map(|_| random.u64(..)));
    // Eighths of large numbers are in the middle between two texts more often than others.
    bits.extend((0..200).map(|_| (random.u64(1 << 49..1 << 53) as f64 / 8.0).to_bits()));
    bits.extend((0..100).map(|_| (random.u32(..) as f64 / 1000.0).to_bits()));
    let finite = bits.into_iter().map(f64::from_bits).filter(|number| number.is_finite());
    finite.map(|number| json!([format!("{:016x}", number.to_bits()), float_text(number)])).collect()
}
