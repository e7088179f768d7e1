//! How long it takes to build a sandbox.

use capsid_sandbox::{
    AgentProfile, AgentRequest, ConfinedTree, Confinement, IsolationPolicy, PrivateTree, ProcessLimits,
    WriteLayer, run_agent, run_validation,
};
use capsid_testkit::test_repo::TestRepo;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

fn print(what: &str, ids: &str, mut builds: Vec<Duration>, mut totals: Vec<Duration>) {
    builds.sort();
    totals.sort();
    let middle = builds.len() / 2;
    println!(
        "{what} as {ids}: build {:.1?} (median {:.1?}), start to end {:.1?} (median {:.1?})",
        builds[0], builds[middle], totals[0], totals[middle]
    );
}

#[test]
fn a_sandbox_is_built_in_milliseconds() {
    let repo = TestRepo::new();
    let layers = tempfile::tempdir().unwrap();
    let tree = |name: &str| {
        ConfinedTree::Private(PrivateTree {
            root: repo.path().to_owned(),
            layers: Vec::new(),
            writes: WriteLayer::Folder(layers.path().join(name)),
            git_dir: None,
        })
    };
    let argv = ["true".to_owned()];
    let (mut builds, mut totals, mut ids) = (Vec::new(), Vec::new(), "");
    for round in 0..ROUNDS {
        let confinement = Confinement { tree: tree(&format!("v{round}")), ..Confinement::to(repo.path()) };
        let began = Instant::now();
        let limits = ProcessLimits::default();
        let finished = run_validation(&argv, &confinement, IsolationPolicy::Require, &limits).unwrap();
        totals.push(began.elapsed());
        builds.push(finished.build_time);
        ids = finished.ids.as_str();
    }
    let fastest = builds.iter().min().copied().unwrap();
    print("validation", ids, builds, totals);
    let home = tempfile::tempdir().unwrap();
    let (mut builds, mut totals) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let profile = AgentProfile {
            tree: tree(&format!("a{round}")),
            layers: layers.path().join("agent"),
            home: home.path().to_owned(),
            hidden: Vec::new(),
            show: Vec::new(),
            sockets: Vec::new(),
            kept_writes: Vec::new(),
            copied_back: Vec::new(),
            network: true,
            disk_bytes: 1 << 30,
            processes: 512,
        };
        let request = AgentRequest {
            argv: &argv,
            cwd: repo.path(),
            prompt: b"",
            env: &[],
            timeout: Duration::from_secs(60),
            stop: &std::sync::atomic::AtomicBool::new(false),
            profile: Some(&profile),
        };
        let began = Instant::now();
        let run = run_agent(&request, &mut |_| ()).unwrap();
        totals.push(began.elapsed());
        builds.push(run.build_time);
    }
    print("agent", ids, builds, totals);
    // Only an order of magnitude: other programs run at the same time.
    assert!(fastest < Duration::from_millis(250), "{fastest:?}");
}
