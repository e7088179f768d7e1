//! The owner's problem matchers: `[problems] matchers`.

use capsid_model::{Code, Problem, Result};
use capsid_rules::diagnosis::Matcher;
use std::path::{Path, PathBuf};

/// The most that is read of a file with matchers.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads the files with matchers; a path is relative to the root of the repository.
pub fn load_matchers(root: &Path, paths: &[PathBuf]) -> Result<Vec<Matcher>> {
    let mut matchers = Vec::new();
    for path in paths {
        let refuse = |reason: String| {
            Problem::new(
                Code::ConfigInvalid,
                format!("The problem matchers in `{}` cannot be used: {reason}.", path.display()),
            )
            .fix("Correct the file, or remove it from `[problems] matchers` in capsid.toml.")
        };
        let file = root.join(path);
        let size = std::fs::metadata(&file).map_err(|error| refuse(error.to_string()))?.len();
        if size > MAX_BYTES {
            return Err(refuse("the file is larger than 1 MiB".to_owned()));
        }
        let json = std::fs::read_to_string(&file).map_err(|error| refuse(error.to_string()))?;
        matchers.extend(Matcher::parse(&json).map_err(|error| refuse(error.to_string()))?);
    }
    Ok(matchers)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_matcher_is_named_with_its_reason() {
        let root = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(root.path().join("m.json"), text).unwrap();
            load_matchers(root.path(), &["m.json".into()])
        };
        let good = r#"{"owner": "x", "pattern": {"regexp": "^X (.+)$", "message": 1}}"#;
        assert_eq!(load(good).unwrap().len(), 1);
        let bad = load(r#"{"owner": "x", "pattern": {"regexp": "(?<=a)b", "message": 0}}"#).unwrap_err();
        assert_eq!(bad.code, Code::ConfigInvalid);
        assert!(bad.message.contains("m.json") && bad.message.contains("`x`"), "{}", bad.message);
        let absent = load_matchers(root.path(), &["absent.json".into()]);
        assert_eq!(absent.unwrap_err().code, Code::ConfigInvalid);
    }
}
