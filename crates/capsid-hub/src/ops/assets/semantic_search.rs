//! `GET /a2a/assets/semantic-search`: assets by what they mean.

use super::search::{self as keyword, MAX_LEN};
use super::{asset_type, page, status};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::assets::fetch::hit_members;
use crate::ops::assets::view;
use crate::ops::assets::view::FieldSelection;
use crate::ops::graph::GraphFilters;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::meaning::SemanticQuestion;
use capsid_store::graph::{Entity, PathStep};
use capsid_store::search;
use capsid_store::search::semantic;
use capsid_store::search::semantic::{NAMES, SemanticHit, SemanticQuery};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

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

/// Finds assets by what they mean, and tells why each was found.
///
/// The words of the question need not be those of the asset: other forms of a word, other words for the same trouble,
/// another language and other numbers in an error are found too. Assets that have exactly a signal that is asked for by
/// its name, such as `log_error`, come first. `mode=keyword` finds the words themselves; its rows have neither `score`
/// nor `why`. `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/semantic-search", tag = "assets", params(SemanticSearchParams),
    responses((status = 200, body = crate::http::openapi::assets::MeantPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn semantic_search(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<SemanticSearchParams>,
) -> ApiResult<JsonReply> {
    for (value, path) in [(&asked.q, "q"), (&asked.domain, "domain")] {
        validate::text_or(value.as_deref(), path, MAX_LEN)?;
    }
    validate::word_or(asked.mode.as_deref(), "mode", &["hybrid", "keyword"])?;
    let words = asked.q.clone().unwrap_or_default();
    let (question, filters) = (SemanticQuestion::parse(&words, &[]), asked.filters()?);
    let wanted = asked.build_query(&filters)?;
    // Clients put a list of signals into `q`, so each word stands for itself and the more match the better.
    let signals = capsid_rules::meaning::terms::query_words(&words);
    if asked.mode.as_deref() == Some("keyword") || question.is_empty() {
        return keyword::search_assets(hub, credentials, NAME, asked.in_keywords(), signals, filters).await;
    }
    hub.limit_reads(&credentials).await?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped(NAME, asked.cursor.as_deref(), asked.offset.as_deref())?;
    let domain = asked.domain.filter(|domain| !domain.trim().is_empty());
    let most = skip + limit + 1;
    let wanted = SemanticQuery {
        question,
        names: names(&words),
        near: hub.embedder.find_near(&hub, &words).await,
        limit: domain.as_ref().map_or(most, |_| WITH_DOMAIN.max(most)),
        ..wanted
    };
    let mut found = hub.store.read::<_, ApiError, _>(move |tx| Ok(semantic::find(tx, &wanted)?)).await?;
    if let Some(domain) = domain {
        found.retain(|found| search::has_words(&found.listed, &domain));
        found.truncate(most);
    }
    // Ways through the graph are for those who may ask it.
    if !hub.config.graph.is_open() {
        found.iter_mut().for_each(|found| found.path.clear());
    }
    let more = found.len() > skip + limit;
    let total = found.len() as i64;
    let fields = FieldSelection::parse(asked.fields.as_deref());
    let rows: Vec<String> = found
        .into_iter()
        .take(skip + limit)
        .skip(skip)
        .map(|found| fields.select(hit_json(found, &signals)))
        .collect();
    let next = if more { cursor::after(NAME, skip + limit) } else { None };
    Ok(JsonReply::ok(page("assets", &rows, Some((total, more)), next)))
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

/// The row of an asset that was found by meaning.
pub(crate) fn hit_json(found: SemanticHit, signals: &[String]) -> String {
    let why = json!({
        "words": found.words,
        "ways": found.places.iter().map(|(way, _)| way.as_str()).collect::<Vec<_>>(),
        "path": found.path.iter().map(step).collect::<Vec<_>>(),
        "similarity": found.similarity.map(view::rounded),
    });
    let score = (found.score * 1e6).round() / 1e6;
    let hit = search::to_hit(found.listed, signals);
    view::row_with(
        &hit.listed,
        &format!("{},\"score\":{score:?},\"why\":{why}", hit_members(&hit, signals.len())),
    )
}

/// A step on the way through the graph, as it was said, and by whom.
fn step(hop: &PathStep) -> Value {
    let thing = |thing: &Entity| json!({ "kind": thing.kind, "key": thing.key, "name": thing.name });
    let (from, to) = match hop.relation.source == hop.from.id {
        true => (&hop.from, &hop.to),
        false => (&hop.to, &hop.from),
    };
    let relation = &hop.relation;
    json!({
        "from": thing(from), "kind": relation.kind, "to": thing(to), "said_by": relation.said_by,
        "told": relation.is_told,
    })
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
