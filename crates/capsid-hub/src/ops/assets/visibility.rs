//! Who may have an asset's body.

use crate::context::OperationContext;
use crate::error::ApiResult;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::accounts::UserRow;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list as asset_list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::work::tasks::access;
use capsid_store::work::tasks::access::ResultReader;

/// Who asks for an asset: a node, an account, or both.
#[derive(Debug, Clone, Copy)]
pub struct AssetReader<'a> {
    /// The node, if the hub knows it.
    pub node: Option<&'a NodeRow>,
    /// The account whose token or key the request shows.
    pub user: Option<&'a UserRow>,
}

impl AssetReader<'_> {
    /// Whether the asset was handed in to whoever asks, or to be merged by them. With `preview`, the creator of a bounty has
    /// to open it first.
    pub fn was_handed(&self, tx: &mut dyn Tx, asset: &AssetId, preview: bool) -> ApiResult<bool> {
        let reader = ResultReader {
            node_id: self.node.map(|node| node.node_id.as_str()),
            user_id: self.user.map(|user| user.user_id.as_str()),
        };
        Ok(access::may_read(tx, reader, asset, preview)?)
    }
}

/// Whether somebody may have an asset's body.
pub fn may_have(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asking: AssetReader<'_>,
    listed: &ListedAsset,
) -> ApiResult<bool> {
    let asset = &listed.asset;
    // What nobody has looked through is given to nobody.
    if !asset.is_scanned() {
        return Ok(false);
    }
    if asset.status.is_distributed() {
        return Ok(true);
    }
    if asset.status == AssetStatus::Candidate
        && asking.was_handed(tx, &asset.asset_id, context.config.work.preview)?
    {
        return Ok(true);
    }
    let Some(node) = asking.node else { return Ok(false) };
    if owns(tx, node, &asset.node_id)? {
        return Ok(true);
    }
    Ok(asset.status == AssetStatus::Candidate
        && asset_list::is_assigned(tx, &node.node_id, &asset.asset_id, context.now)?)
}

/// Whether a node published something, or another node of its owner did.
pub fn owns(tx: &mut dyn Tx, node: &NodeRow, publisher: &str) -> ApiResult<bool> {
    if node.node_id == publisher {
        return Ok(true);
    }
    if node.owner.is_none() {
        return Ok(false);
    }
    Ok(nodes::get(tx, publisher)?.is_some_and(|publisher| publisher.owner == node.owner))
}

/// Leaves out what whoever asks may not have: others' assets that are not given out, unless they are to be validated by
/// the node or were handed in to it.
pub fn retain_readable(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asking: AssetReader<'_>,
    assets: &mut Vec<ListedAsset>,
) -> ApiResult<()> {
    let mut visible = Vec::with_capacity(assets.len());
    for listed in assets.drain(..) {
        if may_have(tx, context, asking, &listed)? {
            visible.push(listed);
        }
    }
    *assets = visible;
    Ok(())
}
