//! A Gene: a reusable strategy, chosen by the signals it names.

use crate::{Object, Value};

/// What the engine needs of a Gene. The document itself stays in the store, with every field it held.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gene {
    /// Its name in the store.
    pub id: String,
    /// `repair`, `optimize`, `innovate` or `explore`.
    pub category: String,
    /// Patterns of signals that it handles.
    pub signals_match: Vec<String>,
    /// What should hold before it is used; told to the agent, never evaluated.
    pub preconditions: Vec<String>,
    /// What to do, step by step.
    pub strategy: Vec<String>,
    /// The most files it may change, if it says.
    pub max_files: Option<u64>,
    /// Paths it may not change.
    pub forbidden_paths: Vec<String>,
    /// Commands that must pass.
    pub validation: Vec<String>,
    /// One line about it.
    pub summary: String,
    /// How it did in which environment.
    pub marks: Vec<EpigeneticMark>,
    /// The id of its content as stored.
    pub asset_id: Option<String>,
}

/// An epigenetic mark: success or failure in one environment, as a small boost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EpigeneticMark {
    /// The environment, as `linux/x64/rust-1.95`.
    pub context: String,
    /// From -0.5 to 0.5.
    pub boost: f64,
}

impl Gene {
    /// Reads a document, permissively: a field of the wrong shape reads as absent.
    pub fn read(document: &Object) -> Self {
        let constraints = document.get("constraints");
        let part = |name: &str| constraints.and_then(|c| c.get(name));
        Self {
            id: text(document.get("id")),
            category: text(document.get("category")),
            signals_match: texts(document.get("signals_match")),
            preconditions: texts(document.get("preconditions")),
            strategy: texts(document.get("strategy")),
            max_files: part("max_files").and_then(Value::as_u64).filter(|max| *max > 0),
            forbidden_paths: texts(part("forbidden_paths")),
            validation: texts(document.get("validation")),
            summary: text(document.get("summary")),
            marks: marks(document.get("epigenetic_marks")),
            asset_id: document.get("asset_id").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// Whether a document says that it is a Gene.
    pub fn is_gene(document: &Object) -> bool {
        document.get("type").and_then(Value::as_str) == Some("Gene")
    }
}

fn marks(value: Option<&Value>) -> Vec<EpigeneticMark> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(Value::as_object)
        .map(|mark| EpigeneticMark {
            context: text(mark.get("context")),
            boost: mark.get("boost").and_then(Value::as_f64).unwrap_or_default(),
        })
        .collect()
}

/// A text member, or nothing.
pub(crate) fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The texts of a list member; anything else in it is passed over.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
