//! `GET /a2a/assets/search`: assets by their signals, and by words that must all be there.

use super::{asset_type, page, status};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::assets::fetch::hit_row;
use crate::ops::assets::view::FieldSelection;
use crate::ops::graph::GraphFilters;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::db::tx::Tx;
use capsid_store::search::{self, SignalSearch};
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

/// Finds assets by their signals, those that answer the most signals first.
///
/// Case does not matter; `timeout` finds `TimeoutError`, and an error text finds the same error with other numbers.
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/search", tag = "assets", params(SearchAssetsParams),
    responses((status = 200, body = crate::http::openapi::assets::FoundPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn search(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<SearchAssetsParams>,
) -> ApiResult<JsonReply> {
    let signals: Vec<String> = asked
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
    search_assets(hub, credentials, "search", asked, signals, GraphFilters::default()).await
}

/// Answers by what assets have, word for word.
pub(super) async fn search_assets(
    hub: SharedHub,
    credentials: Credentials,
    name: &str,
    asked: SearchAssetsParams,
    signals: Vec<String>,
    filters: GraphFilters,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    for (value, path) in [(&asked.signals, "signals"), (&asked.q, "q"), (&asked.domain, "domain")] {
        validate::text_or(value.as_deref(), path, MAX_LEN)?;
    }
    let node_id = asked.source_node_id.or(asked.node_id).filter(|id| !id.is_empty());
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped(name, asked.cursor.as_deref(), asked.offset.as_deref())?;
    let words = [asked.q.as_deref(), asked.domain.as_deref()].into_iter().flatten();
    let most = skip + limit + 1;
    let looked_at = if filters.narrows_assets() { most.max(MAX_LOOKED_AT) } else { most };
    let wanted = SignalSearch {
        words: words.collect::<Vec<_>>().join(" "),
        asset_type: asset_type(asked.kind.as_deref())?,
        status: status(asked.status.as_deref())?.unwrap_or(AssetStatus::Promoted),
        node_id,
        ..SignalSearch::signals(signals.clone(), looked_at)
    };
    let fields = FieldSelection::parse(asked.fields.as_deref());
    let find = move |tx: &mut dyn Tx| -> ApiResult<Vec<search::SearchHit>> {
        let mut hits = search::find(tx, &wanted)?;
        if filters.narrows_assets() {
            filters.retain_hits(tx, &mut hits)?;
            hits.truncate(most);
        }
        Ok(hits)
    };
    let mut hits = hub.store.read::<_, ApiError, _>(find).await?;
    let more = hits.len() > skip + limit;
    let total = hits.len() as i64;
    hits.truncate(skip + limit);
    let rows: Vec<String> =
        hits.iter().skip(skip).map(|hit| fields.select(hit_row(hit, signals.len()))).collect();
    let next = if more { cursor::after(name, skip + limit) } else { None };
    Ok(JsonReply::ok(page("assets", &rows, Some((total, more)), next)))
}
