//! `GET /a2a/assets` and `GET /a2a/assets/ranked`.

use super::{asset_type, page, status, word};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate::CATEGORIES;
use crate::http::{cursor, validate};
use crate::ops::assets::view;
use crate::ops::assets::view::FieldSelection;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use capsid_store::db::tx::Tx;
use serde::Deserialize;
use utoipa::IntoParams;

/// How far a list can be skipped; a cursor goes on from anywhere.
const MAX_SKIPPED: i64 = 1000;
/// The longest signal that is asked for.
const MAX_SIGNAL_LEN: usize = 500;

/// Which assets.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AssetFilterParams {
    /// candidate, promoted (the default), rejected, quarantined, revoked, stale or archived.
    status: Option<String>,
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// The same as `type`.
    asset_type: Option<String>,
    /// Only what this node published.
    source_node_id: Option<String>,
    /// The same as `source_node_id`.
    node_id: Option<String>,
    /// Only assets of this chain.
    chain_id: Option<String>,
    /// repair, optimize, innovate, explore or regulatory.
    category: Option<String>,
    /// Only assets whose validation proves so much: absent, vacuous or real.
    label: Option<String>,
    /// Only assets that name this signal, whatever its case.
    signal: Option<String>,
}

/// How many, and from where on.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListAssetsParams {
    /// newest (the default), ranked or most_used.
    sort: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// How many to skip, where there is no cursor.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 1000)]
    offset: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

fn sort(text: Option<&str>) -> ApiResult<(AssetSort, &'static str)> {
    let parse = |word: &str| match word {
        "newest" => Some((AssetSort::Newest, "assets.newest")),
        "ranked" => Some((AssetSort::Ranked, "assets.ranked")),
        "most_used" => Some((AssetSort::MostUsed, "assets.most_used")),
        _ => None,
    };
    Ok(word("sort", text, parse, "newest, ranked or most_used")?
        .unwrap_or((AssetSort::Newest, "assets.newest")))
}

impl AssetFilterParams {
    /// The filter that it stands for.
    pub fn filter(&self) -> ApiResult<AssetFilter> {
        let node = self.source_node_id.as_ref().or(self.node_id.as_ref()).filter(|id| !id.is_empty());
        validate::name_or(node.map(String::as_str), "source_node_id", 128)?;
        let chain = self.chain_id.as_ref().filter(|id| !id.is_empty());
        validate::text_or(chain.map(String::as_str), "chain_id", 200)?;
        let signal = self.signal.as_deref().map(str::trim).filter(|signal| !signal.is_empty());
        validate::text_or(signal, "signal", MAX_SIGNAL_LEN)?;
        let known =
            |word: &str| CATEGORIES.iter().find(|known| **known == word).map(|word| (*word).to_owned());
        Ok(AssetFilter {
            types: asset_type(self.kind.as_deref().or(self.asset_type.as_deref()))?.into_iter().collect(),
            node_id: node.cloned(),
            chain_id: chain.cloned(),
            category: word("category", self.category.as_deref(), known, &CATEGORIES.join(", "))?,
            label: word("label", self.label.as_deref(), ProofLevel::parse, "absent, vacuous or real")?,
            signal: signal.map(str::to_owned),
            ..AssetFilter::with_status(status(self.status.as_deref())?.unwrap_or(AssetStatus::Promoted))
        })
    }
}

impl ListAssetsParams {
    fn offset(&self) -> ApiResult<usize> {
        let asked = self.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
        match asked {
            ..0 => Ok(0),
            0..=MAX_SKIPPED => Ok(asked as usize),
            _ => {
                let expected = format!("at most {MAX_SKIPPED}; use `cursor` to go further");
                Err(ApiError::field("offset", expected, asked.to_string()))
            }
        }
    }
}

/// Lists assets, promoted ones unless another status is asked for.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets", tag = "assets", params(AssetFilterParams, ListAssetsParams),
    responses((status = 200, body = crate::http::openapi::assets::AssetPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(which): QueryParams<AssetFilterParams>,
    QueryParams(asked): QueryParams<ListAssetsParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (filter, fields) = (which.filter()?, FieldSelection::parse(asked.fields.as_deref()));
    let (sort, name) = sort(asked.sort.as_deref())?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let after = cursor::read(name, asked.cursor.as_deref())?;
    let skip = if after == ListPosition::START { asked.offset()? } else { 0 };
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let found = list::list(tx, &filter, sort, after, skip + limit + 1)?;
            Ok((found, list::total(tx, &filter)?))
        })
        .await?;
    found.drain(..skip.min(found.len()));
    let next = cut(&mut found, limit, |last| cursor::write(name, sort.position(&last.asset)));
    let rows: Vec<String> = found.iter().map(|listed| fields.select(view::row(listed))).collect();
    Ok(JsonReply::ok(page("assets", &rows, Some(total), next)))
}

/// Cuts a list that was read one longer than asked for, and tells where it goes on.
pub(super) fn cut<T>(found: &mut Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Option<String> {
    let more = found.len() > limit;
    found.truncate(limit);
    found.last().filter(|_| more).map(cursor)
}

/// Which of the best, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RankedAssetsParams {
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

const FEATURED: &str = "ranked.featured";
const NORMAL: &str = "ranked.normal";

/// The best promoted assets: those that the operator features first, then by score.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/ranked", tag = "assets", params(RankedAssetsParams),
    responses((status = 200, body = crate::http::openapi::assets::AssetPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn ranked(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<RankedAssetsParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let types = asset_type(asked.kind.as_deref())?.into_iter().collect();
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let fields = FieldSelection::parse(asked.fields.as_deref());
    let text = asked.cursor.as_deref();
    // A cursor belongs to one of the two parts of the list.
    let (featured, normal) = match cursor::read(FEATURED, text) {
        Ok(after) => (Some(after), ListPosition::START),
        Err(_) => (None, cursor::read(NORMAL, text)?),
    };
    let filter = AssetFilter { types, ..AssetFilter::with_status(AssetStatus::Promoted) };
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let mut found = Vec::new();
            if let Some(after) = featured {
                found = tier(tx, &filter, "featured", after, limit + 1)?;
            }
            let room = limit + 1 - found.len().min(limit + 1);
            if room > 0 {
                found.extend(tier(tx, &filter, "normal", normal, room)?);
            }
            Ok((found, list::total(tx, &filter)?))
        })
        .await?;
    let next = cut(&mut found, limit, |last| {
        let part = if last.asset.trust_tier == "featured" { FEATURED } else { NORMAL };
        cursor::write(part, AssetSort::Ranked.position(&last.asset))
    });
    let rows: Vec<String> = found.iter().map(|listed| fields.select(view::row(listed))).collect();
    Ok(JsonReply::ok(page("assets", &rows, Some(total), next)))
}

fn tier(
    tx: &mut dyn Tx,
    filter: &AssetFilter,
    tier: &'static str,
    after: ListPosition,
    limit: usize,
) -> ApiResult<Vec<ListedAsset>> {
    let filter = AssetFilter { tier: Some(tier), ..filter.clone() };
    Ok(list::list(tx, &filter, AssetSort::Ranked, after, limit)?)
}
