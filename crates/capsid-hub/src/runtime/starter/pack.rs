//! The starter pack: solutions for common errors that are a part of the program.

use capsid_model::{Code, Object, Problem, Result, Value};
use capsid_store::assets::id::AssetId;
use serde::Deserialize;
use std::sync::LazyLock;

/// One entry a line: gene, capsule and event, and what was seen when they were made. `scripts/pack-starter` writes it.
const ARCHIVE: &str = include_str!("../../../assets/starter.jsonl");

/// One solution of the pack.
#[derive(Debug)]
pub struct StarterEntry {
    /// Its folder below packs/starter.
    pub name: String,
    /// What it solves, in a line.
    pub title: String,
    /// When it should not be used, in a sentence.
    pub when_not_to_use: String,
    /// The programs that its commands start.
    pub programs: Vec<String>,
    /// The commands of its gene.
    pub commands: Vec<String>,
    pub asset_id: AssetId,
    pub capsule: Object,
    /// All of it, as a bundle that is loaded.
    pub line: &'static str,
}

/// A line of the archive.
#[derive(Debug, Deserialize)]
struct ArchiveLine {
    name: String,
    programs: Vec<String>,
    when_not_to_use: String,
    assets: (Object, Object, Object),
}

/// The entries, by name.
pub fn entries() -> Result<&'static [StarterEntry]> {
    static ENTRIES: LazyLock<std::result::Result<Vec<StarterEntry>, String>> =
        LazyLock::new(|| ARCHIVE.lines().map(StarterEntry::parse).collect());
    match &*ENTRIES {
        Ok(entries) => Ok(entries),
        Err(reason) => Err(Problem::new(Code::Internal, format!("The starter pack is damaged: {reason}."))),
    }
}

/// The programs that the pack starts, each once.
pub fn programs(entries: &[StarterEntry]) -> Vec<String> {
    let mut programs: Vec<String> = entries.iter().flat_map(|entry| entry.programs.clone()).collect();
    programs.sort_unstable();
    programs.dedup();
    programs
}

impl StarterEntry {
    fn parse(line: &'static str) -> std::result::Result<Self, String> {
        let ArchiveLine { name, programs, when_not_to_use, assets: (gene, capsule, _) } =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = |name: &str| capsule.get(name).and_then(Value::as_str).unwrap_or_default();
        let asset_id = AssetId::parse(text("asset_id")).ok_or_else(|| format!("`{name}` has no id"))?;
        let title = text("title").to_owned();
        let commands = gene.get("validation").and_then(Value::as_array).into_iter().flatten();
        let commands = commands.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { name, title, when_not_to_use, programs, commands, asset_id, capsule, line })
    }
}
