//! Which embeddings lie near a question. The signs of all of them are held in memory and looked through; the
//! few hundred that are nearest by that are fetched from the database and compared exactly.

use super::{EmbedderParts, in_space};
use capsid_model::problem::{Code, Problem, Result};
use capsid_rules::meaning::vectors;
use capsid_store::search::embeddings;
use capsid_store::search::embeddings::{EmbeddingProgress, EmbeddingSpace, NearAssets};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::Mutex;

/// How many are loaded at once.
const PAGE: i64 = 2_000;
/// How many are compared exactly.
const COMPARED: usize = 300;
/// How many are given.
const GIVEN: usize = 100;

/// The signs of all embeddings.
#[derive(Default)]
pub struct EmbeddingIndex {
    loaded: Arc<RwLock<LoadedSigns>>,
    /// One loads at a time.
    turn: Mutex<()>,
}

#[derive(Default)]
struct LoadedSigns {
    space: EmbeddingSpace,
    seqs: Vec<i64>,
    /// Their signs, one after another.
    signs: Vec<u64>,
}

impl EmbeddingIndex {
    fn read(&self) -> RwLockReadGuard<'_, LoadedSigns> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be compared with what is loaded; nothing while there is nothing.
    pub fn space(&self) -> Option<EmbeddingSpace> {
        let loaded = self.read();
        (!loaded.seqs.is_empty()).then(|| loaded.space.clone())
    }

    pub fn count(&self) -> i64 {
        self.read().seqs.len() as i64
    }

    /// Loads what is new. What was loaded stays when this is given up halfway.
    pub async fn catch_up(&self, parts: &EmbedderParts, wanted: &EmbeddingSpace) -> Result<()> {
        loop {
            let _turn = self.turn.lock().await;
            let (known, last) = {
                let loaded = self.read();
                (loaded.space.clone(), loaded.seqs.last().copied().unwrap_or_default())
            };
            let wanted = wanted.clone();
            let (space, page) = parts
                .store
                .read::<_, Problem, _>(move |tx| {
                    let Some(EmbeddingProgress { space, .. }) = in_space(embeddings::progress(tx)?, &wanted)
                    else {
                        return Ok((EmbeddingSpace::default(), Vec::new()));
                    };
                    let after = if space == known { last } else { 0 };
                    let page = embeddings::page(tx, &space, after, PAGE)?;
                    Ok((space, page))
                })
                .await?;
            let is_end = (page.len() as i64) < PAGE;
            let count = self.add(space, page);
            parts.telemetry.embeddings_loaded(count);
            if is_end {
                return Ok(());
            }
        }
    }

    fn add(&self, space: EmbeddingSpace, page: Vec<(i64, Vec<u64>)>) -> usize {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.space != space {
            *loaded = LoadedSigns { space, ..LoadedSigns::default() };
        }
        for (seq, signs) in page {
            loaded.seqs.push(seq);
            loaded.signs.extend(signs);
        }
        loaded.seqs.len()
    }

    /// What lies near a question, the nearest first.
    pub async fn nearest(
        &self,
        parts: &EmbedderParts,
        space: &EmbeddingSpace,
        question: &Arc<Vec<f32>>,
    ) -> Result<NearAssets> {
        let (loaded, of, asked) = (Arc::clone(&self.loaded), space.clone(), Arc::clone(question));
        // Looking through a million takes longer than others should wait for this thread.
        let seqs = tokio::task::spawn_blocking(move || {
            let loaded = loaded.read().unwrap_or_else(PoisonError::into_inner);
            if loaded.space != of {
                return Vec::new();
            }
            let closest = vectors::closest(&vectors::signs(&asked), &loaded.signs, COMPARED);
            closest.into_iter().filter_map(|at| loaded.seqs.get(at).copied()).collect::<Vec<i64>>()
        });
        let seqs = seqs.await.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        let (space, question) = (space.clone(), Arc::clone(question));
        let compared: NearAssets = parts
            .store
            .read::<_, Problem, _>(move |tx| {
                let found = embeddings::vectors(tx, &space, &seqs)?;
                Ok(found.into_iter().map(|(id, vector)| (id, vectors::cosine(&question, &vector))).collect())
            })
            .await?;
        Ok(vectors::ranked(compared, GIVEN))
    }
}
