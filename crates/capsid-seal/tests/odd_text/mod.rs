//! Random JSON texts in every spelling that JSON allows.

use fastrand::Rng;

const LAYOUT: [&str; 6] = ["", "", "", " ", "\n", "\t\r\n "];
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "-0.0",
    "1E5",
    "1.00",
    "1e-400",
    "1e400",
    "-1e999",
    "NaN",
    "Infinity",
    "-Infinity",
    "5e-324",
    "2.5e-324",
    "0e999",
    "9007199254740993.0",
    "18446744073709551616",
    "-9223372036854775809",
    "1e+16",
    "1E+0007",
    "0.1e1",
];

fn pick<'a>(rng: &mut Rng, choices: &[&'a str]) -> &'a str {
    choices[rng.usize(..choices.len())]
}

fn some_char(rng: &mut Rng) -> char {
    match rng.u8(..10) {
        0 => rng.char('\0'..='\u{1f}'),
        1 => {
            ['"', '\\', '/', '\u{7f}', '\u{80}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{ffff}', '\u{10000}']
                [rng.usize(..10)]
        }
        2 => rng.char('\u{80}'..='\u{ff}'),
        3 => rng.char(..),
        _ => rng.char(' '..='~'),
    }
}

/// A text of any code points.
pub fn text(rng: &mut Rng) -> String {
    let length = rng.usize(..24);
    (0..length).map(|_| some_char(rng)).collect()
}

/// A character in one of the ways to spell it.
fn push_spelled(rng: &mut Rng, char: char, out: &mut String) {
    let short = match char {
        '"' => "\\\"",
        '\\' => "\\\\",
        '/' => "\\/",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => "",
    };
    let must = char < ' ' || char == '"' || char == '\\';
    match rng.u8(..4) {
        0 => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.push_str(&if rng.bool() { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") });
            }
        }
        _ if !short.is_empty() && (must || rng.bool()) => out.push_str(short),
        _ if must => out.push_str(&format!("\\u{:04x}", u32::from(char))),
        _ => out.push(char),
    }
}

/// A text with now and then half a surrogate pair in it.
fn push_text(rng: &mut Rng, text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        push_spelled(rng, char, out);
        if rng.u8(..60) == 0 {
            out.push_str(&format!("\\u{:04x}", rng.u16(0xd800..0xe000)));
        }
    }
    out.push('"');
}

/// Few names, so that some come twice.
fn name(rng: &mut Rng) -> String {
    if rng.bool() { pick(rng, &["a", "b", "", "ä", "\u{ffff}", "😀"]).to_owned() } else { text(rng) }
}

fn digits(rng: &mut Rng, most: usize) -> String {
    let length = rng.usize(1..=most);
    (0..length).map(|_| rng.digit(10)).collect()
}

fn push_number(rng: &mut Rng, out: &mut String) {
    if rng.u8(..3) == 0 {
        return out.push_str(pick(rng, &NUMBERS));
    }
    out.push_str(pick(rng, &["", "-"]));
    let number = digits(rng, 30);
    let number = number.trim_start_matches('0');
    out.push_str(if number.is_empty() { "0" } else { number });
    if rng.bool() {
        out.push('.');
        out.push_str(&digits(rng, 30));
    }
    if rng.bool() {
        out.push_str(pick(rng, &["e", "E", "e+", "E-", "e-"]));
        out.push_str(&digits(rng, 3));
    }
}

fn push_value(rng: &mut Rng, depth: usize, out: &mut String) {
    let open = match rng.u8(..if depth == 0 { 7 } else { 12 }) {
        0 => return out.push_str(pick(rng, &["null", "true", "false"])),
        1..=3 => return push_number(rng, out),
        4..=6 => {
            let text = text(rng);
            return push_text(rng, &text, out);
        }
        7..=8 => '[',
        _ => '{',
    };
    out.push(open);
    out.push_str(pick(rng, &LAYOUT));
    for at in 0..rng.usize(..6) {
        if at > 0 {
            out.push(',');
            out.push_str(pick(rng, &LAYOUT));
        }
        if open == '{' {
            let name = name(rng);
            push_text(rng, &name, out);
            out.push_str(pick(rng, &LAYOUT));
            out.push(':');
            out.push_str(pick(rng, &LAYOUT));
        }
        push_value(rng, depth - 1, out);
        out.push_str(pick(rng, &LAYOUT));
    }
    out.push(if open == '[' { ']' } else { '}' });
}

/// A complete document.
pub fn document(rng: &mut Rng) -> String {
    let mut out = pick(rng, &LAYOUT).to_owned();
    let depth = rng.usize(..6);
    push_value(rng, depth, &mut out);
    out.push_str(pick(rng, &LAYOUT));
    out
}

/// A document with a character or two that were lost, doubled, or put in.
pub fn damaged_document(rng: &mut Rng) -> String {
    let mut chars: Vec<char> = document(rng).chars().collect();
    for _ in 0..rng.usize(1..3) {
        let at = rng.usize(..=chars.len());
        let other = match rng.u8(..4) {
            0 => some_char(rng),
            _ => *rng
                .choice(&[
                    '"', '\\', ',', ':', '[', ']', '{', '}', '0', '.', 'e', '-', '+', 'u', ' ', '\n', 'N',
                ])
                .unwrap(),
        };
        match chars.get_mut(at) {
            Some(char) if rng.bool() => *char = other,
            Some(_) if rng.bool() => _ = chars.remove(at),
            _ => chars.insert(at, other),
        }
    }
    // A byte order mark in front is for us alone no error.
    chars.into_iter().collect::<String>().trim_start_matches('\u{feff}').to_owned()
}
