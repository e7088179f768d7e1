//! Rewards: credits that the hub makes for what is good for all. All of them go through one place, which knows how much
//! an owner may get on one day.

pub mod held_rewards;

use self::held_rewards::{HeldRewardRow, KeylessPay};
use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::owners::owner_level;
use crate::ledger::earnings;
use crate::ledger::{self, MINT, Transfer, TransferOutcome};
use crate::nodes;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::identity::owner_level::LevelPolicy;
use capsid_rules::lifecycle::AssetType;

/// The most nodes one node is rewarded for bringing in, on one day.
pub const MAX_REFERRALS_A_DAY: i64 = 10;
/// The same in all.
pub const MAX_REFERRALS: i64 = 50;

/// What this hub rewards, in milli-credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewardRates {
    /// For the publisher of a promoted bundle.
    pub promotion: i64,
    /// The most for the publisher when another owner uses an asset.
    pub reuse: i64,
    /// The least for a report that the hub asked for and that agrees with the outcome.
    pub report_min: i64,
    pub report_max: i64,
    /// How many owners must have reported before there is an outcome.
    pub quorum: i64,
    /// The most that one owner gets on one day; 0 for no bound.
    pub daily_cap: i64,
    /// For a node that brought in another one.
    pub referrer: i64,
    /// For the node that was brought in.
    pub referred: i64,
    /// How long rewards are held before they are paid; 0 pays at once.
    pub hold_ms: i64,
    /// Whether only reuse by owners of level 1 pays.
    pub levels: LevelPolicy,
    /// What a report against an arbitrated outcome costs of the stake, in percent.
    pub slash_percent: i64,
    /// Whether what keyless nodes earn is held.
    pub keyless: KeylessPay,
}

/// A reward to be paid.
#[derive(Debug, Clone, Copy)]
pub struct NewReward<'a> {
    pub node_id: &'a str,
    /// What it is earned by.
    pub source: &'a str,
    /// What it is for; the same cause is rewarded once.
    pub reference: &'a str,
    /// The asset that it is for, where there is one.
    pub asset: Option<&'a AssetId>,
    pub amount: i64,
}

impl RewardRates {
    /// A hub that rewards nothing.
    pub const NONE: Self = Self {
        promotion: 0,
        reuse: 0,
        report_min: 0,
        report_max: 0,
        quorum: 1,
        daily_cap: 0,
        referrer: 0,
        referred: 0,
        hold_ms: 0,
        levels: LevelPolicy::Trusted,
        slash_percent: 0,
        keyless: KeylessPay::AtOnce,
    };
}

/// Pays a node out of the mint, once for each reference, and tells how much it was: less than the amount, or nothing,
/// when its owner has had most or all that may be had today. Where this hub holds rewards, or those of keyless nodes, it is
/// paid later.
pub fn pay_reward(tx: &mut dyn Tx, rewards: &RewardRates, reward: NewReward<'_>, now: Time) -> Result<i64> {
    let NewReward { node_id, source, reference, amount, .. } = reward;
    if amount <= 0 || ledger::find(tx, reference)?.is_some() {
        return Ok(0);
    }
    let Some(node) = nodes::get(tx, node_id)?.filter(|node| node.status != "banned") else { return Ok(0) };
    let day = DailyRewardBudget { owner: node.owner_key(), number: now.0.div_euclid(DAY_MS) };
    let left = day.lock(tx, rewards)?;
    let amount = amount.min(left);
    // Looked up again, for somebody may have paid it while this waited.
    if amount <= 0 || ledger::find(tx, reference)?.is_some() {
        return Ok(0);
    }
    day.reserve(tx, amount)?;
    if rewards.hold_ms > 0 || rewards.keyless.holds(&node) {
        let held = HeldRewardRow {
            reference: reference.to_owned(),
            node_id: node_id.to_owned(),
            source: source.to_owned(),
            asset_id: reward.asset.copied(),
            amount,
            due_at: now.0.saturating_add(rewards.hold_ms),
            state: "held".to_owned(),
        };
        held_rewards::hold(tx, MINT, &held, now)?;
        return Ok(amount);
    }
    let account = ledger::node_account(node_id);
    let reward = Transfer { reference, kind: source, from: MINT, to: &account, amount };
    match ledger::transfer(tx, reward, now)? {
        TransferOutcome::Done => earnings::record_earning(tx, &account, source, amount, now)?,
        other => return Err(crate::damaged(format!("The reward `{reference}` was not paid: {other:?}."))),
    }
    Ok(amount)
}

/// What an owner gets on one day.
struct DailyRewardBudget {
    owner: String,
    number: i64,
}

impl DailyRewardBudget {
    /// What is left of it. It is locked until the end, so that two rewards at once do not take the same.
    fn lock(&self, tx: &mut dyn Tx, rewards: &RewardRates) -> Result<i64> {
        tx.run(
            "INSERT INTO reward_days (owner, day, amount) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING",
            params![&self.owner, self.number],
        )?;
        let had = tx.count(
            "SELECT amount FROM reward_days WHERE owner = $1 AND day = $2 FOR UPDATE",
            params![&self.owner, self.number],
        )?;
        Ok(if rewards.daily_cap == 0 { i64::MAX } else { rewards.daily_cap - had })
    }

    fn reserve(&self, tx: &mut dyn Tx, amount: i64) -> Result<()> {
        tx.run(
            "UPDATE reward_days SET amount = amount + $3 WHERE owner = $1 AND day = $2",
            params![&self.owner, self.number, amount],
        )?;
        Ok(())
    }
}

/// Rewards the publisher of a capsule that was promoted, once. A bundle that is like another one earns nothing.
pub fn promoted(tx: &mut dyn Tx, rewards: &RewardRates, id: &AssetId, now: Time) -> Result<i64> {
    let Some(asset) = assets::get(tx, id)?.filter(|asset| asset.asset_type == AssetType::Capsule) else {
        return Ok(0);
    };
    let similar = tx.exists(
        "SELECT 1 FROM assets WHERE bundle_id = $1 AND similar_to IS NOT NULL LIMIT 1",
        params![&asset.bundle_id],
    )?;
    if similar {
        return Ok(0);
    }
    let reference = format!("promotion:{id}");
    let reward = NewReward {
        node_id: &asset.node_id,
        source: "promotion",
        reference: &reference,
        asset: Some(id),
        amount: rewards.promotion,
    };
    pay_reward(tx, rewards, reward, now)
}

/// Rewards the publisher of an asset that another owner fetched for the first time.
pub fn reused(
    tx: &mut dyn Tx,
    rewards: &RewardRates,
    asset: &AssetRow,
    fetcher: &str,
    now: Time,
) -> Result<i64> {
    if rewards.reuse == 0 || !asset.status.is_distributed() {
        return Ok(0);
    }
    let Some(fetcher) = nodes::get(tx, fetcher)? else { return Ok(0) };
    // Nodes are free, so use by owners that nobody knows pays nothing.
    if owner_level::for_node(tx, &fetcher)? < OwnerLevel::Known {
        return Ok(0);
    }
    let reference = format!("reuse:{}:{}", asset.asset_id, fetcher.owner_key());
    let amount = credits::reuse_reward(asset.gdi as f64 / 100.0, rewards.reuse);
    let reward = NewReward {
        node_id: &asset.node_id,
        source: "reuse",
        reference: &reference,
        asset: Some(&asset.asset_id),
        amount,
    };
    pay_reward(tx, rewards, reward, now)
}

/// Rewards a node for bringing in another one that says hello for the first time, and that one for coming. Both are
/// different owners' on different machines, and the new one's row is locked.
pub fn referred(
    tx: &mut dyn Tx,
    rewards: &RewardRates,
    node_id: &str,
    referrer: &str,
    now: Time,
) -> Result<()> {
    if (rewards.referrer == 0 && rewards.referred == 0) || node_id == referrer {
        return Ok(());
    }
    // Locked, so that two newcomers at once are both counted.
    let (Some(new), Some(old)) = (nodes::get(tx, node_id)?, nodes::lock(tx, referrer)?) else {
        return Ok(());
    };
    let same_device = new.device_hash.is_some() && new.device_hash == old.device_hash;
    if same_device || new.owner_key() == old.owner_key() || old.status != "active" {
        return Ok(());
    }
    let day = now.0.div_euclid(DAY_MS) * DAY_MS;
    if brought_in(tx, referrer, i64::MIN)? >= MAX_REFERRALS
        || brought_in(tx, referrer, day)? >= MAX_REFERRALS_A_DAY
    {
        return Ok(());
    }
    tx.run(
        "INSERT INTO referrals (node_id, referrer, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        params![node_id, referrer, now],
    )?;
    let parties = [("referrer", referrer, rewards.referrer), ("referred", node_id, rewards.referred)];
    for (role, node_id_paid, amount) in parties {
        let reference = format!("referral:{node_id}:{role}");
        let reward = NewReward {
            node_id: node_id_paid,
            source: "referral",
            reference: &reference,
            asset: None,
            amount,
        };
        pay_reward(tx, rewards, reward, now)?;
    }
    Ok(())
}

fn brought_in(tx: &mut dyn Tx, referrer: &str, since: i64) -> Result<i64> {
    tx.count(
        "SELECT COUNT(*) FROM referrals WHERE referrer = $1 AND created_at >= $2",
        params![referrer, since],
    )
}

/// Forgets how much owners got on days that are over.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    // A day more than needed: a hub whose clock is behind may still be in it.
    tx.run("DELETE FROM reward_days WHERE day < $1", params![now.0.div_euclid(DAY_MS) - 1])
}
