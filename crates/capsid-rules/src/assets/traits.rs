//! What can be told of a published asset from its text alone: whether its id holds, its card and its traits.

use crate::evaluation::proof::ProofLevel;
use crate::graph::names::normal;
use crate::lifecycle::AssetType;
use crate::meaning::{MeaningTerms, SearchableText};
use capsid_model::text::{cut, is_invisible};
use capsid_model::{Object, Value, asset};
use serde_json::Map;

/// What a gene or a capsule may be for.
pub const CATEGORIES: [&str; 5] = ["repair", "optimize", "innovate", "explore", "regulatory"];
/// The longest summary, in characters.
pub const SUMMARY_LIMIT: usize = 2000;
/// How much of an asset's other prose says what it means, in characters.
const PROSE_LIMIT: usize = 6000;
/// The longest name of an environment, in characters.
const ENVIRONMENT_LIMIT: usize = 200;

/// The members of a card, which is kept as the inside of an object. What cannot be read has none.
pub fn card_members(card: &str) -> Map<String, Value> {
    serde_json::from_str(&format!("{{{card}}}")).unwrap_or_default()
}

/// What can be learnt from an asset's body alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssetTraits {
    /// The id that its publisher uses.
    pub local_id: Option<String>,
    /// repair, optimize, innovate, …; for an event its intent, for a capsule that names none its gene's.
    pub category: Option<String>,
    /// The chain of capabilities that it belongs to.
    pub chain_id: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// How often in a row it worked, by its publisher's word.
    pub success_streak: i64,
    /// Files that the change touched.
    pub blast_files: i64,
    /// Lines that the change touched.
    pub blast_lines: i64,
    /// How many signals it answers to.
    pub triggers: i64,
    /// How long its summary is.
    pub summary_chars: i64,
    /// Whether its bundle tells how it came about.
    pub has_event: bool,
    /// Whether it shows what does not work.
    pub anti_pattern: bool,
    pub proof: ProofLevel,
}

/// Whether a claimed id is the content's. Clients disagree on two members, so the id may leave out `model_name`, and
/// may see nothing of a capsule's outcome but status and score.
pub fn id_holds(text: &str, object: &Object, claimed: &str) -> bool {
    if asset::verify_text(text).is_ok_and(|verdict| verdict.holds()) {
        return true;
    }
    let mut without_model = object.clone();
    without_model.shift_remove("model_name");
    let mut forms = vec![without_model];
    for base in [object, &forms[0].clone()] {
        forms.extend(with_plain_outcome(base));
    }
    forms.iter().any(|form| asset::asset_id(form) == claimed)
}

fn with_plain_outcome(object: &Object) -> Option<Object> {
    let outcome = object.get("outcome")?.as_object()?;
    let plain: Object = outcome
        .iter()
        .filter(|(key, _)| *key == "status" || *key == "score")
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let mut form = object.clone();
    form.insert("outcome".to_owned(), Value::Object(plain));
    Some(form)
}

/// What kind of change an asset is. A capsule seldom says so: it is of its gene's kind.
pub fn category(object: &Object, asset_type: AssetType, gene: Option<&Object>) -> Option<String> {
    let named = text(object, "category").or_else(|| text(object, "intent"));
    named.or_else(|| text(gene.filter(|_| asset_type == AssetType::Capsule)?, "category"))
}

/// What an asset's text tells. Gene, proof, event and chain come from the bundle it is in.
pub fn traits(
    object: &Object,
    asset_type: AssetType,
    gene: Option<&Object>,
    proof: ProofLevel,
    has_event: bool,
    chain_id: Option<String>,
) -> AssetTraits {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or_default();
    let signals = signals_key(asset_type);
    let (blast_files, blast_lines) = blast_radius(object);
    AssetTraits {
        local_id: text(object, "id"),
        category: category(object, asset_type, gene),
        chain_id,
        confidence: number(object.get("confidence")),
        success_streak: number(object.get("success_streak")) as i64,
        blast_files,
        blast_lines,
        triggers: strings(object, signals).len() as i64,
        summary_chars: summary(object).chars().count() as i64,
        has_event,
        anti_pattern: is_anti_pattern(object),
        proof,
    }
}

/// How many files and lines an asset changes: as it declares, or as its diff shows where that is more.
pub fn blast_radius(object: &Object) -> (i64, i64) {
    let declared = |key: &str| {
        let value = object.get("blast_radius").and_then(|value| value.get(key)).and_then(Value::as_f64);
        value.unwrap_or_default() as i64
    };
    let (files, lines) = object.get("diff").and_then(Value::as_str).map_or((0, 0), measure_diff);
    (declared("files").max(files), declared("lines").max(lines))
}

/// How many files and lines a unified diff changes.
fn measure_diff(diff: &str) -> (i64, i64) {
    let (mut files, mut lines) = (0, 0);
    for line in diff.lines() {
        if line.starts_with("+++ ") {
            files += 1;
        } else if !line.starts_with("--- ") && line.starts_with(['+', '-']) {
            lines += 1;
        }
    }
    (if lines > 0 { files.max(1) } else { files }, lines)
}

/// The member that holds what an asset answers to.
fn signals_key(asset_type: AssetType) -> &'static str {
    match asset_type {
        AssetType::Gene => "signals_match",
        AssetType::Capsule => "trigger",
        AssetType::EvolutionEvent => "signals",
    }
}

/// What an asset means. Changes of code are left out: they hold many names and say little of what they are for. A capsule
/// also means what the gene says that it uses.
pub fn meaning(object: &Object, asset_type: AssetType, gene: Option<&Object>) -> MeaningTerms {
    let signals = strings(object, signals_key(asset_type));
    let signals: Vec<&str> = signals.iter().map(String::as_str).collect();
    let title = summary(object);
    let used = gene.filter(|_| asset_type == AssetType::Capsule);
    let used = used.map(|gene| format!("\n{}\n{}", cut(&summary(gene), SUMMARY_LIMIT), prose(gene)));
    let body = prose(object) + &used.unwrap_or_default();
    MeaningTerms::parse(&SearchableText { signals: &signals, title: cut(&title, SUMMARY_LIMIT), body: &body })
}

/// What an asset says beside its signals and its summary.
fn prose(object: &Object) -> String {
    let words = ["category", "intent", "id", "name", "description", "content", "success_reason"];
    let lists = ["strategy", "preconditions"];
    let mut texts: Vec<String> = words.iter().filter_map(|key| text(object, key)).collect();
    texts.extend(lists.iter().flat_map(|key| strings(object, key)));
    cut(&texts.join("\n"), PROSE_LIMIT).to_owned()
}

/// Where an asset was made, such as `linux_x64`, as its fingerprint tells.
pub fn environment(object: &Object) -> Option<String> {
    let part = |key: &str| object.get("env_fingerprint")?.get(key)?.as_str().filter(|part| !part.is_empty());
    let name = normal(&format!("{}_{}", part("platform")?, part("arch")?));
    let is_clean = !name.chars().any(|c| c.is_control() || is_invisible(c));
    (is_clean && name.chars().count() <= ENVIRONMENT_LIMIT).then_some(name)
}

/// The longest text of a publisher in a card, in characters.
const CARD_TEXT_LIMIT: usize = 200;

/// The members of a listing that never change, without braces.
pub fn card(object: &Object, asset_type: AssetType, id: &str) -> String {
    let mut card = Map::new();
    card.insert("asset_id".to_owned(), id.into());
    card.insert("asset_type".to_owned(), asset_type.as_str().into());
    card.insert("type".to_owned(), asset_type.as_str().into());
    card.insert("local_id".to_owned(), object.get("id").cloned().unwrap_or_default());
    card.insert("summary".to_owned(), cut(&summary(object), SUMMARY_LIMIT).into());
    let copied = [
        "category",
        "intent",
        "trigger",
        "signals_match",
        "confidence",
        "success_streak",
        "blast_radius",
        "outcome",
        "gene",
        "capsule_id",
        "genes_used",
        "mutations_tried",
        "total_cycles",
        "model_name",
        "schema_version",
        "source_type",
        "reused_asset_id",
        "parent",
        "lineage",
    ];
    for key in copied {
        if let Some(value) = object.get(key) {
            card.insert(key.to_owned(), value.clone());
        }
    }
    // What its publisher says: what it is called, what it solved, and how strongly that was proven there.
    let said = |member: &str, name: &str| object.get(member)?.get(name)?.as_str();
    let texts = [
        ("title", object.get("title").and_then(Value::as_str)),
        ("problem_text", said("problem", "text")),
        ("proof_grade", said("proof", "grade")),
    ];
    for (key, value) in texts {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            card.insert(key.to_owned(), cut(value, CARD_TEXT_LIMIT).into());
        }
    }
    let signals = ["trigger", "signals_match", "signals"].iter().find_map(|key| object.get(*key));
    card.insert("signals".to_owned(), signals.cloned().unwrap_or_else(|| Value::Array(Vec::new())));
    let text = Value::Object(card).to_string();
    text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().to_owned()
}

/// An asset's summary, or what stands in for it.
pub fn summary(object: &Object) -> String {
    text(object, "summary").unwrap_or_else(|| strings(object, "strategy").join(" "))
}

/// The longest text that an embedding is made of, in characters.
pub const EMBEDDED_LIMIT: usize = 2000;

/// What an embedding is made of: the summary, the signals, the steps and the content, as much as fits. Empty for an asset
/// that says nothing.
pub fn embedded_text(object: &Object) -> String {
    let signals = ["trigger", "signals_match", "signals"].map(|key| strings(object, key).join(", "));
    let parts = [text(object, "summary").unwrap_or_default()]
        .into_iter()
        .chain(signals)
        .chain([strings(object, "strategy").join(" "), text(object, "content").unwrap_or_default()]);
    let whole: Vec<String> =
        parts.map(|part| capsid_model::text::collapse(&part)).filter(|part| !part.is_empty()).collect();
    capsid_model::text::cut(&whole.join("\n"), EMBEDDED_LIMIT).to_owned()
}

/// Whether a gene shows what does not work.
pub fn is_anti_pattern(gene: &Object) -> bool {
    gene.get("anti_pattern").and_then(Value::as_bool) == Some(true)
}

/// A text member.
pub fn text(object: &Object, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The texts of a list.
pub fn strings(object: &Object, key: &str) -> Vec<String> {
    let items = object.get(key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn embedded(asset: &Value) -> String {
        embedded_text(asset.as_object().unwrap())
    }

    #[test]
    fn an_embedding_is_made_of_what_an_asset_says() {
        let asset = json!({
            "type": "Gene", "summary": "Retry  with\nbackoff", "signals_match": ["TimeoutError", 7, "ECONNRESET"],
            "strategy": ["Wait.", "Try again."], "content": "sleep(2)", "validation": ["node test.js"],
        });
        assert_eq!(
            embedded(&asset),
            "Retry with backoff\nTimeoutError, ECONNRESET\nWait. Try again.\nsleep(2)"
        );
        assert_eq!(embedded(&json!({"type": "EvolutionEvent", "summary": 5, "strategy": "x"})), "");
    }

    #[test]
    fn a_capsule_that_names_no_category_has_its_genes() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let gene = object(json!({"type": "Gene", "category": "repair"}));
        let of = |value: Value, asset_type| category(&object(value), asset_type, Some(&gene));
        assert_eq!(of(json!({}), AssetType::Capsule).as_deref(), Some("repair"));
        assert_eq!(of(json!({"category": 7}), AssetType::Capsule).as_deref(), Some("repair"));
        assert_eq!(of(json!({"category": "optimize"}), AssetType::Capsule).as_deref(), Some("optimize"));
        assert_eq!(of(json!({"intent": "explore"}), AssetType::EvolutionEvent).as_deref(), Some("explore"));
        assert_eq!(of(json!({}), AssetType::EvolutionEvent), None);
        assert_eq!(category(&object(json!({})), AssetType::Capsule, None), None);
        let told =
            traits(&object(json!({})), AssetType::Capsule, Some(&gene), ProofLevel::Absent, false, None);
        assert_eq!(told.category.as_deref(), Some("repair"));
    }

    #[test]
    fn a_change_is_never_smaller_than_its_diff_shows() {
        let blast = |value: Value| blast_radius(value.as_object().unwrap());
        let diff = "--- a/x.js\n+++ b/x.js\n@@ -1 +1,2 @@\n-a\n+b\n+c\n--- a/y.js\n+++ b/y.js\n@@ -1 +1 @@\n-d\n+e\n";
        assert_eq!(blast(json!({"diff": diff, "blast_radius": {"files": 1, "lines": 1}})), (2, 5));
        assert_eq!(blast(json!({"diff": diff, "blast_radius": {"files": 3, "lines": 40}})), (3, 40));
        assert_eq!(blast(json!({"diff": "+a\n-b", "blast_radius": {}})), (1, 2));
        assert_eq!(blast(json!({"diff": {"x": 1}, "blast_radius": {"files": 2, "lines": 7}})), (2, 7));
        assert_eq!(blast(json!({})), (0, 0));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let asset = json!({"summary": "重试".repeat(900), "content": "🧬".repeat(900)});
        let text = embedded(&asset);
        assert!(text.encode_utf16().count() <= EMBEDDED_LIMIT && text.starts_with("重试重试"), "{text}");
        assert!(text.ends_with('🧬'), "{text}");
    }
}
