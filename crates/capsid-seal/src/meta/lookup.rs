//! Finds the entry of one conversation in the meta-chain.

use super::FILE;
use super::compare::holds;
use super::entry::MetaEntry;
use crate::chain::ChainReader;
use capsid_model::Result;
use std::path::Path;

/// How many records a conversation had when it was recorded last, and the hash of the last one; none when it never was.
///
/// The meta-chain itself is taken as it is. It is read from its end, where a conversation that goes on is found at once.
pub fn recorded(home: &Path, tool: &str, session: &str) -> Result<Option<(u64, String)>> {
    let path = home.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let reader = ChainReader::open(&path)?;
    for sequence in (0..reader.count(None)?).rev() {
        let there = reader.at(None, sequence)?;
        let entry = there.first().and_then(|stored| MetaEntry::parse(&stored.canonical));
        if let Some(entry) = entry.filter(|entry| entry.tool == tool && entry.session == session) {
            return Ok(Some((entry.count, entry.head_hash)));
        }
    }
    Ok(None)
}

/// Whether a chain still begins with all that the meta-chain last recorded of it.
pub fn is_continued(
    home: &Path,
    tool: &str,
    session: &str,
    chain: &ChainReader,
    tenant: Option<&str>,
) -> Result<bool> {
    match recorded(home, tool, session)? {
        None => Ok(true),
        Some((count, head)) => holds(chain, tenant, count, &head),
    }
}
