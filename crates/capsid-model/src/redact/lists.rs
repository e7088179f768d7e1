//! What the items of a list tell of each other: the lines of a private key, and the argument after a flag.

use super::checks::{has_key_line, is_not_placeholder};
use super::names::{NameHint, hint_after_argument};

/// What is told of each item by the others; `texts` are those items that are texts.
pub(super) fn hints_of_items(texts: &[Option<&str>]) -> Vec<NameHint> {
    let mut told = vec![NameHint::Nothing; texts.len()];
    for (index, text) in texts.iter().enumerate() {
        let Some(text) = text else { continue };
        let next = texts.get(index + 1).copied().flatten();
        if next.is_some_and(|next| !next.starts_with('-') && is_not_placeholder(next)) {
            told[index + 1] = told[index + 1].max(hint_after_argument(text));
        }
        if is_mark(text, "-----BEGIN ") {
            mark_key(&mut told, texts, index + 1..texts.len());
        } else if is_mark(text, "-----END ") {
            mark_key(&mut told, texts, (0..index).rev());
        }
    }
    told
}

fn is_mark(text: &str, start: &str) -> bool {
    text.find(start).is_some_and(|at| text[at..].contains("PRIVATE KEY"))
}

/// Marks the lines of a key from its first or last line on, up to what cannot be one of them.
fn mark_key(told: &mut [NameHint], texts: &[Option<&str>], from: impl Iterator<Item = usize>) {
    let lines: Vec<usize> = from.take_while(|&index| texts[index].is_some_and(is_in_key)).collect();
    if lines.iter().any(|&index| texts[index].is_some_and(has_key_line)) {
        lines.into_iter().for_each(|index| told[index] = NameHint::Secret);
    }
}

/// Whether a line may stand in a key: base64, empty, or a header such as `Proc-Type: 4,ENCRYPTED`.
fn is_in_key(line: &str) -> bool {
    let line = line.trim_start_matches(['+', '-', '>', ' ', '\t']).trim_end();
    let is_header =
        ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"].iter().any(|name| line.starts_with(name));
    is_header || line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

#[cfg(test)]
#[path = "lists_tests.rs"]
mod tests;
