//! The data of the local viewer.

use super::range::{ByteRange, RangeWriter};
use capsid_model::{Code, Problem, Result, Value, json};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// The source of the local viewer's data.
pub trait LocalData: Send + Sync + 'static {
    /// The address of its first page, such as `/explorer`.
    fn first_page(&self) -> &'static str;

    /// A document by its path below `/local/`, such as `trail/index.json`; `None` if there is none. It is called
    /// on a thread that may block.
    fn document(&self, path: &str) -> Result<Option<JsonDocument>>;
}

/// A JSON document, written while it is sent: a chain may be larger than the memory.
pub struct JsonDocument(DocumentSource);

enum DocumentSource {
    Written(Box<DocumentWriter>),
    /// A file and its length.
    File(File, u64),
}

type DocumentWriter = dyn FnOnce(&mut dyn Write) -> Result<()> + Send;

impl JsonDocument {
    /// What a function writes.
    pub fn written(write: impl FnOnce(&mut dyn Write) -> Result<()> + Send + 'static) -> Self {
        Self(DocumentSource::Written(Box::new(write)))
    }

    /// A file as it is stored. A part of it is read without what is in front.
    pub fn from_file(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self(DocumentSource::File(file, length)))
    }

    /// A value that is there already.
    pub fn from_value(value: &Value) -> Self {
        let text = value.to_string();
        Self::written(move |out| out.write_all(text.as_bytes()).map_err(|error| closed_error(&error)))
    }

    /// How long it is, where that is known before it is written.
    pub(super) fn length(&self) -> Option<u64> {
        match self.0 {
            DocumentSource::File(_, length) => Some(length),
            DocumentSource::Written(_) => None,
        }
    }

    pub(super) fn write(self, range: Option<ByteRange>, out: &mut dyn Write) -> Result<()> {
        match (self.0, range) {
            (DocumentSource::Written(write), None) => write(out),
            (DocumentSource::Written(write), Some(range)) => {
                let mut part = RangeWriter::new(range, out);
                let written = write(&mut part);
                // What follows the part is not written at all.
                if part.is_complete() { Ok(()) } else { written }
            }
            (DocumentSource::File(mut file, _), range) => {
                let (first, length) = range.map_or((0, u64::MAX), |range| (range.first, range.length()));
                let copied = file.seek(SeekFrom::Start(first));
                let copied = copied.and_then(|_| std::io::copy(&mut file.take(length), out));
                copied.map(drop).map_err(|error| closed_error(&error))
            }
        }
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
