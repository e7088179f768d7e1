//! Grants of a hub for strangers: an owner gets one, once it is known. Nodes are free, so a node that is claimed later
//! brings its owner no second one.

use crate::db::tx::Tx;
use crate::evaluation::owners::owner_level;
use crate::ledger::{self, MINT, Transfer};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits::CreditSource;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::identity::owner_level::LevelPolicy;

/// Who is granted what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantPolicy {
    /// For an account, in milli-credits.
    pub account: i64,
    /// Where owners have to earn their level, an owner gets one grant, when it has level 1.
    pub levels: LevelPolicy,
}

impl GrantPolicy {
    /// What an account gets when it is made.
    pub fn at_registration(&self) -> i64 {
        match self.levels {
            LevelPolicy::Trusted => self.account,
            LevelPolicy::Earned => 0,
        }
    }
}

/// Settles the grants of an account that has just claimed a node: what remains of the grant of a further node goes back to
/// the mint, and an account that is known now gets its own.
pub fn settle_claim(
    tx: &mut dyn Tx,
    policy: &GrantPolicy,
    user_id: &str,
    node_id: &str,
    now: Time,
) -> Result<()> {
    if policy.levels == LevelPolicy::Trusted {
        return Ok(());
    }
    let others = tx.exists(
        "SELECT 1 FROM nodes WHERE owner = $1 AND node_id <> $2 LIMIT 1",
        params![user_id, node_id],
    )?;
    if others || has_grant(tx, user_id)? {
        return_node_grant(tx, node_id, now)?;
    }
    grant_known(tx, policy, user_id, now).map(|_| ())
}

fn grant_reference(user_id: &str) -> String {
    format!("grant:user:{user_id}")
}

fn has_grant(tx: &mut dyn Tx, user_id: &str) -> Result<bool> {
    Ok(ledger::find(tx, &grant_reference(user_id))?.is_some())
}

/// Returns what a node still holds of its grant.
fn return_node_grant(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    let account = ledger::node_account(node_id);
    let Some(grant) = ledger::find(tx, &format!("grant:{account}"))? else { return Ok(()) };
    ledger::lock_accounts(tx, &[&account, MINT])?;
    let amount = ledger::balances(tx, &account)?.granted.min(grant.amount);
    if amount == 0 {
        return Ok(());
    }
    let reference = format!("grant:{account}:returned");
    let back = Transfer { reference: &reference, kind: "grant_returned", from: &account, to: MINT, amount };
    if ledger::find(tx, &reference)?.is_none() {
        ledger::transfer_from(tx, back, CreditSource::Granted, now)?;
    }
    Ok(())
}

/// Finds accounts with a node that have no grant, from the one after `after`. Only reads.
pub fn find_ungranted(tx: &mut dyn Tx, after: &str, limit: i64) -> Result<Vec<String>> {
    tx.query_all::<String>(
        "SELECT u.user_id FROM users u WHERE u.user_id > $1 AND u.banned_at IS NULL
            AND EXISTS (SELECT 1 FROM nodes n WHERE n.owner = u.user_id)
            AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.reference = 'grant:user:' || u.user_id)
         ORDER BY u.user_id LIMIT $2",
        params![after, limit],
    )
}

/// Gives an account its grant where it has level 1 and had none.
pub fn grant_known(tx: &mut dyn Tx, policy: &GrantPolicy, user_id: &str, now: Time) -> Result<bool> {
    if policy.account == 0 || has_grant(tx, user_id)? {
        return Ok(false);
    }
    if owner_level::for_user(tx, user_id)? < OwnerLevel::Known {
        return Ok(false);
    }
    let (reference, account) = (grant_reference(user_id), ledger::user_account(user_id));
    let gift =
        Transfer { reference: &reference, kind: "grant", from: MINT, to: &account, amount: policy.account };
    let moved = ledger::transfer_from(tx, gift, CreditSource::Granted, now)?;
    Ok(moved == ledger::TransferOutcome::Done)
}
