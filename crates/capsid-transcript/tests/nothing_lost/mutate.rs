//! Changes samples at random.

use capsid_model::{Value, json};

/// Stands for `NaN`, which a JSON value cannot hold.
const NAN: &str = "@@NaN@@";

pub struct Mutator {
    random: fastrand::Rng,
    changes: usize,
}

/// An entry of a transcript: a document, or the text of one that cannot be read.
#[derive(Debug, Clone)]
pub enum Entry {
    Whole(Value),
    Cut(String),
}

impl Entry {
    /// The entry as it stands in the file.
    pub fn text(&self) -> String {
        match self {
            Self::Whole(document) => document.to_string().replace(&format!("\"{NAN}\""), "NaN"),
            Self::Cut(text) => text.clone(),
        }
    }
}

impl Mutator {
    pub fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let changes = random.usize(1..8);
        Self { random, changes }
    }

    /// One that changes nothing.
    pub fn still() -> Self {
        Self { random: fastrand::Rng::with_seed(0), changes: 0 }
    }

    /// Changes some entries; `cut` makes one that cannot be read.
    pub fn change(&mut self, documents: Vec<Value>, cut: &dyn Fn(&str, usize) -> String) -> Vec<Entry> {
        let mut entries: Vec<Entry> = documents.into_iter().map(Entry::Whole).collect();
        for _ in 0..self.changes {
            let at = self.random.usize(..entries.len());
            match self.random.u8(..8) {
                0 => {
                    let other = self.random.usize(..entries.len());
                    entries.swap(at, other);
                }
                1 => {
                    let text = entries[at].text();
                    let end = text.floor_char_boundary(self.random.usize(1..text.len()));
                    entries[at] = Entry::Cut(cut(&text, end));
                }
                kind => {
                    if let Entry::Whole(document) = &mut entries[at] {
                        self.within(document, kind);
                    }
                }
            }
        }
        entries
    }

    /// Changes a value somewhere in the document.
    fn within(&mut self, value: &mut Value, kind: u8) {
        let goes_deeper = self.random.u8(..4) > 0;
        match value {
            Value::Object(members) if !members.is_empty() => {
                let at = self.random.usize(..members.len());
                let name = members.keys().nth(at).cloned().unwrap_or_default();
                match kind {
                    2 | 3 if !goes_deeper => drop(members.remove(&name)),
                    4 if !goes_deeper => {
                        let words = format!("a member that nobody expects {}", self.random.u32(..));
                        members.insert("novelty".to_owned(), json!({"deep": [words]}));
                    }
                    _ => self.within(&mut members[&name], kind),
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let at = self.random.usize(..items.len());
                self.within(&mut items[at], kind);
            }
            leaf => *leaf = self.changed(leaf),
        }
    }

    fn changed(&mut self, leaf: &Value) -> Value {
        let text = leaf.as_str().unwrap_or_default().to_owned();
        match self.random.u8(..7) {
            0 => json!(text.to_uppercase()),
            1 => json!(text.chars().rev().collect::<String>()),
            2 => json!([leaf]),
            3 => json!({"value": leaf}),
            4 => Value::Null,
            5 => json!(NAN),
            _ => json!(self.random.i32(..)),
        }
    }
}
