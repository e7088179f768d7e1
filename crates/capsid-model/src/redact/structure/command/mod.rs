//! Secrets on the command lines of known programs.

mod piped;
mod programs;

pub(super) use piped::find_piped;
pub(super) use programs::program_names;

use super::name_class::{NameClass, classify};
use super::secret_value::has_secret_cookie;
use super::words::{CommandWord, split, split_list};
use crate::redact::checks::{is_known_word, is_not_placeholder, is_port_mapping, is_word_about_flags};
use crate::redact::ranges::Finding;
use programs::{FlagForm, Program, program_named};
use std::ops::Range;

/// Adds the secrets of the command whose program stands at `start..end`. Returns where the command ends.
pub(super) fn find(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let begins = start == 0
        || matches!(
            bytes[start - 1],
            b' ' | b'\t'
                | b'\n'
                | b'/'
                | b'"'
                | b'\''
                | b'`'
                | b'('
                | b';'
                | b'&'
                | b'|'
                | b':'
                | b'\\'
                | b'>'
                | b'='
        );
    let rest = &bytes[end..];
    // `.exe`, and `mongosh"` in a list.
    let end = if rest.starts_with(b".exe") { end + 4 } else { end };
    let ends = bytes.get(end).is_none_or(|byte| !(byte.is_ascii_alphanumeric() || b"_-./=:".contains(byte)));
    if !begins || !ends {
        return start;
    }
    let is_list = start > 0
        && matches!(bytes[start - 1], b'"' | b'\'')
        && bytes.get(end) == Some(&bytes[start - 1])
        && bytes[end + 1..].iter().take(40).find(|byte| !byte.is_ascii_whitespace()) == Some(&b',');
    let (words, command_end) = if is_list { split_list(text, start) } else { split(text, start) };
    Command { text, words: &words, found }.find();
    command_end.max(end)
}

struct Command<'a> {
    text: &'a str,
    words: &'a [CommandWord],
    found: &'a mut Vec<Finding>,
}

impl Command<'_> {
    fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |word| &self.text[word.range.clone()])
    }

    fn find(&mut self) {
        let mut program: Option<(&'static Program, usize)> = None;
        for index in 0..self.words.len() {
            let word = self.word(index);
            let base = word.rsplit(['/', '\\']).next().unwrap_or_default();
            let base = base.strip_suffix(".exe").unwrap_or(base);
            // `docker exec db mysql` runs mysql; `--name mysql` does not.
            let is_name =
                index > 0 && self.word(index - 1).len() > 2 && self.word(index - 1).starts_with("--");
            if let Some(named) = program_named(base).filter(|_| !is_name) {
                self.positional(program, index);
                program = Some((named, index));
            } else if let Some((program, first)) = program {
                self.flag(program, first, index);
            }
        }
        self.positional(program, self.words.len());
    }

    /// The value of a flag at `index`, if its program takes a secret there.
    fn flag(&mut self, program: &Program, first: usize, index: usize) {
        let word = self.word(index).to_owned();
        if !word.starts_with(['-', '/']) {
            return;
        }
        for flag in program.flags {
            if flag.needs.is_some_and(|needed| !(first..index).any(|at| self.word(at) == needed)) {
                continue;
            }
            if flag.apart && (word == flag.name || (flag.joins && is_joined(&word, flag.name))) {
                if let Some(next) = self.words.get(index + 1).map(|next| next.range.clone()) {
                    self.value(next, flag.form, index + 1);
                }
                return;
            }
            let attached =
                word.strip_prefix(flag.name).filter(|_| flag.attached || flag.name.starts_with("--"));
            if let Some(attached) = attached
                && let Some(value) =
                    if flag.name.starts_with("--") { attached.strip_prefix('=') } else { Some(attached) }
            {
                let end = self.words[index].range.end;
                let range = end - value.len()..end;
                let quotes =
                    value.len() >= 2 && value.starts_with(['"', '\'']) && value.ends_with(['"', '\'']);
                let quotes = usize::from(quotes);
                self.value(range.start + quotes..range.end - quotes, flag.form, index);
                return;
            }
        }
    }

    fn value(&mut self, range: Range<usize>, form: FlagForm, index: usize) {
        let value = &self.text[range.clone()];
        let after = |sign: char| value.find(sign).map(|at| range.start + at + 1..range.end);
        let secret = match form {
            FlagForm::Whole => Some(range.clone()),
            FlagForm::AfterColon => after(':').filter(|_| !value.contains("://")),
            FlagForm::AfterPercent => after('%'),
            FlagForm::AfterComma => after(','),
            FlagForm::AfterSlash => after('/'),
            FlagForm::Source => value.strip_prefix("pass:").map(|secret| range.end - secret.len()..range.end),
            FlagForm::Cookies => {
                if has_secret_cookie(value) && is_not_placeholder(value) {
                    self.found.push(Finding::new(range));
                }
                return;
            }
        };
        let Some(secret) = secret else { return };
        if self.is_password(&self.text[secret.clone()], index) {
            self.found.push(Finding::new(secret));
        }
    }

    /// Whether a word may be a password behind a flag that takes one.
    fn is_password(&self, value: &str, index: usize) -> bool {
        let is_letters = value.bytes().all(|byte| byte.is_ascii_lowercase());
        // `redis-cli -a means that ...`
        let follow = (index + 1..self.words.len()).map(|at| self.word(at));
        let is_prose = is_letters
            && follow.take(3).filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())).count() >= 3;
        value.chars().count() >= 4
            && is_not_placeholder(value)
            && !value.starts_with(['-', '/', '@', '$'])
            && !value.contains(['\n', '{', '('])
            && !is_known_word(value)
            && !is_word_about_flags(value)
            && !is_port_mapping(value)
            && !is_prose
    }

    /// Secrets that have no flag: the last word of `htpasswd -b`, of `vault login`.
    fn positional(&mut self, program: Option<(&'static Program, usize)>, end: usize) {
        let Some((program, first)) = program else { return };
        let plain: Vec<usize> = (first + 1..end)
            .filter(|&at| {
                !(self.word(at).starts_with('-') || program.name == "net" && self.word(at).starts_with('/'))
            })
            .collect();
        let words: Vec<&str> = plain.iter().map(|&at| self.word(at)).collect();
        let has_flag = |part: char| {
            (first + 1..end).any(|at| {
                let word = self.word(at);
                word.starts_with('-') && !word.starts_with("--") && word.contains(part)
            })
        };
        let place = match (program.name, words.as_slice()) {
            ("htpasswd", words) if has_flag('b') => words.len().checked_sub(1).filter(|&at| at >= 1),
            ("vault", ["login", _]) | ("cargo", ["login", _]) | ("ngrok", ["authtoken", _]) => Some(1),
            ("ngrok", ["config", "add-authtoken", _]) => Some(2),
            ("net", ["use", _, last, ..]) if !last.contains('\\') => Some(2),
            ("net", ["use", _, _, last, ..]) if !last.contains('\\') => Some(3),
            ("net", ["user", _, _]) => Some(2),
            ("rabbitmqctl", ["add_user" | "change_password", _, _]) => Some(2),
            ("wpa_passphrase", [_, _]) => Some(1),
            ("mc", ["alias", "set", _, _, _, _, ..]) => Some(5),
            ("consul", ["kv", "put", path, _]) if is_secret_name(path) => Some(3),
            ("ConvertTo-SecureString", [_, ..]) if !words[0].starts_with('$') => Some(0),
            ("sqlplus", [login, ..]) => {
                let login = *login;
                let at = plain[0];
                if let Some(slash) = login.find('/').filter(|&slash| slash > 0) {
                    let range = self.words[at].range.clone();
                    let secret = &login[slash + 1..];
                    let length = secret.find('@').unwrap_or(secret.len());
                    let start = range.start + slash + 1;
                    if self.is_password(&self.text[start..start + length], at) {
                        self.found.push(Finding::new(start..start + length));
                    }
                }
                None
            }
            _ => None,
        };
        if let Some(at) = place.and_then(|place| plain.get(place).copied())
            && self.is_password(self.word(at), at)
        {
            self.found.push(Finding::new(self.words[at].range.clone()));
        }
    }
}

/// `-sSu` gives `-u` its value.
fn is_joined(word: &str, flag: &str) -> bool {
    let letter = flag.trim_start_matches('-');
    !word.starts_with("--")
        && word.len() <= 7
        && letter.len() == 1
        && word.ends_with(letter)
        && word[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_secret_name(path: &str) -> bool {
    ["password", "passwd", "token", "secret", "key"].iter().any(|end| {
        path.to_ascii_lowercase().ends_with(end)
            && classify(path, end.len()).is_some_and(|class| class != NameClass::Weak)
    })
}
