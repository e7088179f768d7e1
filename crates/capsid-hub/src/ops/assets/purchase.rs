//! What a fetch costs, where the hub has set a price: an asset of another owner is paid for once.

use crate::auth::sender::{Sender, access_denied};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::ops::assets::visibility::{AssetReader, owns};
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_rules::identity::access::AccessDenial;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::registry::purchases;
use capsid_store::registry::purchases::{AssetPrice, PurchaseItem, PurchaseOutcome};

/// Whether somebody would have to pay for an asset: there is a price, and it is neither their owner's own, nor to be
/// validated by them, nor handed in to them, nor paid for. Only reads.
pub fn is_owed(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asking: AssetReader<'_>,
    listed: &ListedAsset,
) -> ApiResult<bool> {
    let asset = &listed.asset;
    if context.config.credits.fetch_price == 0 || !asset.status.is_distributed() {
        return Ok(false);
    }
    if asking.was_handed(tx, &asset.asset_id, context.config.work.preview)? {
        return Ok(false);
    }
    let Some(node) = asking.node else { return Ok(true) };
    Ok(!owns(tx, node, &asset.node_id)?
        && !list::is_assigned(tx, &node.node_id, &asset.asset_id, context.now)?
        && !purchases::is_bought(tx, &node.node_id, &asset.asset_id)?)
}

/// What of some assets a node has to pay for. A sender that the hub does not know has nothing to pay with.
pub fn unpaid_items<'a>(
    tx: &mut dyn Tx,
    context: &OperationContext,
    sender: &str,
    asking: AssetReader<'_>,
    assets: impl Iterator<Item = &'a ListedAsset>,
) -> ApiResult<Vec<PurchaseItem>> {
    if context.config.credits.fetch_price == 0 {
        return Ok(Vec::new());
    }
    let mut wares = Vec::new();
    for listed in assets {
        if !is_owed(tx, context, asking, listed)? {
            continue;
        }
        if asking.node.is_none() {
            return Err(access_denied(AccessDenial::SecretNotSet, sender));
        }
        let asset = &listed.asset;
        wares.push(PurchaseItem { asset_id: asset.asset_id, publisher: asset.node_id.clone() });
    }
    Ok(wares)
}

/// What was paid, and what the node has left, in milli-credits.
#[derive(Debug, Clone, Copy)]
pub struct PurchaseReceipt {
    pub charged: i64,
    pub balance: i64,
}

/// Pays for assets in the name of a node.
#[tracing::instrument(skip_all, fields(node.id = sender.id()))]
pub async fn buy_assets(
    hub: &SharedHub,
    sender: &Sender,
    wares: Vec<PurchaseItem>,
) -> ApiResult<PurchaseReceipt> {
    let (context, sender) = (hub.context(), sender.clone());
    let price = AssetPrice {
        amount: context.config.credits.fetch_price,
        commission_milli: hub.config.credits.commission_milli,
        keyless: hub.config.identity.keyless_pay(),
    };
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock_spender(tx, &context)?;
            match purchases::buy(tx, sender.id(), &wares, price, context.now)? {
                PurchaseOutcome::Done { charged } => {
                    let balance = ledger::balance(tx, &ledger::node_account(sender.id()))?;
                    Ok(PurchaseReceipt { charged, balance })
                }
                PurchaseOutcome::Insufficient { required, available } => {
                    Err(insufficient(required, available))
                }
            }
        })
        .await
}

fn insufficient(required: i64, available: i64) -> ApiError {
    ApiError::new(
        HubCode::InsufficientCredits,
        format!(
            "The assets cost more credits than the node holds: need {}, have {}.",
            credits::text(required),
            credits::text(available)
        ),
        "Fetch fewer assets, or look first with `search_only: true`, which is free; earn credits with tasks.",
    )
    .with("required", credits::to_decimal(required))
    .with("available", credits::to_decimal(available))
}
