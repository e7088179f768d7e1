//! What a text goes through before it is in a transcript: colours, diffs, line numbers, strings, cuts.

use super::fill::Part;
use fastrand::Rng;

pub const WRAPPINGS: [&str; 6] = ["plain", "coloured", "diff", "cat -n", "JSON string", "across the cut"];

/// Where results are cut.
pub const CUT: usize = 200_000;

/// The text of a case in one of the wrappings.
pub fn wrapped(parts: &[Part], wrapping: &str, chance: &mut Rng) -> String {
    let plain: String = parts.iter().map(|part| part.text.as_str()).collect();
    match wrapping {
        "coloured" => coloured(parts, chance),
        "diff" => {
            let lines = plain.trim_end_matches('\n').split('\n').count();
            format!("@@ -10,0 +11,{lines} @@ fn main\n{}", with_line_starts(&plain, |_| "+".to_owned()))
        }
        "cat -n" => with_line_starts(&plain, |line| format!("{:6}\t", line + 1)),
        "JSON string" => serde_json::json!({"output": plain, "is_error": false}).to_string(),
        "across the cut" => across_the_cut(parts),
        _ => plain,
    }
}

fn with_line_starts(text: &str, start: impl Fn(usize) -> String) -> String {
    let ended = text.trim_end_matches('\n');
    ended.split('\n').enumerate().map(|(at, line)| format!("{}{line}\n", start(at))).collect()
}

/// As a highlighter prints it: every value in its colour, and some of the words.
fn coloured(parts: &[Part], chance: &mut Rng) -> String {
    let is_coloured = parts.iter().any(|part| part.text.contains('\u{1b}'));
    let mut text = String::new();
    for part in parts {
        if part.is_secret {
            text += &format!("\u{1b}[38;5;{}m{}\u{1b}[0m", chance.u8(..), part.text);
        } else if is_coloured {
            text += &part.text;
        } else {
            for word in part.text.split_inclusive([' ', '=', ':', '\n', '"', '\'']) {
                let end = word.len() - usize::from(word.ends_with([' ', '=', ':', '\n', '"', '\'']));
                if end > 0 && chance.u8(..3) == 0 {
                    text +=
                        &format!("\u{1b}[1;3{}m{}\u{1b}[m{}", chance.u8(1..7), &word[..end], &word[end..]);
                } else {
                    text += word;
                }
            }
        }
    }
    text
}

/// So many ordinary lines in front that the cut lies in the middle of the first secret, or of the text.
fn across_the_cut(parts: &[Part]) -> String {
    const LINES: [&str; 4] = [
        "   Compiling shop v0.4.2 (crates/shop)\n",
        "test cart::adds_an_item ... ok\n",
        "warning: unused variable: `price` in src/cart.rs:41:9\n",
        "GET /cart 200 in 14 ms, 3 items, total 12.50\n",
    ];
    let mut before = 0;
    let mut middle = None;
    for part in parts {
        let length = part.text.chars().count();
        if part.is_secret && middle.is_none() {
            // Half of a short one would say nothing.
            middle = Some(before + if length < 8 { length } else { length / 2 });
        }
        before += length;
    }
    let filler = CUT - middle.unwrap_or(before / 2);
    let mut text: String = LINES.iter().cycle().copied().take(filler / 20).collect();
    text.truncate(filler - 1);
    text.push('\n');
    text.extend(parts.iter().map(|part| part.text.as_str()));
    text
}
