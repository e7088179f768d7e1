//! What an ingest tells: every item is checked before any is kept, and what is refused is named with what would do.

mod properties;
mod refusal;

use super::names::{are_confusable, is_unseen, key_of, look_alike_key, mixes_scripts};
use super::{EntityKey, kind};
use capsid_model::text::collapse;
use properties::has_markup;
pub use properties::{MAX_PROPERTY_TEXT, property_text};
pub use refusal::{IngestRefusal, confusable};
use refusal::{is_empty_text, markup, truncate, wrong_type};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most items of a call, things and relations together.
pub const MAX_ITEMS: usize = 1000;
/// The longest name, in characters.
pub const MAX_NAME: usize = 160;
/// The longest type, in characters.
pub const MAX_TYPE: usize = 48;
/// The most bytes of an item's properties.
pub const MAX_PROPERTIES: usize = 4096;
/// How deep properties may be nested.
pub const MAX_DEPTH: usize = 4;
/// How sure somebody is who does not say so.
pub const DEFAULT_CONFIDENCE: f64 = 0.8;
/// How many refusals are told.
pub const MAX_REFUSALS: usize = 20;

/// A thing that is told of.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestEntity {
    /// What it is, by kind and key.
    pub thing: EntityKey,
    /// Its name as it was told.
    pub name: String,
    /// What is told of it, as a JSON object.
    pub properties: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
}

/// One end of a relation: a thing of this call or of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationEnd {
    /// Its name as it was told.
    pub name: String,
    /// What it is, where that was told.
    pub kind: Option<String>,
}

impl RelationEnd {
    /// Whether it means a thing.
    pub fn means(&self, thing: &EntityKey) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == thing.kind)
            && key_of(&thing.kind, &self.name) == thing.key
    }
}

/// A relation that is told of.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestRelation {
    pub source: RelationEnd,
    pub kind: String,
    pub target: RelationEnd,
    /// What is told of it, as a JSON object.
    pub properties: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
}

/// What an ingest tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IngestBatch {
    pub entities: Vec<IngestEntity>,
    pub relations: Vec<IngestRelation>,
}

/// Reads what an ingest tells: `entities` and `relations` of a JSON object. Whatever is refused, all of it is.
pub fn read(body: &Map<String, Value>) -> Result<IngestBatch, Vec<IngestRefusal>> {
    let mut reader = IngestReader::default();
    let entities = reader.list(body, "entities");
    let relations = reader.list(body, "relations");
    let items = entities.len() + relations.len();
    if items > MAX_ITEMS {
        return Err(vec![IngestRefusal::new(
            "too_many_items",
            "entities",
            format!("There are {items} things and relations."),
            format!("Send at most {MAX_ITEMS} of both together in one call."),
        )]);
    }
    if items == 0 && reader.refusals.is_empty() {
        return Err(vec![IngestRefusal::new(
            "nothing_told",
            "entities",
            "There are neither things nor relations.",
            "Send `entities`, `relations` or both, each a list of objects.",
        )]);
    }
    let mut told = IngestBatch::default();
    for (at, item) in entities.iter().enumerate() {
        if let Some(entity) = reader.entity(item, &format!("entities[{at}]")) {
            reader.add(&mut told, entity, at);
        }
    }
    for (at, item) in relations.iter().enumerate() {
        told.relations.extend(reader.relation(item, &format!("relations[{at}]")));
    }
    if reader.refusals.is_empty() { Ok(told) } else { Err(reader.refusals) }
}

#[derive(Default)]
struct IngestReader {
    refusals: Vec<IngestRefusal>,
    /// The places of things by their kind and how their names look.
    known: HashMap<(String, i64), Vec<usize>>,
}

impl IngestReader {
    fn refuse(&mut self, refusal: IngestRefusal) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(refusal);
        }
    }

    fn list<'b>(&mut self, body: &'b Map<String, Value>, key: &str) -> &'b [Value] {
        match body.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.refuse(wrong_type(key, "a list of objects"));
                &[]
            }
        }
    }

    /// Adds a thing. Told twice alike it counts once; told twice differently it is refused.
    fn add(&mut self, told: &mut IngestBatch, entity: IngestEntity, at: usize) {
        let field = format!("entities[{at}].name");
        let alike =
            self.known.entry((entity.thing.kind.clone(), look_alike_key(&entity.thing.key))).or_default();
        let others: Vec<&IngestEntity> = alike.iter().filter_map(|at| told.entities.get(*at)).collect();
        let refusal = if let Some(same) = others.iter().find(|other| other.thing == entity.thing) {
            if **same == entity {
                return;
            }
            IngestRefusal::new(
                "duplicate_name",
                field,
                format!("`{}` is told twice in this call, with different content.", truncate(&entity.name)),
                "Tell of each thing once; names are compared without case and spacing.",
            )
        } else if let Some(other) =
            others.iter().find(|other| are_confusable(&other.thing.key, &entity.thing.key))
        {
            confusable(&field, &entity.name, &other.name, &entity.thing.kind)
        } else {
            alike.push(told.entities.len());
            return told.entities.push(entity);
        };
        self.refuse(refusal);
    }

    fn entity(&mut self, item: &Value, field: &str) -> Option<IngestEntity> {
        let object = self.object(item, field)?;
        let kind = self.word(object, "entity_type", field);
        let name = self.name(object, "name", kind.as_deref(), field);
        let properties = self.properties(object, field)?;
        let confidence = self.confidence(object, field)?;
        let (kind, name) = (kind?, name?);
        let key = key_of(&kind, &name);
        if key.is_empty() {
            self.refuse(is_empty_text(&format!("{field}.name"), &name));
            return None;
        }
        Some(IngestEntity { thing: EntityKey { kind, key }, name, properties, confidence })
    }

    fn relation(&mut self, item: &Value, field: &str) -> Option<IngestRelation> {
        let object = self.object(item, field)?;
        let kind = self.word(object, "type", field);
        let source = self.end(object, "source_name", "source_type", field);
        let target = self.end(object, "target_name", "target_type", field);
        let properties = self.properties(object, field)?;
        let confidence = self.confidence(object, field)?;
        Some(IngestRelation { source: source?, kind: kind?, target: target?, properties, confidence })
    }

    fn end(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        kind: &str,
        field: &str,
    ) -> Option<RelationEnd> {
        let kind = match object.get(kind) {
            None | Some(Value::Null) => None,
            Some(_) => Some(self.word(object, kind, field)?),
        };
        let name = self.name(object, name, kind.as_deref(), field)?;
        Some(RelationEnd { name, kind })
    }

    fn object<'v>(&mut self, item: &'v Value, field: &str) -> Option<&'v Map<String, Value>> {
        if item.as_object().is_none() {
            self.refuse(wrong_type(field, "an object"));
        }
        item.as_object()
    }

    fn text<'v>(&mut self, object: &'v Map<String, Value>, key: &str, field: &str) -> Option<&'v str> {
        let text = object.get(key).and_then(Value::as_str);
        if text.is_none() {
            self.refuse(wrong_type(&format!("{field}.{key}"), "a text"));
        }
        text
    }

    /// A type: `Concept` and `RELATED TO` become `concept` and `related_to`.
    fn word(&mut self, object: &Map<String, Value>, key: &str, field: &str) -> Option<String> {
        let text = self.text(object, key, field)?;
        let word = snake(text);
        let first = word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
        let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if first && plain && word.len() <= MAX_TYPE {
            return Some(word);
        }
        self.refuse(IngestRefusal::new(
            "invalid_type",
            format!("{field}.{key}"),
            format!("`{}` is no type.", truncate(text)),
            format!("Use a word such as `library` or `depends_on`: a-z, digits and _, at most {MAX_TYPE}."),
        ));
        None
    }

    /// A name that can be shown to anybody without harm.
    fn name(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        kind: Option<&str>,
        field: &str,
    ) -> Option<String> {
        let text = self.text(object, key, field)?;
        let field = format!("{field}.{key}");
        if let Some(bad) = text.chars().find(|c| is_unseen(*c)) {
            self.refuse(IngestRefusal::new(
                "invalid_character",
                field,
                format!("It holds the character U+{:04X}, which is not seen.", u32::from(bad)),
                "Leave out control characters, marks of direction and what has no width.",
            ));
            return None;
        }
        let name = collapse(text);
        let plain =
            ["<path>", "<hex>", "<n>"].iter().fold(name.clone(), |text, mark| text.replace(mark, " "));
        let refusal = if name.is_empty() {
            is_empty_text(&field, &name)
        } else if name.chars().count() > MAX_NAME {
            IngestRefusal::new(
                "name_too_long",
                field,
                format!("The name has {} characters.", name.chars().count()),
                format!("Use at most {MAX_NAME}, and put the rest into `properties`."),
            )
        } else if has_markup(&plain) {
            markup(field)
        } else if !kind.is_some_and(kind::is_known_by_id) && mixes_scripts(&name) {
            IngestRefusal::new(
                "mixed_scripts",
                field,
                format!("A word of `{}` mixes letters of several scripts that look alike.", truncate(&name)),
                "Write each word in one script.",
            )
        } else {
            return Some(name);
        };
        self.refuse(refusal);
        None
    }

    /// Nothing where they are refused.
    fn properties(&mut self, object: &Map<String, Value>, field: &str) -> Option<Option<String>> {
        let field = format!("{field}.properties");
        let properties = match object.get("properties") {
            None | Some(Value::Null) => return Some(None),
            Some(Value::Object(properties)) if properties.is_empty() => return Some(None),
            Some(value @ Value::Object(_)) => value,
            Some(_) => {
                self.refuse(wrong_type(&field, "an object"));
                return None;
            }
        };
        match properties::text_of(properties, &field) {
            Ok(text) => Some(Some(text)),
            Err(refusal) => {
                self.refuse(refusal);
                None
            }
        }
    }

    /// Nothing where it is refused.
    fn confidence(&mut self, object: &Map<String, Value>, field: &str) -> Option<f64> {
        match object.get("confidence") {
            None | Some(Value::Null) => return Some(DEFAULT_CONFIDENCE),
            Some(value) => {
                if let Some(number) = value.as_f64().filter(|number| (0.0..=1.0).contains(number)) {
                    return Some((number * 1000.0).round() / 1000.0);
                }
            }
        }
        self.refuse(wrong_type(&format!("{field}.confidence"), "a number from 0 to 1"));
        None
    }
}

/// A type with its words apart by `_`, in lower case.
fn snake(text: &str) -> String {
    let text = collapse(text);
    let mut word = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            word.push('_');
        }
        word.push(if c == ' ' || c == '-' { '_' } else { c.to_ascii_lowercase() });
        before = c;
    }
    word
}

#[cfg(test)]
mod tests;
