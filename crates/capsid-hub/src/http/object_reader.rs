//! Reading the members of an object: lenient about what is absent, strict about what is there.

use crate::error::{ApiError, ApiResult};
use capsid_model::Value;
use serde_json::Map;

/// An object and where it stands in the request.
#[derive(Debug, Clone, Copy)]
pub struct ObjectReader<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
    inner: Option<&'a str>,
}

impl<'a> ObjectReader<'a> {
    /// The members of the object at a path.
    pub fn new(object: &'a Map<String, Value>, path: &'a str) -> Self {
        Self { object, path, inner: None }
    }

    fn path(&self, key: &str) -> String {
        match self.inner {
            Some(inner) => format!("{}.{inner}.{key}", self.path),
            None if self.path.is_empty() => key.to_owned(),
            None => format!("{}.{key}", self.path),
        }
    }

    fn wrong(&self, key: &str, expected: impl Into<String>) -> ApiError {
        let received = self.object.get(key).map_or("missing", kind_of);
        ApiError::field(self.path(key), expected, received)
    }

    fn present(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text of so many characters, if it is there.
    pub fn text(&self, key: &str, least: usize, most: usize) -> ApiResult<Option<&'a str>> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.wrong(key, "a string"))?;
        let size = text.chars().count();
        if (least..=most).contains(&size) {
            return Ok(Some(text));
        }
        Err(ApiError::field(
            self.path(key),
            format!("a string of {least} to {most} characters"),
            format!("{size} characters"),
        ))
    }

    /// A text of so many characters.
    pub fn required_text(&self, key: &str, least: usize, most: usize) -> ApiResult<&'a str> {
        self.text(key, least, most)?.ok_or_else(|| self.wrong(key, "a string"))
    }

    /// One of a few words.
    pub fn required_word(&self, key: &str, words: &[&str]) -> ApiResult<&'a str> {
        let expected = || format!("one of `{}`", words.join("`, `"));
        let word = self.present(key).and_then(Value::as_str).ok_or_else(|| self.wrong(key, expected()))?;
        match words.contains(&word) {
            true => Ok(word),
            false => Err(ApiError::field(self.path(key), expected(), "another word")),
        }
    }

    /// A number in a range, if it is there.
    pub fn number(&self, key: &str, least: f64, most: f64) -> ApiResult<Option<f64>> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let number = value.as_f64().ok_or_else(|| self.wrong(key, "a number"))?;
        match (least..=most).contains(&number) {
            true => Ok(Some(number)),
            false => Err(ApiError::field(
                self.path(key),
                format!("a number from {least} to {most}"),
                number.to_string(),
            )),
        }
    }

    /// A number in a range.
    pub fn required_number(&self, key: &str, least: f64, most: f64) -> ApiResult<f64> {
        self.number(key, least, most)?.ok_or_else(|| self.wrong(key, "a number"))
    }

    /// The members of an object inside this one.
    pub fn required_object(&self, key: &'a str) -> ApiResult<ObjectReader<'a>> {
        let object =
            self.present(key).and_then(Value::as_object).ok_or_else(|| self.wrong(key, "an object"))?;
        Ok(ObjectReader { object, path: self.path, inner: Some(key) })
    }

    /// A list of texts; empty when it is not there.
    pub fn texts(&self, key: &str, most: usize, longest: usize) -> ApiResult<Vec<&'a str>> {
        let Some(value) = self.present(key) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| self.wrong(key, "an array of strings"))?;
        if items.len() > most {
            return Err(ApiError::field(
                self.path(key),
                format!("at most {most} items"),
                format!("{} items", items.len()),
            ));
        }
        items
            .iter()
            .enumerate()
            .map(|(at, item)| {
                let path = || format!("{}[{at}]", self.path(key));
                let text = item.as_str().ok_or_else(|| ApiError::field(path(), "a string", kind_of(item)))?;
                match text.chars().count() <= longest {
                    true => Ok(text),
                    false => Err(ApiError::field(path(), format!("at most {longest} characters"), "more")),
                }
            })
            .collect()
    }

    /// A list of at least one signal, each of at least three characters.
    pub fn signals(&self, key: &str, most: usize) -> ApiResult<Vec<&'a str>> {
        let signals = self.texts(key, most, usize::MAX)?;
        if signals.is_empty() {
            return Err(ApiError::field(self.path(key), "an array of at least one signal", "nothing"));
        }
        for (at, signal) in signals.iter().enumerate() {
            if signal.chars().count() < 3 {
                return Err(ApiError::field(
                    format!("{}[{at}]", self.path(key)),
                    "a signal of at least 3 characters",
                    "fewer",
                ));
            }
        }
        Ok(signals)
    }
}

/// What a value is, in a word.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
