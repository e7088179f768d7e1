//! What a fetch costs, where the hub has set a price: an asset of another owner is paid for once.

use crate::auth::access::{Credentials, Rules, denied, spend_as};
use crate::error::{ApiError, HubCode, Result};
use crate::ops::assets::fetch::{Asking, owns};
use crate::state::Shared;
use capsid_rules::credits;
use capsid_rules::identity::access::Denial;
use capsid_store::assets::listing;
use capsid_store::assets::listing::Listed;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::registry::sales;
use capsid_store::registry::sales::{Bought, Price, Ware};

/// Whether somebody would have to pay for an asset: there is a price, and it is neither their owner's own, nor to be
/// validated by them, nor handed in to them, nor paid for. Only reads.
pub fn is_owed(tx: &mut dyn Tx, rules: &Rules, asking: Asking<'_>, listed: &Listed) -> Result<bool> {
    let asset = &listed.asset;
    if rules.fetch_price == 0 || !asset.status.is_distributed() {
        return Ok(false);
    }
    if asking.was_handed(tx, &asset.asset_id)? {
        return Ok(false);
    }
    let Some(node) = asking.node else { return Ok(true) };
    Ok(!owns(tx, node, &asset.node_id)?
        && !listing::is_assigned(tx, &node.node_id, &asset.asset_id, rules.now)?
        && !sales::is_bought(tx, &node.node_id, &asset.asset_id)?)
}

/// What of some assets a node has to pay for. A sender that the hub does not know has nothing to pay with.
pub fn due<'a>(
    tx: &mut dyn Tx,
    rules: &Rules,
    sender: &str,
    asking: Asking<'_>,
    assets: impl Iterator<Item = &'a Listed>,
) -> Result<Vec<Ware>> {
    if rules.fetch_price == 0 {
        return Ok(Vec::new());
    }
    let mut wares = Vec::new();
    for listed in assets {
        if !is_owed(tx, rules, asking, listed)? {
            continue;
        }
        if asking.node.is_none() {
            return Err(denied(Denial::SecretNotSet, sender));
        }
        let asset = &listed.asset;
        wares.push(Ware { asset_id: asset.asset_id, publisher: asset.node_id.clone() });
    }
    Ok(wares)
}

/// Pays for assets in the name of a node; tells what was charged and what the node has left.
pub async fn buy(
    hub: &Shared,
    sender: &str,
    credentials: &Credentials,
    wares: Vec<Ware>,
) -> Result<(i64, i64)> {
    let (rules, sender, credentials) = (hub.rules(), sender.to_owned(), credentials.clone());
    let price = Price { amount: rules.fetch_price, commission_milli: hub.config.credits.commission_milli };
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            spend_as(tx, &rules, &sender, &credentials)?;
            match sales::buy(tx, &sender, &wares, price, rules.now)? {
                Bought::Done { charged } => {
                    Ok((charged, ledger::balance(tx, &ledger::node_account(&sender))?))
                }
                Bought::Insufficient { required, available } => Err(insufficient(required, available)),
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
    .with("required", credits::shown(required))
    .with("available", credits::shown(available))
}
