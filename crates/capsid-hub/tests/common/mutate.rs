//! Spoils a JSON document in one of the ways that clients, bugs and attackers do.

use super::bundle::set_id;
use fastrand::Rng;
use serde_json::{Value, json};

/// Stands in the tree for text that no tree can hold; replaced once it is written.
const RAW: &str = "@raw@";
/// Begins a key that is to be there twice.
const TWICE: &str = "@twice@";

/// Numbers, texts and tokens that programs stumble over, as JSON text.
const RAW_TOKENS: &[&str] = &[
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "-0.0",
    "1.0000000000000000000000000001",
    "18446744073709551616",
    "9223372036854775808",
    "-9223372036854775809",
    "9007199254740993",
    "00",
    "01",
    "NaN",
    "Infinity",
    "undefined",
    "tru",
    "'x'",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\u0000\"",
    "\"a\\u0000b\"",
    "\"\\x41\"",
    "\"\t\"",
    "[1,]",
    "{\"a\":1,}",
    "{\"a\":1,\"a\":2}",
    "{\"__proto__\":{\"x\":1}}",
];

/// Texts that mean something to somebody.
pub const TEXTS: &[&str] = &[
    "",
    " ",
    "zzz_unknown",
    "PROMOTED",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "C:\\Windows",
    "sha256:../../../x",
    "sha256:",
    "sha256:ABCDEF",
    "sha256:0000000000000000000000000000000000000000000000000000000000000000",
    "node_\u{202e}evil",
    "\u{200b}\u{feff}",
    "\u{1b}[31mred\u{7}",
    "a\u{0}b",
    "'; DROP TABLE nodes; --",
    "\" OR 1=1 --",
    "* OR terms:*",
    "NEAR(a b)",
    "\"",
    "%",
    "_",
    "<script>alert(1)</script>",
    "${7*7}{{7*7}}",
    "2025-13-45T99:99:99Z",
    "+275760-09-13T00:00:00.001Z",
    "-000001-01-01T00:00:00Z",
    "hub_0000",
    "null",
    "0",
    "\u{1F600}\u{10FFFF}",
    "İıſK",
];

/// The body with one to three faults, and what was done to it.
pub fn mutate(body: &Value, rng: &mut Rng) -> (Vec<u8>, String) {
    let mut tree = body.clone();
    let mut done = Vec::new();
    for _ in 0..rng.usize(1..=3) {
        done.push(spoil(&mut tree, rng));
    }
    if rng.bool() {
        set_ids(&mut tree);
        done.push("ids set again".to_owned());
    }
    let mut text = written(&tree, rng);
    if rng.u8(..) < 40 {
        done.push(spoil_text(&mut text, rng));
    }
    (text, done.join(", "))
}

fn spoil(tree: &mut Value, rng: &mut Rng) -> String {
    let path = any_path(tree, rng);
    let Some(place) = tree.pointer_mut(&path) else { return "nothing".to_owned() };
    let done = match rng.u8(0..12) {
        0 => {
            *place = json!(null);
            "null"
        }
        1 => {
            *place =
                [json!(true), json!(0), json!(-1), json!(1.5), json!(1e308), json!(""), json!([]), json!({})]
                    [rng.usize(0..8)]
                .clone();
            "another type"
        }
        2 | 3 => {
            *place = json!(format!("{RAW}{}", rng.usize(0..RAW_TOKENS.len())));
            "a raw token"
        }
        4 | 5 => {
            *place = json!(TEXTS[rng.usize(0..TEXTS.len())]);
            "an odd text"
        }
        6 => {
            *place = json!("x".repeat([200, 3000, 9000, 70_000][rng.usize(0..4)]));
            "a long text"
        }
        7 => {
            let depth = [3, 28, 40, 200][rng.usize(0..4)];
            *place = (0..depth).fold(place.take(), |inner, _| json!([inner]));
            "depth"
        }
        8 => {
            *place = json!([place.clone(), place.clone()]);
            "an array of it"
        }
        9 => {
            insert_text(place, rng);
            "a character inserted"
        }
        10 => {
            if let Some(object) = place.as_object_mut()
                && let Some(key) = object.keys().next().cloned()
            {
                let value = object[&key].clone();
                object.insert(format!("{TWICE}{key}"), value);
            }
            "a key twice"
        }
        _ => {
            drop_one(tree, &path);
            "dropped"
        }
    };
    format!("{done} at {path:?}")
}

fn insert_text(place: &mut Value, rng: &mut Rng) {
    if let Value::String(text) = place {
        let at =
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).nth(rng.usize(0..=text.chars().count()));
        let odd = ['\0', '\u{1}', '\u{7f}', '\u{202e}', '\u{200d}', '\u{fffe}', '/', '\\', '"', '\n', ' '];
        text.insert(at.unwrap_or(0), odd[rng.usize(0..odd.len())]);
    }
}

fn drop_one(tree: &mut Value, path: &str) {
    let Some((parent, last)) = path.rsplit_once('/') else { return };
    match tree.pointer_mut(parent) {
        Some(Value::Object(object)) => {
            object.shift_remove(&last.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Ok(index) = last.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// A place in the tree, deep ones as likely as shallow ones.
fn any_path(tree: &Value, rng: &mut Rng) -> String {
    let mut paths = Vec::new();
    collect(tree, String::new(), &mut paths);
    paths.swap_remove(rng.usize(0..paths.len()))
}

fn collect(tree: &Value, path: String, paths: &mut Vec<String>) {
    match tree {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            collect(value, format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), paths);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, value)| collect(value, format!("{path}/{n}"), paths));
        }
        _ => {}
    }
    paths.push(path);
}

/// With true ids, a spoilt asset gets past the first check.
fn set_ids(tree: &mut Value) {
    if let Some(assets) = tree.pointer_mut("/payload/assets").and_then(Value::as_array_mut) {
        assets.iter_mut().filter(|asset| asset.is_object()).for_each(set_id);
    }
}

fn written(tree: &Value, rng: &mut Rng) -> Vec<u8> {
    let mut text = tree.to_string().replace(TWICE, "");
    for (n, token) in RAW_TOKENS.iter().enumerate().rev() {
        text = text.replace(&format!("\"{RAW}{n}\""), token);
    }
    if rng.u8(..) < 4 {
        let digits = "9".repeat(5000);
        text = text.replacen(":0.85", &format!(":{digits}"), 1);
    }
    text.into_bytes()
}

fn spoil_text(text: &mut Vec<u8>, rng: &mut Rng) -> String {
    match rng.u8(0..4) {
        0 => {
            text.truncate(rng.usize(0..=text.len()));
            "truncated"
        }
        1 => {
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(0..=text.len());
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << rng.u8(0..8);
                }
            }
            "bits flipped"
        }
        2 => {
            text.extend_from_slice([&b"{}"[..], b"]", b"\0", b"\xff\xfe", b"   "][rng.usize(0..5)]);
            "something after the end"
        }
        _ => {
            text.resize([1_048_577, 1_500_000][rng.usize(0..2)], b' ');
            "oversized"
        }
    }
    .to_owned()
}
