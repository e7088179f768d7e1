//! The file of results, from which the page is written.

use crate::Result;
use crate::report::Row;
use capsid_model::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// What runs on one machine and of one commit measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    /// What was measured; `-dirty` behind it where files were changed.
    pub commit: String,
    pub benches: Vec<BenchResult>,
}

/// Where it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_mb: u64,
    pub kernel: String,
    /// Debug builds measure nothing.
    pub is_release: bool,
}

/// What one bench measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    pub name: String,
    /// When it ended.
    pub date: String,
    /// How long it took.
    pub seconds: f64,
    pub rows: Vec<RowResult>,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    pub goal: String,
    pub work: String,
    pub unit: String,
    pub ours: f64,
    pub peer: Option<f64>,
    pub ratio: Option<f64>,
    pub wanted: String,
    pub met: Option<bool>,
    pub note: String,
}

impl From<&Row> for RowResult {
    fn from(row: &Row) -> Self {
        Self {
            goal: row.goal.to_owned(),
            work: row.work.clone(),
            unit: row.unit.to_owned(),
            ours: rounded(row.ours),
            peer: row.peer.map(rounded),
            ratio: row.ratio().map(rounded),
            wanted: row.wanted.to_owned(),
            met: row.met,
            note: row.note.clone(),
        }
    }
}

/// Four digits: more say nothing, and a file with them changes everywhere.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl Results {
    /// Those of this machine and commit in a file; none where it has those of others.
    pub fn of_here(path: &Path) -> Result<Self> {
        let here = Self { machine: Machine::of_here()?, commit: commit(), benches: Vec::new() };
        let known = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(known.filter(|known| known.machine == here.machine && known.commit == here.commit).unwrap_or(here))
    }

    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("`{}`: {error}; run the benches first", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Puts the result of a bench in the place of its last one.
    pub fn put(&mut self, name: &str, seconds: f64, rows: &[Row]) {
        let rows = rows.iter().map(RowResult::from).collect();
        let date = SystemClock.now().iso();
        let result = BenchResult { name: name.to_owned(), date, seconds: rounded(seconds), rows };
        match self.benches.iter_mut().find(|bench| bench.name == name) {
            Some(known) => *known = result,
            None => self.benches.push(result),
        }
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        std::fs::write(path, format!("{}\n", serde_json::to_string_pretty(self)?))?;
        Ok(())
    }
}

impl Machine {
    fn of_here() -> Result<Self> {
        let after = |text: &str, name: &str| -> Option<String> {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let processor = after(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".to_owned());
        let memory = after(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kilobytes = memory.split(' ').next().and_then(|number| number.parse::<u64>().ok());
        Ok(Self {
            processor,
            cores: std::thread::available_parallelism()?.get(),
            memory_mb: kilobytes.unwrap_or_default() / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            is_release: !cfg!(debug_assertions),
        })
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn commit() -> String {
    let git = Command::new("git")
        .current_dir(crate::root())
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output();
    match git {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(goal: &'static str, ours: f64) -> Row {
        Row {
            goal,
            work: "work".to_owned(),
            ours,
            peer: Some(3.0),
            unit: "/s",
            wanted: ">= 3x",
            met: Some(false),
            note: String::new(),
        }
    }

    #[test]
    fn a_bench_that_runs_again_replaces_its_own_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let mut results = Results::of_here(&path).unwrap();
        results.put("one", 1.0, &[row("1", 1.0), row("2", 1.0)]);
        results.put("other", 1.0, &[row("3", 1.0)]);
        results.save(&path).unwrap();
        let mut results = Results::of_here(&path).unwrap();
        results.put("one", 2.0, &[row("1", 7.654321)]);
        let figures: Vec<(&str, f64)> = results
            .benches
            .iter()
            .flat_map(|bench| bench.rows.iter().map(|row| (row.goal.as_str(), row.ours)))
            .collect();
        assert_eq!(figures, [("1", 7.654), ("3", 1.0)]);
    }

    #[test]
    fn results_of_another_machine_or_commit_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let mut results = Results::of_here(&path).unwrap();
        results.put("one", 1.0, &[row("1", 1.0)]);
        results.commit.push('x');
        results.save(&path).unwrap();
        assert_eq!(Results::of_here(&path).unwrap().benches, []);
    }
}
