//! Chains as traces, sent through a collector of OpenTelemetry that knows nothing of us.

use super::*;
use capsid_model::Value;
use capsid_seal::StoredRecord;
use capsid_seal::chain::ChainReader;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A collector, and the spans that it forwards.
struct Collector {
    process: Child,
    spans: BufReader<ChildStdout>,
    url: String,
}

impl Collector {
    fn start() -> Self {
        let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/python");
        let python = peer.join(".venv/bin/python");
        assert!(python.exists(), "run `scripts/setup test` first");
        let mut command = Command::new(python);
        command.arg(peer.join("collector.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let spans = BufReader::new(process.stdout.take().unwrap());
        let mut collector = Self { process, spans, url: String::new() };
        collector.url = collector.line().as_str().unwrap().to_owned();
        collector
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.spans.read_line(&mut line).unwrap();
        line.trim().parse().unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// So many spans, by their ids.
    fn spans(&mut self, count: usize) -> BTreeMap<String, Value> {
        let spans: Vec<Value> = (0..count).map(|_| self.line()).collect();
        spans.into_iter().map(|span| (text(&span["id"]), span)).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // It ends with its stdin.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn records(desk: &TrailUser) -> Vec<StoredRecord> {
    let reader = ChainReader::open(&desk.chain(SESSION)).unwrap();
    reader.records(None).map(Result::unwrap).collect()
}

fn nanoseconds(record: &Value) -> i128 {
    let moment = text(&record["context"]["environment"]["timestamp"]);
    // The transcripts of these tests lie in one hour.
    let (minute, rest) = moment.strip_prefix("2026-06-01T10:").unwrap().split_once(':').unwrap();
    let second: i128 = rest.split('.').next().unwrap().parse().unwrap();
    (1_780_308_000 + minute.parse::<i128>().unwrap() * 60 + second) * 1_000_000_000
}

/// Compares the spans of a conversation with its records.
fn compare(spans: &BTreeMap<String, Value>, records: &[StoredRecord]) {
    assert_eq!(spans.len(), records.len() + 1, "a span for each record and one for the conversation");
    let head = records.last().unwrap().seal.hash.as_str();
    let root = spans.values().find(|span| span["parent"] == "").unwrap();
    assert_eq!(root["name"], "invoke_agent claude-code");
    assert_eq!(root["attributes"]["gen_ai.operation.name"], "invoke_agent");
    let mut ends = Vec::new();
    for (position, stored) in records.iter().enumerate() {
        let content: Value = stored.canonical.parse().unwrap();
        let span = &spans[&stored.seal.hash[..16]];
        let attributes = &span["attributes"];
        assert_eq!(span["trace"], root["trace"]);
        assert_eq!(span["parent"], root["id"]);
        assert_eq!((&span["kind"], &span["service"]), (&1.into(), &"claude-code".into()));
        assert_eq!(span["schema"], "https://opentelemetry.io/schemas/1.41.0");
        assert_eq!(i128::from(span["start"].as_i64().unwrap()), nanoseconds(&content));
        let duration = content["execution"]["duration_ms"].as_i64().unwrap_or_default() * 1_000_000;
        assert_eq!(span["end"].as_i64().unwrap() - span["start"].as_i64().unwrap(), duration);
        ends.push(span["end"].as_i64().unwrap());
        assert_eq!(attributes["capsid.record.hash"], stored.seal.hash.as_str());
        assert_eq!(attributes["capsid.chain.sequence"], position);
        assert_eq!(attributes["capsid.chain.head"], head);
        assert_eq!(attributes["capsid.record.signed_by"], stored.seal.signed_by.as_str());
        assert_eq!(attributes["capsid.signer.trust"], "own");
        assert_eq!(attributes["capsid.verdict.level"], "valid");
        assert_eq!(attributes["gen_ai.conversation.id"], SESSION);
        assert_eq!(attributes["capsid.outcome.status"], content["outcome"]["status"]);
        assert_eq!(span["status"], i32::from(content["outcome"]["status"] == "success"));
        let used = &content["execution"]["resources_used"];
        for name in ["input_tokens", "output_tokens"] {
            assert_eq!(
                attributes.get(format!("gen_ai.usage.{name}")),
                used.get(name),
                "{name} of {position}"
            );
        }
        match text(&content["type"]).as_str() {
            "tool" => {
                let tool = text(&content["execution"]["tool_calls"][0]["tool"]);
                assert_eq!(span["name"], format!("execute_tool {tool}"));
                assert_eq!(attributes["gen_ai.tool.name"], tool);
                let call = &content["context"]["environment"]["call_id"];
                assert!(call.is_string());
                assert_eq!(attributes["gen_ai.tool.call.id"], *call, "the call of {position}");
            }
            "chat" => {
                assert_eq!(span["name"], "chat claude-opus-4-8");
                assert_eq!(attributes["gen_ai.provider.name"], "anthropic");
            }
            other => assert_eq!((span["name"].as_str(), other), (Some("capsid.system"), "system")),
        }
    }
    let starts = records.iter().map(|stored| nanoseconds(&stored.canonical.parse().unwrap()));
    assert_eq!(i128::from(root["start"].as_i64().unwrap()), starts.min().unwrap());
    assert_eq!(root["end"].as_i64(), ends.into_iter().max());
}

/// Every part of 20 characters of what the user asked for.
fn parts_of_prompts(records: &[StoredRecord]) -> BTreeSet<String> {
    let prompts = records.iter().map(|stored| {
        let content: Value = stored.canonical.parse().unwrap();
        text(&content["trigger"]["request"]).chars().collect::<Vec<char>>()
    });
    prompts
        .flat_map(|prompt| prompt.windows(20).map(|part| part.iter().collect()).collect::<Vec<String>>())
        .collect()
}

#[test]
fn a_collector_takes_every_span_and_each_is_what_the_chain_says() {
    let desk = sealed(200);
    let records = records(&desk);
    assert_eq!(records.len(), 600, "more than one request");
    let mut collector = Collector::start();
    let ran = desk.expect(0, &["trail", "export", "--otlp", &collector.url, "--json"]).json();
    assert_eq!((&ran["chains"], &ran["spans"], &ran["rejected"]), (&1.into(), &601.into(), &0.into()));
    let spans = collector.spans(601);
    compare(&spans, &records);
    let all: String = spans.values().map(Value::to_string).collect();
    let parts = parts_of_prompts(&records);
    assert!(!parts.is_empty());
    for part in parts {
        assert!(!all.contains(&part), "a span holds {part:?} of a prompt");
    }

    desk.expect(0, &["trail", "export", "--otlp", &collector.url, "--content", SESSION]);
    let spans = collector.spans(601);
    compare(&spans, &records);
    let with = |name: &str| spans.values().filter(|span| span["attributes"].get(name).is_some()).count();
    assert_eq!(with("gen_ai.tool.call.arguments"), 400);
    assert_eq!(with("gen_ai.input.messages"), 200);
    assert!(spans.values().any(|span| span.to_string().contains("Count the pears, try 7")));
    let home: String = spans.values().map(Value::to_string).collect();
    assert!(!home.contains("/home/ada"), "personal paths are redacted");
}

#[test]
fn a_broken_chain_is_no_trace_unless_it_is_asked_for_and_carries_its_level() {
    let desk = sealed(2);
    desk.expect(0, &["trail", "export", "--otlp", "traces.jsonl"]);
    let database = Connection::open(desk.chain(SESSION)).unwrap();
    let edit = "UPDATE capsules SET canonical = replace(canonical, 'pear', 'plum') WHERE sequence = 4";
    assert_eq!(database.execute(edit, []).unwrap(), 1);
    drop(database);
    let refused = desk.expect(1, &["trail", "export", "--otlp", "bad.jsonl"]);
    assert!(
        refused.stderr.contains("is invalid") && refused.stderr.contains("--accept-invalid"),
        "{refused}"
    );
    assert!(refused.stdout.contains("exported 0 chain(s), 0 span(s)"), "{refused}");
    desk.expect(0, &["trail", "export", "--otlp", "bad.jsonl", "--accept-invalid"]);
    for (name, level) in [("traces.jsonl", "valid"), ("bad.jsonl", "invalid")] {
        let lines = std::fs::read_to_string(desk.home().join(name)).unwrap();
        let request: Value = lines.trim().parse().unwrap();
        let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        assert_eq!(spans.len(), 7, "{name}");
        for span in spans {
            let attributes = span["attributes"].as_array().unwrap();
            let stated = attributes.iter().find(|one| one["key"] == "capsid.verdict.level").unwrap();
            assert_eq!(stated["value"]["stringValue"], level, "{name}");
        }
    }
}

#[test]
fn a_file_of_others_is_not_replaced_and_a_header_needs_a_receiver() {
    let desk = sealed(1);
    std::fs::write(desk.home().join("mine.txt"), "mine").unwrap();
    desk.expect(1, &["trail", "export", "--otlp", "mine.txt"]);
    assert_eq!(std::fs::read_to_string(desk.home().join("mine.txt")).unwrap(), "mine");
    desk.expect(2, &["trail", "export", "--otlp", "new.jsonl", "--header", "a: b"]);
    desk.expect(2, &["trail", "export", "--otlp", "ftp://127.0.0.1"]);
    desk.expect(2, &["trail", "export", "--otlp", "new.jsonl", "--out", "bundle"]);
    desk.expect(1, &["trail", "export", "--otlp", "http://127.0.0.1:1"]);
}
