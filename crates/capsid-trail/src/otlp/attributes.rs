//! The attributes of a span, in the form of OTLP/JSON.

use serde_json::{Value, json};

/// Attributes that are being collected.
#[derive(Debug, Default)]
pub(super) struct AttributeList(Vec<Value>);

impl AttributeList {
    /// Adds a text, unless it is empty.
    pub fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(json!({"key": name, "value": {"stringValue": value}}));
        }
    }

    /// Adds a number. It is text in this form, since JSON's readers lose digits of large ones.
    pub fn number(&mut self, name: &str, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX).to_string();
        self.0.push(json!({"key": name, "value": {"intValue": value}}));
    }

    /// What was collected.
    pub fn into_value(self) -> Value {
        Value::Array(self.0)
    }
}
