//! `memory_graph.jsonl` on disk: appended to, and folded together before it grows without bound.

use super::compact::GraphCompactor;
use super::lines;
use crate::files::phase;
use capsid_disk::files;
use capsid_model::asset::stamp;
use capsid_model::{Object, Result, Value};
use capsid_rules::memory::graph::GraphStats;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Above this size the file is folded: its newest lines stay, the rest lives on as statistics.
const FOLD_ABOVE: u64 = 8 * 1024 * 1024;

/// The lines that compaction leaves unchanged.
const KEEP_LINES: usize = 2000;

/// The memory graph of one repository.
#[derive(Debug, Clone)]
pub struct GraphFile {
    path: PathBuf,
}

impl GraphFile {
    /// The graph at a path; it need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Everything learned so far. The caller holds the store's lock, because a large file is folded first.
    pub fn statistics(&self) -> Result<GraphStats> {
        self.fold_if_large()?;
        self.statistics_as_is()
    }

    /// The same without writing anything, for those who only look.
    pub fn statistics_as_is(&self) -> Result<GraphStats> {
        let mut statistics = GraphStats::default();
        lines::scan(&self.path, |line| {
            if let Some(record) = super::events::object(line) {
                statistics.add(&record);
            }
            ControlFlow::Continue(())
        })?;
        Ok(statistics)
    }

    /// Appends records, each with its asset id; durable when it returns.
    pub fn append(&self, records: &[Object]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        phase::enter("memory_graph");
        let mut text = String::new();
        for mut record in records.iter().cloned() {
            stamp(&mut record);
            text.push_str(&serde_json::to_string(&record).unwrap_or_default());
            text.push('\n');
        }
        files::append(&self.path, &text)
    }

    /// Appends records unless the first of them is among the last lines already.
    pub fn append_once(&self, records: &[Object]) -> Result<()> {
        let first = records.first().and_then(|record| record.get("id")).and_then(Value::as_str);
        if let Some(id) = first {
            let recent = lines::tail(&self.path, records.len() + 8)?;
            if recent.iter().any(|line| line.contains(id)) {
                return Ok(());
            }
        }
        self.append(records)
    }

    fn fold_if_large(&self) -> Result<()> {
        let size = std::fs::metadata(&self.path).map_or(0, |meta| meta.len());
        if size <= FOLD_ABOVE {
            return Ok(());
        }
        let mut fold = GraphCompactor::keeping(KEEP_LINES);
        lines::scan(&self.path, |line| {
            fold.add_line(&String::from_utf8_lossy(line));
            ControlFlow::Continue(())
        })?;
        phase::enter("memory_graph");
        let mut text = fold.finish().join("\n");
        text.push('\n');
        files::replace(&self.path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::verify_text;
    use capsid_model::json;

    #[test]
    fn every_appended_record_verifies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory_graph.jsonl");
        let record = json!({"type": "MemoryGraphEvent", "id": "mge_1", "kind": "signal", "score": 0.5});
        let records = [record.as_object().cloned().unwrap()];
        GraphFile::at(path.clone()).append_once(&records).unwrap();
        GraphFile::at(path.clone()).append_once(&records).unwrap();
        let lines = lines::tail(&path, 9).unwrap();
        assert_eq!(lines.len(), 1);
        assert!(verify_text(&lines[0]).unwrap().holds(), "{}", lines[0]);
    }
}
