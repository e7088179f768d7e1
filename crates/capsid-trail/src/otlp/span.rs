//! From a record to a span.

use super::attributes::AttributeList;
use super::content::add_content;
use super::ids::{TraceIds, span_id};
use super::names;
use super::time::{call_of, duration_of, start_of};
use capsid_model::exact::{ExactJson, parse};
use capsid_seal::StoredRecord;
use capsid_seal::verify::SignerRun;
use serde_json::{Value, json};

/// The kind of every span: nothing is sent from one process to another.
const INTERNAL: u8 = 1;
const STATUS_OK: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// A chain that was verified.
#[derive(Debug, Clone, Copy)]
pub struct TracedChain<'a> {
    pub tool: &'a str,
    pub session: &'a str,
    /// The hash of the last record.
    pub head: &'a str,
    /// The level of the verdict on it.
    pub level: &'a str,
    /// Who signed, as verification found out.
    pub runs: &'a [SignerRun],
    /// Whether prompts, arguments and results go along.
    pub content: bool,
}

/// Makes the spans of a chain, record by record.
#[derive(Debug)]
pub struct ChainTrace<'a> {
    chain: TracedChain<'a>,
    ids: TraceIds,
    position: u64,
    /// From when to when, as far as is known yet.
    extent: Option<(u64, u64)>,
    /// When the last record ended, for one that says nothing about its time.
    last: u64,
}

impl<'a> ChainTrace<'a> {
    /// The trace of a chain.
    pub fn new(chain: TracedChain<'a>) -> Self {
        let ids = TraceIds::derive(chain.tool, chain.session);
        Self { chain, ids, position: 0, extent: None, last: 0 }
    }

    /// The span of the next record.
    pub fn record(&mut self, stored: &StoredRecord) -> Value {
        // A text that is no record has no fields; its hash and its place are all there is to say.
        let content = parse(&stored.canonical).unwrap_or_default();
        let start = start_of(&content, stored.seal.signed_at.as_deref()).unwrap_or(self.last);
        let end = start.saturating_add(duration_of(&content));
        self.last = end;
        let (first, last) = self.extent.unwrap_or((start, end));
        self.extent = Some((first.min(start), last.max(end)));
        let position = self.position;
        self.position += 1;

        let kind = kind_of(&content);
        let mut attributes = AttributeList::default();
        let name = self.describe(&content, kind, &mut attributes);
        attributes.text(names::RECORD_HASH, &stored.seal.hash);
        attributes.number(names::SEQUENCE, position);
        attributes.text(names::SIGNED_BY, &stored.seal.signed_by);
        attributes.text(names::SIGNER_TRUST, self.trust_at(position));
        let outcome = text_at(&content, &["outcome", "status"]);
        attributes.text(names::OUTCOME, outcome);
        let status = status_of(outcome, &mut attributes);
        if self.chain.content {
            add_content(&content, kind, &mut attributes);
        }
        let mut span = self.span(&span_id(&stored.seal.hash), &name, (start, end), attributes);
        span["parentSpanId"] = json!(self.ids.root);
        span["status"] = status;
        span
    }

    /// The span of the whole conversation, once every record was seen.
    pub fn root(self) -> Value {
        let mut attributes = AttributeList::default();
        attributes.text(names::OPERATION, "invoke_agent");
        attributes.text(names::AGENT, self.chain.tool);
        let extent = self.extent.unwrap_or_default();
        let name = format!("invoke_agent {}", self.chain.tool);
        self.span(&self.ids.root, &name, extent, attributes)
    }

    fn span(&self, id: &str, name: &str, (start, end): (u64, u64), mut attributes: AttributeList) -> Value {
        attributes.text(names::CONVERSATION, self.chain.session);
        attributes.text(names::HEAD, self.chain.head);
        attributes.text(names::LEVEL, self.chain.level);
        json!({
            "traceId": self.ids.trace,
            "spanId": id,
            "name": name,
            "kind": INTERNAL,
            "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": attributes.into_value(),
        })
    }

    /// Adds what the conventions say about a record, and gives the span's name.
    fn describe(&self, content: &ExactJson, kind: &str, attributes: &mut AttributeList) -> String {
        let agent = text_at(content, &["context", "agent_id"]);
        attributes.text(names::AGENT, if agent.is_empty() { self.chain.tool } else { agent });
        let model = text_at(content, &["reasoning", "model"]);
        attributes.text(names::MODEL, model);
        let stated = text_at(content, &["context", "environment", "model_provider"]);
        let provider = if stated.is_empty() { names::provider_of(model).unwrap_or_default() } else { stated };
        attributes.text(names::PROVIDER, provider);
        for (name, member) in [(names::INPUT_TOKENS, "input_tokens"), (names::OUTPUT_TOKENS, "output_tokens")]
        {
            let used = content.at(&["execution", "resources_used", member]).and_then(ExactJson::as_i64);
            if let Some(used) = used.and_then(|used| u64::try_from(used).ok()) {
                attributes.number(name, used);
            }
        }
        let named = |operation: &str, what: &str| match what {
            "" => operation.to_owned(),
            what => format!("{operation} {what}"),
        };
        match kind {
            "tool" => {
                let call = |name: &str| call_of(content).and_then(|call| call.text(name)).unwrap_or_default();
                attributes.text(names::OPERATION, "execute_tool");
                attributes.text(names::TOOL, call("tool"));
                // The readers note the identifier beside the call.
                attributes.text(names::CALL_ID, text_at(content, &["context", "environment", "call_id"]));
                named("execute_tool", call("tool"))
            }
            "chat" => {
                attributes.text(names::OPERATION, "chat");
                named("chat", model)
            }
            "agent" => {
                attributes.text(names::OPERATION, "invoke_agent");
                named("invoke_agent", agent)
            }
            _ => "capsid.system".to_owned(),
        }
    }

    fn trust_at(&self, position: u64) -> &'static str {
        let runs = self.chain.runs.iter();
        let mut covering = runs.filter(|run| (run.first..run.first + run.count).contains(&position));
        covering.next().and_then(|run| run.origin).map_or("unknown", |origin| origin.as_str())
    }
}

fn kind_of(content: &ExactJson) -> &str {
    content.text("type").unwrap_or_default()
}

fn text_at<'a>(content: &'a ExactJson, path: &[&str]) -> &'a str {
    content.at(path).and_then(ExactJson::as_str).unwrap_or_default()
}

/// What came of it. An outcome that nobody knows is neither good nor bad.
fn status_of(outcome: &str, attributes: &mut AttributeList) -> Value {
    match outcome {
        "success" => json!({"code": STATUS_OK}),
        "failure" | "blocked" => {
            attributes.text(names::ERROR_TYPE, outcome);
            json!({"code": STATUS_ERROR})
        }
        _ => json!({}),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_seal::RecordSeal;

    #[test]
    fn a_failed_or_blocked_record_is_an_error_with_its_type_and_an_unknown_outcome_is_unset() {
        let mut trace = ChainTrace::new(TracedChain {
            tool: "codex",
            session: "s",
            head: "",
            level: "valid",
            runs: &[],
            content: false,
        });
        for (outcome, status, error) in [
            ("success", json!({"code": 1}), None),
            ("failure", json!({"code": 2}), Some("failure")),
            ("blocked", json!({"code": 2}), Some("blocked")),
            ("partial", json!({}), None),
            ("pending", json!({}), None),
        ] {
            let canonical = json!({"type": "tool", "outcome": {"status": outcome}}).to_string();
            let span = trace.record(&StoredRecord {
                canonical,
                seal: RecordSeal { hash: "0".repeat(64), ..RecordSeal::default() },
                columns: None,
            });
            assert_eq!(span["status"], status, "{outcome}");
            let attributes = span["attributes"].as_array().unwrap();
            let value = |name: &str| {
                let found = attributes.iter().find(|one| one["key"] == name)?;
                found["value"]["stringValue"].as_str()
            };
            assert_eq!(value("error.type"), error, "{outcome}");
            assert_eq!(value(names::OUTCOME), Some(outcome));
        }
    }
}
