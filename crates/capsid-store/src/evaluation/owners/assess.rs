//! Works out once a day how far accounts are trusted.

use super::load_standing;
use super::outcomes::count_settled;
use crate::audit::{self, AuditChange};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::owners::{AGREEMENT_DAYS, LevelCondition, OwnerFacts, assess};
use serde::Serialize;

/// Assesses the next few accounts after an id, and gives where to go on. An account is assessed once a day.
pub fn assess_next(tx: &mut dyn Tx, after: &str, limit: i64, now: Time) -> Result<(u64, Option<String>)> {
    let users = tx.query_all::<(String, i64)>(
        "SELECT u.user_id, COALESCE(o.assessed_at, 0) FROM users u LEFT JOIN owners o ON o.owner = 'user:' || u.user_id
         WHERE u.user_id > $1 ORDER BY u.user_id LIMIT $2",
        params![after, limit],
    )?;
    let full = users.len() as i64 == limit;
    let next = users.last().map(|(user, _)| user.clone()).filter(|_| full);
    let mut changed = 0;
    for (user, assessed_at) in users {
        if assessed_at <= now.0 - DAY_MS {
            changed += u64::from(assess_account(tx, &user, now)?);
        }
    }
    Ok((changed, next))
}

/// Works out how far an account is trusted. Tells whether its level changed.
pub fn assess_account(tx: &mut dyn Tx, user_id: &str, now: Time) -> Result<bool> {
    let policy = tx.trust().owners;
    let owner = format!("user:{user_id}");
    let facts = load_facts(tx, user_id, now)?;
    let assessed = assess(&facts, &policy);
    let before = load_standing(tx, &owner)?.level;
    let conditions = serde_json::to_string(&assessed.conditions)
        .map_err(|error| crate::damaged(format!("The conditions of a level cannot be written: {error}.")))?;
    tx.run(
        "INSERT INTO owners (owner, level, weight, settled, agreed, conditions, assessed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (owner) DO UPDATE SET level = excluded.level, weight = excluded.weight,
            settled = excluded.settled, agreed = excluded.agreed, conditions = excluded.conditions,
            assessed_at = excluded.assessed_at",
        params![
            &owner,
            assessed.level.number(),
            assessed.weight,
            i64::from(facts.settled),
            i64::from(facts.agreed),
            &conditions,
            now
        ],
    )?;
    if before == assessed.level {
        return Ok(false);
    }
    let missing = assessed.conditions.iter().find(|condition| !condition.is_met);
    let change = AuditChange {
        kind: "user",
        subject: user_id,
        action: "level",
        before: Some(&before.number().to_string()),
        after: Some(&assessed.level.number().to_string()),
        reason: missing.map(|condition| condition.text.as_str()),
    };
    audit::add(tx, "hub", change, now)?;
    Ok(true)
}

fn load_facts(tx: &mut dyn Tx, user_id: &str, now: Time) -> Result<OwnerFacts> {
    let created_at: i64 =
        tx.query_one("SELECT created_at FROM users WHERE user_id = $1", params![user_id])?;
    let (days_seen, last_strike_at) = tx.query_one::<(i64, Option<i64>)>(
        "SELECT COALESCE(MAX(CASE WHEN secret_state = 'bound' THEN days_seen ELSE 0 END), 0), MAX(last_strike_at)
         FROM nodes WHERE owner = $1",
        params![user_id],
    )?;
    let (settled, agreed) = count_settled(tx, user_id, now.0 - AGREEMENT_DAYS * DAY_MS)?;
    let is_appointed =
        tx.exists("SELECT 1 FROM users WHERE user_id = $1 AND appointed_at IS NOT NULL", params![user_id])?;
    Ok(OwnerFacts {
        is_account: true,
        age_days: now.days_since(Time(created_at)),
        days_seen: u32::try_from(days_seen.max(0)).unwrap_or(u32::MAX),
        days_since_strike: last_strike_at.map(|at| now.days_since(Time(at))),
        settled,
        agreed,
        is_appointed,
    })
}

/// How far an owner is trusted, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnerView {
    pub level: i64,
    pub weight: f64,
    /// How many of its reports an arbiter's outcome settled.
    pub settled: i64,
    pub agreed: i64,
    /// What each level asks for, and what the owner has. Empty until it is first assessed.
    pub conditions: Vec<LevelCondition>,
}

/// How far an owner is trusted, with the reasons.
pub fn load_view(tx: &mut dyn Tx, owner: &str) -> Result<OwnerView> {
    let now = load_standing(tx, owner)?;
    let stored = tx.query_first::<(i64, i64, String)>(
        "SELECT settled, agreed, conditions FROM owners WHERE owner = $1",
        params![owner],
    )?;
    let (settled, agreed, conditions) = stored.unwrap_or_default();
    let conditions = serde_json::from_str(&conditions).unwrap_or_default();
    Ok(OwnerView { level: now.level.number(), weight: now.weight, settled, agreed, conditions })
}
