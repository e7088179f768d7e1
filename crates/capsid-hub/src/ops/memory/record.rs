//! `/a2a/memory/*`: a node keeps what it has learned and is reminded of it. Nobody else sees it.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::meaning::terms;
use capsid_rules::meaning::{self, MeaningTerms, SearchableText, TermFrequencies};
use capsid_store::memory::{self, MemoryRow, NewMemory};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

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
/// The largest event of a memory graph.
pub(crate) const EVENT_BYTES: usize = 64 * 1024;

/// How what is remembered may have ended.
const OUTCOMES: [&str; 7] = ["success", "failed", "failure", "partial", "neutral", "skipped", "unknown"];

/// What is recorded.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryRecord)]
pub struct RecordMemoryRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    signals: Option<Vec<String>>,
    gene_id: Option<String>,
    status: Option<String>,
    score: Option<f64>,
    summary: Option<String>,
    used_asset_ids: Option<Vec<String>>,
}

impl RecordMemoryRequest {
    fn check(&self) -> ApiResult<()> {
        validate::list(self.signals.as_deref().unwrap_or_default(), "signals", 50, 2000)?;
        validate::list(self.used_asset_ids.as_deref().unwrap_or_default(), "used_asset_ids", 50, 200)?;
        validate::name_or(self.gene_id.as_deref(), "gene_id", 200)?;
        validate::word_or(self.status.as_deref(), "status", &OUTCOMES)?;
        validate::text_or(self.summary.as_deref(), "summary", 4000)?;
        self.score.map_or(Ok(()), |score| validate::number(score, "score", 0.0, 1.0))
    }

    fn memory(self) -> NewMemory {
        let body = json!({
            "signals": self.signals, "gene_id": self.gene_id, "status": self.status, "score": self.score,
            "summary": self.summary, "used_asset_ids": self.used_asset_ids,
        })
        .to_string();
        NewMemory {
            signals: self.signals.unwrap_or_default(),
            gene_id: self.gene_id,
            status: self.status,
            score: self.score,
            summary: self.summary,
            identity: body.clone(),
            body,
        }
    }
}

/// Records a memory. The same one within a minute is a repetition and is recorded once.
#[utoipa::path(post, path = "/a2a/memory/record", tag = "memory", request_body = RecordMemoryRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn record(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(record): JsonBody<RecordMemoryRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(record.sender_id.as_deref(), record.node_id.as_deref())?;
    record.check()?;
    let credentials = credentials.or_secret(record.node_secret.as_deref());
    record_memory(&hub, node_id, credentials, record.memory()).await
}

async fn record_memory(
    hub: &Hub,
    node_id: String,
    credentials: Credentials,
    memory: NewMemory,
) -> ApiResult<JsonReply> {
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let new = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            Ok(memory::record(tx, &node_id, &memory, rules.now)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "recorded": true, "duplicate": !new })))
}

/// An event of a node's memory graph.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = GraphEvent)]
pub struct MemoryGraphEventRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    event: Box<RawValue>,
}

/// Records an event of a node's memory graph, as it is.
#[utoipa::path(post, path = "/a2a/memory/event", tag = "memory", request_body = MemoryGraphEventRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn event(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(told): JsonBody<MemoryGraphEventRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(told.sender_id.as_deref(), told.node_id.as_deref())?;
    let body = told.event.get();
    let Ok(event) = serde_json::from_str::<Map<String, Value>>(body) else {
        return Err(ApiError::field("event", "an object", "something else"));
    };
    if body.len() > EVENT_BYTES {
        let received = format!("{} bytes", body.len());
        return Err(ApiError::field("event", format!("at most {EVENT_BYTES} bytes"), received));
    }
    let credentials = credentials.or_secret(told.node_secret.as_deref());
    record_memory(&hub, node_id, credentials, memory_from_event(&event, body)).await
}

/// What can be recalled of a graph's event. Kinds differ, so whatever is not there is left out.
pub(crate) fn memory_from_event(event: &Map<String, Value>, body: &str) -> NewMemory {
    let part = |outer: &str, inner: &str| event.get(outer).and_then(|value| value.get(inner));
    let word = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(|text| capsid_model::text::cut(text, 4000).to_owned())
    };
    let signals = part("signal", "signals").or_else(|| event.get("signals")).and_then(Value::as_array);
    let signals = signals.into_iter().flatten().filter_map(|signal| word(Some(signal))).take(50).collect();
    let outcome = event.get("outcome");
    NewMemory {
        signals,
        gene_id: word(part("gene", "id").or_else(|| event.get("gene_id"))),
        status: word(outcome.and_then(|outcome| outcome.get("status"))),
        score: outcome.and_then(|outcome| outcome.get("score")).and_then(Value::as_f64),
        summary: word(outcome.and_then(|outcome| outcome.get("note").or_else(|| outcome.get("summary")))),
        body: body.to_owned(),
        identity: body.to_owned(),
    }
}

/// What is to be recalled.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Recall)]
pub struct RecallMemoryRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    query: Option<String>,
    signals: Option<Vec<String>>,
    limit: Option<f64>,
}

/// Recalls a node's own memories, best first: by signals, and by the words of a query.
#[utoipa::path(post, path = "/a2a/memory/recall", tag = "memory", request_body = RecallMemoryRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn recall(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<RecallMemoryRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    validate::text_or(asked.query.as_deref(), "query", 4000)?;
    let signals = asked.signals.unwrap_or_default();
    validate::list(&signals, "signals", 50, 2000)?;
    let most = asked.limit.unwrap_or(10.0).clamp(1.0, 50.0) as usize;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let who = node_id.clone();
    let memories = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| Ok(memory::newest(tx, &who, LOOKED_AT)?))
        .await?;
    let question = RecallQuery::new(&signals, asked.query.as_deref().unwrap_or_default());
    // Many memories take a while to compare, and others wait for this thread.
    let (matches, words) = tokio::task::spawn_blocking(move || {
        let matches: Vec<Value> = question.best(&memories, most).into_iter().map(memory_view).collect();
        (matches, question.words)
    })
    .await
    .unwrap_or_default();
    let extracted = if signals.is_empty() { words } else { signals };
    Ok(JsonReply::json(
        &json!({ "matches": matches, "count": matches.len(), "signals_extracted": extracted }),
    ))
}

fn memory_view((score, remembered): (f64, &MemoryRow)) -> Value {
    let memory = &remembered.memory;
    json!({
        "signals": memory.signals,
        "gene_id": memory.gene_id,
        "outcome": { "status": memory.status, "score": memory.score, "summary": memory.summary },
        "score": score,
        "ts": remembered.at.iso(),
    })
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

/// Counts a node's memories.
#[utoipa::path(get, path = "/a2a/memory/status", tag = "memory", params(MemoryStatusParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<MemoryStatusParams>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(None, query.node_id.as_deref())?;
    let who = node_id.clone();
    let counts =
        hub.authenticate_reader(&node_id, &credentials, move |tx, _| Ok(memory::counts(tx, &who)?)).await?;
    Ok(JsonReply::json(&json!({
        "node_id": node_id, "total": counts.total, "success": counts.succeeded, "failed": counts.failed,
        "last_recorded_at": counts.newest_at.map(|at| Time(at).iso()),
    })))
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
