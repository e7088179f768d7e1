//! How the engine behaves: simulated agents and schedules in repositories of the corpus.

mod agent;
mod change;
mod cycle;
mod program;
mod reference;
mod schedule;
mod store;
mod tally;
mod through_hub;
mod tools;

use super::corpus::{BugFamily, LogCorpus, load_families};
use super::metric::LearningMetric;
use super::options::LearningOptions;
use crate::Result;
use capsid_model::hash::sha256_hex;
use cycle::LearningEngine;
use fastrand::Rng;
use program::ProgramEngine;
use reference::ReferenceEngine;
use schedule::Schedule;
use std::sync::Mutex;
use tally::{CycleTally, to_metrics};
use through_hub::SharedHub;
use tools::ToolPaths;

/// How many repositories are worked on at once: a cycle often waits for the disk or another program.
const WORKERS: usize = 3;
/// The families of a quick run: one of each language that starts quickly.
const QUICK: [&str; 3] = ["wrong_default", "wrong_key", "unset_env"];
/// The families whose solutions are shared through a hub.
const SHARED: [&str; 4] = ["wrong_default", "wrong_key", "unbound_variable", "null_access"];

/// What happens in one repository.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScheduleKind {
    Recurring,
    Interleaved,
    Cheats,
}

/// The schedules of one family, one repository each.
struct FamilyWork<'a> {
    family: &'a BugFamily,
    kinds: Vec<ScheduleKind>,
}

pub fn measure(corpus: &LogCorpus, options: &LearningOptions, seed: u64) -> Result<Vec<LearningMetric>> {
    let families = load_families()?;
    let works: Vec<FamilyWork<'_>> = families
        .iter()
        .filter(|family| !options.is_quick || QUICK.contains(&family.name.as_str()))
        .filter(|family| options.accepts_family(&family.name))
        .map(|family| FamilyWork { family, kinds: choose_kinds(family) })
        .collect();
    let mut ours =
        options.rules.has_ours().then(|| run_all(&works, corpus, options, seed, true)).transpose()?;
    if let Some(ours) = ours.as_mut().filter(|_| !options.is_quick) {
        let hub = SharedHub::start()?;
        let tools = ToolPaths::find();
        let shared = families.iter().filter(|family| SHARED.contains(&family.name.as_str()));
        for family in shared.filter(|family| options.accepts_family(&family.name)) {
            let shared = hub.share_solution(family, corpus, &tools);
            ours.merge(shared.map_err(|error| format!("hub, {}: {error}", family.name))?);
        }
    }
    let reference =
        options.rules.has_reference().then(|| run_all(&works, corpus, options, seed, false)).transpose()?;
    Ok(to_metrics(ours.as_ref(), reference.as_ref()))
}

/// A Rust repository is compiled in every run of its check, so that it gets the shortest schedule only.
fn choose_kinds(family: &BugFamily) -> Vec<ScheduleKind> {
    match family.language.as_str() {
        "rust" => vec![ScheduleKind::Recurring],
        _ => vec![ScheduleKind::Recurring, ScheduleKind::Interleaved, ScheduleKind::Cheats],
    }
}

fn run_all(
    works: &[FamilyWork<'_>],
    corpus: &LogCorpus,
    options: &LearningOptions,
    seed: u64,
    is_ours: bool,
) -> Result<CycleTally> {
    let next = Mutex::new(works.iter());
    let tally = Mutex::new(CycleTally::default());
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(work) = next.lock().ok().and_then(|mut works| works.next()) {
                    match run_family(work, corpus, options, seed, is_ours) {
                        Ok(done) => drop(tally.lock().map(|mut tally| tally.merge(done))),
                        Err(error) => {
                            drop(failed.lock().map(|mut failed| {
                                *failed = Some(format!("{}: {error}", work.family.name));
                            }));
                            return;
                        }
                    }
                }
            });
        }
    });
    match failed.into_inner() {
        Ok(None) => tally.into_inner().map_err(|_| "a worker panicked".into()),
        Ok(Some(error)) => Err(error.into()),
        Err(_) => Err("a worker panicked".into()),
    }
}

fn run_family(
    work: &FamilyWork<'_>,
    corpus: &LogCorpus,
    options: &LearningOptions,
    seed: u64,
    is_ours: bool,
) -> Result<CycleTally> {
    let mut sum = CycleTally::default();
    let tools = ToolPaths::find();
    for kind in &work.kinds {
        let start = std::time::Instant::now();
        let mut engine: Box<dyn LearningEngine + '_> = if is_ours {
            Box::new(ProgramEngine::create(&work.family.build_case("origin")?.check, "", &tools)?)
        } else {
            Box::new(ReferenceEngine::default())
        };
        let name = format!("{seed} {} {kind:?}", work.family.name);
        let digits = sha256_hex(name.as_bytes());
        let rng = Rng::with_seed(u64::from_str_radix(&digits[..16], 16)?);
        let mut schedule = Schedule::new(work.family, corpus, engine.as_mut(), rng);
        run_kind(&mut schedule, *kind, options)?;
        let tally = schedule.tally;
        if options.is_verbose && is_ours {
            eprintln!("{name}: {} cycles in {:.1} s", tally.cycles, start.elapsed().as_secs_f64());
        }
        sum.merge(tally);
    }
    Ok(sum)
}

fn run_kind(schedule: &mut Schedule<'_>, kind: ScheduleKind, options: &LearningOptions) -> Result<()> {
    let is_slow = schedule.family.language == "rust";
    match kind {
        ScheduleKind::Recurring if is_slow || options.is_quick => {
            schedule.run_recurring(&["origin", "recur1"])
        }
        ScheduleKind::Recurring => schedule.run_recurring(&["origin", "recur1", "recur2", "recur3"]),
        ScheduleKind::Interleaved if options.is_quick => {
            schedule.run_interleaved(&["origin", "near1"], &["near1", "origin"])
        }
        ScheduleKind::Interleaved => schedule.run_interleaved(
            &["origin", "other", "near1", "near2", "renamed", "moved", "values"],
            &["near2", "recur1", "other", "near1", "origin"],
        ),
        ScheduleKind::Cheats if options.is_quick => schedule.run_cheats("origin", 2),
        ScheduleKind::Cheats => schedule.run_cheats("origin", 6),
    }
}
