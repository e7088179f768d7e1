//! Checks of single fields: how long a text may be and what may stand in it.

use crate::envelope::check_node_id;
use crate::error::{ApiError, Result};
use capsid_model::text::is_invisible;

/// A text that people or agents read. It is kept as it is; only its length is bounded.
pub fn text(value: &str, path: &str, most: usize) -> Result<()> {
    let size = value.chars().count();
    if size > most {
        return Err(ApiError::field(
            path,
            format!("a text of at most {most} characters"),
            format!("{size} characters"),
        ));
    }
    Ok(())
}

/// A text that names something: one line, not empty, without control or invisible characters.
pub fn name(value: &str, path: &str, most: usize) -> Result<()> {
    text(value, path, most)?;
    if value.trim().is_empty() {
        return Err(ApiError::field(path, "a name", "empty"));
    }
    if value.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err(ApiError::field(path, "a name without control or invisible characters", "one with them"));
    }
    Ok(())
}

/// A text that may be missing.
pub fn text_or(value: Option<&str>, path: &str, most: usize) -> Result<()> {
    value.map_or(Ok(()), |value| text(value, path, most))
}

/// A name that may be missing.
pub fn name_or(value: Option<&str>, path: &str, most: usize) -> Result<()> {
    value.map_or(Ok(()), |value| name(value, path, most))
}

/// One of some words, where there is one.
pub fn word_or(value: Option<&str>, path: &str, words: &[&str]) -> Result<()> {
    match value {
        Some(value) if !words.contains(&value) => {
            Err(ApiError::field(path, format!("one of {}", words.join(", ")), "another word"))
        }
        _ => Ok(()),
    }
}

/// A list of texts.
pub fn list(values: &[String], path: &str, most: usize, each: usize) -> Result<()> {
    if values.len() > most {
        let received = format!("{} entries", values.len());
        return Err(ApiError::field(path, format!("a list of at most {most} entries"), received));
    }
    values.iter().enumerate().try_for_each(|(n, value)| text(value, &format!("{path}[{n}]"), each))
}

/// A number within bounds.
pub fn number(value: f64, path: &str, least: f64, most: f64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ApiError::field(path, format!("a number from {least} to {most}"), value.to_string()))
}

/// The node that a request speaks of: `sender_id` or `node_id`, or both when they are the same.
pub fn node(sender_id: Option<&str>, node_id: Option<&str>) -> Result<String> {
    let (id, path) = match (sender_id, node_id) {
        (Some(sender), Some(node)) if sender != node => {
            return Err(ApiError::field("node_id", "the same as `sender_id`", "another node's"));
        }
        (Some(id), _) => (id, "sender_id"),
        (None, Some(id)) => (id, "node_id"),
        (None, None) => return Err(ApiError::field("sender_id", "a node id", "missing")),
    };
    check_node_id(id, path)?;
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_plain_line() {
        assert!(name("Retry with back-off", "title", 30).is_ok());
        for bad in ["", "  ", "two\nlines", "bell\u{7}", "turned\u{202e}round", &"x".repeat(31)] {
            assert!(name(bad, "title", 30).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_text_is_kept_as_it_is() {
        assert!(text("two\nlines \u{202e} \u{1b}[0m", "summary", 30).is_ok());
        assert!(text("ééé", "summary", 2).is_err());
    }

    #[test]
    fn a_request_speaks_of_one_node() {
        assert_eq!(node(Some("node_1"), None).unwrap(), "node_1");
        assert_eq!(node(None, Some("node_1")).unwrap(), "node_1");
        assert!(node(Some("node_1"), Some("node_2")).is_err());
        assert!(node(None, None).is_err());
        assert!(node(Some("../etc"), None).is_err());
    }
}
