//! Environment and category of assets that were published before there were any.

use super::placement::index_again;
use crate::assets::id::AssetId;
use crate::assets::list;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::traits;
use capsid_rules::lifecycle::AssetType;
use std::collections::HashMap;

row! {
    struct UnfilledRow {
        seq: i64 = "a.seq",
        asset_id: AssetId = "a.asset_id",
        asset_type: AssetType = "a.asset_type",
        category: Option<String> = "a.category",
        body: String = "a.body",
    }
}

/// Works out what some assets of old lack, the oldest first, and tells how many.
pub fn fill_old_traits(tx: &mut dyn Tx, limit: usize, now: Time) -> Result<usize> {
    let seqs = tx.query_all::<i64>(
        "SELECT seq FROM unfilled_traits ORDER BY seq LIMIT $1 FOR UPDATE",
        params![limit as i64],
    )?;
    let genes = list::bodies_of_genes(tx, &seqs)?;
    for seq in &seqs {
        let row = tx.query_first::<UnfilledRow>(
            select!(UnfilledRow, "FROM assets a WHERE a.seq = $1"),
            params![*seq],
        )?;
        if let Some(row) = row {
            fill(tx, row, &genes, now)?;
        }
        tx.run("DELETE FROM unfilled_traits WHERE seq = $1", params![*seq])?;
    }
    Ok(seqs.len())
}

fn fill(tx: &mut dyn Tx, row: UnfilledRow, genes: &HashMap<i64, String>, now: Time) -> Result<()> {
    // A body that is no object tells nothing; `fsck` tells of it.
    let read = |body: &str| serde_json::from_str::<Object>(body).ok();
    let body = read(&row.body).unwrap_or_default();
    let gene = genes.get(&row.seq).and_then(|body| read(body));
    let category = row.category.or_else(|| traits::category(&body, row.asset_type, gene.as_ref()));
    tx.run(
        "UPDATE assets SET environment = $2, category = $3 WHERE seq = $1",
        params![row.seq, &traits::environment(&body), &category],
    )?;
    index_again(tx, &row.asset_id, now)
}
