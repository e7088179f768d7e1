//! Search for assets by what they mean.

use super::search::{self as keyword, MAX_LEN};
use super::view::{FieldSelection, FoundAssetView, Selected, page_response, rounded};
use super::{asset_type, status};
use crate::auth::credentials::Credentials;
use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::query;
use crate::http::validate;
use crate::ops::graph::GraphFilters;
use crate::state::SharedHub;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::meaning::SemanticQuestion;
use capsid_store::graph::{Entity, PathStep};
use capsid_store::search;
use capsid_store::search::semantic;
use capsid_store::search::semantic::{NAMES, SemanticHit, SemanticQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const NAME: &str = "semantic-search";
/// How many are looked at for a word that must be there.
const WITH_DOMAIN: usize = 600;
/// The longest code of an error. What is longer is an id or a sum.
const MAX_CODE_LEN: usize = 24;

/// What is searched for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SemanticSearchParams {
    /// What is asked, in words or by names of signals: `upload hangs behind the proxy`.
    q: Option<String>,
    /// hybrid (the default): by meaning, by the graph and by embeddings. keyword: by the words themselves.
    mode: Option<String>,
    /// A word that must be there, such as the field that the asset is from.
    domain: Option<String>,
    /// candidate, promoted (the default), rejected, quarantined, revoked, stale or archived.
    status: Option<String>,
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// Only this kind of change: repair, optimize, innovate, explore or regulatory.
    category: Option<String>,
    /// Published at this time or later: a day, an ISO 8601 time, or milliseconds since 1970.
    since: Option<String>,
    /// Published before this time.
    until: Option<String>,
    /// Made there, or known to work there by a report, such as `linux_x64`.
    environment: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// How many to skip: 0 to 1000.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 1000)]
    offset: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only what this node published.
    node_id: Option<String>,
    /// The same as `node_id`.
    source_node_id: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

/// An asset that was found by what it means. Those of `mode=keyword` have neither `score` nor `why`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = MeantAsset)]
pub struct SemanticHitView {
    #[serde(flatten)]
    found: FoundAssetView,
    /// The higher the better; comparable within one answer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    score: Option<f64>,
    /// 0 to 1: how near its embedding is to that of the question; without embeddings, the share of the question's words
    /// that it answers.
    similarity: f64,
    similarity_band: SimilarityBand,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = WhyFound, required = false)]
    why: Option<WhyFound>,
}

/// How much an asset is like what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SimilarityBand {
    /// From 0.75 on.
    High,
    /// From 0.6 on.
    Medium,
    Low,
}

impl SimilarityBand {
    fn from_similarity(similarity: f64) -> Self {
        match similarity {
            0.75.. => Self::High,
            0.6.. => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// Why an asset was found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WhyFound {
    /// The words of the question that its text answers.
    words: Vec<String>,
    /// text, graph, embedding: the rankings that name it.
    ways: Vec<&'static str>,
    /// From a thing that the question names to the asset, where the graph leads to it.
    path: Vec<PathStepView>,
    /// How near its embedding is to that of the question, -1 to 1.
    #[schema(required)]
    similarity: Option<f64>,
}

/// Two things of the graph, as they were said to hang together.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = WayStep)]
pub struct PathStepView {
    from: PathEntityView,
    kind: String,
    to: PathEntityView,
    /// `node:…`, `user:…`, or `hub` for what it counts.
    said_by: String,
    /// Whether it was ingested, and not said by an asset, a report or a task.
    told: bool,
}

/// A thing of the graph.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = WayThing)]
pub struct PathEntityView {
    kind: String,
    key: String,
    name: String,
}

page_response! {
    /// A page of what was found by what it means.
    SemanticPageResponse as MeantPage { assets: Selected<SemanticHitView> as SemanticHitView } with index_lag
}

/// Finds assets by what they mean, and says why each was found.
#[tracing::instrument(skip_all)]
pub async fn search_by_meaning(
    hub: &SharedHub,
    credentials: &Credentials,
    params: SemanticSearchParams,
) -> ApiResult<SemanticPageResponse> {
    for (value, path) in [(&params.q, "q"), (&params.domain, "domain")] {
        validate::text_or(value.as_deref(), path, MAX_LEN)?;
    }
    validate::word_or(params.mode.as_deref(), "mode", &["hybrid", "keyword"])?;
    let words = params.q.clone().unwrap_or_default();
    let (question, filters) = (SemanticQuestion::parse(&words, &[]), params.filters()?);
    let wanted = params.build_query(&filters)?;
    // Clients put a list of signals into `q`, so each word stands for itself and the more match the better.
    let signals = capsid_rules::meaning::terms::query_words(&words);
    if params.mode.as_deref() == Some("keyword") || question.is_empty() {
        hub.limit_reads(credentials).await?;
        return search_by_words(hub, params.in_keywords(), signals, filters).await;
    }
    hub.limit_reads(credentials).await?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped(NAME, params.cursor.as_deref(), params.offset.as_deref())?;
    let asked = question.word_count();
    let domain = params.domain.filter(|domain| !domain.trim().is_empty());
    let most = skip + limit + 1;
    let wanted = SemanticQuery {
        question,
        names: names(&words),
        near: hub.embedder.find_near(&words).await,
        limit: domain.as_ref().map_or(most, |_| WITH_DOMAIN.max(most)),
        ..wanted
    };
    let lag = hub.index.wait_for_read().await?;
    let mut found = hub.store.read::<_, ApiError, _>(move |tx| Ok(semantic::find(tx, &wanted)?)).await?;
    if let Some(domain) = domain {
        found.retain(|found| search::has_words(&found.listed, &domain));
        found.truncate(most);
    }
    // Ways through the graph are for those who may ask it.
    if !hub.config.graph.is_open() {
        found.iter_mut().for_each(|found| found.path.clear());
    }
    let has_more = found.len() > skip + limit;
    let total = (found.len() as i64, has_more);
    let fields = FieldSelection::parse(params.fields.as_deref());
    let page = found.into_iter().take(skip + limit).skip(skip);
    let row = |found| fields.select(SemanticHitView::new(found, &signals, asked, &hub.config));
    let rows = page.map(row);
    let next = if has_more { cursor::after(NAME, skip + limit) } else { None };
    Ok(SemanticPageResponse::new(rows.collect::<ApiResult<_>>()?, total, next).behind(lag))
}

async fn search_by_words(
    hub: &SharedHub,
    params: keyword::SearchAssetsParams,
    signals: Vec<String>,
    filters: GraphFilters,
) -> ApiResult<SemanticPageResponse> {
    let asked = signals.len();
    let found = keyword::find_by_words(hub, NAME, params, signals, filters).await?;
    let rows = found.rows.into_iter();
    let rows = rows.map(|row| found.fields.select(SemanticHitView::from_words(row, asked)));
    Ok(SemanticPageResponse::new(rows.collect::<ApiResult<_>>()?, found.total, found.next).behind(found.lag))
}

impl SemanticSearchParams {
    /// What every asset must be, however it is found.
    fn filters(&self) -> ApiResult<GraphFilters> {
        let times = (self.since.as_deref(), self.until.as_deref());
        GraphFilters::from_query(None, self.category.as_deref(), times, self.environment.as_deref())
    }

    /// The question by meaning, but for its words.
    fn build_query(&self, filters: &GraphFilters) -> ApiResult<SemanticQuery> {
        Ok(SemanticQuery {
            asset_type: asset_type(self.kind.as_deref())?,
            status: status(self.status.as_deref())?.unwrap_or(AssetStatus::Promoted),
            node_id: self.source_node_id.clone().or_else(|| self.node_id.clone()).filter(|id| !id.is_empty()),
            category: filters.category.clone(),
            since: filters.since,
            until: filters.until,
            environment: filters.environment.clone(),
            ..SemanticQuery::new(SemanticQuestion::default(), 0)
        })
    }

    /// The same question for the search by words themselves.
    fn in_keywords(self) -> keyword::SearchAssetsParams {
        keyword::SearchAssetsParams {
            domain: self.domain,
            status: self.status,
            kind: self.kind,
            limit: self.limit,
            offset: self.offset,
            cursor: self.cursor,
            node_id: self.node_id,
            source_node_id: self.source_node_id,
            fields: self.fields,
            ..keyword::SearchAssetsParams::default()
        }
    }
}

/// The names of signals among the words: people write no underscores, and few words with digits. Those with underscores
/// come first, for only so many are looked up.
pub(crate) fn names(words: &str) -> Vec<String> {
    let signals = words
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|name| name.contains('_'));
    let codes = words
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))
        .map(|word| word.trim_matches('-'))
        .filter(|name| is_code(name));
    let mut names: Vec<String> = Vec::new();
    for name in signals.chain(codes) {
        if names.len() < NAMES && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether a word looks like the code of an error, such as `ORA-00942`, `E0502` or `TS2345`. Many others do, which costs
/// nothing: only what is a signal of some asset brings that asset to the front.
fn is_code(word: &str) -> bool {
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    // `E0502` has one letter, and so has `v2`.
    let is_mixed = digits > 0 && (letters > 1 || (letters == 1 && digits > 2));
    is_mixed && !word.contains('_') && word.len() <= MAX_CODE_LEN
}

impl SemanticHitView {
    /// The row of an asset that was found by so many words themselves.
    fn from_words(found: FoundAssetView, asked: usize) -> Self {
        let similarity = match asked {
            0 => 1.0,
            asked => rounded((found.matched_signals.len() as f64 / asked as f64).min(1.0)),
        };
        let similarity_band = SimilarityBand::from_similarity(similarity);
        Self { found, score: None, similarity, similarity_band, why: None }
    }

    /// The row of an asset that was found by meaning, by a question of so many words.
    pub fn new(found: SemanticHit, signals: &[String], asked: usize, config: &HubConfig) -> Self {
        let answered = found.words.len() as f64 / asked.max(1) as f64;
        let similarity = rounded(found.similarity.unwrap_or(answered).clamp(0.0, 1.0));
        let why = WhyFound {
            words: found.words,
            ways: found.places.iter().map(|(way, _)| way.as_str()).collect(),
            path: found.path.iter().map(PathStepView::new).collect(),
            similarity: found.similarity.map(rounded),
        };
        let score = (found.score * 1e6).round() / 1e6;
        let hit = search::to_hit(found.listed, signals);
        Self {
            found: FoundAssetView::new(&hit, signals.len(), config),
            score: Some(score),
            similarity,
            similarity_band: SimilarityBand::from_similarity(similarity),
            why: Some(why),
        }
    }
}

impl PathStepView {
    /// A step on the way through the graph, as it was said, and by whom.
    fn new(hop: &PathStep) -> Self {
        let entity = |entity: &Entity| PathEntityView {
            kind: entity.kind.clone(),
            key: entity.key.clone(),
            name: entity.name.clone(),
        };
        let relation = &hop.relation;
        let (from, to) = match relation.source == hop.from.id {
            true => (&hop.from, &hop.to),
            false => (&hop.to, &hop.from),
        };
        Self {
            from: entity(from),
            kind: relation.kind.clone(),
            to: entity(to),
            said_by: relation.said_by.clone(),
            told: relation.is_told,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_errors_are_names_too() {
        let pasted = "error[E0502]: see TS2345, (ORA-00942) 报错ERR-17怎么办 or ERR-17 in log_error";
        assert_eq!(names(pasted), ["log_error", "E0502", "TS2345", "ORA-00942", "ERR-17"]);
        assert_eq!(names("v2 of 3 took 3000 s - --, 17 x86"), [""; 0]);
        assert_eq!(names("-0a1b2c3d4e5f60718293a4b5c6d7e8f9-"), [""; 0], "an id");
        let many: Vec<String> = (0..100).map(|n| format!("AB-{n}")).collect();
        assert_eq!(names(&format!("{} log_error", many.join(" "))).len(), NAMES);
        assert_eq!(names(&format!("{} log_error", many.join(" ")))[0], "log_error");
    }

    #[test]
    fn names_are_what_has_underscores() {
        assert_eq!(names("log_error, timeout_error log_error; slow upload"), ["log_error", "timeout_error"]);
        assert_eq!(names("(node_modules) is __ missing _"), ["node_modules"]);
    }
}
