//! Checks of single fields: how long a text may be and what may stand in it.

use crate::error::{ApiError, ApiResult, FieldError, HubCode, truncate_for_client};
use crate::http::envelope::check_node_id;
use capsid_model::text::is_invisible;
use capsid_model::time::Time;

pub use capsid_rules::assets::traits::CATEGORIES;

/// A text that people or agents read. It is kept as it is; only its length is bounded.
pub fn text(value: &str, path: &str, most: usize) -> ApiResult<()> {
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
pub fn name(value: &str, path: &str, most: usize) -> ApiResult<()> {
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
pub fn text_or(value: Option<&str>, path: &str, most: usize) -> ApiResult<()> {
    value.map_or(Ok(()), |value| text(value, path, most))
}

/// A name that may be missing.
pub fn name_or(value: Option<&str>, path: &str, most: usize) -> ApiResult<()> {
    value.map_or(Ok(()), |value| name(value, path, most))
}

/// One of some words, where there is one.
pub fn word_or(value: Option<&str>, path: &str, words: &[&str]) -> ApiResult<()> {
    match value {
        Some(value) if !words.contains(&value) => {
            Err(ApiError::field(path, format!("one of {}", words.join(", ")), "another word"))
        }
        _ => Ok(()),
    }
}

/// A moment in milliseconds, where there is one: a day in UTC, an ISO 8601 time, or milliseconds since 1970.
pub fn moment(value: Option<&str>, path: &str) -> ApiResult<Option<i64>> {
    let Some(text) = value.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let time = || {
        let is_day = text.chars().count() == 10;
        let whole = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
        Time::parse(&whole).map(|time| time.0)
    };
    let expected =
        "a day such as 2026-01-15, a time such as 2026-01-15T08:30:00Z, or milliseconds since 1970";
    let read = text.parse().ok().or_else(time);
    read.map(Some).ok_or_else(|| ApiError::field(path, expected, "another text"))
}

/// The refusal of a member that means nothing where it stands.
pub fn unknown_member(path: &str, known: &[&str]) -> ApiError {
    let (path, known) = (truncate_for_client(path), known.join(", "));
    let message = format!("`{path}` is not known here; leave it out. Known are {known}.");
    let fix = format!("Leave out `{path}`, or write one of {known} in its place.");
    let mut error = ApiError::new(HubCode::ValidationError, message.clone(), fix);
    let (expected, received) = (format!("one of {known}"), "another name".to_owned());
    error.details.push(FieldError { path, expected, received, message });
    error
}

/// A list of texts.
pub fn list(values: &[String], path: &str, most: usize, each: usize) -> ApiResult<()> {
    if values.len() > most {
        let received = format!("{} entries", values.len());
        return Err(ApiError::field(path, format!("a list of at most {most} entries"), received));
    }
    values.iter().enumerate().try_for_each(|(n, value)| text(value, &format!("{path}[{n}]"), each))
}

/// A number within bounds.
pub fn number(value: f64, path: &str, least: f64, most: f64) -> ApiResult<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ApiError::field(path, format!("a number from {least} to {most}"), value.to_string()))
}

/// The node that a request speaks of: `sender_id` or `node_id`, or both when they are the same.
pub fn node(sender_id: Option<&str>, node_id: Option<&str>) -> ApiResult<String> {
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
    fn a_moment_is_a_day_a_time_or_milliseconds() {
        let read = |text: &str| moment(Some(text), "since").unwrap();
        for same in ["2026-01-01", " 2026-01-01T00:00:00Z ", "2026-01-01T01:00:00+01:00", "1767225600000"] {
            assert_eq!(read(same), Some(1_767_225_600_000), "{same}");
        }
        assert_eq!((read(" "), moment(None, "since").unwrap()), (None, None));
        for bad in ["yesterday", "2026-13-01", "ééééé", "éééééééééé", "99999999999999999999", "1.5"]
        {
            assert!(moment(Some(bad), "since").is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_member_is_named_with_those_that_there_are() {
        let error = unknown_member("filters.kind", &["types", "since"]);
        assert_eq!(error.problem, "`filters.kind` is not known here; leave it out. Known are types, since.");
        assert_eq!(error.details[0].path, "filters.kind");
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
