//! New rules look at old assets, too.

use super::walk::{TOGETHER, finish};
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::assets::scans;
use capsid_store::evaluation::moderation::rescan;

/// How many steps a run takes; other jobs wait meanwhile.
const MAX_STEPS: usize = 20;

/// Whether an asset was scanned by older rules. Only reads.
pub async fn has_outdated(hub: &SharedHub) -> Result<bool> {
    hub.store.read(|tx| Ok(!scans::find_outdated(tx, 1)?.is_empty())).await
}

/// Scans a few assets again, promoted ones first.
pub async fn rescan(hub: &SharedHub, now: Time) -> Result<u64> {
    let mut done = 0;
    for _ in 0..MAX_STEPS {
        let found = hub.store.read(|tx| scans::find_outdated(tx, TOGETHER as i64)).await?;
        if found.is_empty() || hub.is_closing() {
            break;
        }
        done += hub
            .store
            .write(move |tx| {
                let mut scanned = 0;
                for id in &found {
                    scanned += u64::from(rescan::rescan(tx, id, now)?);
                }
                Ok::<u64, capsid_model::problem::Problem>(scanned)
            })
            .await?;
    }
    finish(hub, "scanning", None, done).await
}
