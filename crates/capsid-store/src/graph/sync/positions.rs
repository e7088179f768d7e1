//! How far the index has followed each log of the database.

use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use serde_json::json;
use std::collections::BTreeMap;

/// How long a missing number is waited for. A transaction that writes no longer than a minute has long ended then.
const GAP_KEPT_MS: i64 = 600_000;
/// How many missing numbers are remembered of one log.
const MAX_GAPS: usize = 10_000;

/// A table whose numbers tell what is new in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Log {
    Assets,
    Reports,
    Tasks,
    Changes,
    /// Not followed by number: 1 once what was told before there was an index has been read.
    Told,
}

impl Log {
    /// Those that are followed by number.
    pub const NUMBERED: [Self; 4] = [Self::Assets, Self::Reports, Self::Tasks, Self::Changes];

    pub fn name(self) -> &'static str {
        match self {
            Self::Assets => "assets",
            Self::Reports => "reports",
            Self::Tasks => "tasks",
            Self::Changes => "changes",
            Self::Told => "told",
        }
    }
}

/// A place in a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub seq: i64,
    /// What stands there.
    pub mark: String,
}

/// How far all logs were followed.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    pub reached: BTreeMap<String, Position>,
    pub gaps: BTreeMap<String, Vec<i64>>,
}

impl Positions {
    pub fn load(index: &mut dyn Tx) -> Result<Self> {
        let mut positions = Self::default();
        for (log, seq, mark) in
            index.query_all::<(String, i64, String)>("SELECT log, seq, mark FROM positions", params![])?
        {
            positions.reached.insert(log, Position { seq, mark });
        }
        for (log, seq) in
            index.query_all::<(String, i64)>("SELECT log, seq FROM gaps ORDER BY log, seq", params![])?
        {
            positions.gaps.entry(log).or_default().push(seq);
        }
        Ok(positions)
    }

    pub fn is_new(&self) -> bool {
        self.reached.is_empty()
    }

    pub fn seq(&self, log: Log) -> i64 {
        self.reached.get(log.name()).map_or(0, |position| position.seq)
    }

    pub fn gaps(&self, log: Log) -> &[i64] {
        self.gaps.get(log.name()).map_or(&[], Vec::as_slice)
    }
}

/// What one step followed of one log.
#[derive(Debug, Clone, Default)]
pub(super) struct Followed {
    pub position: Option<Position>,
    /// Numbers that were missing on the way.
    pub missing: Vec<i64>,
    /// Numbers that were missing before and came.
    pub arrived: Vec<i64>,
}

/// Notes how far a log was followed.
pub(super) fn store(index: &mut dyn Tx, log: Log, followed: &Followed, now: Time) -> Result<()> {
    let name = log.name();
    if let Some(Position { seq, mark }) = &followed.position {
        index.run(
            "INSERT INTO positions (log, seq, mark) VALUES ($1, $2, $3)
             ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, mark = excluded.mark",
            params![name, *seq, mark],
        )?;
    }
    if !followed.missing.is_empty() {
        let newest = followed.missing.len().saturating_sub(MAX_GAPS);
        index.run(
            "INSERT INTO gaps (log, seq, since) SELECT $1, j.value, $2 FROM json_each($3) j WHERE TRUE
             ON CONFLICT DO NOTHING",
            params![name, now, &json!(followed.missing.get(newest..)).to_string()],
        )?;
    }
    index.run(
        "DELETE FROM gaps WHERE log = $1 AND (since < $2 OR seq IN (SELECT j.value FROM json_each($3) j))",
        params![name, now.0 - GAP_KEPT_MS, &json!(followed.arrived).to_string()],
    )?;
    Ok(())
}
