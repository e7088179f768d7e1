//! Having embeddings made of assets that lack one: so many texts at a time, the endpoint never asked inside
//! of a transaction. The walk goes through the assets in the order of publication and remembers where it is;
//! from time to time it begins anew, for an asset may have been held back when it came by.

use super::client::{EmbeddingClient, EmbeddingError};
use super::{Embedder, EmbedderParts, PROBE, in_space, outcome};
use capsid_model::backoff::BackoffPolicy;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::db::tx::Dialect;
use capsid_store::search::embeddings;
use capsid_store::search::embeddings::{
    EmbeddedAsset, EmbeddingOutcome, EmbeddingProgress, MissingEmbedding,
};
use capsid_store::system::jobs;
use tokio::time::Instant;

/// Its name in the database and in the log.
pub const NAME: &str = "embedding";
/// How often the endpoint is asked in one run; others may take the job between two.
const MAX_BATCHES: usize = 20;
/// How many steps a run takes at most, most of which find nothing to do.
const MAX_STEPS: usize = 250;
/// How many texts of a batch are set aside before others may take the job.
const MAX_ASIDE: usize = 8;
/// How long writing may take between two calls.
const MARGIN_MS: i64 = 10_000;
/// When the next run may begin.
const NEXT_MS: i64 = 1_000;
/// How often the walk begins anew.
const ANEW_MS: i64 = 6 * 3_600_000;
/// How far back a missed asset is looked for: the writers of PostgreSQL do not finish in the order they
/// began.
const LATE: i64 = 1_000;

/// How long the endpoint is left alone.
const PAUSES: BackoffPolicy = BackoffPolicy::doubling(5_000, 600_000);
/// How long a text is set aside that it does not take. A walk has to come by, so it may take longer.
const ASIDE: BackoffPolicy = BackoffPolicy::doubling(ANEW_MS, 30 * 24 * 3_600_000);

/// What came of a batch.
#[derive(Default)]
struct EmbeddingBatchOutcome {
    made: Vec<EmbeddedAsset>,
    /// What is wrong with the endpoint.
    fault: Option<EmbeddingError>,
    /// Whether texts are left that were not asked for.
    is_cut: bool,
}

impl Embedder {
    /// For how long a hub has the job once it took it; 0 where nothing is configured.
    pub fn interval_ms(&self) -> i64 {
        if self.client.is_some() { self.patience.as_millis() as i64 + MARGIN_MS } else { 0 }
    }

    /// Whether there is something to do and the endpoint may be asked. Only reads.
    pub async fn is_needed(&self) -> Result<bool> {
        let now = self.parts.now();
        if self.client.is_none() || self.texts.is_resting(now) {
            return Ok(false);
        }
        let wanted = self.wanted.clone();
        self.parts
            .store
            .read(move |tx| match in_space(embeddings::progress(tx)?, &wanted) {
                Some(progress) if !is_over(&progress, now) => embeddings::is_behind(tx, progress.reached),
                _ => embeddings::is_behind(tx, 0),
            })
            .await
    }

    /// Has embeddings made, and tells of how many assets.
    pub async fn run(&self) -> Result<u64> {
        let Some(client) = &self.client else { return Ok(0) };
        let mut walk = self.begin().await?;
        let mut done = 0;
        let (mut asked, mut is_end, mut is_written) = (0, false, true);
        for _ in 0..MAX_STEPS {
            if is_end || asked == MAX_BATCHES || *self.parts.closing.borrow() {
                break;
            }
            let (space, after) = (walk.space.clone(), walk.reached);
            let size = (self.batch >> self.texts.failures().clamp(0, 7)).max(1);
            let now = self.parts.now();
            let step =
                self.parts.store.read(move |tx| embeddings::lacking(tx, &space, after, size, now)).await?;
            is_end = step.is_end;
            if step.found.is_empty() {
                (walk.reached, is_written) = (step.reached, false);
                continue;
            }
            asked += 1;
            let EmbeddingBatchOutcome { made, fault, is_cut } =
                self.embed_batch(client, &mut walk.space.dims, &step.found).await?;
            if fault.is_none() && !is_cut {
                walk.reached = step.reached;
            }
            done += made.iter().filter(|(_, outcome)| outcome.vector().is_some()).count() as u64;
            // As long as a new model made nothing, nothing of the old one is given up.
            if fault.is_none() || walk.space.dims > 0 {
                self.save_embeddings(&walk, made).await?;
            }
            is_written = true;
            match fault {
                None => self.texts.worked(),
                Some(fault) => {
                    self.pause_texts(fault);
                    break;
                }
            }
            if is_cut {
                break;
            }
        }
        if !is_written {
            self.save_embeddings(&walk, Vec::new()).await?;
        }
        self.lease_job(NEXT_MS).await?;
        Ok(done)
    }

    /// Where the walk goes on.
    async fn begin(&self) -> Result<EmbeddingProgress> {
        let now = self.parts.now();
        let back = if self.parts.store.dialect() == Dialect::Postgres { LATE } else { 0 };
        let known = in_space(self.parts.store.read(embeddings::progress).await?, &self.wanted);
        let space = known.as_ref().map_or_else(|| self.wanted.clone(), |known| known.space.clone());
        Ok(match known.filter(|known| !is_over(known, now)) {
            Some(known) => EmbeddingProgress { reached: (known.reached - back).max(0), ..known },
            None => EmbeddingProgress { space, reached: 0, begun_at: now.0 },
        })
    }

    /// Keeps other hubs from the job for a while.
    async fn lease_job(&self, ms: i64) -> Result<()> {
        let until = Time(self.parts.now().0.saturating_add(ms));
        self.parts.store.write(move |tx| jobs::lease_job(tx, NAME, until)).await
    }

    async fn save_embeddings(&self, walk: &EmbeddingProgress, made: Vec<EmbeddedAsset>) -> Result<()> {
        let (walk, now) = (walk.clone(), self.parts.now());
        self.parts.store.write(move |tx| embeddings::put(tx, &walk, &made, now)).await
    }

    /// Leaves the endpoint alone for a while, each time for longer, or for as long as it says.
    fn pause_texts(&self, fault: EmbeddingError) {
        let pause = match fault.pause_told() {
            Some(told) => told.max(NEXT_MS),
            None => PAUSES.random_pause_ms(self.texts.failures() + 1, chance(&self.parts)),
        };
        self.texts.failed(fault, pause, self.parts.now());
    }

    /// Has embeddings made of texts, and tells what went wrong on the way. An asset that says nothing gets
    /// none, and one whose text the endpoint does not take is set aside: neither keeps the others waiting.
    async fn embed_batch(
        &self,
        client: &EmbeddingClient,
        dims: &mut i64,
        found: &[MissingEmbedding],
    ) -> Result<EmbeddingBatchOutcome> {
        let (saying, silent): (Vec<_>, Vec<_>) = found.iter().partition(|asset| !asset.text.is_empty());
        let mut batch = EmbeddingBatchOutcome::default();
        batch.made.extend(silent.into_iter().map(|asset| (asset.id, EmbeddingOutcome::Silent)));
        let texts: Vec<&str> = saying.iter().map(|asset| asset.text.as_str()).collect();
        match self.request_batch(client, dims, &texts).await? {
            Ok(vectors) => {
                let made = saying.iter().zip(vectors);
                batch.made.extend(made.map(|(asset, vector)| (asset.id, EmbeddingOutcome::Vector(vector))));
            }
            Err(fault) if is_suspect(fault, texts.len()) => {
                self.embed_one_by_one(client, dims, &saying, &mut batch).await?;
            }
            Err(fault) => batch.fault = Some(fault),
        }
        Ok(batch)
    }

    /// One text after another, to find the one that is not taken. Whether the endpoint takes anything at all
    /// is seen by a plain text after each that it did not take.
    async fn embed_one_by_one(
        &self,
        client: &EmbeddingClient,
        dims: &mut i64,
        assets: &[&MissingEmbedding],
        batch: &mut EmbeddingBatchOutcome,
    ) -> Result<()> {
        let mut aside = 0;
        for asset in assets {
            if aside == MAX_ASIDE {
                batch.is_cut = true;
                break;
            }
            let fault = match self.request_batch(client, dims, &[&asset.text]).await? {
                Ok(vectors) => {
                    batch.made.extend(
                        vectors.into_iter().map(|vector| (asset.id, EmbeddingOutcome::Vector(vector))),
                    );
                    continue;
                }
                Err(fault) => fault,
            };
            let of_endpoint = match is_suspect(fault, assets.len()) {
                true => self.request_batch(client, dims, &[PROBE]).await?.err(),
                false => Some(fault),
            };
            if of_endpoint.is_some() {
                batch.fault = of_endpoint;
                break;
            }
            aside += 1;
            batch.made.push((asset.id, skip_asset(&self.parts, asset, fault)));
        }
        Ok(())
    }

    /// Asks the endpoint, and keeps other hubs from doing the same meanwhile. The first answer settles how
    /// many numbers all others have.
    async fn request_batch(
        &self,
        client: &EmbeddingClient,
        dims: &mut i64,
        texts: &[&str],
    ) -> Result<std::result::Result<Vec<Vec<f32>>, EmbeddingError>> {
        if texts.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        self.lease_job(self.interval_ms()).await?;
        let began = Instant::now();
        let asked = client.embed(texts, *dims as usize, self.patience).await;
        self.parts.telemetry.embeddings_asked("texts", outcome(&asked), began.elapsed());
        if let Some(first) = asked.as_ref().ok().and_then(|vectors| vectors.first()) {
            *dims = first.len() as i64;
        }
        Ok(asked)
    }
}

/// Whether a fault may be that of a text, of so many that were asked for. A batch that takes too long becomes
/// smaller each time, until one text is left that may be what takes so long.
fn is_suspect(fault: EmbeddingError, texts: usize) -> bool {
    fault.may_lie_in_the_text() || (texts == 1 && fault.is_request_fault())
}

/// Sets an asset aside whose text the endpoint does not take, each time for longer.
fn skip_asset(parts: &EmbedderParts, asset: &MissingEmbedding, fault: EmbeddingError) -> EmbeddingOutcome {
    let tries = asset.tries.saturating_add(1);
    let again_at = Time(parts.now().0.saturating_add(ASIDE.random_pause_ms(tries, chance(parts))));
    tracing::warn!(
        asset = %asset.id, code = fault.as_str(), tries, %again_at,
        "the endpoint makes no embedding of an asset"
    );
    EmbeddingOutcome::Aside { tries, again_at }
}

fn chance(parts: &EmbedderParts) -> u64 {
    let mut chance = [0; 8];
    parts.random.fill(&mut chance);
    u64::from_le_bytes(chance)
}

/// Whether a walk began so long ago that the next one is due.
fn is_over(progress: &EmbeddingProgress, now: Time) -> bool {
    !(0..ANEW_MS).contains(&(now.0 - progress.begun_at))
}
