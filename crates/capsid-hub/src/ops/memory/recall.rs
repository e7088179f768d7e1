//! A node is reminded of what it has learned.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::ApiResult;
use crate::http::traced_id;
use crate::http::validate;
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_rules::meaning::terms;
use capsid_rules::meaning::{self, MeaningTerms, SearchableText, TermFrequencies};
use capsid_store::memory::{self, MemoryRow, NewMemory};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How far back a recall looks.
const LOOKED_AT: i64 = 2000;
/// How many signals of a memory say what it means.
const TELLING_SIGNALS: usize = 12;
/// How many signals of a memory are compared as they stand, and how many of a question.
const KNOWN_SIGNALS: usize = 32;
const ASKED_SIGNALS: usize = 16;
/// How much of each text of a memory does, in characters.
const TELLING_TEXT: usize = 400;
/// What a signal is worth that a memory answers by its meaning alone; one that it has is worth 1.
const BY_MEANING: f64 = 0.5;

/// What is to be recalled.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Recall)]
pub struct RecallMemoryRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    query: Option<String>,
    signals: Option<Vec<String>>,
    limit: Option<f64>,
}

/// Memories that were recalled, the best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Recalled)]
pub struct RecallMemoryResponse {
    matches: Vec<MemoryMatchView>,
    #[schema(value_type = i64)]
    count: usize,
    /// The signals that were asked for, or the words of the query.
    signals_extracted: Vec<String>,
}

/// A memory that was recalled.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecalledMemory)]
struct MemoryMatchView {
    signals: Vec<String>,
    #[schema(required)]
    gene_id: Option<String>,
    outcome: MemoryOutcomeView,
    /// How much of the question it answers, from 0 to 1.
    score: f64,
    /// When it was recorded.
    ts: String,
}

/// How it ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecalledOutcome)]
struct MemoryOutcomeView {
    #[schema(required)]
    status: Option<String>,
    #[schema(required)]
    score: Option<f64>,
    #[schema(required)]
    summary: Option<String>,
}

impl MemoryMatchView {
    fn new(score: f64, remembered: &MemoryRow) -> Self {
        let memory = remembered.memory.clone();
        Self {
            signals: memory.signals,
            gene_id: memory.gene_id,
            outcome: MemoryOutcomeView {
                status: memory.status,
                score: memory.score,
                summary: memory.summary,
            },
            score,
            ts: remembered.at.iso(),
        }
    }
}

/// Recalls a node's own memories, best first: by signals, and by the words of a query.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn recall_memory(
    hub: &Hub,
    credentials: Credentials,
    request: RecallMemoryRequest,
) -> ApiResult<RecallMemoryResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    validate::text_or(request.query.as_deref(), "query", 4000)?;
    let signals = request.signals.unwrap_or_default();
    validate::list(&signals, "signals", 50, 2000)?;
    let most = request.limit.unwrap_or(10.0).clamp(1.0, 50.0) as usize;
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let who = node_id.clone();
    let memories = sender.read(hub, move |tx, _| Ok(memory::newest(tx, &who, LOOKED_AT)?)).await?;
    let question = RecallQuery::new(&signals, request.query.as_deref().unwrap_or_default());
    // Many memories take a while to compare, and others wait for this thread.
    let (matches, words) = tokio::task::spawn_blocking(move || {
        let best = question.best(&memories, most).into_iter();
        let matches: Vec<_> =
            best.map(|(score, remembered)| MemoryMatchView::new(score, remembered)).collect();
        (matches, question.words)
    })
    .await
    .unwrap_or_default();
    let signals_extracted = if signals.is_empty() { words } else { signals };
    Ok(RecallMemoryResponse { count: matches.len(), matches, signals_extracted })
}

/// What memories are compared with.
struct RecallQuery {
    signals: Vec<(terms::SignalQuery, meaning::SemanticQuestion)>,
    words: Vec<String>,
    meant: meaning::SemanticQuestion,
}

impl RecallQuery {
    fn new(signals: &[String], query: &str) -> Self {
        let of_signal = |signal: &String| {
            (
                terms::signal_query_terms(signal),
                meaning::SemanticQuestion::parse("", std::slice::from_ref(signal)),
            )
        };
        Self {
            signals: signals.iter().take(ASKED_SIGNALS).map(of_signal).collect(),
            words: terms::query_words(query),
            meant: meaning::SemanticQuestion::parse(query, &[]),
        }
    }

    /// A word weighs as much as a signal.
    fn word_weight(&self) -> f64 {
        let count = if self.meant.is_empty() { 0 } else { self.words.len().max(1) };
        count as f64
    }

    /// The memories that answer best; of equals the newer.
    fn best<'m>(&self, memories: &'m [MemoryRow], most: usize) -> Vec<(f64, &'m MemoryRow)> {
        let known: Vec<MemoryKeys> =
            memories.iter().map(|remembered| MemoryKeys::from_memory(&remembered.memory)).collect();
        let judge = MemoryScorer::new(self, &known);
        let mut found: Vec<_> = known
            .iter()
            .zip(memories)
            .map(|(known, remembered)| (judge.score(known), remembered))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // They come newest first, and the sort keeps the order of equals.
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.truncate(most);
        found
    }
}

/// What a memory is found by.
struct MemoryKeys {
    terms: Vec<String>,
    meaning: MeaningTerms,
}

impl MemoryKeys {
    fn from_memory(memory: &NewMemory) -> Self {
        let cut = |text| capsid_model::text::cut(text, TELLING_TEXT);
        let signals: Vec<&str> =
            memory.signals.iter().take(KNOWN_SIGNALS).map(|signal| cut(signal.as_str())).collect();
        let telling = signals.get(..TELLING_SIGNALS).unwrap_or(&signals);
        let gene = memory.gene_id.as_deref().unwrap_or_default();
        let summary = memory.summary.as_deref().unwrap_or_default();
        Self {
            terms: terms::asset_terms(&signals, cut(summary), &[cut(gene)]),
            meaning: MeaningTerms::parse(&SearchableText {
                signals: telling,
                title: cut(summary),
                body: cut(gene),
            }),
        }
    }
}

/// A question together with all that may answer it.
struct MemoryScorer<'q> {
    signals: Vec<(&'q terms::SignalQuery, RecallQueryPart<'q>)>,
    words: (f64, RecallQueryPart<'q>),
}

impl<'q> MemoryScorer<'q> {
    fn new(question: &'q RecallQuery, known: &[MemoryKeys]) -> Self {
        let mut corpus = TermFrequencies { texts: known.len() as u64, ..TermFrequencies::default() };
        for term in known.iter().flat_map(|known| known.meaning.terms()) {
            *corpus.counts.entry(term.to_owned()).or_default() += 1;
        }
        let signals =
            question.signals.iter().map(|(signal, meant)| (signal, RecallQueryPart::new(meant, &corpus)));
        let words = (question.word_weight(), RecallQueryPart::new(&question.meant, &corpus));
        Self { signals: signals.collect(), words }
    }

    /// How much of the question a memory answers, from 0 to 1. What it has as it is asked wins over what is only meant.
    fn score(&self, known: &MemoryKeys) -> f64 {
        let by_signal = self.signals.iter().map(|(signal, meant)| match signal.matches(&known.terms) {
            true => 1.0,
            false => BY_MEANING * meant.share(known),
        });
        let (weight, meant) = &self.words;
        let asked = (self.signals.len() as f64 + weight).max(1.0);
        crate::ops::assets::view::rounded((by_signal.sum::<f64>() + weight * meant.share(known)) / asked)
    }
}

/// A part of a question that is prepared for many memories.
struct RecallQueryPart<'q> {
    judge: meaning::TextScorer<'q>,
    /// What the best answer would score.
    perfect: f64,
}

impl<'q> RecallQueryPart<'q> {
    fn new(meant: &'q meaning::SemanticQuestion, corpus: &TermFrequencies) -> Self {
        let judge = meaning::TextScorer::new(meant, corpus);
        // What no memory has is not held against any.
        let known = meant.terms.iter().filter(|asked| corpus.counts.contains_key(&asked.term));
        let all: Vec<String> = known.map(|asked| asked.term.clone()).collect();
        let meaning = MeaningTerms { signals: all.clone(), title: all.clone(), body: all };
        let perfect = judge.score(&meaning).map_or(0.0, |answer| answer.score);
        Self { judge, perfect }
    }

    /// How much of it a memory answers, from 0 to 1.
    fn share(&self, known: &MemoryKeys) -> f64 {
        let answer = self.judge.score(&known.meaning);
        answer.map_or(0.0, |answer| answer.score / self.perfect.max(answer.score))
    }
}

/// Whose memories are counted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MemoryStatusParams {
    /// The node.
    node_id: Option<String>,
}

/// How many memories a node has.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MemoryCounts)]
pub struct MemoryStatusResponse {
    node_id: String,
    total: i64,
    success: i64,
    failed: i64,
    #[schema(required)]
    last_recorded_at: Option<String>,
}

/// Counts a node's memories.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn show_memory_status(
    hub: &Hub,
    credentials: &Credentials,
    params: MemoryStatusParams,
) -> ApiResult<MemoryStatusResponse> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let who = node_id.clone();
    let counts = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, _| Ok(memory::counts(tx, &who)?))
        .await?;
    Ok(MemoryStatusResponse {
        node_id,
        total: counts.total,
        success: counts.succeeded,
        failed: counts.failed,
        last_recorded_at: counts.newest_at.map(|at| Time(at).iso()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(signals: &[&str], summary: &str, at: i64) -> MemoryRow {
        let signals = signals.iter().map(|signal| (*signal).to_owned()).collect();
        let memory = NewMemory { signals, summary: Some(summary.to_owned()), ..NewMemory::default() };
        MemoryRow { memory, at: Time(at) }
    }

    #[test]
    fn what_answers_more_of_the_question_comes_first_and_of_equals_the_newer() {
        let memories = [
            remembered(&["timeout"], "new", 3),
            remembered(&["timeout"], "old", 2),
            remembered(&["timeout", "log_error"], "both", 1),
            remembered(&["unrelated"], "neither", 0),
        ];
        let question = RecallQuery::new(&["timeout".to_owned(), "log_error".to_owned()], "");
        let found: Vec<_> = question.best(&memories, 10).iter().map(|(s, r)| (*s, r.at.0)).collect();
        assert_eq!(found, [(1.0, 1), (0.5, 3), (0.5, 2)]);
    }

    #[test]
    fn words_of_a_query_are_found_in_summaries() {
        let memories = [remembered(&[], "Retry the upload with back-off", 1)];
        assert_eq!(RecallQuery::new(&[], "upload retry").best(&memories, 10).len(), 1);
        assert_eq!(RecallQuery::new(&[], "nothing alike").best(&memories, 10).len(), 0);
        assert_eq!(RecallQuery::new(&[], "").best(&memories, 10).len(), 0);
    }
}
