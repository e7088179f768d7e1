//! Hubs with many assets. Each size is loaded once and kept in `bench/data`; every bench works on a copy.

use crate::hub::bundles;
use crate::{Result, sealed};
use capsid_hub::ops::assets::bundle::{PublishRequest, check_bundle};
use capsid_model::gate::CommandPolicy;
use capsid_model::hash::sha256_hex;
use capsid_model::time::Time;
use capsid_model::{Clock, SystemClock};
use capsid_store::bulk_load::{LoadItem, LoadOptions, LoadOutcome, load_bundles, on_all_cores, update_index};
use capsid_store::db::tx::Tx;
use capsid_store::{Store, StoreOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// How many bytes an asset may have.
const ASSET_BYTES: i64 = 1 << 18;
/// How many nodes published the bundles.
const NODES: u64 = 64;

/// How many assets the benches of search, memory and mixed work get: 100,000, or `CAPSID_BENCH_ASSETS`.
pub fn wanted() -> u64 {
    let set = std::env::var("CAPSID_BENCH_ASSETS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(100_000)
}

/// A hub's folder with so many assets, all of them promoted and indexed, to do with as one likes.
pub fn copy(assets: u64) -> Result<TempDir> {
    let whole = kept(assets)?;
    let copy = tempfile::tempdir_in(sealed::data()?)?;
    // Copies share their blocks with the original where the file system can do that.
    let copied = Command::new("cp")
        .args(["--reflink=auto", "--recursive", "--no-target-directory"])
        .args([whole.as_path(), copy.path()])
        .status()?;
    if !copied.success() {
        return Err(format!("`cp` could not copy `{}`", whole.display()).into());
    }
    Ok(copy)
}

/// The folder that is copied, made when it is not there. Another schema or other bundles make it another one.
fn kept(assets: u64) -> Result<PathBuf> {
    let made_by =
        [capsid_store::schema_fingerprint().as_str(), bundles::GENERATOR, include_str!("hub_data.rs")]
            .concat();
    let name = format!("hub-{assets}-{}", &sha256_hex(made_by.as_bytes())[..12]);
    let data = sealed::data()?;
    let folder = data.join(&name);
    if folder.join("hub.db").exists() {
        return Ok(folder);
    }
    remove_outdated(&data, &format!("hub-{assets}-"))?;
    eprintln!("bench: loading {assets} assets, once ...");
    // Under another name until it is whole.
    let unfinished = tempfile::tempdir_in(&data)?;
    let began = Instant::now();
    load(&StoreOptions::new(unfinished.path(), None), assets)?;
    eprintln!("bench: loaded {assets} assets in {:.0} s", began.elapsed().as_secs_f64());
    std::fs::rename(unfinished.keep(), &folder)?;
    Ok(folder)
}

fn remove_outdated(data: &Path, start: &str) -> Result<()> {
    for entry in std::fs::read_dir(data)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Loads so many assets into an empty database and promotes them.
pub fn load(options: &StoreOptions, assets: u64) -> Result<()> {
    let now = SystemClock.now();
    let store = Store::open(&StoreOptions { readers: 1, ..options.clone() }, now)?;
    let bundles = assets / 3;
    let mut stored = 0;
    let loaded = std::thread::scope(|scope| {
        let items = on_all_cores(scope, 0..bundles, item);
        // What is no bundle of this generator ends the load, and is missing below.
        let items = items.map_while(|item| item.map_err(|error| eprintln!("bench: {error}")).ok());
        load_bundles(&store, items, LoadOptions::default(), now, &mut |outcomes| {
            stored += outcomes.iter().filter(|(_, outcome)| matches!(outcome, LoadOutcome::Stored(_))).count()
                as u64;
        })
    });
    loaded?;
    if stored != bundles {
        return Err(format!("{stored} of {bundles} bundles were stored").into());
    }
    store.write_now(move |tx| promote_all(tx, now))?;
    update_index(&store, now, &mut |_| {})?;
    Ok(())
}

fn item(n: u64) -> std::result::Result<LoadItem, String> {
    let text = bundles::payload(n).to_string();
    let request: PublishRequest<'_> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let checked = check_bundle(&request, &CommandPolicy::default(), ASSET_BYTES, format!("rcpt_{n}"));
    let bundle = checked.map_err(|error| error.problem)?.bundle;
    Ok(LoadItem { line: n + 1, node_id: format!("node_{}", n % NODES), bundle })
}

/// Makes every candidate a promoted asset, so that searches find it, and writes down what a promotion does.
fn promote_all(tx: &mut dyn Tx, now: Time) -> capsid_model::Result<()> {
    let id = match tx.dialect() {
        capsid_store::db::tx::Dialect::Sqlite => {
            "INSERT INTO audit (at, actor, kind, subject, action, before, after)
             SELECT $1, 'hub', 'asset', 'sha256:' || lower(hex(asset_id)), 'promote', status, 'promoted' FROM assets
             WHERE status = 'candidate'"
        }
        capsid_store::db::tx::Dialect::Postgres => {
            "INSERT INTO audit (at, actor, kind, subject, action, before, after)
             SELECT $1, 'hub', 'asset', 'sha256:' || encode(asset_id, 'hex'), 'promote', status, 'promoted' FROM assets
             WHERE status = 'candidate'"
        }
    };
    tx.run(id, capsid_store::params![now])?;
    tx.run(
        "UPDATE assets SET status = 'promoted', promoted_at = $1 WHERE status = 'candidate'",
        capsid_store::params![now],
    )?;
    tx.run("UPDATE nodes SET total_promoted = total_published", &[])?;
    Ok(())
}
