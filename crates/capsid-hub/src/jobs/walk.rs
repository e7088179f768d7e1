//! How a job goes through a table: from where the last run stopped, in steps.

use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::promotion::AssetWalkStep;
use capsid_store::system::jobs;

/// How many assets are changed in one transaction.
pub const TOGETHER: usize = 20;
/// How many steps a run takes at most; the next one goes on from there.
pub const MAX_STEPS: usize = 250;

/// Walks through a table from where the last run stopped: finds what there is to do, and does it a few at a time.
pub async fn walk<F, A>(hub: &SharedHub, name: &'static str, find: F, act: A) -> Result<u64>
where
    F: Fn(&mut dyn Tx, i64) -> Result<AssetWalkStep> + Clone + Send + 'static,
    A: Fn(&mut dyn Tx, &AssetId) -> Result<u64> + Clone + Send + 'static,
{
    let place = hub.store.read(move |tx| jobs::place(tx, name)).await?;
    let mut place: Option<i64> = Some(place.parse().unwrap_or_default());
    let mut done = 0;
    for _ in 0..MAX_STEPS {
        let (Some(after), find, false) = (place, find.clone(), hub.is_closing()) else { break };
        let step = hub.store.read(move |tx| find(tx, after)).await?;
        for few in step.found.chunks(TOGETHER) {
            let (few, act) = (few.to_vec(), act.clone());
            done += hub.store.write(move |tx| all(tx, &few, &act)).await?;
        }
        place = step.next;
    }
    finish(hub, name, place.map(|place| place.to_string()), done).await
}

fn all(tx: &mut dyn Tx, ids: &[AssetId], act: &impl Fn(&mut dyn Tx, &AssetId) -> Result<u64>) -> Result<u64> {
    let mut done = 0;
    for id in ids {
        done += act(tx, id)?;
    }
    Ok(done)
}

/// Notes where a run stopped, and how much it did.
pub async fn finish(hub: &SharedHub, name: &'static str, place: Option<String>, done: u64) -> Result<u64> {
    let (place, now) = (place.unwrap_or_default(), hub.now());
    hub.store.write(move |tx| jobs::finish(tx, name, &place, done, now)).await?;
    Ok(done)
}
