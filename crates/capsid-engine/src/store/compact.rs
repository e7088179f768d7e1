//! Compaction: the newest lines of a graph as they are, and the outcomes of all older ones as summaries.

use capsid_model::asset::stamp;
use capsid_model::hash::stable_hash;
use capsid_model::{Time, Value, json};
use capsid_rules::memory::graph::{GeneTally, GraphStats, MemoryEdge, read_line, text_of};
use std::collections::VecDeque;

/// More edges than this are not summed up: the longest unused are let go. Their genes still count.
const MAX_EDGES: usize = 2000;

/// Lines beyond this many bytes are folded: records of other engines can hold complete transcripts.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Folds a graph together line by line, holding no more than the newest lines and the statistics of the rest.
///
/// Statistics stay equal, for genes always and for edges up to the limit.
#[derive(Debug)]
pub(super) struct GraphCompactor {
    newest: usize,
    older: GraphStats,
    retained: VecDeque<String>,
    bytes: usize,
}

impl GraphCompactor {
    /// Leaves this many of the newest lines unchanged.
    pub fn keeping(newest: usize) -> Self {
        Self { newest, older: GraphStats::default(), retained: VecDeque::new(), bytes: 0 }
    }

    /// Takes the next line in.
    pub fn add_line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let record = read_line(line);
        if let Some(record) = record.filter(|record| is_summary(text_of(record, "kind"))) {
            self.older.add(&record);
            return;
        }
        self.bytes += line.len();
        self.retained.push_back(line.to_owned());
        while (self.retained.len() > self.newest || self.bytes > MAX_BYTES)
            && let Some(oldest) = self.retained.pop_front()
        {
            self.bytes -= oldest.len();
            read_line(&oldest).iter().for_each(|record| self.older.add(record));
        }
    }

    /// The lines that replace the graph: summaries first, then its newest lines unchanged.
    pub fn finish(self) -> Vec<String> {
        let mut folded = summaries(&self.older);
        folded.extend(self.retained);
        folded
    }
}

fn is_summary(kind: &str) -> bool {
    matches!(kind, "edge_summary" | "gene_summary")
}

fn summaries(stats: &GraphStats) -> Vec<String> {
    let mut edges: Vec<(&(String, String), &MemoryEdge)> = stats.edges.iter().collect();
    edges.sort_by_key(|(_, edge)| std::cmp::Reverse(edge.tally.last));
    edges.truncate(MAX_EDGES);
    let edges = edges.into_iter().map(|((key, gene), edge)| {
        json!({
            "type": "MemoryGraphEvent",
            "kind": "edge_summary",
            "id": format!("mge_edge_{}", stable_hash(&format!("{key}|{gene}"))),
            "ts": edge.tally.last.map(Time::iso),
            "signal": {"key": key, "signals": edge.signals},
            "gene": {"id": gene},
            "stats": stats_of(edge.tally),
        })
    });
    let genes = stats.genes.iter().map(|(gene, tally)| {
        json!({
            "type": "MemoryGraphEvent",
            "kind": "gene_summary",
            "id": format!("mge_gene_{}", stable_hash(gene)),
            "ts": tally.last.map(Time::iso),
            "gene": {"id": gene},
            "stats": stats_of(*tally),
        })
    });
    edges.chain(genes).map(stamped).collect()
}

/// The line of a record with its asset id.
fn stamped(mut record: Value) -> String {
    record.as_object_mut().into_iter().for_each(stamp);
    record.to_string()
}

fn stats_of(tally: GeneTally) -> Value {
    json!({
        "success": tally.success,
        "fail": tally.fail,
        "last": tally.last.map(Time::iso),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn compact<'a>(lines: impl IntoIterator<Item = &'a str>, newest: usize) -> Vec<String> {
        let mut fold = GraphCompactor::keeping(newest);
        lines.into_iter().for_each(|line| fold.add_line(line));
        fold.finish()
    }

    fn line(names: &[String], gene: &str, status: &str, at: i64) -> String {
        json!({
            "type": "MemoryGraphEvent", "kind": "outcome", "ts": Time(at).iso(),
            "signal": {"signals": names}, "gene": {"id": gene}, "outcome": {"status": status},
        })
        .to_string()
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let name = prop_oneof![
            proptest::sample::select(vec![
                "log_error",
                "errsig:a at /b:1",
                " a|b ",
                "",
                "ban_gene:x",
                "slow"
            ])
            .prop_map(str::to_owned),
            "user_feature_request:[a-z]{1,3}",
        ];
        let status = proptest::sample::select(vec!["success", "failed", "failure", "unknown"]);
        let outcome = (vec(name, 0..3), "[ghi]{0,1}", status, 0..99_999_999_i64)
            .prop_map(|(names, gene, status, at)| line(&names, &gene, status, at));
        let odd = proptest::sample::select(vec!["", "torn {", "[1]", r#"{"kind":"signal"}"#])
            .prop_map(str::to_owned);
        vec(prop_oneof![9 => outcome, 1 => odd], 0..40)
    }

    fn stats(lines: &[String]) -> GraphStats {
        GraphStats::of_lines(lines.iter().map(String::as_str))
    }

    fn compacted(lines: &[String], newest: usize) -> Vec<String> {
        compact(lines.iter().map(String::as_str), newest)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn statistics_stay_equal(lines in lines(), more in lines(), first in 0..20_usize, second in 0..20_usize) {
            let once = compacted(&lines, first);
            prop_assert_eq!(stats(&once), stats(&lines));
            let twice = compacted(&[once, more.clone()].concat(), second);
            prop_assert_eq!(stats(&twice), stats(&[lines, more].concat()));
            prop_assert_eq!(&compacted(&twice, second), &twice, "compacting again changes nothing");
        }
    }

    #[test]
    fn the_newest_lines_stay_as_they_are() {
        let lines: Vec<String> = (0..5).map(|n| line(&["a".into()], "g", "success", n)).collect();
        let result = compacted(&lines, 2);
        assert_eq!(result.len(), 4, "one edge, one gene, two lines");
        assert_eq!(result[2..], lines[3..]);
        for summary in &result[..2] {
            assert!(capsid_model::asset::verify_text(summary).unwrap().holds(), "{summary}");
        }
    }

    #[test]
    fn the_longest_unused_edges_are_let_go_and_their_genes_stay() {
        let lines: Vec<String> = (0..2100_i64).map(|n| line(&[format!("s{n}")], "g", "failed", n)).collect();
        let after = stats(&compacted(&lines, 0));
        assert_eq!(after.edges.len(), MAX_EDGES);
        assert!(!after.edges.contains_key(&("s99".to_owned(), "g".to_owned())));
        assert!(after.edges.contains_key(&("s100".to_owned(), "g".to_owned())));
        assert_eq!(after.genes["g"].fail, 2100);
    }
}
