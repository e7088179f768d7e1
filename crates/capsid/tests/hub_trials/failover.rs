//! The primary of two PostgreSQL servers is killed with all its processes while clients publish through several hubs, and the
//! standby takes over. The hubs go on by themselves. Nothing acknowledged is lost, nothing is stored twice.

use super::kill::message;
use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_model::{Clock, SystemClock};
use capsid_store::assets::id::AssetId;
use capsid_store::{Store, StoreOptions};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::postgres_pair::PostgresPair;
use capsid_testkit::program::assert_status;
use capsid_testkit::rounds::{rounds, seeded_rng, size};
use capsid_testkit::wait::until;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What one client was told, and what it had to do for it.
#[derive(Default)]
struct ClientReport {
    acknowledged: Vec<Bundle>,
    sent_again: usize,
    longest_pause: Duration,
}

#[test]
fn nothing_acknowledged_is_lost_when_the_standby_takes_over() {
    let (rounds, mut rng) = (rounds(2, 20), seeded_rng());
    let program = program();
    let mut pair = PostgresPair::start();
    let scratch = Scratch::at(&pair.url);
    let hubs: Vec<_> = (0..size(2, 3)).map(|_| HubProcess::start(&program, &scratch.place)).collect();
    let mut report = ClientReport::default();
    for round in 0..rounds {
        if round > 0 {
            pair.rejoin();
        }
        let after = Duration::from_millis(rng.u64(200..900));
        let of_round = publish_through_a_failover(&mut pair, &hubs, round, after);
        report.acknowledged.extend(of_round.acknowledged);
        report.sent_again += of_round.sent_again;
        report.longest_pause = report.longest_pause.max(of_round.longest_pause);
    }
    drop(hubs);
    let stored = stored_assets(&scratch.place);
    let distinct: HashSet<&String> = stored.iter().collect();
    let ids = report
        .acknowledged
        .iter()
        .flat_map(|bundle| [bundle.gene_id(), bundle.capsule_id(), bundle.event_id()]);
    let lost = ids.filter(|id| !distinct.contains(&id.to_string())).count();
    let bundles = count(&scratch.place, "SELECT COUNT(*) FROM bundles");
    // Every client sent until it was told, so there is nothing that was not acknowledged.
    let twice = stored.len() - distinct.len() + (bundles as usize).abs_diff(report.acknowledged.len());
    println!(
        "{rounds} failovers: {} bundles acknowledged, {} sent again, {lost} assets lost, {twice} stored twice, longest pause {:.1?}",
        report.acknowledged.len(),
        report.sent_again,
        report.longest_pause
    );
    assert_eq!((lost, twice), (0, 0));
    assert!(report.acknowledged.len() > rounds * CLIENTS, "nearly nothing was published");
    assert_eq!(count(&scratch.place, "SELECT CAST(COALESCE(SUM(delta), 0) AS BIGINT) FROM entries"), 0);
    assert_status(0, &scratch.place.run(&program, &["fsck"]));
}

const CLIENTS: usize = 6;
const LIMIT: Duration = Duration::from_secs(60);

/// Clients publish; the primary is killed and the standby promoted; clients end once each of them went on afterwards.
fn publish_through_a_failover(
    pair: &mut PostgresPair,
    hubs: &[HubProcess],
    round: usize,
    after: Duration,
) -> ClientReport {
    let over = AtomicBool::new(false);
    let progress: [AtomicUsize; CLIENTS] = std::array::from_fn(|_| AtomicUsize::new(0));
    let counts = || progress.each_ref().map(|count| count.load(Ordering::SeqCst));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (address, over, progress) =
                    (hubs[client % hubs.len()].address.as_str(), &over, &progress[client]);
                scope.spawn(move || publish(address, (round * CLIENTS + client) as u64, over, progress))
            })
            .collect();
        until("every client was answered", LIMIT, || counts().iter().all(|count| *count > 0));
        std::thread::sleep(after);
        pair.kill_primary();
        pair.promote_standby();
        let before = counts();
        until("every client goes on", LIMIT, || {
            counts().iter().zip(before).all(|(now, then)| *now > then + 1)
        });
        over.store(true, Ordering::SeqCst);
        clients.into_iter().map(|client| client.join().unwrap()).fold(
            ClientReport::default(),
            |mut all, one| {
                all.acknowledged.extend(one.acknowledged);
                all.sent_again += one.sent_again;
                all.longest_pause = all.longest_pause.max(one.longest_pause);
                all
            },
        )
    })
}

/// Publishes one bundle after the other, each with the same message until it is acknowledged.
fn publish(address: &str, client: u64, over: &AtomicBool, progress: &AtomicUsize) -> ClientReport {
    let mut report = ClientReport::default();
    while !over.load(Ordering::SeqCst) {
        let n = report.acknowledged.len() as u64;
        let bundle = Bundle::new(client * 100_000 + n);
        let message = message(&format!("node_{client}"), &format!("msg_{n}"), &bundle);
        let began = Instant::now();
        loop {
            match ask(address, "POST", "/a2a/publish", Some(&message)) {
                Some((200, _)) => break,
                // The documented answers while the database is away: come again.
                Some((status, body)) => assert!([429, 503].contains(&status), "{status}: {body}"),
                None => {}
            }
            report.sent_again += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
        report.longest_pause = report.longest_pause.max(began.elapsed());
        report.acknowledged.push(bundle);
        progress.fetch_add(1, Ordering::SeqCst);
    }
    report
}

#[test]
fn a_commit_waits_for_a_standby_that_is_cut_off() {
    let program = program();
    let mut pair = PostgresPair::start();
    let scratch = Scratch::at(&pair.url);
    let hub = HubProcess::start(&program, &scratch.place);
    let send = |n| {
        let message = message("node_a", &format!("msg_{n}"), &Bundle::new(n));
        ask(&hub.address, "POST", "/a2a/publish", Some(&message)).map(|(status, _)| status)
    };
    assert_eq!(send(1), Some(200));
    pair.cut_standby_off();
    let answered = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let status = send(2);
            answered.store(true, Ordering::SeqCst);
            status
        });
        std::thread::sleep(Duration::from_secs(2));
        assert!(!answered.load(Ordering::SeqCst), "a commit did not wait for the standby");
        pair.mend_standby();
        assert_eq!(waiting.join().unwrap(), Some(200));
    });
    drop(hub);
    assert_eq!(stored_assets(&scratch.place).len(), 6);
}

fn open(place: &TestHubLocation) -> Store {
    let options = StoreOptions::new(&place.data, place.database.clone()).shared();
    Store::open(&options, SystemClock.now()).unwrap()
}

fn stored_assets(place: &TestHubLocation) -> Vec<String> {
    let ids = open(place).read_now(|tx| tx.query_all::<AssetId>("SELECT asset_id FROM assets", &[]));
    ids.unwrap().iter().map(AssetId::to_string).collect()
}

fn count(place: &TestHubLocation, sql: &'static str) -> i64 {
    open(place).read_now(move |tx| tx.count(sql, &[])).unwrap()
}
