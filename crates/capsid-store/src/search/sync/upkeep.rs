//! What keeps searches quick while nothing else waits: few segments.

use crate::search::ranked::{self, SearchClass};
use crate::store::Store;
use capsid_model::problem::Result;

/// How many segments a table may have: a search looks into each of them.
const MAX_SEGMENTS: i64 = 4;
/// How many pages one step joins; it takes some milliseconds.
const PAGES: i64 = 64;

impl Store {
    /// Joins some segments of the search, and tells whether there is more to join. Blocks. A process that does not write the
    /// index does nothing.
    pub fn merge_search_step(&self) -> Result<bool> {
        let Some(index) = self.index().filter(|index| index.is_writable()) else { return Ok(false) };
        let is_long =
            |class: SearchClass| ranked::segments(&mut index.snapshot()?, class).map(|n| n > MAX_SEGMENTS);
        for class in [SearchClass::Found, SearchClass::Held] {
            if is_long(class)? && index.write(|tx| ranked::merge(tx, class, PAGES))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the search as quick as it gets, once everything is in it. Blocks; takes seconds for a million assets.
    pub fn optimize_search(&self) -> Result<()> {
        self.write_index(ranked::optimize)
    }
}
