//! What capsules say, in short, so that near duplicates are found.

use super::publish::NewBundle;
use crate::assets::id::AssetId;
use crate::db::row_batch::{RowBatch, RowsSql, insert_rows};
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::assets::similarity::{SimilarityVerdict, TextSketch, judge};
use std::collections::HashMap;

/// Which of the bands of many capsules are known.
pub(super) const FIND_BANDS: RowsSql = RowsSql {
    sqlite: "SELECT DISTINCT band FROM sketch_bands WHERE band IN ($1, $2, $3, $4)",
    postgres: "SELECT DISTINCT band FROM sketch_bands WHERE band = ANY($1 || $2 || $3 || $4)",
};

const INSERT_BANDS: RowsSql = insert_rows!("sketch_bands", "band, sketch", "$1, $2");

/// A capsule that is to be remembered.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewSketch<'a> {
    pub node_id: &'a str,
    pub bundle: &'a NewBundle,
}

/// The keys under which a capsule is remembered. Each costs a page of the disk for every publish, so there are few: two
/// texts that are 0.95 alike practically always share one, and two that are 0.8 alike in nine of ten cases.
pub(super) fn bands(bundle: &NewBundle) -> [i64; 4] {
    let bands = bundle.sketch.bands();
    std::array::from_fn(|n| bands.get(n).copied().unwrap_or_default())
}

/// The known capsule that a new one is most like, if that is worth a warning.
pub(super) fn most_similar(
    tx: &mut dyn Tx,
    node_id: &str,
    bundle: &NewBundle,
) -> Result<Option<(AssetId, f64, SimilarityVerdict)>> {
    let [a, b, c, d] = bands(bundle);
    let known = tx.query_all::<(AssetId, String, Vec<u8>)>(
        "SELECT s.asset_id, s.node_id, s.sketch FROM (
            SELECT band, sketch FROM sketch_bands WHERE band IN ($1, $2, $3, $4)
            ORDER BY band, sketch LIMIT 64) b JOIN sketches s ON s.seq = b.sketch
         JOIN assets a ON a.asset_id = s.asset_id WHERE a.status NOT IN ('revoked', 'rejected')",
        params![a, b, c, d],
    )?;
    let shingles = bundle.sketch.shingles();
    let judged = known.into_iter().filter_map(|(id, publisher, sketch)| {
        let likeness = bundle.sketch.estimate(&TextSketch::from_bytes(&sketch)?);
        let verdict = judge(likeness, publisher == node_id, shingles);
        (verdict != SimilarityVerdict::Fresh).then_some((id, likeness, verdict))
    });
    Ok(judged.max_by(|a, b| a.2.cmp(&b.2).then(a.1.total_cmp(&b.1)).then(b.0.cmp(&a.0))))
}

/// Remembers what capsules say.
pub(super) fn insert_sketches(tx: &mut dyn Tx, sketches: &[NewSketch<'_>]) -> Result<()> {
    let bytes: Vec<Vec<u8>> = sketches.iter().map(|new| new.bundle.sketch.to_bytes()).collect();
    let seqs = match tx.dialect() {
        Dialect::Sqlite => insert_one_by_one(tx, sketches, &bytes)?,
        Dialect::Postgres => insert_together(tx, sketches, &bytes)?,
    };
    let mut rows = RowBatch::default();
    for new in sketches {
        let id = &new.bundle.capsule.asset_id;
        let seq =
            *seqs.get(id).ok_or_else(|| crate::damaged(format!("The sketch of {id} was not stored.")))?;
        let mut bands = bands(new.bundle).to_vec();
        bands.sort_unstable();
        bands.dedup();
        bands.iter().for_each(|band| rows.push(params![*band, seq]));
    }
    rows.run(tx, INSERT_BANDS)?;
    Ok(())
}

/// SQLite would keep a journal for a statement that returns what it inserts.
fn insert_one_by_one(
    tx: &mut dyn Tx,
    sketches: &[NewSketch<'_>],
    bytes: &[Vec<u8>],
) -> Result<HashMap<AssetId, i64>> {
    let mut seqs = HashMap::new();
    for (new, bytes) in sketches.iter().zip(bytes) {
        let id = new.bundle.capsule.asset_id;
        tx.run(
            "INSERT INTO sketches (asset_id, node_id, sketch) VALUES ($1, $2, $3)",
            params![&id, new.node_id, bytes],
        )?;
        seqs.insert(id, tx.query_one("SELECT last_insert_rowid()", params![])?);
    }
    Ok(seqs)
}

fn insert_together(
    tx: &mut dyn Tx,
    sketches: &[NewSketch<'_>],
    bytes: &[Vec<u8>],
) -> Result<HashMap<AssetId, i64>> {
    let (mut rows, mut seqs) = (RowBatch::default(), HashMap::new());
    for (new, bytes) in sketches.iter().zip(bytes) {
        rows.push(params![&new.bundle.capsule.asset_id, new.node_id, bytes]);
    }
    let sql = RowsSql {
        sqlite: "",
        postgres: "INSERT INTO sketches (asset_id, node_id, sketch) SELECT * FROM unnest($1, $2, $3)
                   RETURNING asset_id, seq",
    };
    rows.query_each::<(AssetId, i64)>(tx, sql, |(id, seq)| {
        seqs.insert(id, seq);
        Ok(())
    })?;
    Ok(seqs)
}
