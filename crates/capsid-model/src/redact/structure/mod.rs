//! Secrets known by where they stand: behind a name, a flag of a program, in a field of a file.
//!
//! One pass finds the words that may announce a secret; a parser looks at what follows each of them. Every parser reads
//! a bounded part of the text, so the whole takes linear time.

mod assignment;
mod command;
mod files;
mod name_class;
mod phrases;
mod secret_value;
mod value_span;
mod words;

use super::ranges::Finding;
use aho_corasick::{AhoCorasick, MatchKind};
use name_class::NAME_ENDS;
use std::sync::LazyLock;

/// A word that may announce a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// The end of a name.
    Name,
    /// A program that takes secrets on its command line.
    Program,
    /// What hands a secret over from a pipe: `sudo`, `--password-stdin`.
    Pipe,
    Netrc,
    CookieFile,
    SecretManifest,
    OtpAddress,
    OracleAddress,
}

/// The words of the triggers that are no names and no programs.
const FORMS: &[(&str, Trigger)] = &[
    ("--password-stdin", Trigger::Pipe),
    ("--with-token", Trigger::Pipe),
    ("--stdin", Trigger::Pipe),
    ("chpasswd", Trigger::Pipe),
    ("sudo", Trigger::Pipe),
    ("machine", Trigger::Netrc),
    ("\tTRUE\t", Trigger::CookieFile),
    ("\tFALSE\t", Trigger::CookieFile),
    ("kind: Secret", Trigger::SecretManifest),
    ("otpauth://", Trigger::OtpAddress),
    ("jdbc:oracle:thin:", Trigger::OracleAddress),
];

struct Triggers {
    words: Option<AhoCorasick>,
    kinds: Vec<Trigger>,
}

static TRIGGERS: LazyLock<Triggers> = LazyLock::new(|| {
    let names = NAME_ENDS.iter().map(|&word| (word, Trigger::Name));
    let programs = command::program_names().map(|word| (word, Trigger::Program));
    let all: Vec<(&str, Trigger)> = names.chain(programs).chain(FORMS.iter().copied()).collect();
    let words = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(all.iter().map(|(word, _)| word));
    Triggers { words: words.ok(), kinds: all.into_iter().map(|(_, kind)| kind).collect() }
});

/// Adds the secrets that a text shows by its form.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    phrases::find(text, found);
    let Some(words) = &TRIGGERS.words else { return };
    // What one command or block has used up, the next one need not read again.
    let mut command_end = 0;
    let mut manifest_end = 0;
    for hit in words.find_iter(text) {
        let (start, end) = (hit.start(), hit.end());
        match TRIGGERS.kinds[hit.pattern().as_usize()] {
            Trigger::Name => assignment::find(text, start, end, found),
            Trigger::Program if start >= command_end => {
                command_end = command::find(text, start, end, found);
            }
            Trigger::Pipe => {
                if start >= command_end && text[start..end].starts_with(['s', 'c']) {
                    command_end = command::find(text, start, end, found);
                }
                command::find_piped(text, start, end, found);
            }
            Trigger::Netrc => files::find_netrc(text, start, end, found),
            Trigger::CookieFile => files::find_cookie(text, start, found),
            Trigger::SecretManifest if start >= manifest_end => {
                manifest_end = files::find_manifest(text, start, end, found);
            }
            Trigger::OtpAddress => files::find_otp(text, end, found),
            Trigger::OracleAddress => files::find_slash_login(text, end, found),
            Trigger::Program | Trigger::SecretManifest => {}
        }
    }
}

/// The text from `start` on, at most `length` bytes of it.
fn at_most(text: &str, start: usize, length: usize) -> &str {
    &text[start..text.floor_char_boundary(start.saturating_add(length))]
}

/// The text up to `end`, at most `length` bytes of it.
fn at_most_before(text: &str, end: usize, length: usize) -> &str {
    &text[text.ceil_char_boundary(end.saturating_sub(length))..end]
}

/// The rest of a line, at most `length` bytes of it.
fn line_from(text: &str, start: usize, length: usize) -> &str {
    let rest = at_most(text, start, length);
    rest.split(['\n', '\r']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
