//! The statistics of the memory graph: successes and failures per edge and per gene.

use capsid_model::signal::{folded, learning_key};
use capsid_model::text::trim;
use capsid_model::{Object, Time, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Successes and failures, and when the newest was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GeneTally {
    /// How often it went well.
    pub success: u64,
    /// How often it did not.
    pub fail: u64,
    /// When the newest outcome was recorded, if that is known.
    pub last: Option<Time>,
}

impl GeneTally {
    /// All outcomes that count.
    pub fn attempts(&self) -> u64 {
        self.success.saturating_add(self.fail)
    }

    /// Adds another tally to this one.
    pub fn merge(&mut self, other: Self) {
        self.success = self.success.saturating_add(other.success);
        self.fail = self.fail.saturating_add(other.fail);
        self.last = self.last.max(other.last);
    }

    /// Laplace's estimate of success, halved with every half-life since the newest outcome.
    pub fn value(&self, half_life_days: f64, now: Time) -> f64 {
        self.chance() * self.weight(half_life_days, now)
    }

    /// Laplace's estimate of success.
    pub fn chance(&self) -> f64 {
        (self.success as f64 + 1.0) / (self.attempts() as f64 + 2.0)
    }

    /// How much the newest outcome still counts: 1 when it is fresh or its time is unknown.
    pub fn weight(&self, half_life_days: f64, now: Time) -> f64 {
        let age = self.last.map_or(0.0, |last| now.days_since(last));
        if age > 0.0 { 0.5_f64.powf(age / half_life_days) } else { 1.0 }
    }
}

/// One edge of the graph: a gene tried on a set of signals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryEdge {
    pub signals: BTreeSet<String>,
    pub tally: GeneTally,
}

/// The statistics of a graph. Genes are counted apart from edges, so they outlive edges that were let go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphStats {
    /// By learning key and gene.
    pub edges: BTreeMap<(String, String), MemoryEdge>,
    /// By gene, over all signals.
    pub genes: BTreeMap<String, GeneTally>,
}

impl GraphStats {
    /// Reads the lines of a graph, oldest first; what is not a record is passed over.
    pub fn of_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut stats = Self::default();
        for line in lines {
            if let Some(record) = read_line(line) {
                stats.add(&record);
            }
        }
        stats
    }

    /// Adds what a record says of outcomes; other kinds of record say nothing.
    pub fn add(&mut self, record: &Object) {
        match text_of(record, "kind") {
            "outcome" => self.add_outcome(record),
            "edge_summary" => {
                if let Some((key, edge)) = edge_of(record, tally_of(record)) {
                    self.add_edge(key, edge);
                }
            }
            "gene_summary" => {
                if let Some(gene) = gene_of(record) {
                    self.genes.entry(gene.to_owned()).or_default().merge(tally_of(record));
                }
            }
            _ => {}
        }
    }

    fn add_outcome(&mut self, record: &Object) {
        let status = record.get("outcome").and_then(|outcome| outcome.get("status"));
        let (success, fail) = match status.and_then(Value::as_str) {
            Some("success") => (1, 0),
            Some("failed" | "failure") => (0, 1),
            _ => return,
        };
        let last = Time::parse(text_of(record, "ts"));
        let tally = GeneTally { success, fail, last };
        if let Some((key, edge)) = edge_of(record, tally) {
            self.genes.entry(key.1.clone()).or_default().merge(tally);
            self.add_edge(key, edge);
        }
    }

    /// Adds an edge to the one already there.
    pub fn add_edge(&mut self, key: (String, String), edge: MemoryEdge) {
        let known = self
            .edges
            .entry(key)
            .or_insert_with(|| MemoryEdge { signals: edge.signals, ..MemoryEdge::default() });
        known.tally.merge(edge.tally);
    }
}

/// The set that signals are compared by.
pub fn signal_set(signals: &[String]) -> BTreeSet<String> {
    folded(signals).into_iter().filter(|signal| !signal.is_empty()).collect()
}

/// The object of a line, if it is one.
pub fn read_line(line: &str) -> Option<Object> {
    serde_json::from_str(trim(line)).ok()
}

fn edge_of(record: &Object, tally: GeneTally) -> Option<((String, String), MemoryEdge)> {
    let gene = gene_of(record)?;
    let signals = signals_of(record);
    let key = learning_key(&signals);
    let edge = MemoryEdge { signals: signal_set(&signals), tally };
    Some(((key, gene.to_owned()), edge))
}

/// The signals of a record; an old one may hold only their key.
fn signals_of(record: &Object) -> Vec<String> {
    let signal = record.get("signal");
    let list = signal.and_then(|signal| signal.get("signals")).and_then(Value::as_array);
    if let Some(list) = list {
        return list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let key = signal.and_then(|signal| signal.get("key")).and_then(Value::as_str);
    let parts = key.unwrap_or_default().split('|');
    parts.filter(|part| *part != capsid_model::signal::NO_SIGNALS).map(str::to_owned).collect()
}

fn gene_of(record: &Object) -> Option<&str> {
    let gene = record.get("gene")?.get("id")?.as_str()?;
    (!gene.is_empty()).then_some(gene)
}

fn tally_of(record: &Object) -> GeneTally {
    let part = |name: &str| record.get("stats").and_then(|stats| stats.get(name));
    let number = |name: &str| part(name).and_then(Value::as_u64).unwrap_or_default();
    GeneTally {
        success: number("success"),
        fail: number("fail"),
        last: part("last").and_then(Value::as_str).and_then(Time::parse),
    }
}

/// A text member of a record; empty where there is none.
pub fn text_of<'a>(record: &'a Object, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_laplace_and_the_half_life() {
        let now = Time(100 * 86_400_000);
        let sixty_days = Time(40 * 86_400_000);
        let tally = GeneTally { success: 2, fail: 0, last: Some(sixty_days) };
        assert!((tally.value(30.0, now) - 0.1875).abs() < 1e-12);
        assert!((tally.value(45.0, now) - 0.298).abs() < 5e-4);
        let one = GeneTally { success: 1, fail: 0, last: Some(now) };
        assert_eq!(format!("{:.3}", one.value(45.0, now)), "0.667");
        let both = GeneTally { success: 1, fail: 1, last: None };
        assert_eq!(both.value(45.0, now), 0.5);
    }

    #[test]
    fn lines_of_existing_graphs_are_read() {
        let lines = [
            r#"{"kind":"outcome","ts":"2026-02-07T15:20:54.155Z","signal":{"key":"a","signals":["log_error","errsig:boom at /a:1"]},"gene":{"id":"g"},"outcome":{"status":"success"}}"#,
            r#"{"kind":"outcome","ts":"bad","signal":{"signals":["errsig:boom at /b:2","log_error"]},"gene":{"id":"g"},"outcome":{"status":"failed"}}"#,
            r#"{"kind":"outcome","signal":{"key":"x|y"},"gene":{"id":"h"},"outcome":{"status":"failure"}}"#,
            r#"{"kind":"outcome","signal":{"key":"x|y"},"gene":{"id":"h"},"outcome":{"status":"unknown"}}"#,
            r#"{"kind":"outcome","signal":{"key":"x|y"},"gene":null,"outcome":{"status":"success"}}"#,
            r#"{"kind":"attempt","gene":{"id":"g"}}"#,
            "torn {",
        ];
        let stats = GraphStats::of_lines(lines);
        let last = Time::parse("2026-02-07T15:20:54.155Z");
        assert_eq!(stats.genes["g"], GeneTally { success: 1, fail: 1, last });
        assert_eq!(stats.genes["h"], GeneTally { success: 0, fail: 1, last: None });
        let keys: Vec<&str> = stats.edges.keys().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys.len(), 2);
        assert!(keys.contains(&"x|y"));
    }
}
