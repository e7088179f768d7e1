//! Reading what the index has not followed yet: the numbers that are new in each log, and the facts of their subjects.

use super::positions::{Followed, Log, Position, Positions};
use crate::assets::id::AssetId;
use crate::db::row::{Json, row, select};
use crate::db::tx::{Dialect, Tx};
use crate::graph::changes::Subject;
use crate::graph::facts::{AssetBody, AssetFacts, Facts, NoteFacts, RelationFacts, ReportFacts, TaskFacts};
use crate::graph::membership::is_in_graph;
use crate::graph::{property_terms, texts};
use crate::{damaged, params};
use capsid_model::hash::hex;
use capsid_model::problem::Result;
use capsid_rules::graph::statement::origins_named;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many numbers of each log are followed in one step at most.
pub const MAX_STEP: i64 = 2_000;
/// How many notes or relations are read together.
const PAGE: i64 = 500;

/// A subject with what it says now; nothing where it says nothing any more.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Under which it is remembered.
    pub key: String,
    pub facts: Option<Facts>,
    /// Of an asset.
    pub body: Option<AssetBody>,
}

/// What one step reads.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub subjects: Vec<Loaded>,
    pub followed: BTreeMap<Log, Followed>,
    /// What tasks are called.
    pub titles: HashMap<String, String>,
    /// Whether a log holds more.
    pub has_more: bool,
}

impl Step {
    /// Whether nothing is new.
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty() && self.followed.values().all(Followed::is_idle)
    }

    fn reach(&mut self, log: Log, position: Position) {
        self.followed.insert(log, Followed { position: Some(position), ..Followed::default() });
    }
}

/// What a step finds.
pub(super) enum StepOutcome {
    Read(Step),
    /// The database is not the one that was followed, or an older state of it.
    Diverged,
}

/// Reads one step of at most so many numbers of each log.
pub(super) fn load_step(tx: &mut dyn Tx, positions: &Positions, most: i64) -> Result<StepOutcome> {
    if has_diverged(tx, positions)? {
        return Ok(StepOutcome::Diverged);
    }
    let mut step = Step::default();
    if positions.is_new() {
        // Everything is read after this, so no change before it matters.
        step.reach(Log::Changes, newest(tx, Log::Changes)?);
    }
    if let Some(cursor) = ToldCursor::read(positions) {
        let next = load_told(tx, cursor, &mut step)?;
        step.reach(Log::Told, next.map_or_else(ToldCursor::end, |next| next.position()));
        step.has_more = true;
        return Ok(StepOutcome::Read(step));
    }
    let changes = follow(tx, positions, (Log::Changes, most), &mut step)?;
    load_changed(tx, &changes, &mut step)?;
    for range in follow(tx, positions, (Log::Assets, most), &mut step)? {
        load_assets(tx, range, &mut step)?;
    }
    for range in follow(tx, positions, (Log::Reports, most), &mut step)? {
        load_reports(tx, range, &mut step)?;
    }
    for range in follow(tx, positions, (Log::Tasks, most), &mut step)? {
        load_tasks(tx, range, &mut step)?;
    }
    Ok(StepOutcome::Read(step))
}

/// The first and the last number of some that follow each other.
pub(crate) type SeqRange = (i64, i64);

/// The end of a log.
pub(crate) fn newest(tx: &mut dyn Tx, log: Log) -> Result<Position> {
    let seq = head(tx, log)?;
    Ok(Position { seq, mark: mark(tx, log, seq)?.unwrap_or_default() })
}

/// The last numbers of all logs.
pub(super) fn heads(tx: &mut dyn Tx) -> Result<[i64; 4]> {
    let (assets, reports, tasks, changes) = tx.query_one(
        "SELECT (SELECT COALESCE(MAX(seq), 0) FROM assets), (SELECT COALESCE(MAX(seq), 0) FROM reports),
            (SELECT COALESCE(MAX(seq), 0) FROM tasks), (SELECT COALESCE(MAX(seq), 0) FROM changes)",
        params![],
    )?;
    Ok([assets, reports, tasks, changes])
}

/// The last number of a log.
pub(crate) fn head(tx: &mut dyn Tx, log: Log) -> Result<i64> {
    let sql = match log {
        Log::Assets => "SELECT COALESCE(MAX(seq), 0) FROM assets",
        Log::Reports => "SELECT COALESCE(MAX(seq), 0) FROM reports",
        Log::Tasks => "SELECT COALESCE(MAX(seq), 0) FROM tasks",
        Log::Changes => "SELECT COALESCE(MAX(seq), 0) FROM changes",
        Log::Told => return Ok(1),
    };
    tx.count(sql, params![])
}

/// What stands at a place of a log; nothing where nothing does. Reports and tasks may go, so nothing follows from that.
fn mark(tx: &mut dyn Tx, log: Log, seq: i64) -> Result<Option<String>> {
    match log {
        Log::Assets => Ok(tx
            .query_first::<Vec<u8>>("SELECT asset_id FROM assets WHERE seq = $1", params![seq])?
            .map(|id| hex(&id))),
        Log::Changes => Ok(tx
            .query_first::<i64>("SELECT created_at FROM changes WHERE seq = $1", params![seq])?
            .map(|at| at.to_string())),
        Log::Reports | Log::Tasks | Log::Told => Ok(None),
    }
}

/// Whether what was followed last is no longer there: a backup was restored, or the hub was away for too long.
pub(crate) fn has_diverged(tx: &mut dyn Tx, positions: &Positions) -> Result<bool> {
    for (log, head) in Log::NUMBERED.into_iter().zip(heads(tx)?) {
        if positions.seq(log) > head {
            return Ok(true);
        }
    }
    for log in [Log::Assets, Log::Changes] {
        let Some(position) = positions.reached.get(log.name()).filter(|position| position.seq > 0) else {
            continue;
        };
        if mark(tx, log, position.seq)?.as_deref() != Some(&position.mark) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The numbers that are new in a log, as ranges in order. Notes how far that is.
fn follow(
    tx: &mut dyn Tx,
    positions: &Positions,
    (log, most): (Log, i64),
    step: &mut Step,
) -> Result<Vec<SeqRange>> {
    let new = find_new(tx, positions, (log, most))?;
    step.has_more |= new.has_more;
    step.followed.insert(log, new.followed);
    Ok(new.ranges)
}

/// What is new in a log.
pub(crate) struct NewInLog {
    /// The numbers, as ranges in order.
    pub ranges: Vec<SeqRange>,
    /// How far that is.
    pub followed: Followed,
    pub has_more: bool,
}

/// Finds the numbers that are new in a log, at most so many.
pub(crate) fn find_new(tx: &mut dyn Tx, positions: &Positions, (log, most): (Log, i64)) -> Result<NewInLog> {
    let after = positions.seq(log);
    let new = next_seqs(tx, log, after, most)?;
    let has_more = new.len() as i64 == most;
    let mut followed = Followed::default();
    if let Some(last) = new.last() {
        followed.position = Some(Position { seq: *last, mark: mark(tx, log, *last)?.unwrap_or_default() });
        // One thread writes to SQLite, so what is missing there was undone.
        if tx.dialect() == Dialect::Postgres {
            let present: BTreeSet<i64> = new.iter().copied().collect();
            followed.missing = (after + 1..*last).filter(|seq| !present.contains(seq)).collect();
        }
    }
    let gaps = positions.gaps(log);
    if !gaps.is_empty() {
        followed.arrived = tx.query_all::<i64>(late_seqs(log), params![&json!(gaps).to_string()])?;
    }
    let mut ranges: Vec<SeqRange> = followed.arrived.iter().map(|seq| (*seq, *seq)).collect();
    ranges.extend(new.first().copied().zip(new.last().copied()));
    Ok(NewInLog { ranges, followed, has_more })
}

/// The numbers of a log after one, at most so many. Where an index of the database is damaged they may
/// come in another order, and whoever follows them would never come to an end.
pub(super) fn next_seqs(tx: &mut dyn Tx, log: Log, after: i64, most: i64) -> Result<Vec<i64>> {
    let seqs = tx.query_all::<i64>(new_seqs(log), params![after, most])?;
    let is_in_order = [after].iter().chain(&seqs).is_sorted_by(|one, next| one < next);
    let newest = seqs.last().copied().unwrap_or_default();
    if !is_in_order || newest > head(tx, log)? {
        return Err(damaged(format!("The numbers of the table `{}` come in the wrong order.", log.name())));
    }
    Ok(seqs)
}

fn new_seqs(log: Log) -> &'static str {
    match log {
        Log::Reports => "SELECT seq FROM reports WHERE seq > $1 ORDER BY seq LIMIT $2",
        Log::Tasks => "SELECT seq FROM tasks WHERE seq > $1 ORDER BY seq LIMIT $2",
        Log::Changes => "SELECT seq FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2",
        Log::Assets | Log::Told => "SELECT seq FROM assets WHERE seq > $1 ORDER BY seq LIMIT $2",
    }
}

/// Numbers that were missing, asked of PostgreSQL.
fn late_seqs(log: Log) -> &'static str {
    macro_rules! late {
        ($table:literal) => {
            concat!(
                "SELECT l.seq FROM ",
                $table,
                " l WHERE l.seq IN
                    (SELECT CAST(j.v AS BIGINT) FROM json_array_elements_text(CAST($1 AS json)) AS j (v)) ORDER BY l.seq"
            )
        };
    }
    match log {
        Log::Reports => late!("reports"),
        Log::Tasks => late!("tasks"),
        Log::Changes => late!("changes"),
        Log::Assets | Log::Told => late!("assets"),
    }
}

/// The subjects that changes name, each once.
pub(crate) fn changed_subjects(tx: &mut dyn Tx, ranges: &[SeqRange]) -> Result<BTreeSet<Subject>> {
    let mut subjects: BTreeSet<Subject> = BTreeSet::new();
    for (first, last) in ranges {
        let pages = tx.query_all::<Json<Vec<Subject>>>(
            "SELECT subjects FROM changes WHERE seq >= $1 AND seq <= $2 ORDER BY seq",
            params![*first, *last],
        )?;
        subjects.extend(pages.into_iter().flat_map(|Json(page)| page));
    }
    Ok(subjects)
}

/// Loads the subjects that changes name, each once.
fn load_changed(tx: &mut dyn Tx, ranges: &[SeqRange], step: &mut Step) -> Result<()> {
    let (mut notes, mut relations) = (Vec::new(), Vec::new());
    for subject in changed_subjects(tx, ranges)? {
        match subject {
            // Only the search follows these.
            Subject::Ranked(_) => {}
            Subject::Asset(id) => load_asset(tx, &id, step)?,
            Subject::Report(asset, node_id) => load_report(tx, &asset, &node_id, step)?,
            Subject::Task(task_id) => load_task(tx, &task_id, step)?,
            Subject::Note(entity, said_by) => notes.push((entity, said_by)),
            Subject::Relation(id) => relations.push(id),
        }
    }
    load_notes(tx, &notes, step)?;
    load_relations(tx, &relations, step)
}

row! {
    struct AssetStateRow {
        seq: i64 = "a.seq",
        asset_id: AssetId = "a.asset_id",
        asset_type: AssetType = "a.asset_type",
        status: AssetStatus = "a.status",
        node_id: String = "a.node_id",
        created_at: i64 = "a.created_at",
        body: String = "a.body",
    }
}

/// An asset that changed, with the reports on it: they count as long as it is in the graph.
fn load_asset(tx: &mut dyn Tx, id: &str, step: &mut Step) -> Result<()> {
    let Some(id) = AssetId::parse(id) else { return Ok(()) };
    let seq = tx.query_first::<i64>("SELECT seq FROM assets WHERE asset_id = $1", params![&id])?;
    let Some(seq) = seq else { return Ok(()) };
    load_assets(tx, (seq, seq), step)?;
    let mut after = 0;
    loop {
        let reports = tx.query_all::<ReportStateRow>(
            select!(
                ReportStateRow,
                "FROM reports r JOIN assets a ON a.asset_id = r.asset_id
                 WHERE r.asset_id = $1 AND r.seq > $2 ORDER BY r.seq LIMIT $3"
            ),
            params![&id, after, PAGE],
        )?;
        let Some(last) = reports.last() else { return Ok(()) };
        if last.seq <= after {
            return Err(damaged("The numbers of the reports on an asset come in the wrong order."));
        }
        after = last.seq;
        step.subjects.extend(reports.into_iter().map(ReportStateRow::into_loaded));
    }
}

/// At most so many assets as a step has numbers.
pub(super) fn load_assets(tx: &mut dyn Tx, (first, last): SeqRange, step: &mut Step) -> Result<()> {
    let rows = tx.query_all::<AssetStateRow>(
        select!(
            AssetStateRow,
            "FROM assets a WHERE a.seq >= $1 AND a.seq <= $2 AND length(a.asset_id) = 32 ORDER BY a.seq"
        ),
        params![first, last],
    )?;
    let bundles = tx.query_all::<(i64, AssetId, Option<AssetId>)>(
        "SELECT a.seq, b.gene_id, b.event_id FROM assets a JOIN bundles b ON b.capsule_id = a.asset_id
         WHERE a.seq >= $1 AND a.seq <= $2 ORDER BY a.seq, b.bundle_id",
        params![first, last],
    )?;
    let solved = tx.query_all::<(i64, String, i64, String)>(
        "SELECT a.seq, t.task_id, t.completed_at, t.title FROM assets a JOIN tasks t ON t.result_asset = a.asset_id
         WHERE a.seq >= $1 AND a.seq <= $2 AND t.completed_at IS NOT NULL ORDER BY a.seq, t.seq",
        params![first, last],
    )?;
    let mut bundles_of: HashMap<i64, Vec<(String, Option<String>)>> = HashMap::new();
    for (seq, gene, event) in bundles {
        bundles_of.entry(seq).or_default().push((gene.to_string(), event.map(|id| id.to_string())));
    }
    let mut solved_by: HashMap<i64, Vec<(String, i64)>> = HashMap::new();
    for (seq, task_id, at, title) in solved {
        solved_by.entry(seq).or_default().push((task_id.clone(), at));
        step.titles.insert(task_id, title);
    }
    for row in rows {
        let bundles = bundles_of.remove(&row.seq).unwrap_or_default();
        let solves = solved_by.remove(&row.seq).unwrap_or_default();
        let origins = load_origins(tx, &row)?;
        let facts = AssetFacts { node: row.node_id, bundles, solves };
        let facts = is_in_graph(row.status).then_some(Facts::Asset(facts));
        let body = AssetBody {
            id: row.asset_id.to_string(),
            asset_type: row.asset_type,
            at: row.created_at,
            text: row.body,
            origins,
        };
        step.subjects.push(Loaded { key: format!("asset {}", row.seq), facts, body: Some(body) });
    }
    Ok(())
}

/// The assets that one says it comes from, and that were there before it.
fn load_origins(tx: &mut dyn Tx, asset: &AssetStateRow) -> Result<Vec<(AssetType, String)>> {
    let mut origins = Vec::new();
    for named in origins_named(&asset.body) {
        let Some(origin) = AssetId::parse(&named) else { continue };
        let asset_type = tx.query_first::<AssetType>(
            "SELECT asset_type FROM assets WHERE asset_id = $1 AND seq < $2",
            params![&origin, asset.seq],
        )?;
        origins.extend(asset_type.map(|asset_type| (asset_type, named)));
    }
    Ok(origins)
}

row! {
    struct ReportStateRow {
        seq: i64 = "r.seq",
        asset_type: AssetType = "a.asset_type",
        asset_id: AssetId = "a.asset_id",
        status: AssetStatus = "a.status",
        node_id: String = "r.node_id",
        label: String = "r.label",
        ok: bool = "r.overall_ok",
        weight: f64 = "r.weight",
        environment: Option<String> = "r.env_fingerprint_key",
        created_at: i64 = "r.created_at",
    }
}

impl ReportStateRow {
    fn into_loaded(self) -> Loaded {
        let asset = self.asset_id.to_string();
        let key = format!("report {asset} {}", self.node_id);
        let facts = ReportFacts {
            asset,
            asset_type: self.asset_type.as_str().to_owned(),
            node: self.node_id,
            label: self.label,
            ok: self.ok,
            weight: self.weight,
            environment: self.environment,
            at: self.created_at,
        };
        let facts = is_in_graph(self.status).then_some(Facts::Report(facts));
        Loaded { key, facts, body: None }
    }
}

pub(super) fn load_reports(tx: &mut dyn Tx, (first, last): SeqRange, step: &mut Step) -> Result<()> {
    let reports = tx.query_all::<ReportStateRow>(
        select!(
            ReportStateRow,
            "FROM reports r JOIN assets a ON a.asset_id = r.asset_id
             WHERE r.seq >= $1 AND r.seq <= $2 ORDER BY r.seq"
        ),
        params![first, last],
    )?;
    step.subjects.extend(reports.into_iter().map(ReportStateRow::into_loaded));
    Ok(())
}

fn load_report(tx: &mut dyn Tx, asset: &str, node_id: &str, step: &mut Step) -> Result<()> {
    let Some(id) = AssetId::parse(asset) else { return Ok(()) };
    let report = tx.query_first::<ReportStateRow>(
        select!(
            ReportStateRow,
            "FROM reports r JOIN assets a ON a.asset_id = r.asset_id WHERE r.node_id = $1 AND r.asset_id = $2"
        ),
        params![node_id, &id],
    )?;
    let gone = || Loaded { key: format!("report {asset} {node_id}"), facts: None, body: None };
    step.subjects.push(report.map_or_else(gone, ReportStateRow::into_loaded));
    Ok(())
}

row! {
    struct TaskStateRow {
        task_id: String = "t.task_id",
        title: String = "t.title",
        signals: String = "t.signals",
        created_at: i64 = "t.created_at",
    }
}

impl TaskStateRow {
    fn put(self, step: &mut Step) {
        let key = format!("task {}", self.task_id);
        step.titles.insert(self.task_id.clone(), self.title);
        let facts = TaskFacts { id: self.task_id, signals: self.signals, at: self.created_at };
        step.subjects.push(Loaded { key, facts: Some(Facts::Task(facts)), body: None });
    }
}

pub(super) fn load_tasks(tx: &mut dyn Tx, (first, last): SeqRange, step: &mut Step) -> Result<()> {
    let tasks = tx.query_all::<TaskStateRow>(
        select!(TaskStateRow, "FROM tasks t WHERE t.seq >= $1 AND t.seq <= $2 ORDER BY t.seq"),
        params![first, last],
    )?;
    tasks.into_iter().for_each(|task| task.put(step));
    Ok(())
}

fn load_task(tx: &mut dyn Tx, task_id: &str, step: &mut Step) -> Result<()> {
    let task = tx.query_first::<TaskStateRow>(
        select!(TaskStateRow, "FROM tasks t WHERE t.task_id = $1"),
        params![task_id],
    )?;
    match task {
        Some(task) => task.put(step),
        None => {
            let key = format!("task {task_id}");
            step.subjects.push(Loaded { key, facts: None, body: None });
        }
    }
    Ok(())
}

row! {
    struct NoteStateRow {
        entity: i64 = "n.entity",
        said_by: String = "n.said_by",
        kind: String = "n.kind",
        key: String = "n.key",
        properties: Option<String> = "n.properties",
    }
}

fn note_key(entity: i64, said_by: &str) -> String {
    format!("note {entity} {said_by}")
}

impl NoteStateRow {
    fn into_loaded(self) -> Loaded {
        let facts = NoteFacts {
            terms: self.properties.as_deref().map(property_terms::terms_of).unwrap_or_default(),
            kind: self.kind,
            key: self.key,
            by: self.said_by.clone(),
        };
        Loaded { key: note_key(self.entity, &self.said_by), facts: Some(Facts::Note(facts)), body: None }
    }
}

/// Notes by their entities and tellers. One call of an ingest may write a thousand.
fn load_notes(tx: &mut dyn Tx, wanted: &[(i64, String)], step: &mut Step) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let sql = texts(tx).changed_notes;
    let found = tx.query_all::<NoteStateRow>(sql, params![&json!(wanted).to_string()])?;
    let found = found.into_iter().map(NoteStateRow::into_loaded);
    put_with_missing(found, wanted.iter().map(|(entity, said_by)| note_key(*entity, said_by)), step);
    Ok(())
}

/// Puts what was found, and that what was not found says nothing any more.
fn put_with_missing(
    found: impl Iterator<Item = Loaded>,
    wanted: impl Iterator<Item = String>,
    step: &mut Step,
) {
    let mut found: HashMap<String, Loaded> = found.map(|loaded| (loaded.key.clone(), loaded)).collect();
    let gone = |key: String| Loaded { key, facts: None, body: None };
    step.subjects.extend(wanted.map(|key| found.remove(&key).unwrap_or_else(|| gone(key))));
}

row! {
    struct RelationStateRow {
        id: i64 = "r.id",
        source_kind: String = "r.source_kind",
        source_key: String = "r.source_key",
        kind: String = "r.kind",
        target_kind: String = "r.target_kind",
        target_key: String = "r.target_key",
        said_by: String = "r.said_by",
        said_at: i64 = "r.said_at",
        confidence: f64 = "r.confidence",
    }
}

fn relation_key(id: i64) -> String {
    format!("relation {id}")
}

impl RelationStateRow {
    fn into_loaded(self) -> Loaded {
        let facts = RelationFacts {
            source: (self.source_kind, self.source_key),
            kind: self.kind,
            target: (self.target_kind, self.target_key),
            by: self.said_by,
            at: self.said_at,
            confidence: self.confidence,
        };
        Loaded { key: relation_key(self.id), facts: Some(Facts::Relation(facts)), body: None }
    }
}

/// Relations by their numbers. One call of an ingest may write a thousand.
fn load_relations(tx: &mut dyn Tx, wanted: &[i64], step: &mut Step) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let sql = texts(tx).changed_relations;
    let found = tx.query_all::<RelationStateRow>(sql, params![&json!(wanted).to_string()])?;
    let found = found.into_iter().map(RelationStateRow::into_loaded);
    put_with_missing(found, wanted.iter().map(|id| relation_key(*id)), step);
    Ok(())
}

/// How far a new index has read what was told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToldCursor {
    /// After this note.
    Note(i64, String),
    /// After this relation.
    Relation(i64),
}

impl ToldCursor {
    pub const START: Self = Self::Note(i64::MIN, String::new());

    /// Where to go on; nothing once all was read.
    fn read(positions: &Positions) -> Option<Self> {
        match positions.reached.get(Log::Told.name()) {
            Some(Position { seq: 1, .. }) => None,
            // What cannot be read is begun again.
            Some(Position { mark, .. }) => Some(serde_json::from_str(mark).unwrap_or(Self::START)),
            None => Some(Self::START),
        }
    }

    fn position(&self) -> Position {
        Position { seq: 0, mark: json!(self).to_string() }
    }

    fn end() -> Position {
        Position { seq: 1, mark: String::new() }
    }
}

/// A page of what was told, and where the next one begins.
pub(super) fn load_told(tx: &mut dyn Tx, cursor: ToldCursor, step: &mut Step) -> Result<Option<ToldCursor>> {
    match cursor {
        ToldCursor::Note(entity, said_by) => {
            let page = tx.query_all::<NoteStateRow>(
                select!(
                    NoteStateRow,
                    "FROM ingested_notes n WHERE (n.entity, n.said_by) > ($1, $2)
                     ORDER BY n.entity, n.said_by LIMIT $3"
                ),
                params![entity, &said_by, PAGE],
            )?;
            let last = page.last().map(|note| ToldCursor::Note(note.entity, note.said_by.clone()));
            step.subjects.extend(page.into_iter().map(NoteStateRow::into_loaded));
            Ok(Some(last.unwrap_or(ToldCursor::Relation(i64::MIN))))
        }
        ToldCursor::Relation(after) => {
            let page = tx.query_all::<RelationStateRow>(
                select!(RelationStateRow, "FROM ingested_relations r WHERE r.id > $1 ORDER BY r.id LIMIT $2"),
                params![after, PAGE],
            )?;
            let last = page.last().map(|relation| ToldCursor::Relation(relation.id));
            step.subjects.extend(page.into_iter().map(RelationStateRow::into_loaded));
            Ok(last)
        }
    }
}
