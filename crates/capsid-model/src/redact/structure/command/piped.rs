//! Secrets that one program hands to another: `echo X | sudo -S`, `docker login --password-stdin <<< X`.

use super::super::name_class::NameClass;
use super::super::secret_value::{Writing, is_secret};
use super::super::words::{CommandWord, split};
use super::super::{at_most_before, line_from};
use super::{Finding, is_known_word, is_not_placeholder};

/// Adds what is handed to the word at `start..end`, which reads a secret from its input.
pub(in super::super) fn find_piped(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let line_end = end + line_from(text, end, 400).len();
    let is_sudo = text[start..end].eq_ignore_ascii_case("sudo");
    let after = &text[end..line_end];
    if is_sudo && !after.starts_with(" -S") && !after.starts_with(" --stdin") && !after.starts_with(" -kS") {
        return;
    }
    if let Some(at) = after.find("<<<") {
        let (words, _) = split(text, end + at + 3);
        if let Some(word) = words.first().filter(|word| is_handed(&text[word.range.clone()])) {
            found.push(Finding::new(word.range.clone()));
        }
    }
    let before = at_most_before(text, start, 400);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let Some(pipe) = before.rfind('|') else { return };
    let source = &before[..pipe];
    let Some(echo) = ["echo ", "printf "].iter().filter_map(|word| source.rfind(word)).max() else { return };
    let from = start - before.len() + echo;
    let (words, command_end) = split(text, from);
    // The pipe follows the words of this very command.
    if !text[command_end.min(start)..start].trim_start().starts_with('|') {
        return;
    }
    let is_flag = |word: &&CommandWord| !text[word.range.clone()].starts_with('-');
    let Some(word) = words.iter().skip(1).rfind(is_flag) else { return };
    let value = text[word.range.clone()].trim_end_matches("\\n");
    // `echo root:X | chpasswd`
    let skipped = match (text[start..end].eq_ignore_ascii_case("chpasswd"), value.find(':')) {
        (true, Some(colon)) => colon + 1,
        _ => 0,
    };
    let count = words.iter().skip(1).filter(is_flag).count();
    let is_printf = text[from..].starts_with("printf");
    if is_handed(&value[skipped..]) && (count == 1 || is_printf) {
        let range = word.range.start + skipped..word.range.start + value.len();
        found.push(Finding { secret: range, until: end + after.find(" -S").map_or(0, |at| at + 3) });
    }
}

fn is_handed(value: &str) -> bool {
    value.len() >= 4
        && !value.contains(char::is_whitespace)
        && is_not_placeholder(value)
        && !is_known_word(value)
        && is_secret(NameClass::Password, value, Writing::Bare)
}
