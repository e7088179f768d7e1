//! The data of the local viewer.

use capsid_model::{Code, Problem, Result, Value, json};
use std::io::Write;

/// The source of the local viewer's data.
pub trait LocalData: Send + Sync + 'static {
    /// The address of its first page, such as `/explorer`.
    fn first_page(&self) -> &'static str;

    /// A document by its path below `/local/`, such as `trail/index.json`; `None` if there is none. It is called
    /// on a thread that may block.
    fn document(&self, path: &str) -> Result<Option<JsonDocument>>;
}

/// A JSON document, written while it is sent: a chain may be larger than the memory.
pub struct JsonDocument(Box<DocumentWriter>);

type DocumentWriter = dyn FnOnce(&mut dyn Write) -> Result<()> + Send;

impl JsonDocument {
    /// What a function writes.
    pub fn written(write: impl FnOnce(&mut dyn Write) -> Result<()> + Send + 'static) -> Self {
        Self(Box::new(write))
    }

    /// A value that is there already.
    pub fn from_value(value: &Value) -> Self {
        let text = value.to_string();
        Self::written(move |out| out.write_all(text.as_bytes()).map_err(|error| closed_error(&error)))
    }

    pub(super) fn write(self, out: &mut dyn Write) -> Result<()> {
        (self.0)(out)
    }
}

impl std::fmt::Debug for JsonDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Document")
    }
}

/// The problem of a reader that went away.
pub fn closed_error(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::IoError, format!("The answer could not be sent: {error}."))
}

/// The document `about`, which every local viewer has.
pub fn about(has_trail: bool, repository: Option<&str>) -> JsonDocument {
    JsonDocument::from_value(&json!({
        "version": env!("CARGO_PKG_VERSION"), "has_trail": has_trail, "repository": repository,
    }))
}
