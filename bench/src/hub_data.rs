//! A hub's data with many promoted assets, made once and kept.

use crate::hub::bundles;
use crate::{Result, sealed};
use capsid_hub::ops::assets::bundle;
use capsid_hub::ops::assets::bundle::PublishRequest;
use capsid_model::time::Time;
use capsid_model::{Problem, gate};
use capsid_store::registry::publish::{NewBundle, publish};
use capsid_store::{Store, StoreOptions, nodes, search};
use std::path::PathBuf;

const NOW: Time = Time(1_794_700_000_000);
const TOGETHER: u64 = 200;

/// How many assets the benches of search and memory work on: 100,000, or `CAPSID_BENCH_ASSETS`.
pub fn wanted() -> u64 {
    let set = std::env::var("CAPSID_BENCH_ASSETS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(100_000)
}

/// The folder of a hub with so many assets, all of them promoted and found by search.
pub fn filled(assets: u64) -> Result<PathBuf> {
    let folder = sealed::data()?.join(format!("hub-{assets}"));
    let options = StoreOptions { readers: 1, ..StoreOptions::new(&folder, None) };
    if folder.join("whole").exists() && Store::open(&options, NOW).is_ok() {
        return Ok(folder);
    }
    eprintln!("bench: publishing {assets} assets, once ...");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let store = Store::open(&options, NOW)?;
    let mut next = 0;
    while next < assets / 3 {
        let until = (next + TOGETHER).min(assets / 3);
        let some: Vec<NewBundle> = (next..until).map(bundle).collect::<Result<_>>()?;
        let first = next;
        store.write_now(move |tx| {
            for (n, bundle) in (first..).zip(&some) {
                let node = nodes::lock_or_register(tx, &format!("node_{}", n % 64), 0, NOW)?;
                publish(tx, &node, bundle, NOW)?;
            }
            tx.run("UPDATE assets SET status = 'promoted' WHERE status = 'candidate'", &[])?;
            search::index_pending(tx, 10_000)?;
            Ok::<(), Problem>(())
        })?;
        next = until;
    }
    drop(store);
    std::fs::write(folder.join("whole"), "")?;
    Ok(folder)
}

fn bundle(n: u64) -> Result<NewBundle> {
    let text = bundles::payload(n).to_string();
    let payload: PublishRequest<'_> = serde_json::from_str(&text)?;
    let read = bundle::check_bundle(&payload, &gate::CommandPolicy::default(), 1 << 18, format!("rcpt_{n}"));
    Ok(read.map_err(|error| error.problem)?.bundle)
}
