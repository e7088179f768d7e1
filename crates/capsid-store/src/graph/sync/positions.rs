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
pub(crate) enum Log {
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
pub(crate) struct Position {
    pub seq: i64,
    /// What stands there.
    pub mark: String,
}

/// How far all logs were followed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    pub reached: BTreeMap<String, Position>,
    pub gaps: BTreeMap<String, Vec<i64>>,
}

/// The statements over the tables in which a follower notes how far it is.
pub(crate) struct PositionTables {
    positions: &'static str,
    gaps: &'static str,
    reach: &'static str,
    miss: &'static str,
    arrive: &'static str,
}

macro_rules! position_tables {
    ($positions:literal, $gaps:literal) => {
        PositionTables {
            // A row for each log.
            positions: concat!("SELECT log, seq, mark FROM ", $positions),
            // At most so many as are remembered.
            gaps: concat!("SELECT log, seq FROM ", $gaps, " ORDER BY log, seq"),
            reach: concat!(
                "INSERT INTO ",
                $positions,
                " (log, seq, mark) VALUES ($1, $2, $3)
                 ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, mark = excluded.mark"
            ),
            miss: concat!(
                "INSERT INTO ",
                $gaps,
                " (log, seq, since) SELECT $1, j.value, $2 FROM json_each($3) j WHERE TRUE ON CONFLICT DO NOTHING"
            ),
            arrive: concat!(
                "DELETE FROM ",
                $gaps,
                " WHERE log = $1 AND (since < $2 OR seq IN (SELECT j.value FROM json_each($3) j))"
            ),
        }
    };
}

/// Of the graph.
pub(crate) const GRAPH_POSITIONS: PositionTables = position_tables!("positions", "gaps");
/// Of the search.
pub(crate) const SEARCH_POSITIONS: PositionTables = position_tables!("search_positions", "search_gaps");

impl Positions {
    pub fn load(index: &mut dyn Tx) -> Result<Self> {
        Self::load_from(index, &GRAPH_POSITIONS)
    }

    pub fn load_from(index: &mut dyn Tx, tables: &PositionTables) -> Result<Self> {
        let mut positions = Self::default();
        for (log, seq, mark) in index.query_all::<(String, i64, String)>(tables.positions, params![])? {
            positions.reached.insert(log, Position { seq, mark });
        }
        for (log, seq) in index.query_all::<(String, i64)>(tables.gaps, params![])? {
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
pub(crate) struct Followed {
    pub position: Option<Position>,
    /// Numbers that were missing on the way.
    pub missing: Vec<i64>,
    /// Numbers that were missing before and came.
    pub arrived: Vec<i64>,
}

impl Followed {
    /// Whether nothing is new.
    pub fn is_idle(&self) -> bool {
        self.position.is_none() && self.missing.is_empty() && self.arrived.is_empty()
    }
}

/// Notes how far a log was followed.
pub(crate) fn store(
    index: &mut dyn Tx,
    tables: &PositionTables,
    log: Log,
    followed: &Followed,
    now: Time,
) -> Result<()> {
    let name = log.name();
    if let Some(Position { seq, mark }) = &followed.position {
        index.run(tables.reach, params![name, *seq, mark])?;
    }
    if !followed.missing.is_empty() {
        let newest = followed.missing.len().saturating_sub(MAX_GAPS);
        let missing = json!(followed.missing.get(newest..)).to_string();
        index.run(tables.miss, params![name, now, &missing])?;
    }
    let arrived = json!(followed.arrived).to_string();
    index.run(tables.arrive, params![name, now.0 - GAP_KEPT_MS, &arrived])?;
    Ok(())
}
