//! Spans in requests of a bounded size.

use super::names::{SCHEMA_URL, SERVICE_NAME};
use serde_json::{Value, json};

/// A request has no more spans.
pub const MAX_SPANS: usize = 512;

/// Collects the spans of one agent and hands them on, as the texts of whole requests.
#[derive(Debug)]
pub struct TraceRequest<'a> {
    tool: &'a str,
    version: &'a str,
    spans: Vec<Value>,
}

impl<'a> TraceRequest<'a> {
    /// Nothing yet. `version` is that of the program.
    pub fn new(tool: &'a str, version: &'a str) -> Self {
        Self { tool, version, spans: Vec::new() }
    }

    /// Adds a span. Gives the text of a request when it is full.
    #[must_use]
    pub fn add(&mut self, span: Value) -> Option<String> {
        self.spans.push(span);
        if self.spans.len() < MAX_SPANS { None } else { self.take_request() }
    }

    /// The text of a request with what is left, if anything is.
    #[must_use]
    pub fn take_request(&mut self) -> Option<String> {
        if self.spans.is_empty() {
            return None;
        }
        let spans = std::mem::take(&mut self.spans);
        let request = json!({"resourceSpans": [{
            "resource": {"attributes": [{"key": SERVICE_NAME, "value": {"stringValue": self.tool}}]},
            "scopeSpans": [{
                "scope": {"name": "capsid", "version": self.version},
                "spans": spans,
                "schemaUrl": SCHEMA_URL,
            }],
            "schemaUrl": SCHEMA_URL,
        }]});
        Some(request.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_has_more_spans_than_the_limit_and_none_is_lost() {
        let mut request = TraceRequest::new("codex", "1");
        let mut texts: Vec<String> =
            (0..2 * MAX_SPANS + 3).filter_map(|at| request.add(json!({"at": at}))).collect();
        texts.extend(request.take_request());
        assert_eq!(request.take_request(), None);
        let counts: Vec<usize> = texts
            .iter()
            .map(|text| {
                let value: Value = serde_json::from_str(text).unwrap();
                value["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().len()
            })
            .collect();
        assert_eq!(counts, [MAX_SPANS, MAX_SPANS, 3]);
    }
}
