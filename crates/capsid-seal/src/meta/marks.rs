//! Marks for chains that were recorded before there were any.

use super::FILE;
use super::entry::MetaEntry;
use crate::TrailHome;
use crate::chain::{ChainReader, ChainWriter, FinalisedMark};
use capsid_model::Result;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A mark that a chain lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingMark {
    /// The database of the chain.
    pub database: PathBuf,
    /// The tenant in a database of many.
    pub tenant: Option<String>,
    /// The mark.
    pub mark: FinalisedMark,
}

impl MissingMark {
    /// Writes it.
    pub fn write(&self) -> Result<()> {
        ChainWriter::open(&self.database)?.mark_finalised(self.tenant.as_deref(), &self.mark)
    }
}

/// The marks that chains lack: what the meta-chain recorded last of each chain that is there and has it.
pub fn missing_marks(home: &TrailHome) -> Result<Vec<MissingMark>> {
    if !home.meta().exists() {
        return Ok(Vec::new());
    }
    let mut latest: BTreeMap<(String, String), (MetaEntry, u64, String)> = BTreeMap::new();
    let records = ChainReader::open(&home.root().join(FILE))?.into_records(None);
    for (stored, position) in records.zip(0..) {
        let stored = stored?;
        if let Some(entry) = MetaEntry::parse(&stored.canonical) {
            let name = (entry.tool.clone(), entry.session.clone());
            latest.insert(name, (entry, position, stored.seal.hash));
        }
    }
    let mut missing = Vec::new();
    for (entry, meta_sequence, meta_hash) in latest.into_values() {
        let Some(database) = entry.path(home).filter(|path| path.is_file()) else { continue };
        let Ok(reader) = ChainReader::open(&database) else { continue };
        let tenant = entry.tenant.clone();
        let mark =
            FinalisedMark { meta_sequence, meta_hash, count: entry.count, head: entry.head_hash.clone() };
        let has_records = super::compare::holds(&reader, tenant.as_deref(), mark.count, &mark.head)?;
        if has_records && !reader.finalised(tenant.as_deref())?.contains(&mark) {
            missing.push(MissingMark { database, tenant, mark });
        }
    }
    Ok(missing)
}
