//! `capsid hub fsck`: looks whether everything in a hub's database is what it should be.

use super::HubLocation;
use crate::output::progress::ProgressLine;
use crate::output::{self, BAD, DIM, GOOD, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Result, SystemClock, json};
use capsid_store::fsck::{self, FsckReport, RepairSummary};
use capsid_store::graph::RebuildSummary;
use capsid_store::{Store, StoreOptions};
use clap::Args;
use std::time::Duration;

const MAX_PRINTED: usize = 50;
/// How often, and how long apart, it is tried whether the index of a hub that runs has followed everything.
const INDEX_TRIES: usize = 20;
const INDEX_PAUSE: Duration = Duration::from_millis(100);

/// Check a hub's database: every id, bundle, counter, score, state and balance is worked out again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub fsck                        beside a hub that runs, or without one
  capsid hub fsck --json                 every finding with its code, subject, problem and fix
  capsid hub fsck --repair               work out anew what follows from something else
  capsid hub fsck --rebuild-graph        make the knowledge graph again from assets, reports and tasks

It exits with 1 when something is wrong. --repair mends counters, cards, traits, scores, levels and totals; it never touches
what agents published, the ledger or the audit. --rebuild-graph makes `index.db` again from what the database holds. It
needs the hub to be stopped. Killed in the middle, the hub goes on with it when it starts.")]
pub struct HubFsckArgs {
    /// Work out anew what follows from something else, then check again.
    #[arg(long)]
    repair: bool,

    /// Make the hub's part of the knowledge graph again, then check.
    #[arg(long)]
    rebuild_graph: bool,

    #[command(flatten)]
    location: HubLocation,
}

pub fn run(arguments: &HubFsckArgs) -> Result<u8> {
    let store = arguments.location.open_beside()?;
    let mut done = FsckActions::default();
    if arguments.rebuild_graph {
        done.rebuilt = Some(rebuild(&arguments.location)?);
    }
    let mut report = check(&store)?;
    if arguments.repair && report.repairable() > 0 {
        done.mended = Some(fsck::repair(&store, &report, SystemClock.now())?);
        report = check(&store)?;
    }
    print_report(&report, done, output::is_json());
    Ok(u8::from(!report.is_clean()))
}

/// What was done before the last check.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FsckActions {
    mended: Option<RepairSummary>,
    rebuilt: Option<RebuildSummary>,
}

/// Makes the index again, which belongs to the hub as long as that runs.
fn rebuild(location: &HubLocation) -> Result<RebuildSummary> {
    let options = StoreOptions { exclusive: true, ..location.options()?.shared() };
    let store = Store::open(&options, SystemClock.now())?;
    let mut progress = ProgressLine::new("rebuilding the graph from");
    store.rebuild_index(SystemClock.now(), &mut |what, done, total| progress.update(what, done, total))
}

/// Checks a whole database and shows how far it is. A hub that runs brings changes into its index a moment later, which
/// is waited for.
pub(super) fn check(store: &Store) -> Result<FsckReport> {
    for _ in 0..INDEX_TRIES {
        if store.index_lag().is_ok_and(|lag| lag.waiting == 0) {
            break;
        }
        std::thread::sleep(INDEX_PAUSE);
    }
    let mut progress = ProgressLine::new("checking");
    store.read_now(move |tx| {
        let mut report = fsck::check(tx, &mut |what, done, total| progress.update(what, done, total))?;
        fsck::check_issued(tx, &mut report, SystemClock.now())?;
        Ok(report)
    })
}

pub(super) fn print_report(report: &FsckReport, FsckActions { mended, rebuilt }: FsckActions, as_json: bool) {
    if as_json {
        output::document(&json!({
            "ok": report.is_clean(), "mended": mended, "rebuilt_graph": rebuilt, "total": report.total(), "counts": report.counts,
            "findings": report.findings, "not_compared": report.not_compared, "assets": report.assets, "bundles": report.bundles,
            "nodes": report.nodes, "transfers": report.transfers,
        }));
        return;
    }
    if let Some(mended) = mended {
        let RepairSummary { assets, nodes, owners } = mended;
        let mended = paint(GOOD, "mended");
        output::line(format_args!("{mended} {assets} assets, {nodes} nodes and {owners} owners"));
    }
    if let Some(RebuildSummary { subjects, things, relations }) = rebuilt {
        let rebuilt = paint(GOOD, "rebuilt");
        output::line(format_args!(
            "{rebuilt} the graph from {subjects} assets, reports and tasks: {things} things and {relations} relations"
        ));
    }
    for finding in report.findings.iter().take(MAX_PRINTED) {
        let code = paint(BAD, finding.code);
        output::line(format_args!(
            "{code} {}: {}",
            inert_line(&finding.subject),
            inert_line(&finding.problem)
        ));
        output::line(format_args!("  {} {}", paint(NAME, "fix:"), finding.fix));
    }
    for sentence in &report.not_compared {
        output::line(format_args!("{} {sentence}", paint(DIM, "note:")));
    }
    let left = report.total().saturating_sub(MAX_PRINTED as u64);
    if left > 0 {
        output::line(paint(DIM, format_args!("and {left} more; --json lists the first 1000 and counts all")));
    }
    let looked_at = format!(
        "{} assets, {} bundles, {} nodes and {} transfers",
        report.assets, report.bundles, report.nodes, report.transfers
    );
    match report.is_clean() {
        true => output::line(format_args!("{} {looked_at} are as they should be", paint(GOOD, "ok"))),
        false => output::line(format_args!(
            "{} {} findings in {looked_at}",
            paint(BAD, "damaged:"),
            report.total()
        )),
    }
}
