//! How assets came about.

use super::bundle::INTENTS;
use super::list::cut;
use super::parse_asset_id;
use super::view::{AssetView, page_response};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::check_node_id;
use crate::http::query;
use crate::http::{cursor, validate};
use crate::state::SharedHub;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use capsid_store::db::tx::Tx;
use serde::Deserialize;
use utoipa::IntoParams;

const NAME: &str = "events";
/// Events that are shown: those that nobody refused, held back or took back.
const SHOWN: [AssetStatus; 4] =
    [AssetStatus::Candidate, AssetStatus::Promoted, AssetStatus::Stale, AssetStatus::Archived];
/// How many events one asset shows.
const MAX_OF_ONE: usize = 1000;

/// Which events, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListEvolutionEventsParams {
    /// Only events of this node.
    node_id: Option<String>,
    /// Only events of this gene or capsule.
    asset_id: Option<String>,
    /// Only events with this intent: repair, optimize, innovate or explore.
    intent: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

page_response! {
    /// A page of evolution events.
    EventPageResponse as EventPage { events: AssetView as AssetView }
}

/// Lists evolution events, newest first.
#[tracing::instrument(skip_all)]
pub async fn list_evolution_events(
    hub: &SharedHub,
    credentials: &Credentials,
    params: ListEvolutionEventsParams,
) -> ApiResult<EventPageResponse> {
    hub.limit_reads(credentials).await?;
    let asset = params.asset_id.as_deref().filter(|id| !id.is_empty());
    let asset = asset.map(|id| parse_asset_id(id, "asset_id")).transpose()?;
    let node = params.node_id.filter(|id| !id.is_empty());
    if let Some(node) = &node {
        check_node_id(node, "node_id")?;
    }
    let intent = params.intent.filter(|intent| !intent.is_empty());
    validate::word_or(intent.as_deref(), "intent", &INTENTS)?;
    let after = cursor::read(NAME, params.cursor.as_deref())?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let filter = AssetFilter {
        statuses: SHOWN.to_vec(),
        types: vec![AssetType::EvolutionEvent],
        node_id: node,
        category: intent,
        ..AssetFilter::default()
    };
    let (mut found, total) = hub
        .store
        .read_replica::<_, ApiError, _>(move |tx| match &asset {
            Some(id) => {
                let total = events_of_asset(tx, id, &filter, ListPosition::START, usize::MAX)?.len() as i64;
                Ok((events_of_asset(tx, id, &filter, after, limit + 1)?, (total, false)))
            }
            None => {
                let total = list::total(tx, &filter)?;
                Ok((list::list(tx, &filter, AssetSort::Newest, after, limit + 1)?, total))
            }
        })
        .await?;
    let next = cut(&mut found, limit, |last| cursor::write(NAME, AssetSort::Newest.position(&last.asset)));
    Ok(EventPageResponse::new(found.iter().map(AssetView::new).collect(), total, next))
}

/// The events of the bundles that an asset is in, or the event itself.
fn events_of_asset(
    tx: &mut dyn Tx,
    id: &AssetId,
    filter: &AssetFilter,
    after: ListPosition,
    limit: usize,
) -> ApiResult<Vec<ListedAsset>> {
    let mut ids: Vec<AssetId> =
        list::bundles_of(tx, id, MAX_OF_ONE)?.into_iter().filter_map(|bundle| bundle.event).collect();
    ids.push(*id);
    ids.sort_unstable();
    ids.dedup();
    let mut found = list::by_id(tx, &ids)?;
    found.retain(|listed| {
        let asset = &listed.asset;
        asset.asset_type == AssetType::EvolutionEvent
            && filter.statuses.contains(&asset.status)
            && asset.is_scanned()
            && asset.seq < after.seq
            && filter.node_id.as_ref().is_none_or(|node| *node == asset.node_id)
            && (filter.category.is_none() || filter.category == asset.traits.category)
    });
    found.sort_by_key(|listed| std::cmp::Reverse(listed.asset.seq));
    found.truncate(limit);
    Ok(found)
}
