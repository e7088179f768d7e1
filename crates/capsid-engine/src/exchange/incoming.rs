//! Foreign assets as they come: found in whatever they are wrapped in, and checked. Pure.

use capsid_client::asset;
use capsid_model::asset::{IdVerdict, stamp, verify};
use capsid_model::schema::{self, SchemaSeverity};
use capsid_model::text::{cut, inert_line, is_invisible};
use capsid_model::{Code, Object, Problem, Result, Value, canonical, json};
use std::fmt;

/// The largest text that is read, and the largest asset in it.
pub const TEXT_LIMIT: usize = 64 << 20;
const ASSET_LIMIT: usize = 256 << 10;
/// The deepest asset.
const DEPTH_LIMIT: usize = 32;
/// So many bad lines, and the rest is not looked at.
const BAD_LINES: usize = 200;
/// The longest run of successes that is stored, even as a claim.
const MAX_STREAK: u64 = 1000;

/// The types of assets that are taken.
const KINDS: [&str; 3] = ["Gene", "Capsule", "EvolutionEvent"];

/// An asset that was found, and who sent it.
pub(super) struct IncomingAsset {
    pub(super) asset: Value,
    pub(super) sender: Option<String>,
}

/// A message about an asset, and who sent it.
pub(super) struct IncomingMessage {
    pub(super) kind: MessageKind,
    pub(super) sender: Option<String>,
    /// The id of the asset that it is about; empty where it names none.
    pub(super) target: String,
}

/// What a message about an asset says.
#[derive(Clone, Copy)]
pub(super) enum MessageKind {
    Report,
    Decision,
    Revoke,
}

impl IncomingMessage {
    fn read(message: &Object) -> Option<Self> {
        let kind = match message.get("message_type").and_then(Value::as_str)? {
            "report" => MessageKind::Report,
            "decision" => MessageKind::Decision,
            "revoke" => MessageKind::Revoke,
            _ => return None,
        };
        let text =
            |value: Option<&Value>| value.and_then(Value::as_str).map(|text| inert_line(cut(text, 100)));
        let target = message.get("payload").and_then(|payload| payload.get("target_asset_id"));
        let sender = text(message.get("sender_id"));
        Some(Self { kind, sender, target: text(target).unwrap_or_default() })
    }
}

impl fmt::Display for IncomingMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            MessageKind::Report => "report",
            MessageKind::Decision => "decision",
            MessageKind::Revoke => "revoke",
        };
        let sender = self.sender.as_deref().unwrap_or("somebody");
        let target = if self.target.is_empty() { "no asset" } else { &self.target };
        write!(f, "the {word} of {sender} on {target}")
    }
}

/// What a text holds.
#[derive(Default)]
pub(super) struct IncomingText {
    pub(super) assets: Vec<IncomingAsset>,
    pub(super) messages: Vec<IncomingMessage>,
    /// Lines that could not be read.
    pub(super) bad: Vec<Problem>,
}

/// All assets and messages in a text: a document, a list, or JSON lines; each an asset, a message or a bundle.
pub(super) fn find(text: &str) -> Result<IncomingText> {
    if text.len() > TEXT_LIMIT {
        return Err(Problem::new(Code::InputInvalid, "The text is larger than 64 MiB."));
    }
    let mut found = IncomingText::default();
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        unwrap(document, None, &mut found);
        return Ok(found);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, line) in lines {
        match canonical::read(line) {
            Ok(value) => unwrap(value, None, &mut found),
            Err(problem) if found.assets.is_empty() && found.bad.is_empty() => {
                let message = format!("The text is no JSON, and neither is its line {}.", at + 1);
                found
                    .bad
                    .push(Problem::new(problem.code, message).fix("Give an asset, a list, or JSON lines."));
            }
            Err(problem) => {
                found.bad.push(Problem::new(
                    problem.code,
                    format!("Line {} is no JSON; it was passed over.", at + 1),
                ));
            }
        }
        if found.bad.len() >= BAD_LINES {
            found
                .bad
                .push(Problem::new(Code::JsonInvalid, "Too many lines are no JSON; the rest was not read."));
            break;
        }
    }
    match found.bad.len() {
        1 if found.assets.is_empty() => Err(found.bad.remove(0)),
        _ => Ok(found),
    }
}

/// Takes assets out of lists, bundles and messages. A hello holds none and is passed over.
fn unwrap(value: Value, sender: Option<&str>, found: &mut IncomingText) {
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| unwrap(item, sender, found)),
        Value::Object(mut object) if !object.contains_key("type") => {
            if let Some(message) = IncomingMessage::read(&object) {
                found.messages.push(message);
                return;
            }
            let named = object.get("sender_id").or_else(|| object.get("node_id")).and_then(Value::as_str);
            let named = named.map(str::to_owned);
            let sender = named.as_deref().or(sender);
            let is_message = object.contains_key("message_type");
            let mut any = is_message;
            for member in ["payload", "assets", "results", "asset"] {
                if let Some(inner @ (Value::Object(_) | Value::Array(_))) = object.shift_remove(member) {
                    any = true;
                    match inner {
                        // What is named an asset is one, however odd.
                        Value::Object(_) if member == "asset" => push(inner, sender, found),
                        inner => unwrap(inner, sender, found),
                    }
                }
            }
            if !any && !object.is_empty() && sender.is_none() {
                push(Value::Object(object), sender, found);
            }
        }
        other => push(other, sender, found),
    }
}

fn push(asset: Value, sender: Option<&str>, found: &mut IncomingText) {
    found.assets.push(IncomingAsset { asset, sender: sender.map(str::to_owned) });
}

/// The asset and whether it had an id, or why it is refused. `place` is its number in what came, to name it by.
pub(super) fn checked(asset: &Value, position: usize) -> Result<(Object, bool)> {
    let Value::Object(object) = asset else {
        return Err(violation(format!("Asset {position} of the input is no object.")));
    };
    let name = match name_of(object) {
        name if name == NAMELESS => format!("Asset {position} of the input"),
        name => name,
    };
    if asset.to_string().len() > ASSET_LIMIT || depth(asset) > DEPTH_LIMIT {
        return Err(violation(format!("{name} is larger or deeper than an asset may be.")));
    }
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    if !KINDS.contains(&kind) {
        return Err(violation(format!("{name} is no Gene, Capsule or EvolutionEvent.")));
    }
    let stamped = match verify(object) {
        IdVerdict::Missing { .. } => {
            let mut stamped = object.clone();
            stamp(&mut stamped);
            (stamped, false)
        }
        _ => (asset::checked(asset, None).map_err(|problem| changed(&problem, object, &name))?, true),
    };
    check_members(&stamped.0, &name)?;
    Ok(stamped)
}

/// What a hub would be blamed for, in words that fit a file too.
fn changed(problem: &Problem, object: &Object, name: &str) -> Problem {
    if problem.code != Code::AssetIdMismatch {
        return violation(format!("{name} has an `asset_id` that is none."));
    }
    let claimed = object.get("asset_id").and_then(Value::as_str).unwrap_or_default();
    let named = if name.contains(claimed) { String::new() } else { format!(" of {name}") };
    Problem::new(
        problem.code,
        format!("`{claimed}` is not the hash of the content{named}: it was changed after it was made. It was not staged."),
    )
    .fix("Ask whoever made it for the original; after a change of your own, take `asset_id` out and it gets a new one.")
}

/// What is wrong is refused, and what lacks a member without which it is of no use. Published assets lack others, and
/// their local id.
fn check_members(object: &Object, name: &str) -> Result<()> {
    let id = object.get("id");
    let odd = |id: &str| {
        id.is_empty() || id.chars().count() > 200 || id.chars().any(|c| c.is_control() || is_invisible(c))
    };
    if id.is_some_and(|id| id.as_str().is_none_or(odd)) {
        return Err(violation(format!("{name} has an id that is none.")));
    }
    let findings = schema::check(&Value::Object(object.clone()));
    let wrong: Vec<String> = findings
        .iter()
        .filter(|finding| {
            finding.severity == SchemaSeverity::Error && !finding.message.starts_with("is missing")
        })
        .take(3)
        .map(ToString::to_string)
        .collect();
    if !wrong.is_empty() {
        return Err(violation(format!("{name} breaks the schema: {}.", wrong.join("; "))));
    }
    let lacking = lacking(object);
    if !lacking.is_empty() {
        return Err(violation(format!("{name} breaks the schema: it has no {}.", lacking.join(", no "))));
    }
    Ok(())
}

/// The members that an asset lacks and that its type is nothing without.
fn lacking(object: &Object) -> Vec<&'static str> {
    let needed: &[&str] = match object.get("type").and_then(Value::as_str).unwrap_or_default() {
        "Gene" => &["category", "signals_match"],
        "Capsule" => &["trigger", "gene", "summary", "outcome"],
        _ => &["intent", "outcome"],
    };
    let is_absent = |member: &str| object.get(member).is_none_or(Value::is_null);
    let mut lacking: Vec<&str> = needed.iter().filter(|member| is_absent(member)).copied().collect();
    let is_gene = object.get("type").and_then(Value::as_str) == Some("Gene");
    if is_gene && is_absent("strategy") && is_absent("summary") {
        lacking.push("strategy or summary");
    }
    lacking
}

fn violation(message: String) -> Problem {
    Problem::new(Code::SchemaViolation, message).fix("Ask whoever made it for a well-formed one.")
}

/// What has neither an id nor an asset id.
const NAMELESS: &str = "An asset without a name";

/// An asset as a message names it.
pub(super) fn name_of(object: &Object) -> String {
    let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
    let id = if text("id").is_empty() { text("asset_id") } else { text("id") };
    match inert_line(cut(id, 100)) {
        id if id.trim().is_empty() => NAMELESS.to_owned(),
        id => format!("`{id}`"),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 1,
    }
}

/// How and when an asset came.
pub(super) struct ReceiptInfo<'a> {
    pub(super) source: &'a str,
    /// The hub that handed it out, if one did.
    pub(super) hub: Option<&'a str>,
    pub(super) at: String,
    pub(super) factor: f64,
}

/// The asset as it is staged: trusted less, with its origin, under an id of its own. What its sender's engine kept
/// about it under `a2a` speaks of the sender's store, so it goes.
pub(super) fn lowered(mut asset: Object, received: &ReceiptInfo<'_>) -> Object {
    let id = asset.get("asset_id").cloned().unwrap_or_default();
    if asset.get("id").is_none() {
        let short: String = id.as_str().unwrap_or_default().chars().skip("sha256:".len()).take(12).collect();
        let kind = asset.get("type").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        asset.insert("id".to_owned(), format!("{kind}_{short}").into());
    }
    if let Some(confidence) = asset.get("confidence").and_then(Value::as_f64) {
        let lowered = (confidence * received.factor).clamp(0.0, 1.0);
        asset.insert("confidence".to_owned(), ((lowered * 1e6).round() / 1e6).into());
    }
    if asset.get("success_streak").and_then(Value::as_f64).is_some_and(|streak| streak > MAX_STREAK as f64) {
        asset.insert("success_streak".to_owned(), MAX_STREAK.into());
    }
    let mut a2a = json!({
        "status": "external_candidate",
        "source": received.source,
        "received_at": received.at,
        "confidence_factor": received.factor,
        "received_asset_id": id,
    });
    if let Some(hub) = received.hub {
        a2a["hub"] = hub.into();
    }
    asset.insert("a2a".to_owned(), a2a);
    stamp(&mut asset);
    asset
}

/// The id under which an asset was received.
pub(super) fn received_id(asset: &Object) -> Option<&str> {
    asset.get("a2a")?.get("received_asset_id")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gene(id: &str) -> Value {
        let mut gene = json!({"type": "Gene", "id": id, "category": "repair", "signals_match": ["log_error"],
            "strategy": ["a"], "validation": []});
        stamp(gene.as_object_mut().unwrap());
        gene
    }

    fn ids(text: &str) -> Vec<String> {
        let IncomingText { assets, bad, .. } = find(text).unwrap();
        assert!(bad.is_empty(), "{bad:?}");
        assets.iter().map(|incoming| incoming.asset["id"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn assets_are_found_in_every_wrapping() {
        let (a, b) = (gene("a"), gene("b"));
        assert_eq!(ids(&a.to_string()), ["a"]);
        assert_eq!(ids(&json!([a, b]).to_string()), ["a", "b"]);
        assert_eq!(ids(&format!("{a}\n\n{b}\n")), ["a", "b"]);
        let single = json!({"protocol": "gep-a2a", "message_type": "publish", "sender_id": "node_1", "payload": {"asset": a}});
        let bundle = json!({"protocol": "gep-a2a", "message_type": "publish", "sender_id": "node_1", "payload": {"assets": [a, b]}});
        let hello = json!({"protocol": "gep-a2a", "message_type": "hello", "sender_id": "node_1", "payload": {"gene_count": 1}});
        assert_eq!(ids(&format!("{hello}\n{single}\n{bundle}\n")), ["a", "a", "b"]);
        assert_eq!(ids(&json!({"assets": [a, b]}).to_string()), ["a", "b"]);
        assert_eq!(ids(&json!({"payload": {"results": [b]}}).to_string()), ["b"]);
        let IncomingText { assets, .. } = find(&bundle.to_string()).unwrap();
        assert_eq!(assets[1].sender.as_deref(), Some("node_1"));
    }

    #[test]
    fn what_is_no_json_is_told_and_the_rest_goes_on() {
        assert_eq!(find("not json").err().unwrap().code, Code::JsonInvalid);
        let IncomingText { assets, bad, .. } =
            find(&format!("{}\nnot json\n{}\n", gene("a"), gene("b"))).unwrap();
        assert_eq!((assets.len(), bad.len()), (2, 1));
        let IncomingText { bad, .. } = find(&"x\n".repeat(100_000)).unwrap();
        assert!(bad.len() <= BAD_LINES + 1);
        assert!(find(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn a_changed_asset_is_refused_and_one_without_an_id_is_stamped() {
        assert!(checked(&gene("a"), 1).unwrap().1);
        let mut changed = gene("a");
        changed["strategy"] = json!(["b"]);
        assert_eq!(checked(&changed, 1).unwrap_err().code, Code::AssetIdMismatch);
        changed.as_object_mut().unwrap().shift_remove("asset_id");
        let (stamped, had_id) = checked(&changed, 1).unwrap();
        assert!(!had_id && verify(&stamped).holds());
    }

    #[test]
    fn what_breaks_the_schema_or_all_measure_is_refused() {
        let refused = |value: Value| checked(&value, 1).unwrap_err().code;
        let mut nested = json!(1);
        for _ in 0..40 {
            nested = json!([nested]);
        }
        let with = |member: &str, value: Value| {
            let mut gene = gene("a");
            gene[member] = value;
            stamp(gene.as_object_mut().unwrap());
            gene
        };
        for bad in [
            json!(7),
            json!({"type": "Report"}),
            with("strategy", json!("one")),
            with("signals_match", json!([])),
            with("id", json!(7)),
            with("id", json!("a\u{1b}[31m")),
            with("extra", nested),
            with("extra", json!("x".repeat(ASSET_LIMIT))),
        ] {
            assert_eq!(refused(bad), Code::SchemaViolation);
        }
    }

    #[test]
    fn what_its_type_is_nothing_without_is_asked_for_and_no_more() {
        let refusal = |value: Value| checked(&value, 3).unwrap_err().message;
        assert_eq!(
            refusal(json!({"type": "Gene", "id": "g"})),
            "`g` breaks the schema: it has no category, no signals_match, no strategy or summary."
        );
        assert!(refusal(json!({"type": "Capsule", "trigger": ["a"], "gene": null})).contains("must be"));
        assert_eq!(
            refusal(json!({"type": "Capsule", "trigger": ["a"]})),
            "Asset 3 of the input breaks the schema: it has no gene, no summary, no outcome."
        );
        assert_eq!(
            refusal(json!({"type": "EvolutionEvent", "id": "e"})),
            "`e` breaks the schema: it has no intent, no outcome."
        );
        for document in [
            json!({"type": "Gene", "category": "repair", "signals_match": ["a"], "summary": "s"}),
            json!({"type": "Gene", "category": "repair", "signals_match": ["a"], "strategy": ["s"]}),
            json!({"type": "Capsule", "trigger": ["a"], "gene": "g", "summary": "s", "outcome": "success"}),
            json!({"type": "EvolutionEvent", "intent": "repair", "outcome": {"status": "failed", "score": 0}}),
        ] {
            checked(&document, 1).unwrap();
        }
    }

    #[test]
    fn a_refusal_names_its_place_and_blames_no_hub() {
        assert_eq!(
            checked(&json!({"type": ""}), 2).unwrap_err().message,
            "Asset 2 of the input is no Gene, Capsule or EvolutionEvent."
        );
        let mut changed = gene("a");
        changed["strategy"] = json!(["b"]);
        let mut odd = gene("a");
        odd["asset_id"] = "md5:1".into();
        for problem in [checked(&changed, 1).unwrap_err(), checked(&odd, 1).unwrap_err()] {
            let text = format!("{problem} {}", problem.fix.clone().unwrap_or_default());
            assert!(text.contains("`a`") && !text.contains("hub") && !text.contains("Fetch"), "{text}");
        }
    }

    #[test]
    fn a_lowered_asset_verifies_and_tells_where_it_came_from() {
        let mut capsule = json!({"type": "Capsule", "confidence": 0.9, "success_streak": 1_000_000, "a2a": {"status": "promoted", "eligible_to_broadcast": true}})
            .as_object()
            .cloned()
            .unwrap();
        stamp(&mut capsule);
        let received_as = capsule["asset_id"].clone();
        let received =
            ReceiptInfo { source: "node_1", hub: Some("http://hub"), at: "t".to_owned(), factor: 0.6 };
        let lowered = lowered(capsule, &received);
        assert_eq!((&lowered["confidence"], &lowered["success_streak"]), (&json!(0.54), &json!(1000)));
        assert_eq!(lowered["a2a"]["status"], "external_candidate");
        assert_eq!(
            (&lowered["a2a"]["source"], &lowered["a2a"]["hub"]),
            (&json!("node_1"), &json!("http://hub"))
        );
        assert_eq!(lowered["a2a"]["received_asset_id"], received_as);
        assert!(lowered["a2a"].get("eligible_to_broadcast").is_none());
        assert!(lowered["id"].as_str().unwrap().starts_with("capsule_"));
        assert!(verify(&lowered).holds());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fall(text in "[\\[\\]{}\",:a-z0-9\\\\\n]{0,60}") {
            if let Ok(IncomingText { assets, .. }) = find(&text) {
                for incoming in assets {
                    let _ = checked(&incoming.asset, 1);
                }
            }
        }
    }
}
