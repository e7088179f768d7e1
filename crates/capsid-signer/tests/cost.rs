//! What a signature of the service costs. Run it alone, in a release build, with `--run-ignored only --no-capture`.

use crate::support::{Scene, history, slices};
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn records_per_second_single_and_in_groups_of_100() {
    for (group, count) in [(1, 2000), (100, 20_000)] {
        let mut rates: Vec<f64> = (0..3).map(|_| measure(group, count)).collect();
        rates.sort_by(f64::total_cmp);
        println!("groups of {group}: {:.0} records/s [{:.0}..{:.0}]", rates[1], rates[0], rates[2]);
        assert!(rates[0] > 10.0);
    }
}

fn measure(group: usize, count: usize) -> f64 {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    let texts = history("s", &"x".repeat(1400), count);
    let mut client = scene.client();
    let start = Instant::now();
    for group in texts.chunks(group) {
        client.sign(&slices(group), &keys).unwrap();
    }
    count as f64 / start.elapsed().as_secs_f64()
}
