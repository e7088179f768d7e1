//! Own work: what other nodes of the same owner published is found before it is promoted.

use crate::error::ApiResult;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::search::{self, SearchHit, SignalSearch};
use std::cmp::Reverse;

/// The most nodes of one owner that are looked at, those that were heard of last first.
const MAX_NODES: i64 = 50;

/// A hit, and whether it is a candidate of the owner of whoever asks.
pub struct OwnedHit {
    pub hit: SearchHit,
    pub is_own: bool,
}

/// Finds what answers a query, with the candidates of other nodes of the same owner. These come after promoted hits that
/// match equally well. What the node itself published it has.
pub fn find_with_own(
    tx: &mut dyn Tx,
    node: Option<&NodeRow>,
    query: &SignalSearch,
) -> ApiResult<Vec<OwnedHit>> {
    let promoted = search::find(tx, query)?.into_iter().map(|hit| OwnedHit { hit, is_own: false });
    let mut hits: Vec<OwnedHit> = promoted.collect();
    for publisher in list_siblings(tx, node)? {
        let own = SignalSearch { status: AssetStatus::Candidate, node_id: Some(publisher), ..query.clone() };
        hits.extend(search::find(tx, &own)?.into_iter().map(|hit| OwnedHit { hit, is_own: true }));
    }
    hits.sort_by_key(|found| {
        let asset = &found.hit.listed.asset;
        Reverse((found.hit.half_points, !found.is_own, asset.gdi, asset.seq))
    });
    hits.truncate(query.limit);
    Ok(hits)
}

/// The other nodes of a node's owner.
fn list_siblings(tx: &mut dyn Tx, node: Option<&NodeRow>) -> ApiResult<Vec<String>> {
    let Some((node, owner)) = node.and_then(|node| Some((node, node.owner.as_deref()?))) else {
        return Ok(Vec::new());
    };
    let mut siblings = nodes::list::owned_by(tx, owner, MAX_NODES)?;
    siblings.retain(|node_id| *node_id != node.node_id);
    Ok(siblings)
}
