//! An asset as it may leave this machine: only what means something elsewhere, redacted, no longer than hubs take.
//!
//! What was cut when it was stored is cut back to a whole word or line first, because half a name is not known as one
//! any more. Then everything is redacted, and only then cut to size.

use crate::rules::outbound::{may_be_cut, redact_signal, without_last_word};
use capsid_model::gate::{self, CommandPolicy};
use capsid_model::redact::{REDACTED, RedactProfile, redact, redact_value};
use capsid_model::signal::is_control;
use capsid_model::text::cut;
use capsid_model::{Object, Value, json};
use capsid_rules::diagnosis::ProblemRecord;

const GENE: &[&str] = &[
    "type",
    "schema_version",
    "id",
    "category",
    "signals_match",
    "summary",
    "preconditions",
    "strategy",
    "constraints",
    "validation",
    "anti_patterns",
    "routing_hint",
    "tool_policy",
    "claims",
    "scope",
    "runtime_profile",
    "model_name",
    "parent",
];

const CAPSULE: &[&str] = &[
    "type",
    "schema_version",
    "id",
    "trigger",
    "gene",
    "summary",
    "confidence",
    "blast_radius",
    "outcome",
    "success_streak",
    "success_reason",
    "env_fingerprint",
    "source_type",
    "reused_asset_id",
    "content",
    "diff",
    "code_snippet",
    "strategy",
    "cost_tokens",
    "cost_usd",
    "derivation_tokens",
    "cost_tier",
    "chain_id",
    "model_name",
    "resolution_status",
    "execution_trace",
];

/// What this program adds to a capsule. A strict reader of the protocol does not know it.
const ADDED: &[&str] = &["problem", "proof", "title", "explanation", "parent", "lineage"];

const EVENT: &[&str] = &[
    "type",
    "schema_version",
    "id",
    "intent",
    "signals",
    "genes_used",
    "blast_radius",
    "outcome",
    "capsule_id",
    "source_type",
    "reused_asset_id",
    "env_fingerprint",
    "mutations_tried",
    "total_cycles",
    "chain_id",
    "model_name",
    "meta",
];

/// The details of an event that show others how well it was proven.
const META: &[&str] = &["at", "validation_ok", "validation_vacuous", "validation", "isolation", "blast_size"];

/// What this program adds to those details.
const ADDED_META: &[&str] = &["problem", "proof"];

/// What a fingerprint may reveal: the kind of machine, never which one.
const FINGERPRINT: &[&str] = &[
    "node_version",
    "platform",
    "arch",
    "os_release",
    "evolver_version",
    "client",
    "client_version",
    "cwd",
    "container",
    "captured_at",
];

/// The longest text and the longest summary that hubs take, in characters.
const TEXT_LIMIT: usize = 8000;
const SUMMARY_LIMIT: usize = 2000;
/// The most signals, the longest one, and the most steps.
const SIGNALS_LIMIT: usize = 50;
const SIGNAL_LIMIT: usize = 2000;
const STEPS_LIMIT: usize = 100;
/// The longest title.
const TITLE_LIMIT: usize = 200;
/// The longest signal in a capsule's content, and the longest reason.
const CONTENT_SIGNAL: usize = 200;
const REASON_LIMIT: usize = 1000;

/// Replaces the rest of a text that was left out.
const TRUNCATED: &str = "\n... [TRUNCATED]";

/// Which members leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentMembers {
    /// Those of the protocol.
    Protocol,
    /// Those that this program adds too.
    All,
}

impl SentMembers {
    fn join(self, known: &[&'static str], added: &[&'static str]) -> Vec<&'static str> {
        match self {
            Self::Protocol => known.to_vec(),
            Self::All => [known, added].concat(),
        }
    }
}

/// An outgoing asset, and what was redacted from it.
pub(super) struct RedactedAsset {
    pub(super) asset: Object,
    pub(super) notes: Vec<String>,
    name: &'static str,
}

/// A gene without what only this machine learned about it, and without commands that no hub lets others run. Where none
/// is left, it gets the first of `other_commands` that a hub lets others run.
pub(super) fn gene(stored: &Object, other_commands: &[String]) -> RedactedAsset {
    let mut clean = RedactedAsset::redact(stored, "gene", GENE, &texts(stored, "signals_match"));
    let commands = texts(stored, "validation");
    let has_commands = !commands.is_empty();
    let mut allowed = Vec::new();
    for command in commands {
        match publishable(&command) {
            Ok(()) => allowed.push(command),
            Err(reason) => {
                clean
                    .notes
                    .push(format!("gene: the command `{}` was left out: {reason}", truncate_text(&command)));
            }
        }
    }
    if allowed.is_empty()
        && let Some(command) = other_commands.iter().find(|command| publishable(command).is_ok())
    {
        clean.notes.push(format!(
            "gene: the command `{}` was added, which validated it here",
            truncate_text(command)
        ));
        allowed.push(command.clone());
    }
    if allowed.is_empty() && has_commands {
        clean.notes.push("gene: no command is left that others could validate it by.".to_owned());
    }
    allowed.truncate(STEPS_LIMIT);
    clean.asset.insert("validation".to_owned(), allowed.into());
    clean.signals("signals_match");
    clean.steps("strategy");
    let has_steps = !texts(&clean.asset, "strategy").is_empty();
    match clean.asset.get("summary").and_then(Value::as_str) {
        // A summary is optional if name and steps say enough; one that is too short counts as none.
        Some(summary) if summary.chars().count() < 10 && has_steps => {
            clean.asset.shift_remove("summary");
        }
        _ => clean.fit("summary", SUMMARY_LIMIT),
    }
    clean
}

/// A capsule that hubs take; it quotes its own signals and those of the event of its last success.
pub(super) fn capsule(stored: &Object, event: Option<&Object>, members: SentMembers) -> RedactedAsset {
    let mut quoted = texts(stored, "trigger");
    quoted.extend(event.map(|event| texts(event, "signals")).unwrap_or_default());
    let mut clean = RedactedAsset::redact(stored, "capsule", &members.join(CAPSULE, ADDED), &quoted);
    clean.add_raw_line(stored);
    clean.signals("trigger");
    clean.steps("strategy");
    for member in ["content", "diff", "code_snippet"] {
        clean.fit(member, TEXT_LIMIT);
    }
    clean.fit("success_reason", REASON_LIMIT);
    clean.fit("title", TITLE_LIMIT);
    clean.fit("explanation", SUMMARY_LIMIT);
    retell(&mut clean.asset, stored);
    clean.fit("summary", SUMMARY_LIMIT);
    clean.fingerprint();
    let summary = clean.asset.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned();
    if summary.chars().count() < 20 {
        let blast = capsid_model::event::BlastRadius::read(clean.asset.get("blast_radius"));
        let longer = format!("{summary} (a change of {blast})").trim_start().to_owned();
        clean.asset.insert("summary".to_owned(), longer.into());
    }
    clean
}

/// A summary that no person wrote is replaced by plain words.
fn retell(asset: &mut Object, stored: &Object) {
    let written =
        asset.get("summary").and_then(Value::as_str).is_some_and(|summary| !summary.starts_with("固化："));
    if written {
        return;
    }
    let blast = capsid_model::event::BlastRadius::read(asset.get("blast_radius"));
    let gene = stored.get("gene").and_then(Value::as_str).unwrap_or("a change");
    let signals = texts(asset, "trigger").into_iter().take(3).collect::<Vec<_>>().join(", ");
    asset.insert("summary".to_owned(), format!("{gene} answered {signals} by a change of {blast}").into());
}

/// An event with that of its details which others can use.
pub(super) fn event(stored: &Object, members: SentMembers) -> RedactedAsset {
    let mut stored = stored.clone();
    if let Some(Value::Object(meta)) = stored.get_mut("meta") {
        let kept = members.join(META, ADDED_META);
        meta.retain(|name, _| kept.contains(&name.as_str()));
    }
    let signals = texts(&stored, "signals");
    let mut clean = RedactedAsset::redact(&stored, "event", EVENT, &signals);
    clean.signals("signals");
    clean.fingerprint();
    clean
}

impl RedactedAsset {
    fn redact(stored: &Object, name: &'static str, members: &[&str], quoted: &[String]) -> Self {
        let mut asset = stored.clone();
        asset.retain(|member, value| members.contains(&member.as_str()) && !value.is_null());
        let mut left: Vec<&str> =
            stored.iter().filter(|(_, value)| !value.is_null()).map(|(member, _)| member.as_str()).collect();
        left.retain(|member| !members.contains(member) && *member != "asset_id");
        let mut notes = Vec::new();
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(|member| truncate_text(member)).collect();
            notes.push(format!("{name}: left out as local: {}", left.join(", ")));
        }
        let cuts = quoted_cuts(quoted);
        for (member, value) in asset.iter_mut() {
            split_words(value, &cuts);
            match member.as_str() {
                "content" | "diff" | "code_snippet" => split_lines(value),
                "success_reason" => redact_reason(value),
                _ => {}
            }
            let before = count(value);
            redact_value(value, RedactProfile::Publish);
            let redacted = count(value).saturating_sub(before);
            if redacted > 0 {
                let places = if redacted == 1 { "place" } else { "places" };
                notes.push(format!("{name}.{member}: {redacted} {places} redacted"));
            }
        }
        Self { asset, notes, name }
    }

    /// Adds the line that names the problem, redacted, to the triggers: engines that compare lines find a capsule by it.
    fn add_raw_line(&mut self, stored: &Object) {
        let problem = stored.get("problem").cloned().unwrap_or_default();
        let raw =
            serde_json::from_value::<ProblemRecord>(problem).ok().and_then(|record| record.raw_errsig());
        let Some(raw) = raw else { return };
        let clean = redact(redact_signal(&raw), RedactProfile::Publish).into_owned();
        let mut triggers = texts(&self.asset, "trigger");
        // A line that is all secret says nothing, and the first triggers are the ones that are kept.
        if clean != format!("errsig:{REDACTED}") && !triggers.contains(&clean) {
            triggers.insert(triggers.len().min(SIGNALS_LIMIT - 1), clean);
            self.asset.insert("trigger".to_owned(), triggers.into());
        }
    }

    /// Signals that hubs take: no orders to our own engine, at least three characters, not too many and not too long.
    fn signals(&mut self, member: &str) {
        let mut signals = texts(&self.asset, member);
        signals.retain(|signal| signal.trim().chars().count() >= 3 && !is_control(signal));
        if signals.len() > SIGNALS_LIMIT {
            signals.truncate(SIGNALS_LIMIT);
            self.notes.push(format!("{}.{member}: only the first {SIGNALS_LIMIT} were kept", self.name));
        }
        let signals: Vec<&str> = signals.iter().map(|signal| cut(signal, SIGNAL_LIMIT)).collect();
        self.asset.insert(member.to_owned(), signals.into());
    }

    fn steps(&mut self, member: &str) {
        if let Some(Value::Array(steps)) = self.asset.get_mut(member) {
            steps.retain(|step| step.as_str().is_some_and(|step| !step.trim().is_empty()));
            steps.truncate(STEPS_LIMIT);
            for step in steps.iter_mut() {
                *step = cut(step.as_str().unwrap_or_default(), SUMMARY_LIMIT).into();
            }
        }
    }

    /// Cuts a text to the most that hubs take; what is no text is put as one.
    fn fit(&mut self, member: &str, limit: usize) {
        let Some(value) = self.asset.get(member) else { return };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if cut(&text, limit).len() == text.len() {
            self.asset.insert(member.to_owned(), text.into());
            return;
        }
        let head = cut(&text, limit - TRUNCATED.len());
        self.asset.insert(member.to_owned(), format!("{head}{TRUNCATED}").into());
        self.notes.push(format!("{}.{member}: cut to {limit} characters", self.name));
    }

    fn fingerprint(&mut self) {
        let print = self.asset.entry("env_fingerprint").or_insert_with(|| json!({}));
        if !print.is_object() {
            *print = json!({});
        }
        if let Value::Object(print) = print {
            print.retain(|member, value| {
                FINGERPRINT.contains(&member.as_str()) && (member != "cwd" || value.as_str() == Some("."))
            });
        }
    }
}

/// Whether others may be handed a command to run, by the rules that every hub starts from.
fn publishable(command: &str) -> Result<(), String> {
    let argv = gate::check(command, &CommandPolicy::default()).map_err(|refusal| refusal.message)?;
    let script = argv.iter().skip(1).find(|word| !word.starts_with('-'));
    if script.is_some_and(|path| path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..")) {
        return Err("It names a file outside the repository.".to_owned());
    }
    if redact(command, RedactProfile::Publish) != command {
        return Err("It holds something that does not leave this machine.".to_owned());
    }
    Ok(())
}

/// The forms in which cut signals are quoted, each with its replacement.
fn quoted_cuts(signals: &[String]) -> Vec<(String, String)> {
    let mut cuts = Vec::new();
    for signal in signals {
        if may_be_cut(signal) {
            cuts.push((signal.clone(), redact_signal(signal).to_owned()));
        }
        let listed = cut(signal, CONTENT_SIGNAL);
        if listed.len() < signal.len() {
            cuts.push((format!("- {listed}\n"), format!("- {}\n", without_last_word(listed))));
        }
    }
    cuts
}

/// Takes the last word off every quoted signal that may have been cut inside it.
fn split_words(value: &mut Value, cuts: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (quoted, original) in cuts {
                if text.contains(quoted.as_str()) {
                    *text = text.replace(quoted.as_str(), original);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| split_words(item, cuts)),
        Value::Object(members) => members.values_mut().for_each(|member| split_words(member, cuts)),
        _ => {}
    }
}

/// Takes the last line off a text that was cut.
fn split_lines(value: &mut Value) {
    let Value::String(text) = value else { return };
    let marked = text.strip_suffix(TRUNCATED);
    let was_cut = marked.is_some() || cut(text, TEXT_LIMIT - 1).len() < text.len();
    if was_cut {
        let body = marked.unwrap_or(text);
        let complete_lines = body.rfind('\n').map_or("", |at| &body[..at]);
        *text = format!("{complete_lines}{TRUNCATED}");
    }
}

fn redact_reason(value: &mut Value) {
    if let Value::String(reason) = value
        && cut(reason, REASON_LIMIT - 2).len() < reason.len()
    {
        *reason = without_last_word(reason).to_owned();
    }
}

fn count(value: &Value) -> usize {
    value.to_string().matches(REDACTED).count()
}

fn texts(asset: &Object, member: &str) -> Vec<String> {
    let items = asset.get(member).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn truncate_text(text: &str) -> String {
    capsid_model::text::inert_line(cut(&redact(text, RedactProfile::Publish), 120))
}
