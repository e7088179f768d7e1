//! How long searches take over many assets. Run by hand: it takes minutes.
//!
//! `SEARCH_ROWS=300000 cargo test --release -p capsid-store --test search_speed -- --ignored --nocapture`

use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::search::{self, SignalSearch};
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;
use std::time::Instant;

fn rows() -> u64 {
    std::env::var("SEARCH_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// An asset with a signal that half of all have, one that a tenth have, and one that few have.
fn card(rng: &mut fastrand::Rng, n: u64) -> String {
    let common = if rng.bool() { "log_error" } else { "slow_response" };
    let frequent = if rng.u8(0..10) == 0 { "TimeoutError" } else { "other" };
    let words: Vec<String> = (0..12).map(|_| format!("w{}", rng.u32(0..20_000))).collect();
    format!(
        r#""asset_id":"{n}","summary":"{}","trigger":["{common}","{frequent}","rare_{}"]"#,
        words.join(" "),
        rng.u32(0..30_000)
    )
}

fn fill(store: &Store, count: u64) {
    let add_node = |tx: &mut dyn capsid_store::db::tx::Tx| {
        tx.run("INSERT INTO nodes (node_id, created_at, last_seen_at) VALUES ('n', 0, 0)", &[])
    };
    store.write_now(add_node).unwrap();
    for from in (0..count).step_by(5000) {
        let add = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            let mut rng = fastrand::Rng::with_seed(from);
            for n in from..(from + 5000).min(count) {
                let id: Vec<u8> = n.to_be_bytes().repeat(4);
                let kind = ["Gene", "Capsule", "EvolutionEvent"][(n % 3) as usize];
                tx.run(
                    "INSERT INTO assets (asset_id, asset_type, status, node_id, bundle_id, created_at,
                        last_activity_at, gdi, card, body, scan_version)
                     VALUES ($1, $2, 'promoted', 'n', 'b', 0, 0, $3, $4, '{}', 1)",
                    params![&id, kind, rng.i64(2000..8000), &card(&mut rng, n)],
                )?;
            }
            Ok(())
        };
        store.write_now(add).unwrap();
    }
    while store.follow_search_step(Time(0)).unwrap() {}
    while store.merge_search_step().unwrap() {}
}

fn measure(store: &Store, what: &str, query: impl Fn(u32) -> SignalSearch) {
    let mut took: Vec<f64> = (0..200)
        .map(|n| {
            let query = query(n);
            let begun = Instant::now();
            store.read_now(move |tx| search::find(tx, &query)).unwrap();
            begun.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    took.sort_by(f64::total_cmp);
    println!("  {what:<34} p50 {:7.2} ms   p99 {:7.2} ms", took[100], took[198]);
}

fn search(store: &Store) {
    let of = |signals: &[&str]| SignalSearch::signals(signals.iter().map(|&s| s.to_owned()).collect(), 20);
    measure(store, "common signal (half)", |_| of(&["log_error"]));
    measure(store, "frequent signal (a tenth)", |_| of(&["timeout"]));
    measure(store, "frequent signal, capsules", |_| SignalSearch {
        asset_type: capsid_rules::lifecycle::AssetType::parse("Capsule"),
        ..of(&["timeout"])
    });
    measure(store, "rare signal (ten assets)", |n| of(&[&format!("rare_{}", n * 7)]));
    measure(store, "unknown signal", |n| of(&[&format!("unheard{n}")]));
    measure(store, "three signals", |n| of(&["log_error", "timeout", &format!("rare_{n}")]));
    measure(store, "two words", |n| SignalSearch {
        words: format!("w{n} w{}", n + 1),
        status: AssetStatus::Promoted,
        ..of(&[])
    });
    let begun = Instant::now();
    let moved = |tx: &mut dyn capsid_store::db::tx::Tx| {
        tx.run("UPDATE assets SET gdi = gdi + 100 WHERE seq BETWEEN 1000 AND 1999", &[])?;
        let ids =
            tx.query_all::<AssetId>("SELECT asset_id FROM assets WHERE seq BETWEEN 1000 AND 1999", &[])?;
        ids.iter().try_for_each(|id| search::index_again(tx, id, Time(0)))
    };
    store.write_now(moved).unwrap();
    while store.follow_search_step(Time(0)).unwrap() {}
    println!("  moving 1000 assets                 {:7.2} ms each", begun.elapsed().as_secs_f64());
}

#[test]
#[ignore = "takes minutes: `make soak PART=mcp` runs it"]
fn searches_stay_quick_over_many_assets_in_sqlite() {
    let data = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::new(data.path(), None), Time(0)).unwrap();
    let begun = Instant::now();
    fill(&store, rows());
    println!("SQLite, {} assets, filled in {:.0} s", rows(), begun.elapsed().as_secs_f64());
    search(&store);
}

#[test]
#[ignore = "takes minutes: `make soak PART=mcp` runs it"]
fn searches_stay_quick_over_many_assets_in_postgresql() {
    let data = tempfile::tempdir().unwrap();
    let database = TestPostgres::database();
    let store = Store::open(&StoreOptions::new(data.path(), Some(database.url.clone())), Time(0)).unwrap();
    let begun = Instant::now();
    fill(&store, rows());
    println!("PostgreSQL, {} assets, filled in {:.0} s", rows(), begun.elapsed().as_secs_f64());
    search(&store);
}
