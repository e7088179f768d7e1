//! Adding to a chain: what is already sealed is skipped, and nothing forks.

use super::adopt::{
    AdoptedRecord, ChainHead, RecordKeyFn, adopt, checkpoint_of, close_key, covered, done, insert_key, last,
    visit_after,
};
use super::finalised::forget_marks;
use super::head_check::{OwnershipCheck, check_head, refuse_shorter};
use super::open::{problem, writer};
use super::pending::{
    PendingItem, create_pending, has_pending_table, insert_pending, last_pending, sign_pending,
};
use super::read::ChainReader;
use super::seal_plan::{PendingRecord, RecordReason, SealPlan, seal_in_order, signed};
use super::sealed_keys::{state, states};
use crate::record_signer::{LocalSigner, RecordSigner};
use crate::{ChainLink, RecordSeal, Sealer, StoredRecord};
use capsid_model::exact::{ExactJson, canonical_ascii};
use capsid_model::{Problem, Result};
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::{Path, PathBuf};

/// How many records one transaction takes, and about how many bytes: a transcript may be larger than the memory.
const GROUP: usize = 128;
const GROUP_BYTES: usize = 8 << 20;
/// From this many records on it pays to seal on a thread of its own while others are written.
const SIDE_BY_SIDE: usize = 8;

/// What came of an append.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppendOutcome {
    /// How many records were added.
    pub appended: u64,
    /// How many items were there already.
    pub skipped: u64,
    /// How many records the chain has now.
    pub total: u64,
    /// The hash of the last one.
    pub head: Option<String>,
    /// How many records wait for a signature. They are in no other number but `appended`.
    pub pending: u64,
}

/// A chain database that is written.
pub struct ChainWriter {
    path: PathBuf,
    connection: Connection,
    checkpoint: PathBuf,
    key_of: Option<Box<RecordKeyFn>>,
    sealer: Option<Sealer>,
    owner: Option<Box<dyn OwnershipCheck>>,
    /// The head that this writer itself wrote, so that it need not be checked again.
    known: Option<(Option<String>, ChainHead)>,
}

impl ChainWriter {
    /// Opens a database, and makes it where it is not there yet.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = writer(path)?;
        let checkpoint = checkpoint_of(path);
        let path = path.to_owned();
        Ok(Self { path, connection, checkpoint, key_of: None, sealer: None, owner: None, known: None })
    }

    /// If records of another program were imported, their keys are in its checkpoint file, usually next to the chain.
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: PathBuf) -> Self {
        Self { checkpoint, ..self }
    }

    /// Derives the key of a record that another program sealed without recording it.
    #[must_use]
    pub fn with_key_of(self, key_of: impl Fn(&ExactJson) -> Option<String> + 'static) -> Self {
        Self { key_of: Some(Box::new(key_of)), ..self }
    }

    /// Nothing is added behind a record that is not the owner's.
    #[must_use]
    pub fn owned_by(self, owner: impl OwnershipCheck + 'static) -> Self {
        Self { owner: Some(Box::new(owner)), ..self }
    }

    /// The signer of prepared records. Signing takes the most time, and this way it is spread over two threads.
    #[must_use]
    pub fn signing_with(self, sealer: Sealer) -> Self {
        Self { sealer: Some(sealer), ..self }
    }

    /// Forgets the keys of records that were cut off, for an owner who accepts the rest as it is.
    pub fn accept_cut(&mut self, tenant: Option<&str>) -> Result<()> {
        const FORGET: &str = "DELETE FROM capsid_keys WHERE tenant = ?1 AND sequence > \
                              (SELECT coalesce(max(sequence), -1) FROM capsules WHERE tenant_id IS ?2)";
        let done = self.connection.execute(FORGET, params![tenant.unwrap_or_default(), tenant]);
        done.and_then(|_| forget_marks(&self.connection, tenant)).map_err(|error| self.fail(&error))
    }

    /// Seals what is not in the chain yet, in order. Each group of records is added completely or not at all.
    ///
    /// `seal` gives a sealed record, or one that is prepared when the writer knows who signs. It may run on another
    /// thread. Its error ends the append; groups before it stay.
    pub fn append<T: Send + Sync>(
        &mut self,
        tenant: Option<&str>,
        items: impl IntoIterator<Item = PendingRecord<T>>,
        mut seal: impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord> + Send,
    ) -> Result<AppendOutcome> {
        let mut result = AppendOutcome::default();
        let mut group = Vec::new();
        let mut weight = 0;
        self.sign_leftovers(tenant)?;
        let waits =
            self.service().is_some() && has_pending_table(&self.connection).map_err(|e| self.fail(&e))?;
        for item in items {
            // Once this writer is adding, what comes is new more often than not, and each group is looked up whole.
            let is_adding = self.known.as_ref().is_some_and(|(of, _)| of.as_deref() == tenant);
            if !is_adding
                && turn(state(&self.connection, tenant, &item.key, waits).map_err(|e| self.fail(&e))?, &item)
                    .is_none()
            {
                result.skipped += 1;
                continue;
            }
            weight += item.weight;
            group.push(item);
            if group.len() == GROUP || weight >= GROUP_BYTES {
                self.append_group(tenant, &group, &mut seal, &mut result)?;
                group.clear();
                weight = 0;
            }
        }
        self.append_group(tenant, &group, &mut seal, &mut result)?;
        if let Some(service) = self.service() {
            result.pending = self.sign_pending(tenant, &*service)?;
        }
        let head = match &self.known {
            Some((of, head)) if result.appended > 0 && of.as_deref() == tenant => Some(head.clone()),
            _ => refuse_cut(&self.path, &self.connection, tenant)?,
        };
        result.total = head.as_ref().map_or(0, |head| (head.sequence + 1).unsigned_abs());
        result.head = head.map(|head| head.hash);
        Ok(result)
    }

    /// Has the records that wait signed; how many still wait.
    pub fn sign_pending(&mut self, tenant: Option<&str>, signer: &dyn RecordSigner) -> Result<u64> {
        let waiting = sign_pending(&self.path, &mut self.connection, tenant, signer)?;
        self.known = None;
        Ok(waiting)
    }

    /// Records that waited for a service which is not used any more are signed by the key that takes over.
    fn sign_leftovers(&mut self, tenant: Option<&str>) -> Result<()> {
        match self.sealer.as_ref().filter(|sealer| sealer.service().is_none()) {
            None => Ok(()),
            Some(sealer) => {
                let local = LocalSigner(sealer.key().clone());
                sign_pending(&self.path, &mut self.connection, tenant, &local).map(drop)
            }
        }
    }

    fn service(&self) -> Option<std::sync::Arc<dyn RecordSigner>> {
        self.sealer.as_ref()?.service().cloned()
    }

    /// Links a group to what is there and what waits, and lets it wait.
    fn queue_group<T: Send + Sync>(
        &mut self,
        tenant: Option<&str>,
        group: &[PendingRecord<T>],
        seal: &mut (impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord> + Send),
        result: &mut AppendOutcome,
    ) -> Result<()> {
        let (path, owner) = (&self.path, self.owner.as_deref());
        let fail = |error: rusqlite::Error| problem("write", path, &error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        create_pending(&transaction).map_err(fail)?;
        owner.map_or(Ok(()), OwnershipCheck::check_signer)?;
        let head = refuse_cut(path, &transaction, tenant)?;
        if let Some(head) = &head {
            check_head(path, &transaction, tenant, owner)?;
            adopt(path, &transaction, tenant, head, &self.checkpoint, self.key_of.as_deref())?;
        }
        let plan = plan(&transaction, tenant, group, true).map_err(fail)?;
        result.skipped += (group.len() - plan.len()) as u64;
        let mut end = last_pending(&transaction, tenant).map_err(fail)?.or(head);
        for (item, reason) in &plan {
            let stored = seal(&item.item, *reason, &next(end.as_ref()))?;
            let item = PendingItem { key: &item.key, open: item.open, reason: *reason };
            end = Some(insert_pending(&transaction, tenant, &item, &stored, end.as_ref()).map_err(fail)?);
        }
        transaction.commit().map_err(fail)?;
        result.appended += plan.len() as u64;
        Ok(())
    }

    fn append_group<T: Send + Sync>(
        &mut self,
        tenant: Option<&str>,
        group: &[PendingRecord<T>],
        seal: &mut (impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord> + Send),
        result: &mut AppendOutcome,
    ) -> Result<()> {
        if group.is_empty() {
            return Ok(());
        }
        if self.service().is_some() {
            return self.queue_group(tenant, group, seal, result);
        }
        let (path, owner) = (&self.path, self.owner.as_deref());
        let fail = |error: rusqlite::Error| problem("write", path, &error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        owner.map_or(Ok(()), OwnershipCheck::check_signer)?;
        let head = refuse_cut(path, &transaction, tenant)?;
        let known = |head: &ChainHead| {
            self.known.as_ref().is_some_and(|(of, known)| of.as_deref() == tenant && known == head)
        };
        if let Some(head) = head.as_ref().filter(|head| !known(head)) {
            check_head(path, &transaction, tenant, owner)?;
            adopt(path, &transaction, tenant, head, &self.checkpoint, self.key_of.as_deref())?;
        }
        let plan = plan(&transaction, tenant, group, false).map_err(fail)?;
        result.skipped += (group.len() - plan.len()) as u64;
        let link = next(head.as_ref());
        let mut written = head;
        let sealer = self.sealer.as_ref();
        let mut write = |index: usize, stored: &StoredRecord, seal: &RecordSeal| -> Result<()> {
            let (item, turn) = plan[index];
            written = Some(
                insert(&transaction, tenant, item, turn, (stored, seal), written.as_ref()).map_err(fail)?,
            );
            Ok(())
        };
        match plan.len() {
            0..SIDE_BY_SIDE => seal_one_by_one(&plan, link, seal, sealer, &mut write)?,
            _ => seal_in_order(&plan, link, seal, sealer, &mut write)?,
        }
        transaction.commit().map_err(fail)?;
        result.appended += plan.len() as u64;
        self.known = written.map(|head| (tenant.map(str::to_owned), head));
        Ok(())
    }

    /// Writes the keys of all sealed items of a chain to a file, in the form of `agent-capsule`.
    ///
    /// Only that program reads it; for ours the database alone counts.
    pub fn write_checkpoint(&self, tenant: Option<&str>, file: &Path) -> Result<()> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut query = self
                .connection
                .prepare_cached("SELECT key FROM capsid_keys WHERE tenant = ?1 ORDER BY key")?;
            query.query_map([tenant.unwrap_or_default()], |row| row.get(0))?.collect()
        };
        let keys = read().map_err(|error| self.fail(&error))?;
        let keys: Vec<String> =
            keys.into_iter().map(|key| canonical_ascii(&ExactJson::String(key))).collect();
        let text = format!("{{\"done\": [{}]}}", keys.join(", "));
        capsid_disk::files::replace_private(file, text.as_bytes())
    }

    /// A reader of the same file, for what was just written.
    pub fn reader(&self) -> Result<ChainReader> {
        ChainReader::open(&self.path)
    }

    pub(super) fn parts(&self) -> (&Connection, &Path) {
        (&self.connection, &self.path)
    }

    pub(super) fn parts_mut(&mut self) -> (&mut Connection, &Path) {
        (&mut self.connection, &self.path)
    }

    pub(super) fn checkpoint(&self) -> &Path {
        &self.checkpoint
    }

    fn fail(&self, error: &rusqlite::Error) -> Problem {
        problem("write", &self.path, error)
    }

    /// Visits the records behind the last one that has a key, in order: those came from elsewhere.
    pub fn strangers(&self, tenant: Option<&str>, mut visit: impl FnMut(i64, &ExactJson)) -> Result<()> {
        let (connection, path) = self.parts();
        let visited = covered(connection, tenant)
            .and_then(|covered| visit_after(connection, tenant, covered.unwrap_or(-1), &mut visit));
        visited.map_err(|error| problem("read", path, &error))
    }

    /// The keys that another program noted in its checkpoint file.
    pub fn checkpoint_keys(&self) -> Vec<String> {
        done(self.checkpoint())
    }

    /// Notes what records from elsewhere stand for, and with them all that the checkpoint file names. A key that is
    /// known stays as it is.
    pub fn record_adopted(&mut self, tenant: Option<&str>, adopted: &[AdoptedRecord]) -> Result<()> {
        let known = self.checkpoint_keys();
        let (connection, path) = self.parts_mut();
        let mut note = || -> rusqlite::Result<()> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(head) = last(&transaction, tenant)? else { return Ok(()) };
            for key in &known {
                insert_key(&transaction, tenant, key, head.sequence, false)?;
            }
            for AdoptedRecord { key, sequence, open, late } in adopted {
                if let Some(sequence) = sequence {
                    insert_key(&transaction, tenant, key, *sequence, *open)?;
                }
                if let Some(late) = late {
                    close_key(&transaction, tenant, key, *late)?;
                }
            }
            transaction.commit()
        };
        note().map_err(|error| problem("write", path, &error))
    }
}

fn turn<T>(sealed: Option<bool>, item: &PendingRecord<T>) -> Option<RecordReason> {
    match sealed {
        None => Some(RecordReason::First),
        Some(true) if !item.open => Some(RecordReason::Late),
        Some(_) => None,
    }
}

/// What is to be sealed, now that nobody else can write.
fn plan<'a, T>(
    connection: &Connection,
    tenant: Option<&str>,
    group: &'a [PendingRecord<T>],
    waits: bool,
) -> rusqlite::Result<SealPlan<'a, T>> {
    let mut met = states(connection, tenant, group, waits)?;
    let mut plan = Vec::with_capacity(group.len());
    for item in group {
        if let Some(turn) = turn(met.get(&item.key).copied(), item) {
            met.insert(item.key.clone(), item.open);
            plan.push((item, turn));
        }
    }
    Ok(plan)
}

fn next(head: Option<&ChainHead>) -> ChainLink {
    match head {
        None => ChainLink::default(),
        Some(head) => {
            ChainLink { sequence: head.sequence.unsigned_abs() + 1, previous_hash: Some(head.hash.clone()) }
        }
    }
}

/// A thread is not worth its while for a few.
fn seal_one_by_one<T>(
    plan: &SealPlan<'_, T>,
    mut link: ChainLink,
    seal: &mut impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord>,
    sealer: Option<&Sealer>,
    write: &mut impl FnMut(usize, &StoredRecord, &RecordSeal) -> Result<()>,
) -> Result<()> {
    for (index, (item, turn)) in plan.iter().enumerate() {
        let mut stored = seal(&item.item, *turn, &link)?;
        stored.seal = signed(stored.seal, sealer)?;
        write(index, &stored, &stored.seal)?;
        link = ChainLink { sequence: link.sequence + 1, previous_hash: Some(stored.seal.hash) };
    }
    Ok(())
}

fn insert<T>(
    connection: &Connection,
    tenant: Option<&str>,
    item: &PendingRecord<T>,
    turn: RecordReason,
    (stored, seal): (&StoredRecord, &RecordSeal),
    head: Option<&ChainHead>,
) -> rusqlite::Result<ChainHead> {
    const KEY: &str =
        "INSERT OR REPLACE INTO capsid_keys (tenant, key, sequence, open) VALUES (?1, ?2, ?3, ?4)";
    let sequence = head.map_or(0, |head| head.sequence + 1);
    let position = ChainPosition { tenant, sequence, previous: head.map(|head| head.hash.as_str()) };
    let id = stored.columns.as_ref().map_or("", |columns| &columns.id);
    insert_row(connection, &position, id, &stored.canonical, seal)?;
    match turn {
        RecordReason::First => {
            let row = params![tenant.unwrap_or_default(), item.key, sequence, item.open];
            connection.prepare_cached(KEY)?.execute(row)?;
        }
        RecordReason::Late => close_key(connection, tenant, &item.key, sequence)?,
    }
    Ok(ChainHead { sequence, hash: seal.hash.clone() })
}

/// Where a record goes.
pub(super) struct ChainPosition<'a> {
    pub(super) tenant: Option<&'a str>,
    pub(super) sequence: i64,
    pub(super) previous: Option<&'a str>,
}

/// Writes one record as it is.
pub(super) fn insert_row(
    connection: &Connection,
    position: &ChainPosition<'_>,
    id: &str,
    canonical: &str,
    seal: &RecordSeal,
) -> rusqlite::Result<()> {
    const ROW: &str = "INSERT INTO capsules (tenant_id, sequence, id, previous_hash, hash, signature, signature_pq, \
                       signed_at, signed_by, canonical) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    connection.prepare_cached(ROW)?.execute(params![
        position.tenant,
        position.sequence,
        id,
        position.previous,
        seal.hash,
        seal.signature,
        seal.signature_pq,
        seal.signed_at,
        seal.signed_by,
        canonical
    ])?;
    Ok(())
}

/// The last record, unless some after it were cut off: their keys outlive them, and sealing on would hide that they
/// are gone. The keys are read first, since others may add to the chain meanwhile.
fn refuse_cut(path: &Path, connection: &Connection, tenant: Option<&str>) -> Result<Option<ChainHead>> {
    let fail = |error: rusqlite::Error| problem("read", path, &error);
    let keyed = covered(connection, tenant).map_err(fail)?;
    let head = last(connection, tenant).map_err(fail)?;
    refuse_shorter(path, keyed, head.as_ref())?;
    Ok(head)
}
