//! Embeddings, where the operator named an endpoint that makes them.
//!
//! `client` asks the endpoint and believes little. `job` has embeddings made of assets that lack one. `index`
//! knows which assets lie near a question. `circuit_breaker` is how long a failing endpoint is left alone. Searches go
//! on without all of it.

mod circuit_breaker;
pub mod client;
mod index;
mod job;
mod query_cache;

use crate::config::SearchConfig;
use crate::outbound::resolve::Resolver;
use crate::random::Random;
use crate::runtime::telemetry::Telemetry;
use capsid_model::problem::{Problem, Result};
use capsid_model::text;
use capsid_model::time::{Clock, Time};
use capsid_rules::assets::traits::EMBEDDED_LIMIT;
use capsid_store::Store;
use capsid_store::search::embeddings;
use capsid_store::search::embeddings::{EmbeddingProgress, EmbeddingSpace, NearAssets};
use circuit_breaker::CircuitBreaker;
use client::{EmbeddingClient, EmbeddingError};
use index::EmbeddingIndex;
use query_cache::QueryCache;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};

/// How long a question waits in all.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits for embeddings that are new.
const CATCHING_UP: Duration = Duration::from_millis(500);
/// How long the endpoint is not asked questions after it failed.
const REST_MS: i64 = 30_000;
/// After how many questions in a row that failed, each perhaps by its own fault, a plain text is asked.
const SUSPECTS: usize = 3;
/// How long that text is waited for at the least.
const PROBED: Duration = Duration::from_millis(250);
/// What the endpoint is asked to find out whether it is the text that it does not take.
const PROBE: &str = "A text that every model takes.";
/// How many questions are asked at one time.
const BATCH: usize = 8;
/// How many assets that lack an embedding are counted.
const COUNTED: i64 = 10_000;

/// What the embedder shares with the hub that owns it.
pub struct EmbedderParts {
    pub store: Arc<Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub resolver: Arc<dyn Resolver>,
    pub telemetry: Arc<Telemetry>,
    /// Becomes true when the hub stops.
    pub closing: watch::Receiver<bool>,
}

impl EmbedderParts {
    fn now(&self) -> Time {
        self.clock.now()
    }
}

/// Has embeddings made and finds what lies near.
pub struct Embedder {
    parts: EmbedderParts,
    client: Option<EmbeddingClient>,
    wanted: EmbeddingSpace,
    batch: usize,
    patience: Duration,
    index: EmbeddingIndex,
    recent: QueryCache,
    room: Semaphore,
    questions: CircuitBreaker,
    texts: CircuitBreaker,
}

/// How it stands with embeddings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedderState {
    /// Whether there is an endpoint.
    pub configured: bool,
    pub model: Option<String>,
    /// How many numbers an embedding has, once one was made.
    pub dims: Option<i64>,
    /// How many assets have one, as far as they are loaded.
    pub embedded: i64,
    /// How many lack one, counted up to 10,000.
    pub lacking: i64,
    /// Why the endpoint could not be used last time; nothing where it could.
    pub last_error: Option<&'static str>,
    /// Whether everything works. It does where nothing is configured.
    pub ok: bool,
}

impl Embedder {
    /// As the settings say: without an endpoint nothing is ever sent.
    pub fn new(settings: &SearchConfig, parts: EmbedderParts) -> Self {
        Self {
            client: EmbeddingClient::new(settings, Arc::clone(&parts.resolver)),
            wanted: EmbeddingSpace {
                model: settings.embeddings_model.clone(),
                dims: settings.embeddings_dimensions as i64,
            },
            batch: settings.embeddings_batch.max(1),
            patience: Duration::from_millis(settings.embeddings_timeout_ms.max(1).unsigned_abs()),
            index: EmbeddingIndex::default(),
            recent: QueryCache::default(),
            room: Semaphore::new(BATCH),
            questions: CircuitBreaker::new("questions are answered without embeddings"),
            texts: CircuitBreaker::new("assets get no embeddings for now"),
            parts,
        }
    }

    /// Assets that lie near a question. There are none where nothing is configured, where the endpoint does
    /// not answer in time and where it failed a moment ago: whoever asks goes on without.
    pub async fn find_near(&self, words: &str) -> NearAssets {
        let Some(client) = &self.client else { return NearAssets::new() };
        let words = text::collapse(words);
        let words = text::cut(&words, EMBEDDED_LIMIT);
        if words.is_empty() {
            return NearAssets::new();
        }
        let until = Instant::now() + PATIENCE;
        // What could not be loaded in time is loaded for the next question.
        let _late = timeout(CATCHING_UP, self.catch_up()).await;
        let Some(space) = self.index.space() else { return NearAssets::new() };
        let Some(question) = self.question(client, words, &space, until).await else {
            return NearAssets::new();
        };
        match timeout_at(until, self.index.nearest(&self.parts, &space, &question)).await {
            Ok(Ok(near)) => near,
            Ok(Err(problem)) => {
                tracing::warn!(%problem, "embeddings could not be compared");
                NearAssets::new()
            }
            Err(_) => NearAssets::new(),
        }
    }

    /// Loads embeddings that are new, so that no question has to wait for it.
    pub async fn catch_up(&self) {
        if self.client.is_none() {
            return;
        }
        if let Err(problem) = self.index.catch_up(&self.parts, &self.wanted).await {
            tracing::warn!(%problem, "embeddings could not be loaded");
        }
    }

    /// The embedding of a question: as it was a moment ago, or from the endpoint.
    async fn question(
        &self,
        client: &EmbeddingClient,
        words: &str,
        space: &EmbeddingSpace,
        until: Instant,
    ) -> Option<Arc<Vec<f32>>> {
        let dims = space.dims as usize;
        if let Some(known) = self.recent.get(words, dims, self.parts.now()) {
            return known;
        }
        if self.questions.is_resting(self.parts.now()) {
            return None;
        }
        let _permit = timeout_at(until, self.room.acquire()).await.ok()?.ok()?;
        match self.request_with_timeout(client, words, dims, until).await {
            Ok(vector) => {
                self.questions.worked();
                self.recent.insert(words, Arc::clone(&vector));
                Some(vector)
            }
            Err(fault) if fault.may_lie_in_the_text() => {
                self.recent.mark_failed(words, self.parts.now());
                self.probe_endpoint(client, dims, until).await;
                None
            }
            Err(fault) => {
                self.pause_questions(fault);
                None
            }
        }
    }

    /// Whoever asks what the endpoint does not take must not be able to switch it off for others. So one
    /// question that failed says nothing, and after several in a row a plain text tells whether it is the
    /// endpoint that fails.
    async fn probe_endpoint(&self, client: &EmbeddingClient, dims: usize, until: Instant) {
        if self.questions.suspect() < SUSPECTS || until.saturating_duration_since(Instant::now()) < PROBED {
            return;
        }
        match self.request_with_timeout(client, PROBE, dims, until).await {
            Ok(_) => self.questions.worked(),
            Err(fault) => self.pause_questions(fault),
        }
    }

    fn pause_questions(&self, fault: EmbeddingError) {
        let pause = fault.pause_told().unwrap_or_default().max(REST_MS);
        self.questions.failed(fault, pause, self.parts.now());
    }

    async fn request_with_timeout(
        &self,
        client: &EmbeddingClient,
        words: &str,
        dims: usize,
        until: Instant,
    ) -> std::result::Result<Arc<Vec<f32>>, EmbeddingError> {
        let began = Instant::now();
        let patience = until.saturating_duration_since(began).min(self.patience);
        let asked = client.embed(&[words], dims, patience).await;
        self.parts.telemetry.embeddings_asked("question", outcome(&asked), began.elapsed());
        // As many come as were asked for.
        asked?.into_iter().next().map(Arc::new).ok_or(EmbeddingError::Unusable("wrong_count"))
    }

    /// How it stands.
    pub async fn state(&self) -> Result<EmbedderState> {
        if self.client.is_none() {
            return Ok(EmbedderState {
                configured: false,
                model: None,
                dims: None,
                embedded: 0,
                lacking: 0,
                last_error: None,
                ok: true,
            });
        }
        let wanted = self.wanted.clone();
        let _late = timeout(CATCHING_UP, self.catch_up()).await;
        let (progress, lacking) = self
            .parts
            .store
            .read::<_, Problem, _>(move |tx| {
                let progress = in_space(embeddings::progress(tx)?, &wanted);
                let EmbeddingProgress { space, reached, .. } = progress
                    .clone()
                    .unwrap_or(EmbeddingProgress { space: wanted.clone(), ..EmbeddingProgress::default() });
                let lacking = embeddings::count_lacking(tx, &space, reached, COUNTED)?;
                Ok((progress, lacking))
            })
            .await?;
        // Nobody may ask anything for days, so a question's failure counts as long as no other is let through.
        let of_question = self.questions.last_error().filter(|_| self.questions.is_resting(self.parts.now()));
        let last_error = self.texts.last_error().or(of_question);
        Ok(EmbedderState {
            configured: true,
            model: Some(self.wanted.model.clone()),
            dims: progress.map(|progress| progress.space.dims).filter(|dims| *dims > 0),
            embedded: self.index.count(),
            lacking,
            last_error,
            ok: last_error.is_none(),
        })
    }
}

/// How far a walk came, if it was for what is wanted.
fn in_space(progress: Option<EmbeddingProgress>, wanted: &EmbeddingSpace) -> Option<EmbeddingProgress> {
    progress.filter(|progress| {
        progress.space.model == wanted.model && (wanted.dims == 0 || progress.space.dims == wanted.dims)
    })
}

fn outcome<T>(asked: &std::result::Result<T, EmbeddingError>) -> &'static str {
    match asked {
        Ok(_) => "made",
        Err(fault) => fault.as_str(),
    }
}
