//! The reproduction of a capsule: a small project in which a command fails, and to which the patch applies.

use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// The most bytes of all texts together.
pub const MAX_BYTES: usize = 64 * 1024;
/// The most files.
pub const MAX_FILES: usize = 100;
/// The longest path and the longest command.
const MAX_PATH: usize = 240;
const MAX_COMMAND: usize = 500;

/// One file of a reproduction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReproductionFile {
    /// Its path below the folder.
    pub path: String,
    pub text: String,
}

/// A small project in which a command fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapsuleReproduction {
    pub files: Vec<ReproductionFile>,
    pub command: String,
}

/// Why something is no reproduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReproductionRefusal {
    /// It is not `{files: [{path, text}], command}`.
    Shape,
    /// A path leaves the folder, is hidden in `.git`, or is there twice.
    Path(String),
    TooManyFiles(usize),
    TooLarge(usize),
}

impl fmt::Display for ReproductionRefusal {
    /// What it should be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("an object `{files: [{path, text}], command}` with at least one file"),
            Self::Path(_) => f.write_str("paths inside of the folder, each once"),
            Self::TooManyFiles(_) => write!(f, "at most {MAX_FILES} files"),
            Self::TooLarge(_) => write!(f, "at most {MAX_BYTES} bytes of text"),
        }
    }
}

impl CapsuleReproduction {
    /// Checks what somebody made.
    pub fn new(files: Vec<ReproductionFile>, command: &str) -> Result<Self, ReproductionRefusal> {
        if files.is_empty() || command.trim().is_empty() || command.chars().count() > MAX_COMMAND {
            return Err(ReproductionRefusal::Shape);
        }
        if files.len() > MAX_FILES {
            return Err(ReproductionRefusal::TooManyFiles(files.len()));
        }
        let mut known = HashSet::new();
        if let Some(odd) =
            files.iter().find(|file| !is_inside(&file.path) || !known.insert(file.path.as_str()))
        {
            return Err(ReproductionRefusal::Path(odd.path.clone()));
        }
        let bytes = files.iter().map(|file| file.path.len() + file.text.len()).sum::<usize>() + command.len();
        if bytes > MAX_BYTES {
            return Err(ReproductionRefusal::TooLarge(bytes));
        }
        Ok(Self { files, command: command.to_owned() })
    }

    /// Reads the member of a capsule.
    pub fn parse(value: &Value) -> Result<Self, ReproductionRefusal> {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let files = value.get("files").and_then(Value::as_array).ok_or(ReproductionRefusal::Shape)?;
        if files.len() > MAX_FILES {
            return Err(ReproductionRefusal::TooManyFiles(files.len()));
        }
        let file =
            |file: &Value| Some(ReproductionFile { path: text(file, "path")?, text: text(file, "text")? });
        let files: Option<Vec<ReproductionFile>> = files.iter().map(file).collect();
        let command = text(value, "command").ok_or(ReproductionRefusal::Shape)?;
        Self::new(files.ok_or(ReproductionRefusal::Shape)?, &command)
    }
}

/// Whether a path stays inside of its folder, on every system.
fn is_inside(path: &str) -> bool {
    let is_plain =
        |part: &str| !part.is_empty() && part != "." && part != ".." && !part.eq_ignore_ascii_case(".git");
    path.chars().count() <= MAX_PATH
        && !path.contains(['\\', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(files: &Value) -> Result<CapsuleReproduction, ReproductionRefusal> {
        CapsuleReproduction::parse(&json!({"files": files, "command": "node test.js"}))
    }

    #[test]
    fn a_small_project_is_read() {
        let read =
            parse(&json!([{"path": "src/a.js", "text": "1"}, {"path": "test.js", "text": ""}])).unwrap();
        assert_eq!((read.files.len(), read.command.as_str()), (2, "node test.js"));
        assert_eq!(CapsuleReproduction::parse(&serde_json::to_value(&read).unwrap()), Ok(read));
    }

    #[test]
    fn whatever_else_is_refused() {
        for path in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", ".git/config", "C:\\x", "a\nb", &"x".repeat(241)]
        {
            let refused = parse(&json!([{"path": path, "text": ""}]));
            assert_eq!(refused, Err(ReproductionRefusal::Path(path.to_owned())), "{path:?}");
        }
        let twice = json!([{"path": "a", "text": ""}, {"path": "a", "text": ""}]);
        assert!(matches!(parse(&twice), Err(ReproductionRefusal::Path(_))));
        for shape in [json!([]), json!({}), json!([7]), json!([{"path": "a"}]), json!(null)] {
            assert_eq!(parse(&shape), Err(ReproductionRefusal::Shape), "{shape}");
        }
        let many: Vec<Value> = (0..101).map(|n| json!({"path": n.to_string(), "text": ""})).collect();
        assert_eq!(parse(&json!(many)), Err(ReproductionRefusal::TooManyFiles(101)));
        let large = parse(&json!([{"path": "a", "text": "x".repeat(MAX_BYTES)}]));
        assert!(matches!(large, Err(ReproductionRefusal::TooLarge(bytes)) if bytes > MAX_BYTES));
        let mute = json!({"files": [{"path": "a", "text": ""}], "command": " "});
        assert_eq!(CapsuleReproduction::parse(&mute), Err(ReproductionRefusal::Shape));
    }
}
