//! Lists of assets: by filter, and the best of them.

use super::view::{AssetPageResponse, AssetView, FieldSelection};
use super::{asset_type, status, word};
use crate::auth::credentials::Credentials;
use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::query;
use crate::http::validate::CATEGORIES;
use crate::http::{cursor, validate};
use crate::state::SharedHub;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use capsid_store::db::tx::Tx;
use capsid_store::search::by_signal;
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
    /// The filter that it stands for, and the signal that assets have to name.
    pub fn filter(&self) -> ApiResult<(AssetFilter, Option<String>)> {
        let node = self.source_node_id.as_ref().or(self.node_id.as_ref()).filter(|id| !id.is_empty());
        validate::name_or(node.map(String::as_str), "source_node_id", 128)?;
        let chain = self.chain_id.as_ref().filter(|id| !id.is_empty());
        validate::text_or(chain.map(String::as_str), "chain_id", 200)?;
        let signal = self.signal.as_deref().map(str::trim).filter(|signal| !signal.is_empty());
        validate::text_or(signal, "signal", MAX_SIGNAL_LEN)?;
        let known =
            |word: &str| CATEGORIES.iter().find(|known| **known == word).map(|word| (*word).to_owned());
        let filter = AssetFilter {
            types: asset_type(self.kind.as_deref().or(self.asset_type.as_deref()))?.into_iter().collect(),
            node_id: node.cloned(),
            chain_id: chain.cloned(),
            category: word("category", self.category.as_deref(), known, &CATEGORIES.join(", "))?,
            label: word("label", self.label.as_deref(), ProofLevel::parse, "absent, vacuous, weak or real")?,
            ..AssetFilter::with_status(status(self.status.as_deref())?.unwrap_or(AssetStatus::Promoted))
        };
        Ok((filter, signal.map(str::to_owned)))
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
#[tracing::instrument(skip_all)]
pub async fn list_assets(
    hub: &SharedHub,
    credentials: &Credentials,
    which: &AssetFilterParams,
    params: &ListAssetsParams,
) -> ApiResult<AssetPageResponse> {
    hub.limit_reads(credentials).await?;
    let ((filter, signal), fields) = (which.filter()?, FieldSelection::parse(params.fields.as_deref()));
    let (sort, name) = sort(params.sort.as_deref())?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let after = cursor::read(name, params.cursor.as_deref())?;
    let skip = if after == ListPosition::START { params.offset()? } else { 0 };
    let lag = match &signal {
        Some(_) => hub.index.wait_for_search().await?,
        None => 0,
    };
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let most = skip + limit + 1;
            match &signal {
                Some(signal) => Ok(by_signal::list(tx, &filter, signal, sort, after, most)?),
                None => Ok((list::list(tx, &filter, sort, after, most)?, list::total(tx, &filter)?)),
            }
        })
        .await?;
    found.drain(..skip.min(found.len()));
    let next = cut(&mut found, limit, |last| cursor::write(name, sort.position(&last.asset)));
    Ok(to_page(&found, &hub.config, &fields, total, next)?.behind(lag))
}

fn to_page(
    found: &[ListedAsset],
    config: &HubConfig,
    fields: &FieldSelection,
    total: (i64, bool),
    next: Option<String>,
) -> ApiResult<AssetPageResponse> {
    let rows = found.iter().map(|listed| fields.select(AssetView::ranked(listed, config)));
    Ok(AssetPageResponse::new(rows.collect::<ApiResult<_>>()?, total, next))
}

/// Cuts a list that was read one longer than asked for, and tells where it goes on.
pub fn cut<T>(found: &mut Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Option<String> {
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
#[tracing::instrument(skip_all)]
pub async fn list_ranked_assets(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &RankedAssetsParams,
) -> ApiResult<AssetPageResponse> {
    hub.limit_reads(credentials).await?;
    let types = asset_type(params.kind.as_deref())?.into_iter().collect();
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let fields = FieldSelection::parse(params.fields.as_deref());
    let text = params.cursor.as_deref();
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
    to_page(&found, &hub.config, &fields, total, next)
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
