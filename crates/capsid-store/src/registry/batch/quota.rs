//! What the owners of a batch published today.

use crate::db::DAY_MS;
use crate::db::row_batch::{RowBatch, RowsSql};
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::registry::quotas::PublishQuota;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use std::collections::BTreeMap;

/// The counters of a batch, by owner. What a batch adds is written at its end.
pub(super) struct DayQuotas {
    day: i64,
    owners: BTreeMap<String, DayCounter>,
}

#[derive(Debug, Clone, Copy, Default)]
struct DayCounter {
    /// Bytes and bundles before the batch, where they were looked at.
    before: Option<(i64, i64)>,
    bytes: i64,
    bundles: i64,
}

/// Adds to days that are there.
const COUNT: RowsSql = RowsSql {
    sqlite: "UPDATE publish_days SET bytes = bytes + $3, bundles = bundles + $4 WHERE owner = $1 AND day = $2",
    postgres: "UPDATE publish_days d SET bytes = d.bytes + u.bytes, bundles = d.bundles + u.bundles
               FROM unnest($1, $2, $3, $4) AS u (owner, day, bytes, bundles)
               WHERE d.owner = u.owner AND d.day = u.day",
};

const ADD_SQLITE: &str = "INSERT INTO publish_days (owner, day, bytes, bundles) VALUES ($1, $2, $3, $4)
    ON CONFLICT (owner, day) DO UPDATE SET bytes = publish_days.bytes + excluded.bytes,
        bundles = publish_days.bundles + excluded.bundles";

/// The same, and gives what it comes to: another hub may have added the day.
const ADD_POSTGRES: &str =
    "INSERT INTO publish_days (owner, day, bytes, bundles) SELECT * FROM unnest($1, $2, $3, $4)
    ON CONFLICT (owner, day) DO UPDATE SET bytes = publish_days.bytes + excluded.bytes,
        bundles = publish_days.bundles + excluded.bundles
    RETURNING owner, bytes, bundles";

impl DayQuotas {
    pub fn new(now: Time) -> Self {
        Self { day: now.0.div_euclid(DAY_MS), owners: BTreeMap::new() }
    }

    /// Counts a bundle if its owner may publish it today. Without a limit the owner may publish as much as it likes.
    pub fn count_within(
        &mut self,
        tx: &mut dyn Tx,
        owner: &str,
        quota: Option<&PublishQuota>,
        bytes: i64,
    ) -> Result<bool> {
        let mut counter = self.owners.get(owner).copied().unwrap_or_default();
        if let Some(quota) = quota {
            let before = match counter.before {
                Some(before) => before,
                None => load(tx, owner, self.day)?,
            };
            counter.before = Some(before);
            self.owners.insert(owner.to_owned(), counter);
            let used = (before.0 + counter.bytes, before.1 + counter.bundles);
            if quota.exceeded(used, bytes).is_some() {
                return Ok(false);
            }
        }
        counter.bytes += bytes;
        counter.bundles += 1;
        self.owners.insert(owner.to_owned(), counter);
        Ok(true)
    }

    /// Writes what was counted. Tells whether the days were as they were looked at.
    pub fn write(&self, tx: &mut dyn Tx) -> Result<bool> {
        let (mut limited, mut unlimited) = (RowBatch::default(), RowBatch::default());
        for (owner, counter) in self.owners.iter().filter(|(_, counter)| counter.bundles > 0) {
            let rows = if counter.before.is_some() { &mut limited } else { &mut unlimited };
            rows.push(params![owner, self.day, counter.bytes, counter.bundles]);
        }
        unlimited.run(tx, COUNT)?;
        let add = RowsSql { sqlite: ADD_SQLITE, postgres: ADD_POSTGRES };
        if tx.dialect() == Dialect::Sqlite {
            limited.run(tx, add)?;
            return Ok(true);
        }
        let mut as_expected = true;
        limited.query_each::<(String, i64, i64)>(tx, add, |(owner, bytes, bundles)| {
            let counter = self.owners.get(&owner).copied().unwrap_or_default();
            let before = counter.before.unwrap_or_default();
            as_expected &= (bytes, bundles) == (before.0 + counter.bytes, before.1 + counter.bundles);
            Ok(())
        })?;
        Ok(as_expected)
    }
}

/// What an owner published on a day, kept from changing until the end.
fn load(tx: &mut dyn Tx, owner: &str, day: i64) -> Result<(i64, i64)> {
    let used = tx.query_first::<(i64, i64)>(
        "SELECT bytes, bundles FROM publish_days WHERE owner = $1 AND day = $2 FOR UPDATE",
        params![owner, day],
    )?;
    Ok(used.unwrap_or_default())
}
