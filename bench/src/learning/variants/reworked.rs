//! Logs of the corpus with other names, places, numbers and surroundings.

use super::VariantLog;
use super::words::{camel_name, folder, root, snake_name};
use super::wrap::wrap_log;
use crate::Result;
use crate::learning::corpus::LabelledLog;
use crate::learning::transforms::is_structured;
use fastrand::Rng;
use regex::{Captures, Regex};

/// Logs with the same message made of one.
const SAME: usize = 3;
/// Names that belong to a language and cannot be renamed.
const BUILT_IN: [&str; 24] = [
    "int",
    "str",
    "dict",
    "list",
    "NoneType",
    "json",
    "ascii",
    "undefined",
    "null",
    "group",
    "then",
    "trim",
    "split",
    "reduce",
    "name",
    "String",
    "u16",
    "Debug",
    "std",
    "fmt",
    "app",
    "module",
    "data",
    "and",
];

/// What is changed in a log.
pub struct LogRework {
    position: Regex,
    number: Regex,
    duration: Regex,
    symbol: Regex,
}

impl LogRework {
    pub fn new() -> Result<Self> {
        Ok(Self {
            position: Regex::new(r#"(\.(?:js|mjs|py|rs|sh)(?:"?, line |: line |:))(\d+)((?::\d+)?)"#)?,
            number: Regex::new(r"(^|[\s(\[,:=])(\d+)\b")?,
            duration: Regex::new(
                r"(duration_ms:? |finished in |tests? in |target\(s\) in |\()(\d+\.\d+)(s|ms|\b)",
            )?,
            symbol: Regex::new(r"`([A-Za-z_][A-Za-z0-9_]*)(\.(?:js|csv))?`")?,
        })
    }

    /// The log itself, logs with the same message, and one with another message where a symbol can be renamed.
    pub fn rework<'a>(
        &self,
        labels: impl Iterator<Item = &'a LabelledLog>,
        rng: &mut Rng,
    ) -> Vec<VariantLog> {
        let mut logs = Vec::new();
        for label in labels {
            let text = label.text.clone().unwrap_or_default();
            let log = |key: &str, kind: &str, log: String| VariantLog {
                name: format!("{} {kind}", label.file),
                base: Some(label.file.clone()),
                key: render_key(label, key),
                log,
            };
            logs.push(log(&text, "as it is", label.content.clone()));
            for _ in 0..SAME {
                logs.push(log(&text, "same", self.rework_same(label, &label.content, rng)));
            }
            if let Some((other_text, other_log)) = self.rename_symbol(label, &text, rng) {
                for _ in 0..2 {
                    logs.push(log(&other_text, "other", self.rework_same(label, &other_log, rng)));
                }
            }
        }
        logs
    }

    /// Everything changes that is no part of the message.
    fn rework_same(&self, label: &LabelledLog, content: &str, rng: &mut Rng) -> String {
        let text = label.text.clone().unwrap_or_default();
        let mut log = content.to_owned();
        if let Some(message) = label.message.as_deref().filter(|_| !self.number.is_match(&text)) {
            let other = self.number.replace_all(message, |found: &Captures<'_>| {
                format!("{}{}", &found[1], other_number(&found[2], rng))
            });
            log = log.replace(message, &other);
        }
        let shift = rng.u32(1..60);
        log = self
            .position
            .replace_all(&log, |found: &Captures<'_>| {
                let line: u32 = found[2].parse().unwrap_or(1);
                format!("{}{}{}", &found[1], line + shift, &found[3])
            })
            .into_owned();
        log = self
            .duration
            .replace_all(&log, |found: &Captures<'_>| {
                format!("{}{}.{}{}", &found[1], rng.u32(0..9), rng.u32(10..99), &found[3])
            })
            .into_owned();
        // The file of the problem is moved into another folder, and its name changes where the message does not say it.
        if let Some((stem, extension)) = label.place.as_deref().and_then(|place| place.rsplit_once('.')) {
            let is_free =
                !text.contains(stem) && !label.test.as_deref().is_some_and(|test| test.contains(stem));
            if is_free && !stem.starts_with('_') && rng.bool() {
                let name = if stem.ends_with(".test") {
                    "%.test".replace('%', &snake_name(rng))
                } else {
                    snake_name(rng)
                };
                log = log.replace(&format!("/{stem}.{extension}"), &format!("/{name}.{extension}"));
            }
            if rng.bool() {
                log = log.replace("/home/dev/app/src/", &format!("/home/dev/app/{}/", folder(rng)));
            }
        }
        log = log.replace("/home/dev/app", root(rng));
        log = log.replace("0f3a6c1d2b4e5f70", &format!("{:016x}", rng.u64(..)));
        log = log.replace("(4242)", &format!("({})", rng.u32(1_000..90_000)));
        log = log.replace("Node.js v20.20", &format!("Node.js v{}.{}", rng.u32(18..26), rng.u32(0..20)));
        log = log.replace("python3.11", &format!("python3.{}", rng.u32(9..15)));
        if is_structured(&log) { log } else { wrap_log(&log, rng) }
    }

    /// Renames a symbol of the message in the whole log: another problem.
    fn rename_symbol(&self, label: &LabelledLog, text: &str, rng: &mut Rng) -> Option<(String, String)> {
        let symbols: Vec<Captures<'_>> = self
            .symbol
            .captures_iter(text)
            .filter(|found| !BUILT_IN.contains(&&found[1]) && found[1].len() > 2)
            .collect();
        let found = symbols.get(rng.usize(..symbols.len().max(1)))?;
        let old = &found[1];
        let new = if old.contains('_') { snake_name(rng) } else { camel_name(rng) };
        let new = if old.chars().all(|c| c.is_uppercase() || c == '_') { new.to_uppercase() } else { new };
        let whole = Regex::new(&format!(r"\b{old}\b")).ok()?;
        let log = whole.replace_all(&label.content, new.as_str()).into_owned();
        let text = whole.replace_all(text, new.as_str()).into_owned();
        (log != label.content).then_some((text, log))
    }
}

fn render_key(label: &LabelledLog, text: &str) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    format!("{}\u{1f}{}\u{1f}{text}", part(&label.family), part(&label.code))
}

/// A number with as many digits, never the same.
fn other_number(old: &str, rng: &mut Rng) -> String {
    let digits: String = old.chars().map(|_| char::from(b'1' + rng.u8(..9))).collect();
    if digits == old { old.chars().rev().chain(['7']).collect() } else { digits }
}
