//! Loading the starter pack: it is published as candidates, run on this machine, and reported by a node that is not its
//! publisher. The usual rule decides what is promoted.

use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::ops::assets::publish::load::{LoadLineReader, load_options, refusal};
use crate::ops::evaluation::report::ReportRequest;
use crate::random::Random;
use crate::runtime::starter::StarterRunner;
use crate::runtime::starter::pack::{self, StarterEntry};
use crate::runtime::starter::view::{StarterEntryView, StarterPackView, StarterState};
use capsid_model::hash::hmac_sha256_hex;
use capsid_model::time::{Clock, Time};
use capsid_model::{Code, Object, Problem, Result, json};
use capsid_rules::identity::secrets::SecretState;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::accounts::node_secrets;
use capsid_store::assets::id::AssetId;
use capsid_store::bulk_load::{self, LoadItem, LoadOutcome};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::promotion;
use capsid_store::evaluation::reports::{self, ReportOutcome, ReportTarget};
use capsid_store::evaluation::trials;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::{Store, assets};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The node that publishes the pack.
const PUBLISHER: &str = "node_starter";
/// The node that reports what this machine saw.
const REPORTER: &str = "node_starter_check";
/// The most entries that run at one time.
const MAX_AT_ONCE: usize = 4;

/// What loading the pack needs.
pub struct StarterLoad<'a> {
    pub store: &'a Store,
    pub config: &'a HubConfig,
    pub clock: &'a dyn Clock,
    pub random: Arc<dyn Random>,
    pub runner: &'a dyn StarterRunner,
}

/// Who is told how far the loading is.
pub type OnProgress<'a> = dyn Fn(&StarterPackView) + Sync + 'a;

impl StarterLoad<'_> {
    /// Loads the pack. Blocks. What is there already is left as it is, so it can be repeated.
    pub fn run(&self, on_progress: &OnProgress<'_>) -> Result<StarterPackView> {
        let entries = pack::entries()?;
        let view = StarterPackView { state: StarterState::Running, ..StarterPackView::new(entries) };
        let progress = Progress { view: Mutex::new(view), on_progress };
        self.publish(entries, &progress)?;
        self.probe_programs(&progress);
        self.run_entries(entries, &progress)?;
        progress.change(|view| view.state = StarterState::Done);
        Ok(progress.view.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Publishes all entries as candidates.
    fn publish(&self, entries: &'static [StarterEntry], progress: &Progress<'_>) -> Result<()> {
        let now = self.clock.now();
        let bundles = self.read_bundles(entries, now).map_err(to_problem)?;
        self.reserve_nodes()?;
        let refused = Mutex::new(Vec::new());
        let mut on_commit = |outcomes: &[(u64, LoadOutcome)]| {
            let new =
                outcomes.iter().filter_map(|(at, outcome)| Some((*at as usize, refusal(*outcome)?.problem)));
            refused.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        };
        let options = load_options(self.config);
        bulk_load::load_bundles(self.store, bundles.into_iter(), options, now, &mut on_commit)?;
        let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<AssetId> = entries.iter().map(|entry| entry.asset_id).collect();
        let statuses = self.store.read_now(move |tx| load_statuses(tx, &ids))?;
        progress.change(|view| {
            for (entry, status) in view.entries.iter_mut().zip(statuses) {
                entry.status = status;
            }
            for (at, problem) in refused {
                if let Some(entry) = view.entries.get_mut(at) {
                    entry.reason = Some(problem);
                }
            }
        });
        Ok(())
    }

    /// The bundles as a publish reads them: with every check, and with the commands of the pack allowed.
    fn read_bundles(&self, entries: &[StarterEntry], now: Time) -> ApiResult<Vec<LoadItem>> {
        let random = Arc::clone(&self.random);
        let reader = LoadLineReader::new(self.config, Some(PUBLISHER.to_owned()), random, now)?;
        let reader = reader.with_programs(&pack::programs(entries));
        let read = |(at, entry): (usize, &StarterEntry)| reader.read(at as u64, entry.line.into());
        let items = entries.iter().enumerate().map(read).collect::<ApiResult<Vec<_>>>()?;
        Ok(items.into_iter().flatten().collect())
    }

    /// Both nodes have a secret that nobody knows, so that nobody else can speak for them.
    fn reserve_nodes(&self) -> Result<()> {
        let (now, random) = (self.clock.now(), Arc::clone(&self.random));
        self.store.write_now(move |tx| {
            for id in [PUBLISHER, REPORTER] {
                let node = nodes::lock_or_register(tx, id, 0, now)?;
                if node.secret_state == SecretState::None {
                    node_secrets::replace(tx, id, &random.hex(32), now)?;
                }
            }
            Ok(())
        })
    }

    fn probe_programs(&self, progress: &Progress<'_>) {
        let names: Vec<String> =
            lock(&progress.view).programs.iter().map(|program| program.name.clone()).collect();
        for (at, name) in names.iter().enumerate() {
            let probed = self.runner.probe(name);
            progress.change(|view| {
                let Some(program) = view.programs.get_mut(at) else { return };
                match probed {
                    Ok(version) => program.version = Some(version),
                    Err(problem) => program.problem = Some(problem.message),
                }
            });
        }
    }

    /// Runs the candidates, a few at one time.
    fn run_entries(&self, entries: &'static [StarterEntry], progress: &Progress<'_>) -> Result<()> {
        let (next, programs) = (AtomicUsize::new(0), pack::programs(entries));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        std::thread::scope(|scope| {
            let work = || -> Result<()> {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(entry) = entries.get(at) else { return Ok(()) };
                    self.run_entry(at, entry, &programs, progress)?;
                }
            };
            let workers: Vec<_> = (0..cores.min(MAX_AT_ONCE)).map(|_| scope.spawn(work)).collect();
            let ended = workers.into_iter().map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|_| Err(Problem::new(Code::Internal, "A run of the pack ended early.")))
            });
            ended.collect::<Result<Vec<()>>>().map(drop)
        })
    }

    fn run_entry(
        &self,
        at: usize,
        entry: &StarterEntry,
        programs: &[String],
        progress: &Progress<'_>,
    ) -> Result<()> {
        let (status, missing, runtime) = {
            let view = lock(&progress.view);
            let status = view.entries.get(at).and_then(|entry| entry.status);
            (status, view.missing_program(at), describe_runtime(&view, &entry.programs))
        };
        if status != Some(AssetStatus::Candidate) {
            return Ok(());
        }
        if let Some(missing) = missing {
            progress.change_entry(at, |view| view.reason = Some(missing));
            return Ok(());
        }
        let taken = self.take_on_trial(entry.asset_id)?;
        let run = self.runner.run(entry, programs, &runtime, self.clock.now())?;
        let (status, obstacle) = self.report(entry.asset_id, &taken, &run.report)?;
        progress.change_entry(at, |view| {
            view.is_tested = true;
            view.status = Some(status);
            view.reason = match (status, run.why_not.is_empty()) {
                (AssetStatus::Promoted, _) => None,
                (_, true) => obstacle,
                (_, false) => Some(run.why_not),
            };
        });
        Ok(())
    }

    /// Takes an asset on trial, as any node does that tries one. Gives the proof that it was read.
    fn take_on_trial(&self, id: AssetId) -> Result<String> {
        let (now, mut chance) = (self.clock.now(), [0; 32]);
        self.random.fill(&mut chance);
        self.store.write_now(move |tx| {
            let ticket = trials::open(tx, REPORTER, &id, &chance, now)?;
            let body = assets::body(tx, &id)?.unwrap_or_default();
            Ok(hmac_sha256_hex(ticket.nonce.as_bytes(), body.as_bytes()))
        })
    }

    /// Reports what was seen, and promotes the asset if the usual rule allows it. Gives its status, and what stands in the way.
    fn report(
        &self,
        id: AssetId,
        read_proof: &str,
        report: &Object,
    ) -> Result<(AssetStatus, Option<String>)> {
        let now = self.clock.now();
        let payload =
            json!({"target_asset_id": id.to_string(), "read_proof": read_proof, "validation_report": report});
        let fresh_id = format!("report_{}_{}", now.0, self.random.hex(6));
        let report = ReportRequest::read(&payload.to_string(), fresh_id).map_err(to_problem)?.into_report();
        let (weights, rule, rewards) =
            (self.config.grade_weights(), self.config.promotion.rule, self.config.rewards());
        self.store.write_now(move |tx| {
            let node = lock_reporter(tx)?;
            let kept = reports::record(tx, &node, &ReportTarget::Asset(id), &report, weights, now)?;
            if !matches!(kept, ReportOutcome::Kept(_)) {
                return Err(Problem::new(
                    Code::Internal,
                    format!("The report on {id} is not taken: {kept:?}."),
                ));
            }
            promotion::promote(tx, &id, &rule, &rewards, now)?;
            let asset = assets::get(tx, &id)?.ok_or_else(|| gone(&id))?;
            let obstacles = promotion::list_obstacles(tx, &asset, &rule, now)?;
            Ok((asset.status, obstacles.into_iter().next().map(|obstacle| obstacle.text)))
        })
    }
}

/// What is known of the loading, and who is told of it.
struct Progress<'a> {
    view: Mutex<StarterPackView>,
    on_progress: &'a OnProgress<'a>,
}

impl Progress<'_> {
    fn change(&self, change: impl FnOnce(&mut StarterPackView)) {
        let mut view = lock(&self.view);
        change(&mut view);
        view.recount();
        (self.on_progress)(&view);
    }

    fn change_entry(&self, at: usize, change: impl FnOnce(&mut StarterEntryView)) {
        self.change(|view| {
            if let Some(entry) = view.entries.get_mut(at) {
                change(entry);
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The status of each asset, as far as it is there.
pub fn load_statuses(tx: &mut dyn Tx, ids: &[AssetId]) -> Result<Vec<Option<AssetStatus>>> {
    ids.iter().map(|id| Ok(assets::get(tx, id)?.map(|asset| asset.status))).collect()
}

fn lock_reporter(tx: &mut dyn Tx) -> Result<NodeRow> {
    nodes::lock(tx, REPORTER)?
        .ok_or_else(|| Problem::new(Code::Internal, format!("The node {REPORTER} is gone while it reports.")))
}

fn gone(id: &AssetId) -> Problem {
    Problem::new(Code::Internal, format!("The asset {id} is gone while it is loaded."))
}

/// What ran an entry, for its report.
fn describe_runtime(view: &StarterPackView, programs: &[String]) -> String {
    let used = view.programs.iter().filter(|program| programs.contains(&program.name));
    let versions: Vec<String> = used
        .map(|program| match program.version.as_deref().unwrap_or_default() {
            version if version.contains(&program.name) => version.to_owned(),
            version => format!("{} {version}", program.name),
        })
        .collect();
    versions.join(", ")
}

fn to_problem(error: ApiError) -> Problem {
    let code = error.code.as_str();
    Problem::new(Code::Internal, format!("The hub refuses its own starter pack ({code}): {}", error.problem))
        .fix(error.fix)
}
