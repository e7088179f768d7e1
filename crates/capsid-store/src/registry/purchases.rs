//! Sales: what a node paid for assets of other owners. An asset is paid for once.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::rewards::held_rewards::{self, Earning, KeylessPay};
use crate::ledger::{self, HUB, Transfer, TransferOutcome};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::bounties::commission;

/// What a full asset costs, and what the hub keeps of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssetPrice {
    pub amount: i64,
    /// In thousandths of a percent.
    pub commission_milli: i64,
    /// Whether what keyless nodes earn is held.
    pub keyless: KeylessPay,
}

/// Something to be bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseItem {
    pub asset_id: AssetId,
    pub publisher: String,
}

/// How buying went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseOutcome {
    Done {
        /// What was charged now, in milli-credits.
        charged: i64,
    },
    /// The node lacks credits; nothing moved.
    Insufficient {
        /// What it would take.
        required: i64,
        /// What it has.
        available: i64,
    },
}

fn reference(node_id: &str, id: &AssetId) -> String {
    format!("fetch:{id}:{node_id}")
}

/// Whether a node has paid for an asset.
pub fn is_bought(tx: &mut dyn Tx, node_id: &str, id: &AssetId) -> Result<bool> {
    Ok(ledger::find(tx, &reference(node_id, id))?.is_some())
}

/// Pays for all of them, or for none. What was paid for before costs nothing. The node's row is locked.
pub fn buy(
    tx: &mut dyn Tx,
    node_id: &str,
    items: &[PurchaseItem],
    price: AssetPrice,
    now: Time,
) -> Result<PurchaseOutcome> {
    let mut due: Vec<&PurchaseItem> = Vec::new();
    for item in items {
        if !is_bought(tx, node_id, &item.asset_id)? && !due.contains(&item) {
            due.push(item);
        }
    }
    let required = price.amount.saturating_mul(due.len() as i64);
    let available = ledger::balance(tx, &ledger::node_account(node_id))?;
    if required > available {
        return Ok(PurchaseOutcome::Insufficient { required, available });
    }
    lock_all(tx, node_id, &due, price)?;
    for item in due {
        pay_seller(tx, node_id, item, price, now)?;
    }
    Ok(PurchaseOutcome::Done { charged: required })
}

/// Locks every account that credits move between, so that two buyers do not wait for each other.
fn lock_all(tx: &mut dyn Tx, node_id: &str, due: &[&PurchaseItem], price: AssetPrice) -> Result<()> {
    if due.is_empty() || price.amount <= 0 {
        return Ok(());
    }
    let mut accounts: Vec<String> = due.iter().map(|item| ledger::node_account(&item.publisher)).collect();
    accounts.extend([ledger::node_account(node_id), HUB.to_owned()]);
    ledger::lock_accounts(tx, &accounts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn pay_seller(
    tx: &mut dyn Tx,
    node_id: &str,
    item: &PurchaseItem,
    price: AssetPrice,
    now: Time,
) -> Result<()> {
    let hub_part = commission(price.amount, price.commission_milli);
    let earned = price.amount - hub_part;
    let from = ledger::node_account(node_id);
    let reference = reference(node_id, &item.asset_id);
    let fee = format!("{reference}:commission");
    // Where the hub keeps all, its part is what says that the asset is paid for.
    let fee = if earned == 0 { &reference } else { &fee };
    let sale = Earning {
        node_id: &item.publisher,
        from: &from,
        source: "sale",
        reference: &reference,
        amount: earned,
    };
    held_rewards::pay_or_hold(tx, sale, price.keyless, now)?;
    if hub_part == 0 {
        return Ok(());
    }
    let fee = Transfer { reference: fee, kind: "commission", from: &from, to: HUB, amount: hub_part };
    match ledger::transfer(tx, fee, now)? {
        TransferOutcome::Done => Ok(()),
        moved => {
            let what = format!("`{}` could not be paid for by {node_id}: {moved:?}.", fee.reference);
            Err(crate::damaged(what))
        }
    }
}
