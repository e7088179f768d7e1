//! The hub is killed while eight clients publish. What it acknowledged is there afterwards, and what it did not is
//! there as a whole or not at all.

use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_model::{Clock, SystemClock, json};
use capsid_store::assets::id::AssetId;
use capsid_store::{Store, StoreOptions};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::program::{TestProgram, assert_status};
use capsid_testkit::rounds::{rounds, seeded_rng};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: u64 = 8;
/// The number of the bundle that is published before the clients begin.
const FIRST: u64 = 99_999;
/// Rounds between two looks at everything.
const FSCK_EVERY: usize = 10;

#[test]
fn no_acknowledged_bundle_is_lost_on_sqlite() {
    kill_many(&Scratch::sqlite());
}

#[test]
fn no_acknowledged_bundle_is_lost_on_postgresql() {
    kill_many(&Scratch::postgres());
}

/// What a client sent and what became of it.
struct Published {
    bundle: Bundle,
    message: String,
    acknowledged: bool,
}

fn kill_many(scratch: &Scratch) {
    let (rounds, mut rng) = (rounds(6, 200), seeded_rng());
    let (program, place) = (program(), &scratch.place);
    let mut phases: BTreeMap<String, usize> = BTreeMap::new();
    let mut acknowledged: Vec<Bundle> = Vec::new();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let hub = HubProcess::start(&program, place);
        let (sent, phase) = publish_until_killed(hub, round, Duration::from_millis(rng.u64(0..500)));
        *phases.entry(format!("the store {phase}")).or_default() += 1;
        let began = Instant::now();
        let hub = HubProcess::start(&program, place);
        slowest = slowest.max(began.elapsed());
        let kept = stored_assets(place);
        for published in sent {
            let fate = fate(&published, &kept, &hub);
            *phases.entry(fate.to_owned()).or_default() += 1;
            if published.acknowledged {
                acknowledged.push(published.bundle);
            }
        }
        let lost = acknowledged.iter().filter(|bundle| !kept.contains(bundle.capsule_id())).count();
        assert_eq!(lost, 0, "acknowledged bundles are gone after round {round}");
        hub.kill();
        if round % FSCK_EVERY == FSCK_EVERY - 1 || round + 1 == rounds {
            assert_sound(&program, place);
        }
    }
    println!("{rounds} kills, {} bundles acknowledged, slowest start {slowest:?}", acknowledged.len());
    for (phase, count) in &phases {
        println!("  {phase:40} {count:6}");
    }
    assert!(acknowledged.len() > rounds, "nearly nothing was published");
}

fn assert_sound(program: &TestProgram, place: &TestHubLocation) {
    assert_status(0, &place.run(program, &["fsck"]));
}

/// Eight clients publish until the hub is killed; also what its store was doing then.
fn publish_until_killed(hub: HubProcess, round: usize, after: Duration) -> (Vec<Published>, String) {
    let over = AtomicBool::new(false);
    // The first one after a start takes longer, and there would be little to kill.
    let first = publish_one(&hub.address, round as u64 * CLIENTS + CLIENTS, FIRST);
    std::thread::scope(|scope| {
        let (address, over) = (hub.address.clone(), &over);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let address = address.clone();
                scope.spawn(move || publish(&address, round as u64 * CLIENTS + client, over))
            })
            .collect();
        std::thread::sleep(after);
        let phase = phase(hub.id());
        hub.kill();
        over.store(true, Ordering::SeqCst);
        let sent = clients.into_iter().flat_map(|client| client.join().unwrap());
        (sent.chain([first]).collect(), phase)
    })
}

/// Publishes one bundle after the other until one is not answered.
fn publish(address: &str, client: u64, over: &AtomicBool) -> Vec<Published> {
    let mut sent = Vec::new();
    while !over.load(Ordering::SeqCst) {
        sent.push(publish_one(address, client, sent.len() as u64));
        if sent.last().is_some_and(|last| !last.acknowledged) {
            break;
        }
    }
    sent
}

fn publish_one(address: &str, client: u64, n: u64) -> Published {
    let bundle = Bundle::new(client * 100_000 + n);
    let message = message(&format!("node_{client}"), &format!("msg_{n}"), &bundle);
    let answer = ask(address, "POST", "/a2a/publish", Some(&message));
    if let Some((status, body)) = &answer {
        assert_eq!(*status, 200, "{body}");
    }
    Published { bundle, message, acknowledged: answer.is_some() }
}

pub fn message(node: &str, message_id: &str, bundle: &Bundle) -> String {
    json!({
        "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "publish", "message_id": message_id,
        "sender_id": node, "timestamp": "2026-01-01T00:00:00Z", "payload": bundle.payload(),
    })
    .to_string()
}

/// What became of a bundle. One that was not acknowledged is sent again, and then is there once.
fn fate(published: &Published, kept: &HashSet<String>, hub: &HubProcess) -> &'static str {
    let bundle = &published.bundle;
    let there = [bundle.gene_id(), bundle.capsule_id(), bundle.event_id()].map(|id| kept.contains(id));
    assert!(there == [true; 3] || there == [false; 3], "half a bundle is there: {there:?}");
    if published.acknowledged {
        assert!(there[0], "an acknowledged bundle is gone: {}", bundle.capsule_id());
        return "bundle acknowledged";
    }
    let (status, body) = ask(&hub.address, "POST", "/a2a/publish", Some(&published.message)).unwrap();
    assert_eq!(status, 200, "sent again: {body}");
    if there[0] { "bundle kept, not yet acknowledged" } else { "bundle not yet kept" }
}

/// Every asset in the database, read beside the hub.
fn stored_assets(place: &TestHubLocation) -> HashSet<String> {
    let options = StoreOptions::new(&place.data, place.database.clone()).shared();
    let store = Store::open(&options, SystemClock.now()).unwrap();
    let ids = store.read_now(|tx| tx.query_all::<AssetId>("SELECT asset_id FROM assets", &[]));
    ids.unwrap().iter().map(AssetId::to_string).collect()
}

/// What the threads of the store do just now, as the system sees it: the one that writes to SQLite, or those that
/// speak with PostgreSQL.
fn phase(process: u32) -> String {
    let doing: Vec<&str> = threads(process).iter().filter_map(|thread| doing(thread)).collect();
    // The busiest one says most.
    let busiest = DOING.iter().find(|name| doing.contains(name));
    busiest.map_or("is not open yet", |name| name).to_owned()
}

fn threads(process: u32) -> Vec<PathBuf> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    tasks.flatten().map(|task| task.path()).collect()
}

/// What a thread may be doing, what is most interesting first.
const DOING: [&str; 5] = ["waits for the disk", "writes", "waits for the server", "computes", "rests"];

fn doing(thread: &Path) -> Option<&'static str> {
    let name = std::fs::read_to_string(thread.join("comm")).ok()?;
    if !["store-writer", "store-postgres"].contains(&name.trim()) {
        return None;
    }
    let call = std::fs::read_to_string(thread.join("syscall")).ok()?;
    let number = call.split(' ').next().unwrap_or_default().trim();
    // fdatasync and fsync, pwrite64, epoll_wait and epoll_pwait, futex.
    let numbers: [&[&str]; 5] = if cfg!(target_arch = "aarch64") {
        [&["83", "82"], &["68"], &["22"], &[], &["98"]]
    } else {
        [&["75", "74"], &["18"], &["232", "281"], &[], &["202"]]
    };
    let found = numbers.iter().position(|numbers| numbers.contains(&number));
    Some(found.map_or("computes", |n| DOING[n]))
}
