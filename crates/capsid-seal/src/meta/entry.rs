//! Reads the meta-chain's entries about conversations.

use super::open_list::OpenChain;
use crate::TrailHome;
use capsid_model::exact::{ExactJson, parse};
use std::path::{Path, PathBuf};

/// The content of a meta record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MetaEntry {
    pub(super) tool: String,
    pub(super) session: String,
    pub(super) head_hash: String,
    pub(super) count: u64,
    pub(super) db: Option<PathBuf>,
    pub(super) tenant: Option<String>,
    /// The chains that were not finalised then.
    pub(super) open: Vec<OpenChain>,
    /// What was recorded of it before: how many records, and the hash of the last one.
    pub(super) earlier: Vec<(u64, String)>,
}

impl MetaEntry {
    /// The conversation that a sealed text records; none when it records something else.
    pub(super) fn parse(canonical: &str) -> Option<Self> {
        let content = parse(canonical).ok()?;
        let result = content.at(&["outcome", "result"])?;
        if result.text("kind") != Some("conversation_seal") {
            return None;
        }
        let open = result.get("open").and_then(ExactJson::as_array).unwrap_or_default();
        let text = |name: &str| result.text(name).map(str::to_owned);
        Some(Self {
            tool: text("tool")?,
            session: text("session_id")?,
            head_hash: text("head_hash")?,
            count: result.get("capsule_count").and_then(ExactJson::as_i64)?.try_into().ok()?,
            db: text("db").map(PathBuf::from),
            tenant: text("tenant_id"),
            open: open.iter().filter_map(OpenChain::from_json).collect(),
            earlier: Vec::new(),
        })
    }

    /// The path of the conversation; none if its names cannot be those of a file in the home.
    pub(super) fn path(&self, home: &TrailHome) -> Option<PathBuf> {
        if let Some(db) = &self.db {
            return Some(shared(db, home));
        }
        let plain = |name: &str| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None))
        };
        let chains = home.chains();
        let own = chains.join(&self.tool).join(format!("{}.db", self.session));
        let older = chains.join(format!("{}.db", self.session));
        (plain(&self.tool) && plain(&self.session))
            .then(|| if !own.exists() && older.exists() { older } else { own })
    }
}

/// The database of many sessions that a record of the meta-chain names, if it names one.
pub(crate) fn shared_database(canonical: &str, home: &TrailHome) -> Option<PathBuf> {
    // Most entries name none, and need not be parsed for it.
    canonical
        .contains("\"db\"")
        .then(|| MetaEntry::parse(canonical)?.db)
        .flatten()
        .map(|db| shared(&db, home))
}

/// A database of many sessions: `agent-capsule` records its full path, we one in the home or the bare name.
fn shared(db: &Path, home: &TrailHome) -> PathBuf {
    let there = home.root().join(db);
    match home.shared() {
        Some(shared) if !there.is_file() && shared.file_name() == db.file_name() => shared.to_owned(),
        _ => there,
    }
}
