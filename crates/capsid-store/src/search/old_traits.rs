//! Environment and category of assets that were published before there were any.

use super::placement::index_again;
use crate::assets::id::AssetId;
use crate::assets::list;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::traits;
use capsid_rules::lifecycle::AssetType;
use std::collections::HashMap;

row! {
    struct UnfilledRow {
        seq: i64 = "a.seq",
        asset_id: AssetId = "a.asset_id",
        asset_type: AssetType = "a.asset_type",
        category: Option<String> = "a.category",
        body: String = "a.body",
    }
}

/// Works out what some assets of old lack, the oldest first, and tells how many.
pub fn fill_old_traits(tx: &mut dyn Tx, limit: usize, now: Time) -> Result<usize> {
    let seqs = tx.query_all::<i64>(
        "SELECT seq FROM unfilled_traits ORDER BY seq LIMIT $1 FOR UPDATE",
        params![limit as i64],
    )?;
    let genes = list::bodies_of_genes(tx, &seqs)?;
    for seq in &seqs {
        let row = tx.query_first::<UnfilledRow>(
            select!(UnfilledRow, "FROM assets a WHERE a.seq = $1"),
            params![*seq],
        )?;
        if let Some(row) = row {
            fill(tx, row, &genes, now)?;
        }
        tx.run("DELETE FROM unfilled_traits WHERE seq = $1", params![*seq])?;
    }
    Ok(seqs.len())
}

fn fill(tx: &mut dyn Tx, row: UnfilledRow, genes: &HashMap<i64, String>, now: Time) -> Result<()> {
    // A body that is no object tells nothing; `fsck` tells of it.
    let read = |body: &str| serde_json::from_str::<Object>(body).ok();
    let body = read(&row.body).unwrap_or_default();
    let gene = genes.get(&row.seq).and_then(|body| read(body));
    let category = row.category.or_else(|| traits::category(&body, row.asset_type, gene.as_ref()));
    tx.run(
        "UPDATE assets SET environment = $2, category = $3 WHERE seq = $1",
        params![row.seq, &traits::environment(&body), &category],
    )?;
    index_again(tx, &row.asset_id, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;
    use crate::search::{self, SignalSearch};
    use crate::{Store, StoreOptions};

    const NOW: Time = Time(1_767_225_600_000);

    #[test]
    fn an_upgraded_hub_finds_its_assets_and_fills_in_what_they_lack() {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions::new(folder.path(), None);
        let file = options.file();
        migrate::sqlite_before(&file, "20261120-search-index");
        rusqlite::Connection::open(&file)
            .unwrap()
            .execute_batch(
                r#"INSERT INTO nodes (node_id, created_at, last_seen_at) VALUES ('n', 0, 0);
                 INSERT INTO assets (seq, asset_id, asset_type, status, node_id, bundle_id, created_at, last_activity_at,
                    gdi, card, body, scan_version, meaning) SELECT value, CAST(printf('%032d', value) AS BLOB), 'Gene', 'promoted', 'n', 'b',
                    0, 0, 5000, '"signals":["timeout"]', '{"type":"Gene","category":"repair","signals_match":["timeout"],
                    "env_fingerprint":{"platform":"linux","arch":"x64"}}', 1, iif(value = 2, 'm_timeout||', NULL)
                    FROM json_each('[1,2]');
                 INSERT INTO found_genes (rowid, terms) VALUES (1, 'timeout');
                 INSERT INTO ranks (seq, rank) VALUES (1, 1);"#,
            )
            .unwrap();
        let store = Store::open(&options, NOW).unwrap();
        let unfilled = |tx: &mut dyn Tx| tx.query_all::<i64>("SELECT seq FROM unfilled_traits", params![]);
        assert_eq!(store.read_now(unfilled).unwrap(), [1]);
        let query = SignalSearch::signals(vec!["timeout".to_owned()], 9);
        let find = move |tx: &mut dyn Tx| -> Result<usize> { Ok(search::find(tx, &query)?.len()) };
        assert_eq!(store.read_now(find.clone()).unwrap(), 2, "before the index reaches them");
        store.follow_all(NOW).unwrap();
        assert_eq!(store.read_now(find.clone()).unwrap(), 2);
        assert_eq!(store.write_now(|tx| fill_old_traits(tx, 100, NOW)).unwrap(), 1);
        assert!(store.read_now(unfilled).unwrap().is_empty());
        let filled = store.read_now(|tx| {
            tx.query_one::<(Option<String>, Option<String>)>(
                "SELECT environment, category FROM assets WHERE seq = 1",
                params![],
            )
        });
        assert_eq!(filled.unwrap(), (Some("linux_x64".to_owned()), Some("repair".to_owned())));
        assert!(store.index_lag().unwrap().waiting > 0, "the index hears of it");
        store.follow_all(NOW).unwrap();
        assert_eq!(store.read_now(find).unwrap(), 2);
    }
}
