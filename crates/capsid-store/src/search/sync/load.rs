//! Reading what the search has not followed yet.

use crate::assets::id::AssetId;
use crate::db::row::select;
use crate::db::tx::Tx;
use crate::graph::changes::Subject;
use crate::graph::sync::{
    Followed, Log, NewInLog, Positions, SeqRange, changed_subjects, find_new, has_diverged, newest,
};
use crate::params;
use crate::search::entry::{EntryRow, MeaningSource, entries_between, meaning_sources};
use capsid_model::problem::Result;
use capsid_rules::meaning::MeaningTerms;
use std::collections::BTreeMap;
use std::thread;

/// How many assets, and how many changes, one step takes at most: a search that waits is not held up for long.
const STEP: i64 = 500;
/// From how many assets on they are shared among threads.
const SHARED_FROM: usize = 64;

/// An asset as the search should hold it.
#[derive(Debug)]
pub(super) struct LoadedEntry {
    pub row: EntryRow,
    /// What it means; nothing where only its place may have changed.
    pub meaning: Option<MeaningTerms>,
}

/// What one step reads.
#[derive(Debug, Default)]
pub(super) struct SearchStep {
    /// By sequence.
    pub entries: BTreeMap<i64, LoadedEntry>,
    pub followed: BTreeMap<Log, Followed>,
    /// Whether a log holds more.
    pub has_more: bool,
}

impl SearchStep {
    /// Whether nothing is new.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.followed.values().all(Followed::is_idle)
    }

    fn follow(&mut self, log: Log, new: NewInLog) -> Vec<SeqRange> {
        self.has_more |= new.has_more;
        self.followed.insert(log, new.followed);
        new.ranges
    }

    fn add(&mut self, rows: Vec<EntryRow>, meanings: &mut BTreeMap<i64, MeaningTerms>) {
        for row in rows {
            let meaning = meanings.remove(&row.seq);
            let seq = row.seq;
            let loaded = self.entries.entry(seq).or_insert(LoadedEntry { row, meaning: None });
            loaded.meaning = meaning.or(loaded.meaning.take());
        }
    }
}

/// What a step finds.
pub(super) enum StepOutcome {
    Read(SearchStep),
    /// The database is not the one that was followed, or an older state of it.
    Diverged,
}

/// Reads one step: at most 500 assets and what 500 changes name.
pub(super) fn load_step(tx: &mut dyn Tx, positions: &Positions) -> Result<StepOutcome> {
    if has_diverged(tx, positions)? {
        return Ok(StepOutcome::Diverged);
    }
    let mut step = SearchStep::default();
    if positions.is_new() {
        // All assets are read after this, so no change before it matters.
        let position = Some(newest(tx, Log::Changes)?);
        step.followed.insert(Log::Changes, Followed { position, ..Followed::default() });
    } else {
        let changes = find_new(tx, positions, (Log::Changes, STEP))?;
        let ranges = step.follow(Log::Changes, changes);
        load_changed(tx, &ranges, &mut step)?;
    }
    let assets = find_new(tx, positions, (Log::Assets, STEP))?;
    for (first, last) in step.follow(Log::Assets, assets) {
        let rows = entries_between(tx, first, last)?;
        add_whole(tx, rows, &mut step)?;
    }
    Ok(StepOutcome::Read(step))
}

/// Loads the assets that changes name: whole, or only where they belong.
fn load_changed(tx: &mut dyn Tx, ranges: &[SeqRange], step: &mut SearchStep) -> Result<()> {
    let (mut whole, mut ranked) = (Vec::new(), Vec::new());
    for subject in changed_subjects(tx, ranges)? {
        match subject {
            Subject::Asset(id) => whole.extend(find_entry(tx, &id)?),
            Subject::Ranked(id) => ranked.extend(find_entry(tx, &id)?),
            Subject::Report(..) | Subject::Task(_) | Subject::Note(..) | Subject::Relation(_) => {}
        }
    }
    step.add(ranked, &mut BTreeMap::new());
    add_whole(tx, whole, step)
}

fn find_entry(tx: &mut dyn Tx, id: &str) -> Result<Option<EntryRow>> {
    match AssetId::parse(id) {
        Some(id) => tx.query_first(select!(EntryRow, "FROM assets a WHERE a.asset_id = $1"), params![&id]),
        None => Ok(None),
    }
}

fn add_whole(tx: &mut dyn Tx, rows: Vec<EntryRow>, step: &mut SearchStep) -> Result<()> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let mut meanings = compute_meanings(&meaning_sources(tx, &seqs)?);
    step.add(rows, &mut meanings);
    Ok(())
}

/// What assets mean, worked out on all cores but one where there are many.
fn compute_meanings(sources: &[MeaningSource]) -> BTreeMap<i64, MeaningTerms> {
    let compute = |sources: &[MeaningSource]| -> Vec<(i64, MeaningTerms)> {
        sources.iter().map(|source| (source.seq, source.meaning())).collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).saturating_sub(1);
    if threads < 2 || sources.len() < SHARED_FROM {
        return compute(sources).into_iter().collect();
    }
    thread::scope(|scope| {
        let parts = sources.chunks(sources.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| (part, scope.spawn(move || compute(part)))).collect();
        // A part whose thread ended early is worked out here.
        parts.into_iter().flat_map(|(part, thread)| thread.join().unwrap_or_else(|_| compute(part))).collect()
    })
}
