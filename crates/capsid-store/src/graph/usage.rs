//! Who asked the knowledge graph how often, told it things, and what was paid for it.

use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::ledger::{self, Transfer, TransferOutcome};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How many days are told.
pub const DAYS: i64 = 30;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphUseKind {
    /// A question, or a drawing.
    Query,
    Ingest,
}

impl GraphUseKind {
    /// The kind of its transfer in the ledger.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Query => "graph_query",
            Self::Ingest => "graph_ingest",
        }
    }
}

row! {
    /// How much somebody used the graph.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct GraphUsage {
        pub queries: i64 = "CAST(COALESCE(SUM(queries), 0) AS BIGINT)",
        /// Calls that told it something.
        pub ingests: i64 = "CAST(COALESCE(SUM(ingests), 0) AS BIGINT)",
        /// What was paid, in milli-credits.
        pub credits: i64 = "CAST(COALESCE(SUM(credits), 0) AS BIGINT)",
    }
}

/// Counts what somebody did on a day. The asker is named as its account in the ledger is.
pub fn count(tx: &mut dyn Tx, asker: &str, used: GraphUsage, at: Time) -> Result<()> {
    tx.run(
        "INSERT INTO graph_use (asker, day, queries, ingests, credits) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (asker, day) DO UPDATE SET queries = graph_use.queries + $3,
            ingests = graph_use.ingests + $4, credits = graph_use.credits + $5",
        params![asker, day(at), used.queries, used.ingests, used.credits],
    )?;
    Ok(())
}

/// Takes the price of one call from an account and counts the call. Doing it again for the same call takes and counts
/// nothing.
pub fn charge(
    tx: &mut dyn Tx,
    asker: &str,
    what: GraphUseKind,
    (price, call): (i64, &str),
    now: Time,
) -> Result<TransferOutcome> {
    let kind = what.kind();
    let reference = format!("{kind}:{asker}:{call}");
    let paid = Transfer { reference: &reference, kind, from: asker, to: ledger::HUB, amount: price };
    let moved = ledger::transfer(tx, paid, now)?;
    if moved == TransferOutcome::Done {
        let (queries, ingests) = if what == GraphUseKind::Query { (1, 0) } else { (0, 1) };
        count(tx, asker, GraphUsage { queries, ingests, credits: price }, now)?;
    }
    Ok(moved)
}

/// How much somebody used the graph in the last [`DAYS`] days, today included.
pub fn lately(tx: &mut dyn Tx, asker: &str, now: Time) -> Result<GraphUsage> {
    tx.query_one(
        select!(GraphUsage, "FROM graph_use WHERE asker = $1 AND day > $2"),
        params![asker, day(now) - DAYS],
    )
}

fn day(at: Time) -> i64 {
    at.0.div_euclid(DAY_MS)
}
