//! What an asset must not carry into another agent's prompt: orders to the reader, credentials, hidden characters.
//!
//! Assets are engineering text, and engineers write "ignore previous errors" every day. So only whole phrases count that
//! speak to a reader about its own instructions, and a phrase that is named in order to be stopped only warns.

mod hosts;
mod marks;
mod texts;

pub use texts::scan_asset;

use crate::meaning::tokenizer::runs;
use capsid_model::redact::{RedactProfile, redact_telling};
use capsid_model::text::is_invisible;
use capsid_model::text_enum;
use serde::Serialize;

/// The texts of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssetTexts<'t> {
    pub summary: &'t str,
    /// Its content, code or diff.
    pub content: &'t str,
    pub strategy: &'t [&'t str],
    pub validation: &'t [&'t str],
    pub signals: &'t [&'t str],
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyKind {
    /// Words that tell a reader to drop its own instructions.
    Override,
    /// Words that ask a reader to give its secrets away.
    Exfiltration,
    Secret,
    /// An address with a password in it.
    UrlCredentials,
    /// A character that hides or reorders text.
    Invisible,
    /// Something that names a person or a machine.
    Personal,
    /// A command that runs what it downloads.
    DownloadAndRun,
    /// A long text in a code that nobody can read.
    EncodedBlob,
    /// An address that looks like that of a known host.
    LookalikeHost,
    /// A step that names a place where credentials are kept.
    CredentialStep,
}

/// By which rules texts are scanned. A higher number scans what is stored again.
pub const SCAN_VERSION: i64 = 2;

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SafetyFinding {
    pub kind: SafetyKind,
    /// Where, such as `strategy[2]`.
    pub place: String,
    /// One sentence that never repeats a secret.
    pub text: String,
    /// How grave it is, 0 to 1.
    pub score: f64,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SafetyVerdict {
    /// Nothing of weight was found.
    Clean,
    /// It is given out with a warning.
    Warn,
    Quarantine,
}

text_enum!(SafetyVerdict {
    Clean = "clean",
    Warn = "warn",
    Quarantine = "quarantine",
});

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SafetyScan {
    /// From 0, nothing, to 1, certain.
    pub score: f64,
    pub findings: Vec<SafetyFinding>,
}

/// From this score on an asset is given out with a warning.
pub const WARN_FROM: f64 = 0.4;
/// From this score on an asset is held back.
pub const QUARANTINE_FROM: f64 = 0.8;
/// How many findings are told.
const MAX_FINDINGS: usize = 20;

impl SafetyScan {
    /// What follows from the score.
    pub fn verdict(&self) -> SafetyVerdict {
        if self.score >= QUARANTINE_FROM {
            SafetyVerdict::Quarantine
        } else if self.score >= WARN_FROM {
            SafetyVerdict::Warn
        } else {
            SafetyVerdict::Clean
        }
    }
}

/// Looks through the texts of an asset.
pub fn scan(texts: &AssetTexts<'_>) -> SafetyScan {
    let mut findings = Vec::new();
    scan_text(texts.summary, || "summary".to_owned(), &mut findings);
    scan_text(texts.content, || "content".to_owned(), &mut findings);
    let lists = [("strategy", texts.strategy), ("validation", texts.validation), ("signals", texts.signals)];
    for (name, list) in lists {
        for (index, text) in list.iter().enumerate() {
            scan_text(text, || format!("{name}[{index}]"), &mut findings);
        }
    }
    for (index, text) in texts.strategy.iter().enumerate() {
        let mut found = |kind, score, text: String| {
            findings.push(SafetyFinding { kind, place: format!("strategy[{index}]"), text, score });
        };
        marks::credential_step(text, &mut found);
    }
    weigh(findings)
}

/// What several findings weigh together.
fn weigh(mut findings: Vec<SafetyFinding>) -> SafetyScan {
    let worst = findings.iter().map(|finding| finding.score).fold(0.0, f64::max);
    // Small things add up, but never to a quarantine by themselves.
    let sum: f64 = findings.iter().map(|finding| finding.score).sum();
    findings.sort_by(|a, b| b.score.total_cmp(&a.score));
    findings.truncate(MAX_FINDINGS);
    SafetyScan { score: worst.max(sum.min(WARN_FROM)).min(1.0), findings }
}

fn scan_text(text: &str, place: impl Fn() -> String, findings: &mut Vec<SafetyFinding>) {
    if text.is_empty() {
        return;
    }
    let mut found =
        |kind, score, text: String| findings.push(SafetyFinding { kind, place: place(), text, score });
    hidden_characters(text, &mut found);
    phrases(text, &mut found);
    credentials(text, &mut found);
    marks::download_and_run(text, &mut found);
    marks::encoded_blob(text, &mut found);
    hosts::lookalikes(text, &mut found);
}

type SafetyMatch<'f> = dyn FnMut(SafetyKind, f64, String) + 'f;

/// Text that is not what it looks like. Joiners within words and a mark at the very start are ordinary.
fn hidden_characters(text: &str, found: &mut SafetyMatch<'_>) {
    if text.is_ascii() {
        return;
    }
    let mut reorders = 0_usize;
    let mut tags = 0_usize;
    let mut invisible = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => reorders += 1,
            '\u{e0000}'..='\u{e007f}' => tags += 1,
            '\u{200c}' | '\u{200d}' | '\u{200e}' | '\u{200f}' | '\u{ad}' | '\u{61c}' | '\u{2028}'
            | '\u{2029}' => {}
            '\u{feff}' if at == 0 => {}
            c if is_invisible(c) => invisible += 1,
            _ => {}
        }
    }
    if reorders > 0 {
        found(SafetyKind::Invisible, 0.8, format!("{reorders} characters change the direction of the text."));
    }
    // Flags of some regions are written with a few tags; a hidden message needs many.
    if tags > 12 {
        found(SafetyKind::Invisible, 1.0, format!("{tags} tag characters hide text from the eye."));
    }
    if invisible > 0 {
        let score = if invisible >= 16 { 0.8 } else { 0.2 };
        found(SafetyKind::Invisible, score, format!("{invisible} invisible characters."));
    }
}

/// Credentials, told without repeating them. What names a person or a machine is told too, but weighs nothing.
fn credentials(text: &str, found: &mut SafetyMatch<'_>) {
    // One pass finds both; only where it found something a second one tells which.
    let mut all = 0_usize;
    redact_telling(text, RedactProfile::Publish, &mut |_| all += 1);
    if all == 0 {
        return;
    }
    let mut secrets = 0_usize;
    let mut in_url = 0_usize;
    redact_telling(text, RedactProfile::Secrets, &mut |secret| {
        let look = secrets + in_url < MAX_FINDINGS;
        if look && is_in_url(text, secret) { in_url += 1 } else { secrets += 1 }
    });
    let personal = all.saturating_sub(secrets + in_url);
    if in_url > 0 {
        found(SafetyKind::UrlCredentials, 1.0, format!("{} in an address.", count(in_url, "password")));
    }
    if secrets > 0 {
        found(SafetyKind::Secret, 1.0, format!("{}.", count(secrets, "credential")));
    }
    if personal > 0 {
        let text = format!("{} a person or a machine.", count(personal, "place that may name"));
        found(SafetyKind::Personal, 0.0, text);
    }
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 || what.ends_with("name") { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Whether a value stands between `://` and `@`, as far as the first places show where it stands.
fn is_in_url(text: &str, secret: &str) -> bool {
    const NEAR: usize = 300;
    text.match_indices(secret).take(MAX_FINDINGS).any(|(at, _)| {
        let start = text.floor_char_boundary(at.saturating_sub(NEAR));
        let before = text[start..at].rsplit(char::is_whitespace).next().unwrap_or("");
        let inside = before.contains("://") || secret.contains("://");
        inside && (text[at + secret.len()..].starts_with('@') || secret.contains('@'))
    })
}

/// Words of one idea; a phrase is a row of ideas.
type SafetyPhrase = &'static [&'static str];

/// Verbs that are mostly said to somebody, and verbs that code does all day.
const DROP: SafetyPhrase = &["ignore", "disregard", "forget", "bypass"];
const SET_ASIDE: SafetyPhrase = &["override", "discard", "skip", "neglect", "violate"];
const ANY: SafetyPhrase = &[
    "all", "any", "every", "the", "of", "your", "my", "these", "those", "this", "its", "their", "and", "or",
    "other",
];
const EARLIER: SafetyPhrase =
    &["previous", "prior", "above", "earlier", "preceding", "foregoing", "existing", "former"];
const OWN: SafetyPhrase = &["system", "developer", "safety", "initial", "original", "hidden"];
/// Nouns for what a reader was told, and nouns that mean much else.
const INSTRUCTIONS: SafetyPhrase = &["instruction", "instructions", "directives", "guidelines", "guardrails"];
const PROMPTS: SafetyPhrase = &["prompt", "prompts"];
const RULES: SafetyPhrase = &["commands", "directions", "rules", "policies", "training", "constraints"];
const REVEAL: SafetyPhrase =
    &["reveal", "print", "show", "output", "repeat", "send", "leak", "disclose", "dump", "post", "upload"];
const SECRETS: SafetyPhrase =
    &["secrets", "secret", "keys", "key", "tokens", "token", "credentials", "password", "passwords"];
const API: SafetyPhrase = &["api", "private", "access", "ssh", "aws", "node", "environment", "env"];
const OUTWARDS: SafetyPhrase = &["to", "at"];

/// Words shortly before a phrase which show that it is named, not said.
#[rustfmt::skip]
const NAMED: SafetyPhrase = &[
    "detect", "detects", "detecting", "block", "blocks", "blocking", "reject", "rejects", "refuse",
    "refuses", "strip", "strips", "filter", "filters", "sanitize", "sanitizes", "sanitise", "flag", "flags",
    "prevent", "prevents", "against", "such", "attack", "attacks", "injection", "injections", "attempts",
    "phrase", "phrases", "containing", "contains", "quarantine",
];
/// Words right before a phrase that turn it round.
const NEGATION: SafetyPhrase = &["not", "never", "dont", "cannot", "wont"];

/// Orders to a reader.
fn phrases(text: &str, found: &mut SafetyMatch<'_>) {
    let words = words(text);
    let mut told = [false; 4];
    for at in 0..words.len() {
        let Some(rest) = words.get(at..) else { break };
        let Some((which, kind, what, score)) = phrase(rest) else { continue };
        let before = words.get(at.saturating_sub(6)..at).unwrap_or(&[]);
        let negated = before.last().is_some_and(|word| NEGATION.contains(&word.as_str()));
        let named = negated || before.iter().any(|word| NAMED.contains(&word.as_str()));
        let score = if named { WARN_FROM.min(score) } else { score };
        if let Some(told) = told.get_mut(which)
            && !std::mem::replace(told, true)
        {
            found(kind, score, what.to_owned());
        }
    }
}

/// The order that begins with the first of these words.
fn phrase(words: &[String]) -> Option<(usize, SafetyKind, &'static str, f64)> {
    let first = words.first()?.as_str();
    if let Some(score) = drops_instructions(words) {
        return Some((0, SafetyKind::Override, "It tells its reader to drop its instructions.", score));
    }
    if first == "you"
        && ["you are now", "you must now act as"].iter().any(|text| begins_with(words, text))
    {
        let freed = ["jailbroken", "unrestricted", "dan", "unfiltered", "uncensored"];
        if words.iter().take(10).any(|word| freed.contains(&word.as_str())) {
            return Some((1, SafetyKind::Override, "It gives its reader another role.", 1.0));
        }
    }
    let new_orders = ["new system prompt", "begin system prompt", "end of system prompt", "do anything now"];
    if new_orders.iter().any(|text| begins_with(words, text)) {
        return Some((1, SafetyKind::Override, "It pretends to be a system prompt.", 0.5));
    }
    if ["do not tell the user", "dont tell the user", "without telling the user", "do not inform the user"]
        .iter()
        .any(|text| begins_with(words, text))
    {
        return Some((2, SafetyKind::Override, "It tells its reader to hide something from the user.", 0.8));
    }
    if REVEAL.contains(&first) {
        let rest = after_fillers(words.get(1..)?);
        if begins(rest, &[&["system"], &["prompt"]]) && words.get(1).is_some_and(|word| word == "your") {
            return Some((3, SafetyKind::Exfiltration, "It asks its reader for its system prompt.", 0.8));
        }
        if words.get(1).is_some_and(|word| word == "your") && leaks_secrets(rest) {
            return Some((3, SafetyKind::Exfiltration, "It asks its reader to give secrets away.", 0.9));
        }
    }
    None
}

/// How surely these words tell a reader to drop what it was told.
fn drops_instructions(words: &[String]) -> Option<f64> {
    let (verb, rest) = words.split_first()?;
    let said_to_someone = DROP.contains(&verb.as_str());
    if !said_to_someone && !SET_ASIDE.contains(&verb.as_str()) {
        return None;
    }
    let what = after_fillers(rest);
    let yours = rest.iter().take(rest.len() - what.len()).any(|word| word == "your");
    let is = |noun: SafetyPhrase| {
        let forms: [&[SafetyPhrase]; 3] = [&[EARLIER, noun], &[OWN, noun], &[EARLIER, OWN, noun]];
        forms.iter().any(|form| begins(what, form)) || (yours && begins(what, &[noun]))
    };
    if is(INSTRUCTIONS) {
        return Some(if said_to_someone || yours || begins(what, &[EARLIER]) { 1.0 } else { 0.5 });
    }
    if is(PROMPTS) || is(RULES) {
        let soft = (said_to_someone && is(PROMPTS)).then_some(0.5);
        return if yours { Some(1.0) } else { soft };
    }
    let everything =
        begins_with(what, "everything above") || begins_with(what, "everything you were told");
    // "Ignore everything above the marker" is about a text.
    let of_a_text = what
        .get(2)
        .is_some_and(|word| matches!(word.as_str(), "the" | "a" | "this" | "it" | "that" | "line"));
    (said_to_someone && everything && !of_a_text).then_some(1.0)
}

/// Whether these words name secrets and then a place to bring them to.
fn leaks_secrets(words: &[String]) -> bool {
    let names =
        begins(words, &[SECRETS]) || begins(words, &[API, SECRETS]) || begins(words, &[API, &["variables"]]);
    names && words.iter().skip(1).take(4).any(|word| OUTWARDS.contains(&word.as_str()))
}

fn after_fillers(words: &[String]) -> &[String] {
    let fillers = words.iter().take(4).take_while(|word| ANY.contains(&word.as_str())).count();
    words.get(fillers..).unwrap_or(&[])
}

fn begins(words: &[String], ideas: &[SafetyPhrase]) -> bool {
    words.len() >= ideas.len() && words.iter().zip(ideas).all(|(word, idea)| idea.contains(&word.as_str()))
}

/// Whether the words begin with those of a phrase. It is asked at every word of a text, so most are ruled out by the first.
fn begins_with(words: &[String], phrase: &str) -> bool {
    let is_possible = words.first().is_some_and(|first| phrase.starts_with(first.as_str()));
    let mut words = words.iter();
    is_possible && phrase.split(' ').all(|part| words.next().is_some_and(|word| word == part))
}

/// Lower-case words. What cannot be seen does not part a word, and look-alike full-width letters are read as plain ones.
fn words(text: &str) -> Vec<String> {
    let is_seen = |c: &char| c.is_alphanumeric() || !(is_invisible(*c) || matches!(c, '\'' | '’'));
    let to_plain = |c| match c {
        '\u{ff21}'..='\u{ff5a}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    let plain: String = text.chars().filter(is_seen).map(to_plain).collect();
    runs(&plain).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
