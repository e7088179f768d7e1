//! Embeddings: what an endpoint of the operator's choice makes of an asset's text, a list of numbers.
//!
//! Vectors of one model and of one length can be compared with each other and with no others. Which ones these are, and
//! how far the assets were walked through, is kept beside them. Whoever adds some holds that row, so that numbers are
//! given out in the order in which they can be seen: a hub that asks for what is new since a number misses nothing.

use crate::assets::id::AssetId;
use crate::assets::list::{BATCH, padded};
use crate::db::row::Json;
use crate::db::tx::{Param, Tx};
use crate::params;
use crate::{assets, damaged};
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::traits;
use capsid_rules::meaning::vectors;
use serde::{Deserialize, Serialize};

/// Assets whose embedding lies near that of a question, the nearest first, each with its similarity from -1 to 1.
pub type NearAssets = Vec<(AssetId, f64)>;

/// How many assets a step looks at.
const WINDOW: i64 = 2_000;

/// What can be compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    pub model: String,
    /// How many numbers each has; 0 while nobody knows.
    pub dims: i64,
}

/// How far the assets were walked through.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EmbeddingProgress {
    #[serde(flatten)]
    pub space: EmbeddingSpace,
    /// The place in the order of publication up to which every asset was looked at.
    pub reached: i64,
    pub begun_at: i64,
}

/// How far the assets were walked through, if anybody ever began.
pub fn progress(tx: &mut dyn Tx) -> Result<Option<EmbeddingProgress>> {
    let progress = tx.query_first::<Json<EmbeddingProgress>>(
        "SELECT value FROM meta WHERE key = 'embeddings'",
        params![],
    )?;
    Ok(progress.map(|Json(progress)| progress))
}

/// Assets that lack an embedding.
#[derive(Debug, Clone, Default)]
pub struct EmbeddingStep {
    pub found: Vec<MissingEmbedding>,
    /// Up to here every asset has an embedding once those that were found have one.
    pub reached: i64,
    /// Whether there is nothing behind it.
    pub is_end: bool,
}

/// An asset that lacks an embedding.
#[derive(Debug, Clone)]
pub struct MissingEmbedding {
    pub id: AssetId,
    /// What its embedding is made of.
    pub text: String,
    /// How often the endpoint made nothing of it.
    pub tries: i64,
}

/// Finds assets after a place that lack an embedding and can be found by anybody, the oldest first. Those that were set
/// aside are among them once they are due again.
pub fn lacking(
    tx: &mut dyn Tx,
    space: &EmbeddingSpace,
    after: i64,
    limit: usize,
    now: Time,
) -> Result<EmbeddingStep> {
    let (rows, last) = tx.query_one::<(i64, Option<i64>)>(
        "SELECT COUNT(*), MAX(w.seq) FROM (SELECT seq FROM assets WHERE seq > $1 ORDER BY seq LIMIT $2) w",
        params![after, WINDOW],
    )?;
    let last = last.unwrap_or(after);
    let ids = tx.query_all::<(i64, AssetId, i64)>(
        "SELECT a.seq, a.asset_id, COALESCE(e.tries, 0) FROM assets a
         LEFT JOIN embeddings e ON e.asset_id = a.asset_id AND e.model = $3 AND e.dims = $4
         WHERE a.seq > $1 AND a.seq <= $2 AND a.status IN ('candidate', 'promoted', 'stale')
            AND (e.asset_id IS NULL OR e.again_at <= $6)
         ORDER BY a.seq LIMIT $5",
        params![after, last, &space.model, space.dims, limit as i64, now],
    )?;
    let is_full = ids.len() >= limit;
    let reached = ids.last().filter(|_| is_full).map_or(last, |(seq, ..)| *seq);
    let mut found = Vec::with_capacity(ids.len());
    for (_, id, tries) in ids {
        found.push(MissingEmbedding { id, text: text(tx, &id)?, tries });
    }
    Ok(EmbeddingStep { found, reached, is_end: !is_full && rows < WINDOW })
}

fn text(tx: &mut dyn Tx, id: &AssetId) -> Result<String> {
    let unreadable = || damaged(format!("The body of the asset {id} is not a JSON object."));
    let body = assets::body(tx, id)?.ok_or_else(unreadable)?;
    let object: Object = serde_json::from_str(&body).map_err(|_| unreadable())?;
    Ok(traits::embedded_text(&object))
}

/// Whether an asset was published after a place.
pub fn is_behind(tx: &mut dyn Tx, reached: i64) -> Result<bool> {
    tx.exists("SELECT 1 FROM assets WHERE seq > $1 LIMIT 1", params![reached])
}

/// How many assets after a place lack an embedding, counted up to a bound. Those that were set aside are not counted.
pub fn count_lacking(tx: &mut dyn Tx, space: &EmbeddingSpace, after: i64, most: i64) -> Result<i64> {
    tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 FROM assets a
            WHERE a.seq > $1 AND a.status IN ('candidate', 'promoted', 'stale') AND NOT EXISTS
                (SELECT 1 FROM embeddings e WHERE e.asset_id = a.asset_id AND e.model = $2 AND e.dims = $3)
            LIMIT $4) l",
        params![after, &space.model, space.dims, most],
    )
}

/// What came of an asset's text.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbeddingOutcome {
    /// A vector of length 1.
    Vector(Vec<f32>),
    /// Nothing, for the asset says nothing.
    Silent,
    /// Nothing, for the endpoint does not take it. It is asked again at that time, having been asked so often.
    Aside {
        /// How often the endpoint made nothing of it.
        tries: i64,
        /// When it is asked again.
        again_at: Time,
    },
}

impl EmbeddingOutcome {
    /// The vector, where there is one.
    pub fn vector(&self) -> Option<&[f32]> {
        match self {
            Self::Vector(vector) => Some(vector),
            Self::Silent | Self::Aside { .. } => None,
        }
    }
}

/// An asset, and what came of its text.
pub type EmbeddedAsset = (AssetId, EmbeddingOutcome);

/// Keeps vectors, and how far the walk came. What another model made of the same assets is replaced.
pub fn put(tx: &mut dyn Tx, progress: &EmbeddingProgress, made: &[EmbeddedAsset], now: Time) -> Result<()> {
    let text = serde_json::to_string(progress).map_err(|error| damaged(error.to_string()))?;
    // This holds the row until the end, so one adds at a time.
    tx.run(
        "INSERT INTO meta (key, value) VALUES ('embeddings', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        params![&text],
    )?;
    let EmbeddingSpace { model, dims } = &progress.space;
    for (id, outcome) in made {
        tx.run(
            "DELETE FROM embeddings WHERE asset_id = $1 AND (model <> $2 OR dims <> $3 OR vector IS NULL)",
            params![id, model, *dims],
        )?;
        let signs = outcome.vector().map(|vector| vectors::signs_to_bytes(&vectors::signs(vector)));
        let bytes = outcome.vector().map(vectors::to_bytes);
        let (tries, again_at) = match outcome {
            EmbeddingOutcome::Aside { tries, again_at } => (*tries, Some(*again_at)),
            EmbeddingOutcome::Vector(_) | EmbeddingOutcome::Silent => (0, None),
        };
        tx.run(
            "INSERT INTO embeddings (asset_id, model, dims, made_at, signs, vector, tries, again_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (asset_id) DO NOTHING",
            params![id, model, *dims, now, signs.as_deref(), bytes.as_deref(), tries, again_at],
        )?;
    }
    Ok(())
}

/// The signs of vectors after a number, in the order of the numbers.
pub fn page(tx: &mut dyn Tx, space: &EmbeddingSpace, after: i64, limit: i64) -> Result<Vec<(i64, Vec<u64>)>> {
    let rows = tx.query_all::<(i64, Vec<u8>)>(
        "SELECT seq, signs FROM embeddings WHERE seq > $1 AND model = $2 AND dims = $3 AND signs IS NOT NULL
         ORDER BY seq LIMIT $4",
        params![after, &space.model, space.dims, limit],
    )?;
    let bytes = vectors::width(space.dims as usize) * 8;
    let signs = |(seq, signs): (i64, Vec<u8>)| match signs.len() == bytes {
        true => Ok((seq, vectors::signs_of_bytes(&signs).collect())),
        false => {
            Err(damaged(format!("The signs of the embedding {seq} have {} bytes, not {bytes}.", signs.len())))
        }
    };
    rows.into_iter().map(signs).collect()
}

/// Vectors by their numbers. Those that are no longer there are left out.
pub fn vectors(tx: &mut dyn Tx, space: &EmbeddingSpace, seqs: &[i64]) -> Result<Vec<(AssetId, Vec<f32>)>> {
    let mut embedded = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(BATCH) {
        let rows = tx.query_all::<(AssetId, Vec<u8>)>(
            "SELECT asset_id, vector FROM embeddings WHERE seq IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
                $13, $14, $15, $16, $17, $18, $19, $20)",
            &padded(some, |seq| Param::from(*seq)))?;
        for (id, vector) in rows {
            if vector.len() as i64 != space.dims * 4 {
                let length = vector.len();
                return Err(damaged(format!(
                    "The embedding of the asset {id} has {length} bytes, not four for each of {}.",
                    space.dims
                )));
            }
            embedded.push((id, vectors::from_bytes(&vector)));
        }
    }
    Ok(embedded)
}
