//! What is told of the starter pack and of its loading.

use super::pack::StarterEntry;
use capsid_rules::lifecycle::AssetStatus;
use serde::Serialize;
use utoipa::ToSchema;

/// How far the loading of the starter pack is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum StarterState {
    /// Nobody has loaded it since this hub started.
    #[default]
    Idle,
    Running,
    Done,
    /// It ended early; `error` says why.
    Failed,
}

/// The starter pack: its programs, its entries, and how far its loading is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = StarterPack)]
pub struct StarterPackView {
    pub state: StarterState,
    /// How many entries the pack has.
    pub total: usize,
    /// How many were run here, without their change and with it.
    pub tested: usize,
    /// How many are given to everyone.
    pub promoted: usize,
    /// The programs that its commands start, in the sandbox.
    pub programs: Vec<StarterProgramView>,
    pub entries: Vec<StarterEntryView>,
    /// Why the loading ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub error: Option<String>,
}

/// A program that the commands of the pack start.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = StarterProgram)]
pub struct StarterProgramView {
    pub name: String,
    /// How many entries need it.
    pub entries: usize,
    /// What it says of its version; missing where it does not run, or was not tried yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub version: Option<String>,
    /// Why it does not run in the sandbox of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub problem: Option<String>,
}

/// An entry of the pack.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = StarterEntry)]
pub struct StarterEntryView {
    pub name: String,
    /// What it solves, in a line.
    pub title: String,
    /// When it should not be used.
    pub when_not_to_use: String,
    /// The programs that its commands start.
    pub programs: Vec<String>,
    /// Its capsule.
    pub asset_id: String,
    /// What the hub makes of it; missing before it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub status: Option<AssetStatus>,
    /// Whether it was run here just now.
    pub is_tested: bool,
    /// Why it is not promoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub reason: Option<String>,
}

impl StarterPackView {
    /// The pack before anything was done with it.
    pub fn new(entries: &[StarterEntry]) -> Self {
        let program = |name: String| StarterProgramView {
            entries: entries.iter().filter(|entry| entry.programs.contains(&name)).count(),
            name,
            version: None,
            problem: None,
        };
        let entry = |entry: &StarterEntry| StarterEntryView {
            name: entry.name.clone(),
            title: entry.title.clone(),
            when_not_to_use: entry.when_not_to_use.clone(),
            programs: entry.programs.clone(),
            asset_id: entry.asset_id.to_string(),
            status: None,
            is_tested: false,
            reason: None,
        };
        Self {
            state: StarterState::Idle,
            total: entries.len(),
            tested: 0,
            promoted: 0,
            programs: super::pack::programs(entries).into_iter().map(program).collect(),
            entries: entries.iter().map(entry).collect(),
            error: None,
        }
    }

    /// Why an entry cannot be run: the first of its programs that does not run here.
    pub fn missing_program(&self, at: usize) -> Option<String> {
        let needed = &self.entries.get(at)?.programs;
        let missing =
            self.programs.iter().find(|program| program.problem.is_some() && needed.contains(&program.name));
        missing.and_then(|program| program.problem.clone())
    }

    /// Counts anew what the entries say.
    pub fn recount(&mut self) {
        self.tested = self.entries.iter().filter(|entry| entry.is_tested).count();
        let is_promoted = |entry: &&StarterEntryView| entry.status == Some(AssetStatus::Promoted);
        self.promoted = self.entries.iter().filter(is_promoted).count();
    }
}
