//! What a signature of the service costs. Run it alone, in a release build, with `--run-ignored only --no-capture`.

use crate::support::{Scene, history, slices};
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

#[test]
#[ignore = "a measurement"]
fn records_per_second_single_in_groups_and_by_several_connections() {
    println!("texts of about 1,530 bytes; median of {ROUNDS} rounds [least..most]; times of the first round");
    for (group, connections, count) in
        [(1, 1, 2000), (10, 1, 10_000), (100, 1, 20_000), (1, 8, 8000), (100, 4, 40_000)]
    {
        let rounds: Vec<CostRound> = (0..ROUNDS).map(|_| measure(group, connections, count)).collect();
        let mut rates: Vec<f64> = rounds.iter().map(|round| round.rate).collect();
        rates.sort_by(f64::total_cmp);
        let first = &rounds[0];
        println!(
            "{group} text(s), {connections} connection(s): {:.0} records/s [{:.0}..{:.0}], p50 {:.2} ms, p99 {:.2} ms",
            rates[ROUNDS / 2],
            rates[0],
            rates[ROUNDS - 1],
            first.at(50),
            first.at(99)
        );
        assert!(rates[0] > 10.0);
    }
}

struct CostRound {
    rate: f64,
    times: Vec<Duration>,
}

impl CostRound {
    /// A percentile of the time of a request, in milliseconds.
    fn at(&self, percent: usize) -> f64 {
        self.times[(self.times.len() - 1) * percent / 100].as_secs_f64() * 1000.0
    }
}

fn measure(group: usize, connections: usize, count: usize) -> CostRound {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    let sessions: Vec<Vec<String>> = (0..connections)
        .map(|session| history(&session.to_string(), &"x".repeat(1380), count / connections))
        .collect();
    let start = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = sessions
            .iter()
            .map(|texts| {
                let (mut client, keys) = (scene.client(), &keys);
                scope.spawn(move || {
                    let time = |group: &[String]| {
                        let start = Instant::now();
                        client.sign(&slices(group), keys).unwrap();
                        start.elapsed()
                    };
                    texts.chunks(group).map(time).collect::<Vec<Duration>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let rate = count as f64 / start.elapsed().as_secs_f64();
    times.sort_unstable();
    CostRound { rate, times }
}
