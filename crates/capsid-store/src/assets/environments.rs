//! Where assets are known to work.

use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use std::collections::HashSet;

/// Whether an asset `a` was made in the environment `$1`, or is known to work there by a report.
macro_rules! works_there {
    () => {
        "(a.environment = $1 OR EXISTS (SELECT 1 FROM reports r
            WHERE r.asset_id = a.asset_id AND r.overall_ok = 1 AND lower(r.env_fingerprint_key) = $1))"
    };
}
pub(crate) use works_there;

macro_rules! working {
    ($list:literal) => {
        concat!("SELECT a.seq FROM assets a WHERE a.seq ", $list, " AND ", works_there!())
    };
}

const SQLITE: &str = working!("IN (SELECT value FROM json_each($2))");
const POSTGRES: &str =
    working!("IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($2 AS JSON)))");

/// Which of some assets were made in an environment, or are known to work there by a report.
pub fn working_in(tx: &mut dyn Tx, seqs: &[i64], environment: &str) -> Result<HashSet<i64>> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
    };
    let list = serde_json::json!(seqs).to_string();
    Ok(tx.query_all::<i64>(sql, params![environment, &list])?.into_iter().collect())
}
