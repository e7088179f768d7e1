//! Random JSON objects, as text, with everything in them that makes two readers disagree.

use fastrand::Rng;

/// Numbers at the edges of a double, of its printing and of its reading.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "0e9",
    "1.0",
    "1.50",
    "1e400",
    "-1e400",
    "5e-324",
    "2e-324",
    "1e-400",
    "1e20",
    "1e21",
    "1E+2",
    "123e-20",
    "0.000001",
    "0.0000001",
    "9007199254740991",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "0.30000000000000004",
    "0.1e1",
    "4.35",
    "4.349999999999999",
    "1e-7",
];

/// Pieces of strings, already escaped.
const PIECES: &[&str] = &[
    "a",
    "Z",
    "_",
    "10",
    "2",
    " ",
    "/",
    "\\/",
    "\\\"",
    "\\\\",
    "\\b",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\u0000",
    "\\u000B",
    "\\u001f",
    "\u{7f}",
    "\u{85}",
    "é",
    "e\u{301}",
    "\\u00e9",
    "ß",
    "固化",
    "：",
    "，",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{e000}",
    "\u{fb33}",
    "\u{ffff}",
    "🧬",
    "😀",
    "\u{10ffff}",
    "\\ud83d\\ude00",
    "\\uD83E\\uDDEC",
    "\\ud83d",
    "\\udc00",
    "\\udbff\\udbff\\udfff",
    "\\u0041",
    "ban_gene:x",
    "errsig:",
    "$(id)",
];

/// Keys that other readers treat in a special way.
const KEYS: &[&str] = &[
    "",
    "asset_id",
    "asset\\u005fid",
    "id",
    "type",
    "1",
    "10",
    "2",
    "constructor",
    "toString",
    "length",
    "\u{fb33}",
    "😀",
    "\\ud83d",
    "\\udc00",
    "€",
    "ö",
    "o\u{308}",
    "A",
    "a",
    "\\u0061",
];

/// One random object, as one line of text.
pub fn object_text(rng: &mut Rng) -> String {
    let mut out = String::new();
    match rng.u8(..40) {
        0 => deep(rng, &mut out),
        _ => object(rng, 0, &mut out),
    }
    out
}

fn value(rng: &mut Rng, depth: usize, out: &mut String) {
    // The deeper, the likelier a leaf, so that every document ends.
    let kinds = if depth > 6 { 7 } else { 11 };
    match rng.u8(..kinds) {
        0 => out.push_str("null"),
        1 => out.push_str(if rng.bool() { "true" } else { "false" }),
        2..=4 => number(rng, out),
        5 | 6 => text(rng, out),
        7 | 8 => list(rng, depth, out),
        _ => object(rng, depth + 1, out),
    }
}

fn object(rng: &mut Rng, depth: usize, out: &mut String) {
    out.push('{');
    for at in 0..rng.usize(..9) {
        if at > 0 {
            out.push(',');
        }
        space(rng, out);
        key(rng, depth, out);
        space(rng, out);
        out.push(':');
        space(rng, out);
        value(rng, depth, out);
        space(rng, out);
    }
    out.push('}');
}

fn list(rng: &mut Rng, depth: usize, out: &mut String) {
    out.push('[');
    for at in 0..rng.usize(..6) {
        if at > 0 {
            out.push(',');
        }
        value(rng, depth + 1, out);
        space(rng, out);
    }
    out.push(']');
}

/// Nesting beyond what the fast reader takes.
fn deep(rng: &mut Rng, out: &mut String) {
    let levels = rng.usize(100..240);
    out.push_str("{\"d\":");
    let closers: Vec<char> = (0..levels)
        .map(|_| {
            let list = rng.bool();
            out.push_str(if list { "[" } else { "{\"k\":" });
            if list { ']' } else { '}' }
        })
        .collect();
    number(rng, out);
    out.extend(closers.iter().rev());
    out.push('}');
}

fn key(rng: &mut Rng, depth: usize, out: &mut String) {
    match rng.u8(..10) {
        // At the top the peer loses a member of this name, so there the two ids differ by design.
        0 if depth > 0 => out.push_str("\"__proto__\""),
        0..=5 => {
            out.push('"');
            out.push_str(pick(rng, KEYS));
            out.push('"');
        }
        _ => text(rng, out),
    }
}

fn text(rng: &mut Rng, out: &mut String) {
    out.push('"');
    for _ in 0..rng.usize(..7) {
        out.push_str(pick(rng, PIECES));
    }
    out.push('"');
}

fn number(rng: &mut Rng, out: &mut String) {
    match rng.u8(..6) {
        0 | 1 => out.push_str(pick(rng, NUMBERS)),
        2 => out.push_str(&rng.i64(..).to_string()),
        3 => digits(rng, out),
        _ => match f64::from_bits(rng.u64(..)) {
            finite if finite.is_finite() => out.push_str(&format!("{finite:e}")),
            _ => out.push('1'),
        },
    }
}

/// More digits than a double holds, where a careless reader rounds twice.
fn digits(rng: &mut Rng, out: &mut String) {
    out.push(char::from(rng.u8(b'1'..=b'9')));
    let count = rng.usize(1..40);
    let point = rng.usize(..count);
    for at in 0..count {
        if at == point {
            out.push('.');
        }
        out.push(char::from(rng.u8(b'0'..=b'9')));
    }
    if rng.bool() {
        out.push_str(&format!("e{}", rng.i16(-330..330)));
    }
}

fn space(rng: &mut Rng, out: &mut String) {
    if rng.u8(..8) == 0 {
        out.push_str(pick(rng, &[" ", "\t", "\r", "  "]));
    }
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.usize(..from.len())]
}
