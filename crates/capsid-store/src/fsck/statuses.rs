//! States: each is one that exists, and the one that the audit says it came to.

use super::FsckReport;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::hash::hex;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

/// Without an entry an asset is what it began as: a candidate. What began otherwise was judged, which is audited.
macro_rules! differing {
    ($text:literal) => {
        concat!(
            "SELECT asset_id, status, audited FROM (SELECT a.seq, a.asset_id, a.status, COALESCE(
                (SELECT u.after FROM audit u WHERE u.kind = 'asset' AND u.subject = ",
            $text,
            " AND u.after IN ('candidate', 'promoted', 'rejected', 'quarantined', 'revoked', 'stale', 'archived')
                ORDER BY u.seq DESC LIMIT 1), 'candidate') AS audited FROM assets a) t
             WHERE status <> audited ORDER BY seq"
        )
    };
}

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    unknown_words(tx, report)?;
    let sql = match tx.dialect() {
        Dialect::Sqlite => differing!("'sha256:' || lower(hex(a.asset_id))"),
        Dialect::Postgres => differing!("'sha256:' || encode(a.asset_id, 'hex')"),
    };
    tx.query_each(sql, params![], |(id, status, audited): (Vec<u8>, String, String)| {
        let problem = format!("It is {status}, but by the audit it is {audited}.");
        report.lost("status_not_audited", format!("sha256:{}", hex(&id)), problem);
        Ok(())
    })
}

fn unknown_words(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    tx.query_each(
        "SELECT asset_type, status, COUNT(*) FROM assets GROUP BY asset_type, status",
        params![],
        |(asset_type, status, count): (String, String, i64)| {
            if AssetType::parse(&asset_type).is_none() || AssetStatus::parse(&status).is_none() {
                let problem =
                    format!("{count} assets are a `{asset_type}` that is `{status}`, which nothing can be.");
                report.lost("word_unknown", "assets", problem);
            }
            Ok(())
        },
    )
}
