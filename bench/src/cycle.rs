//! Goal 11: a cycle in a large repository: what it costs beside `git status`, how long its view takes, and how long the
//! list of its changes.

use crate::Result;
use crate::generated_repo::{GeneratedRepo, check};
use crate::measure::{ROUNDS, interleaved, median, seconds};
use crate::report::Row;
use capsid_engine::tree::private_tree::{BaseManifest, BaseScope, list_upper};
use capsid_sandbox::{
    AgentEnd, AgentProfile, AgentRequest, AgentRun, ConfinedTree, PrivateTree, WriteLayer, remove_layer,
    run_agent,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The sizes of the repositories; the goals are about the first.
const SIZES: [usize; 2] = [100_000, 1_000];
/// How many files the agent changes where the list is measured.
const CHANGED: usize = 10;
/// The unit in which Linux counts the CPU time of a process, in every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

pub fn run() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let repos = SIZES.map(GeneratedRepo::create);
    for repo in repos {
        let repo = repo?;
        rows.extend([cpu(&repo)?, view(&repo)?]);
        rows.extend(listing(&repo)?);
    }
    rows.sort_by_key(|row| row.met.is_none());
    Ok(rows)
}

/// The CPU time of a whole cycle, against that of `git status`.
fn cpu(repo: &GeneratedRepo) -> Result<Row> {
    let is_large = repo.files == SIZES[0];
    // One tick is a hundredth of a second, so that short work is done several times.
    let (cycles, statuses) = if is_large { (2, 4) } else { (5, 20) };
    let cycle = || -> Result<()> {
        let mut program = repo.program()?;
        let output = program
            .arg("evolve")
            .arg("--force")
            .arg("--log")
            .arg(repo.log())
            .args(["--agent", "true"])
            .output()?;
        // A cycle that changed nothing is recorded as a failure.
        let text = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        check(
            output.status.code() == Some(1) && text.contains("failed"),
            &format!("no cycle: {text}{complaint}"),
        )
    };
    let status = || {
        let output = repo.command("git").arg("status").output()?;
        check(output.status.success(), "git status failed")
    };
    // Both once, so that caches and git's index are warm.
    cycle()?;
    status()?;
    let [ours, floor] =
        interleaved([Box::new(|| cpu_seconds(cycles, cycle)), Box::new(|| cpu_seconds(statuses, status))])?;
    let ratio = ours / floor;
    Ok(Row {
        goal: "11",
        work: format!("CPU time of a cycle with an idle agent, {} files", repo.files),
        ours: ours * 1000.0,
        peer: Some(floor * 1000.0),
        unit: "ms",
        wanted: if is_large { "<= 2.5 x git status" } else { "-" },
        met: is_large.then_some(ratio <= 2.5),
        note: format!(
            "{ratio:.2} times the CPU time of `git status` (the other figure), user and system, with all children. \
             The cycle is `capsid evolve --agent true` in an overlay."
        ),
    })
}

/// The CPU time of all children that ended meanwhile, and of theirs, for one turn of the work.
fn cpu_seconds(turns: u32, work: impl Fn() -> Result<()>) -> Result<f64> {
    let before = children_ticks()?;
    for _ in 0..turns {
        work()?;
    }
    Ok((children_ticks()? - before) / TICKS_PER_SECOND / f64::from(turns))
}

/// `cutime` and `cstime` of proc(5): the 14th and 15th field after the name, which may itself have spaces.
fn children_ticks() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
    let fields = fields.unwrap_or_default();
    let [user, system] = fields.get(13..15).ok_or("the system does not tell CPU times")? else {
        return Err("the system does not tell CPU times".into());
    };
    Ok(user.parse::<f64>()? + system.parse::<f64>()?)
}

/// How long the private view of the agent takes.
fn view(repo: &GeneratedRepo) -> Result<Row> {
    let mut built = Vec::new();
    let mut whole = Vec::new();
    for _ in 0..ROUNDS {
        let mut build = Duration::ZERO;
        whole.push(seconds(|| {
            build = run_in_view(repo, &["true"])?.0.build_time;
            Ok(())
        })?);
        built.push(build.as_secs_f64());
    }
    let (built, whole) = (median(built) * 1000.0, median(whole) * 1000.0);
    Ok(Row {
        goal: "11",
        work: format!("creating the agent's view, {} files", repo.files),
        ours: built,
        peer: None,
        unit: "ms",
        wanted: "<= 50 ms",
        met: Some(built <= 50.0),
        note: format!(
            "From the start of the launcher until the agent is started. With `true` as the agent, from call to end: {whole:.1} ms."
        ),
    })
}

/// How long the list of what the agent changed takes; beside it, what depends on the size of the tree.
fn listing(repo: &GeneratedRepo) -> Result<[Row; 2]> {
    let root = repo.root().canonicalize()?;
    let git_dir = root.join(".git");
    let scope = BaseScope { git_dir: git_dir.clone(), common_dir: git_dir, ..BaseScope::default() };
    let mut recorded = Vec::new();
    let mut manifest = None;
    for _ in 0..ROUNDS {
        recorded.push(seconds(|| {
            manifest = Some(BaseManifest::record(&root, &scope, None)?);
            Ok(())
        })?);
    }
    let manifest = manifest.ok_or("there is no manifest")?;
    check(manifest.files().len() >= repo.files, "the manifest misses files")?;

    // Files of many folders, so that the list is not about one of them.
    let paths: Vec<String> =
        (0..CHANGED).map(|at| GeneratedRepo::file(at * (repo.files / CHANGED))).collect();
    let script = format!("for file in {}; do echo '// changed' >> $file; done", paths.join(" "));
    let (run, upper) = run_in_view(repo, &["sh", "-c", &script])?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(seconds(|| {
            let listing = list_upper(&upper, &root, &manifest.rules, run.ids.opaque_attribute())?;
            check(listing.changed.len() == CHANGED, "the list of changes is wrong")
        })?);
    }
    let time = median(times) * 1000.0;
    let list = Row {
        goal: "11",
        work: format!("listing {CHANGED} changed files, {} files", repo.files),
        ours: time,
        peer: None,
        unit: "ms",
        wanted: "<= 10 ms",
        met: Some(time <= 10.0),
        note: String::new(),
    };
    let record = Row {
        goal: "11",
        work: format!("recording the manifest, {} files", manifest.files().len()),
        ours: median(recorded) * 1000.0,
        peer: None,
        unit: "ms",
        wanted: "-",
        met: None,
        note: String::new(),
    };
    Ok([list, record])
}

/// Runs an agent in a fresh view and says where its writes are.
fn run_in_view(repo: &GeneratedRepo, argv: &[&str]) -> Result<(AgentRun, PathBuf)> {
    let layers = repo.data().join("layers");
    remove_layer(&layers);
    std::fs::create_dir_all(layers.join("tree"))?;
    let layers = layers.canonicalize()?;
    let root = repo.root().canonicalize()?;
    let writes = layers.join("tree");
    let tree = PrivateTree {
        root: root.clone(),
        layers: Vec::new(),
        writes: WriteLayer::Folder(writes.clone()),
        git_dir: None,
    };
    let profile = profile(repo, tree, &layers)?;
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    let request = AgentRequest {
        argv: &argv,
        cwd: &root,
        prompt: b"",
        env: &[],
        timeout: Duration::from_secs(60),
        stop: &AtomicBool::new(false),
        profile: Some(&profile),
    };
    let run = run_agent(&request, &mut |_| {})?;
    check(run.end == AgentEnd::Exited(0), &format!("the agent ended with {:?}", run.end))?;
    Ok((run, writes.join("upper")))
}

fn profile(repo: &GeneratedRepo, tree: PrivateTree, layers: &Path) -> Result<AgentProfile> {
    Ok(AgentProfile {
        tree: ConfinedTree::Private(tree),
        layers: layers.to_owned(),
        home: repo.home().canonicalize()?,
        hidden: vec![repo.data().canonicalize()?],
        show: Vec::new(),
        sockets: Vec::new(),
        kept_writes: Vec::new(),
        copied_back: Vec::new(),
        network: true,
        disk_bytes: 1 << 30,
        processes: 4096,
    })
}
