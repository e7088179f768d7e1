//! The genes ready for selecting: looked through one by one while they are few, by an index once they are many.

use super::AssetStore;
use crate::rules::select::{GeneCard, GeneIndex, GenePoolRef};
use capsid_model::Result;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// From here on an index is faster than looking through, even for a single selection.
const INDEXED_FROM: usize = 2_000;

/// The genes of a store.
#[derive(Debug, Clone)]
pub enum GenePool {
    Few(Vec<GeneCard>),
    Many(Arc<GeneIndex>),
}

impl GenePool {
    /// As selecting takes it.
    pub fn as_pool(&self) -> GenePoolRef<'_> {
        match self {
            Self::Few(cards) => GenePoolRef::Plain(cards),
            Self::Many(index) => GenePoolRef::Indexed(index),
        }
    }

    /// The genes' ids, in file order.
    pub fn ids(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Few(cards) => Box::new(cards.iter().map(|card| card.id.as_str())),
            Self::Many(index) => Box::new(index.ids()),
        }
    }
}

/// The index built last in this process, with what its files looked like then.
static LAST: Mutex<Option<(PoolStamp, Arc<GeneIndex>)>> = Mutex::new(None);

/// Identifies an unchanged version of a store's gene files.
type PoolStamp = Vec<(PathBuf, Option<(u64, SystemTime)>)>;

impl AssetStore {
    /// The genes; an index that was built for the same files is used again.
    pub fn gene_pool(&self) -> Result<GenePool> {
        let stamp = stamp(&[self.genes.path().to_owned(), self.folder.join("genes.jsonl")]);
        let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, index)) = &*last
            && *known == stamp
        {
            return Ok(GenePool::Many(Arc::clone(index)));
        }
        let cards = self.gene_cards()?;
        if cards.len() < INDEXED_FROM {
            return Ok(GenePool::Few(cards));
        }
        let index = Arc::new(GeneIndex::build(cards));
        *last = Some((stamp, Arc::clone(&index)));
        Ok(GenePool::Many(index))
    }
}

fn stamp(paths: &[PathBuf]) -> PoolStamp {
    let look = |path: &Path| {
        std::fs::metadata(path).ok().and_then(|meta: Metadata| Some((meta.len(), meta.modified().ok()?)))
    };
    paths.iter().map(|path| (path.clone(), look(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_large_pool_is_indexed_and_follows_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path());
        let write = |count: usize| {
            let genes: Vec<_> = (0..count).map(|n| json!({"type": "Gene", "id": format!("g{n}")})).collect();
            std::fs::write(store.genes.path(), json!({"genes": genes}).to_string()).unwrap();
        };
        write(3);
        assert!(matches!(store.gene_pool().unwrap(), GenePool::Few(cards) if cards.len() == 3));
        write(INDEXED_FROM);
        let pool = store.gene_pool().unwrap();
        assert_eq!(pool.ids().count(), INDEXED_FROM);
        assert!(matches!(pool.as_pool(), GenePoolRef::Indexed(_)));
        write(INDEXED_FROM + 1);
        assert_eq!(store.gene_pool().unwrap().ids().last(), Some("g2000"));
    }
}
