//! Search for assets by their signals, and by words that must all be there.

use super::view::{FieldSelection, FoundAssetView, Selected, page_response};
use super::{asset_type, status};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::query;
use crate::http::validate;
use crate::ops::graph::GraphFilters;
use crate::state::SharedHub;
use axum::body::Bytes;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::StoreState;
use capsid_store::db::tx::Tx;
use capsid_store::search::{self, SearchHit, SignalSearch};
use serde::Deserialize;
use utoipa::IntoParams;

/// The longest query.
pub(super) const MAX_LEN: usize = 4000;
/// The most signals of a query.
const MAX_SIGNALS: usize = 50;
/// How many are looked at where only some that have the words are asked for.
const MAX_LOOKED_AT: usize = 600;

/// What is searched for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchAssetsParams {
    /// Signals, with commas between them: `timeout,ECONNREFUSED`.
    pub(super) signals: Option<String>,
    /// Words that must all be there.
    pub(super) q: Option<String>,
    /// A word that must be there, such as the field that the asset is from.
    pub(super) domain: Option<String>,
    /// candidate, promoted (the default), rejected, quarantined, revoked, stale or archived.
    pub(super) status: Option<String>,
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    pub(super) kind: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    pub(super) limit: Option<String>,
    /// How many to skip: 0 to 1000.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 1000)]
    pub(super) offset: Option<String>,
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
    /// Only what this node published.
    pub(super) node_id: Option<String>,
    /// The same as `node_id`.
    pub(super) source_node_id: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    pub(super) fields: Option<String>,
}

page_response! {
    /// A page of what was found.
    FoundPageResponse as FoundPage { assets: Selected<FoundAssetView> as FoundAssetView } with index_lag
}

/// Finds assets by their signals, those that answer the most signals first, as JSON. A question that was asked before is
/// answered by the same bytes while nothing has changed; whoever asks has no part in the answer.
#[tracing::instrument(skip_all)]
pub async fn search_assets(
    hub: &SharedHub,
    credentials: &Credentials,
    question: &str,
    params: SearchAssetsParams,
) -> ApiResult<Bytes> {
    hub.limit_reads(credentials).await?;
    if let Some(body) = hub.responses.find(question, hub.store.state()) {
        return Ok(body);
    }
    let (page, state) = find_page(hub, params).await?;
    let body = Bytes::from(serde_json::to_vec(&page).map_err(ApiError::not_serializable)?);
    hub.responses.insert(question, state, &body);
    Ok(body)
}

/// A page, and the state in which it was found; none where the search lacked something.
async fn find_page(
    hub: &SharedHub,
    params: SearchAssetsParams,
) -> ApiResult<(FoundPageResponse, Option<StoreState>)> {
    let signals: Vec<String> = params
        .signals
        .as_deref()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|signal| !signal.is_empty())
        .map(str::to_owned)
        .collect();
    if signals.len() > MAX_SIGNALS {
        let received = format!("{} signals", signals.len());
        return Err(ApiError::field("signals", format!("at most {MAX_SIGNALS} signals"), received));
    }
    let found = find_by_words(hub, "search", params, signals, GraphFilters::default()).await?;
    let rows = found.rows.into_iter().map(|row| match found.fields.is_whole() {
        true => Ok(Selected::Written(row.write().map_err(ApiError::not_serializable)?)),
        false => found.fields.select(row),
    });
    let page = FoundPageResponse::new(rows.collect::<ApiResult<_>>()?, found.total, found.next);
    Ok((page.behind(found.lag), found.state))
}

/// What a search by words themselves found.
pub(super) struct WordSearchResult {
    pub rows: Vec<FoundAssetView>,
    pub fields: FieldSelection,
    pub total: (i64, bool),
    pub next: Option<String>,
    /// How much the search may lack.
    pub lag: i64,
    /// The state in which it was found; none where the search lacked something.
    pub state: Option<StoreState>,
}

/// Finds assets by what they have, word for word.
pub(super) async fn find_by_words(
    hub: &SharedHub,
    name: &str,
    params: SearchAssetsParams,
    signals: Vec<String>,
    filters: GraphFilters,
) -> ApiResult<WordSearchResult> {
    for (value, path) in [(&params.signals, "signals"), (&params.q, "q"), (&params.domain, "domain")] {
        validate::text_or(value.as_deref(), path, MAX_LEN)?;
    }
    let node_id = params.source_node_id.or(params.node_id).filter(|id| !id.is_empty());
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped(name, params.cursor.as_deref(), params.offset.as_deref())?;
    let words = [params.q.as_deref(), params.domain.as_deref()].into_iter().flatten();
    let most = skip + limit + 1;
    let looked_at = if filters.narrows_assets() { most.max(MAX_LOOKED_AT) } else { most };
    let wanted = SignalSearch {
        words: words.collect::<Vec<_>>().join(" "),
        asset_type: asset_type(params.kind.as_deref())?,
        status: status(params.status.as_deref())?.unwrap_or(AssetStatus::Promoted),
        node_id,
        ..SignalSearch::signals(signals.clone(), looked_at)
    };
    let find = move |tx: &mut dyn Tx| -> ApiResult<Vec<SearchHit>> {
        let mut hits = search::find(tx, &wanted)?;
        if filters.narrows_assets() {
            filters.retain_hits(tx, &mut hits)?;
            hits.truncate(most);
        }
        Ok(hits)
    };
    let lag = hub.index.wait_for_search().await?;
    let state = hub.store.state().filter(|_| lag == 0);
    let mut hits = hub.store.read::<_, ApiError, _>(find).await?;
    let has_more = hits.len() > skip + limit;
    let total = (hits.len() as i64, has_more);
    hits.truncate(skip + limit);
    Ok(WordSearchResult {
        rows: hits
            .iter()
            .skip(skip)
            .map(|hit| FoundAssetView::new(hit, signals.len(), &hub.config))
            .collect(),
        fields: FieldSelection::parse(params.fields.as_deref()),
        total,
        next: if has_more { cursor::after(name, skip + limit) } else { None },
        lag,
        state,
    })
}
