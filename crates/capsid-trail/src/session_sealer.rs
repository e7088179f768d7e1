//! Seals a session: the actions of its transcript that the chain does not hold yet.

use crate::adopt::{LATE, adopt};
use crate::record::record_of;
use crate::redaction::redact;
use crate::renamed_keys::RenamedKeys;
use crate::session::check_session;
use capsid_model::exact::{ExactFields, ExactJson, canonical};
use capsid_model::{Clock, Result};
use capsid_seal::chain::{AppendOutcome, ChainWriter, PendingRecord, RecordReason, checkpoint_of};
use capsid_seal::meta::{ChainOwner, Conversation, OwnChain, SharedChain, record_conversation};
use capsid_seal::verify::ChainVerdict;
use capsid_seal::{ActionRecord, ChainLink, Sealer, StoredRecord, TrailHome, python_iso};
use capsid_transcript::{Action, ReadReport, TranscriptSource};
use std::path::PathBuf;

/// How many actions are handed on at once, and about how many bytes.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 4 << 20;

/// The member of the environment of a first record that names the chain before.
const CONTINUES: &str = "continues";

/// What sealing needs besides a transcript.
pub struct SessionSealer<'a> {
    pub home: &'a TrailHome,
    pub sealer: &'a Sealer,
    pub clock: &'a dyn Clock,
    pub new_id: &'a (dyn Fn() -> String + Sync),
    /// Whether secrets are redacted first.
    pub redact: bool,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealOutcome {
    pub appended: u64,
    /// Records that the chain has now.
    pub total: u64,
    /// The hash of the last one.
    pub head: Option<String>,
    /// Actions left for the next time, since a result is still to come.
    pub held_back: u64,
    /// Records that wait for a signature of the service. They are in `appended`, not in `total`.
    pub pending: u64,
    /// What else the transcript held.
    pub report: ReadReport,
}

/// What came of finishing a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishOutcome {
    pub verdict: ChainVerdict,
    /// Whether the meta-chain got a record; it has one already of a session that did not grow.
    pub recorded: bool,
}

/// A session's chain on disk.
pub struct ChainPath {
    pub database: PathBuf,
    pub tenant: Option<String>,
    /// The file with the keys of what is sealed, for the reference tool.
    pub checkpoint: PathBuf,
}

impl ChainPath {
    /// The path of a session's chain.
    pub fn resolve(home: &TrailHome, tool: &str, session: &str) -> Result<Self> {
        check_session(session)?;
        let (database, tenant) = home.chain(tool, session);
        let own = home.chains().join(tool).join(format!("{session}.db"));
        Ok(Self { checkpoint: checkpoint_of(&own), database, tenant })
    }
}

impl SessionSealer<'_> {
    /// Seals what is new in a transcript. With `finish` nothing is held back for a later result.
    pub fn seal(&self, source: &TranscriptSource, finish: bool) -> Result<SealOutcome> {
        self.seal_as(source, &source.session, None, finish)
    }

    /// Seals into the chain of a session of that name. `continues` goes into the first record of the chain.
    pub(crate) fn seal_as(
        &self,
        source: &TranscriptSource,
        session: &str,
        continues: Option<&ExactFields>,
        finish: bool,
    ) -> Result<SealOutcome> {
        let chain_path = ChainPath::resolve(self.home, source.tool.name(), session)?;
        let mut batch = ActionBatch::new(self, source, &chain_path, (session, continues))?;
        let report = capsid_transcript::read(source, &mut |action| batch.add_action(action, finish))?;
        let appended = batch.finish()?;
        Ok(SealOutcome {
            appended: appended.appended,
            total: appended.total,
            head: appended.head,
            held_back: batch.held_back,
            pending: appended.pending,
            report,
        })
    }

    /// Verifies a session's chain and records its head in the meta-chain. A broken chain is not recorded.
    pub fn finish(&self, tool: &str, session: &str) -> Result<FinishOutcome> {
        let chain_path = ChainPath::resolve(self.home, tool, session)?;
        let tenant = chain_path.tenant.as_deref();
        let own = OwnChain {
            tool,
            session,
            database: &chain_path.database,
            tenant,
            checkpoint: Some(&chain_path.checkpoint),
        };
        let own = own.verify(self.home.root(), &self.sealer.own_keys())?;
        let verdict = own.records;
        let Some(head) = verdict.head.clone().filter(|_| verdict.valid) else {
            return Ok(FinishOutcome { verdict, recorded: false });
        };
        match own.refusal {
            Some(problem) => return Err(problem),
            // What waits for its signature is recorded when it is signed.
            None if own.pending > 0 => return Ok(FinishOutcome { verdict, recorded: false }),
            None => {}
        }
        let conversation = Conversation {
            tool,
            session,
            head_hash: &head,
            count: verdict.length,
            shared: tenant.map(|tenant| SharedChain { db: &chain_path.database, tenant }),
        };
        let recorded = record_conversation(
            self.home.root(),
            &conversation,
            self.sealer,
            &(self.new_id)(),
            &self.signed_at(),
        )?;
        Ok(FinishOutcome { verdict, recorded: recorded.recorded })
    }

    pub(crate) fn signed_at(&self) -> String {
        python_iso(self.clock.now().0 * 1000)
    }

    fn stored(
        &self,
        item: &(Action, &TranscriptSource),
        (session, continues): (&str, Option<&ExactFields>),
        turn: RecordReason,
        link: &ChainLink,
    ) -> Result<StoredRecord> {
        let (action, source) = item;
        let mut record = record_of(action.clone(), source.tool, session, (self.new_id)());
        if let (0, Some(continues)) = (link.sequence, continues) {
            annotate(&mut record, CONTINUES, ExactJson::Object(continues.clone()));
        }
        if turn == RecordReason::Late {
            annotate(&mut record, LATE, ExactJson::Bool(true));
        }
        if self.redact {
            redact(&mut record, &|id, index| self.sealer.redaction_salt(id, index));
        }
        self.sealer.prepare(&record, link, &self.signed_at())
    }
}

/// Adds a member to the environment.
fn annotate(record: &mut ActionRecord, name: &str, value: ExactJson) {
    if let Some(ExactJson::Object(environment)) = record.context.get_mut("environment") {
        environment.insert(name.to_owned(), value);
    }
}

/// Actions that are about to be added to the chain.
struct ActionBatch<'a> {
    session_sealer: &'a SessionSealer<'a>,
    source: &'a TranscriptSource,
    chain_path: &'a ChainPath,
    /// The session that the records name, and what the first of them says about the chain before.
    target: (&'a str, Option<&'a ExactFields>),
    writer: Option<ChainWriter>,
    waiting: Vec<PendingRecord<(Action, &'a TranscriptSource)>>,
    bytes: usize,
    so_far: AppendOutcome,
    held_back: u64,
    renamed: RenamedKeys,
}

impl<'a> ActionBatch<'a> {
    fn new(
        session_sealer: &'a SessionSealer<'a>,
        source: &'a TranscriptSource,
        chain_path: &'a ChainPath,
        target: (&'a str, Option<&'a ExactFields>),
    ) -> Result<Self> {
        let tenant = chain_path.tenant.as_deref();
        let name = format!("{}/{}", source.tool.name(), target.0);
        let mut writer =
            chain_path.database.exists().then(|| open(chain_path, &name, session_sealer)).transpose()?;
        if let Some(writer) = &mut writer {
            adopt(writer, source, &chain_path.database, tenant)?;
        }
        Ok(Self {
            session_sealer,
            source,
            chain_path,
            target,
            writer,
            waiting: Vec::new(),
            bytes: 0,
            so_far: AppendOutcome::default(),
            held_back: 0,
            renamed: RenamedKeys::load(source, &chain_path.database, tenant)?,
        })
    }

    /// The chain, made when there is something to seal and not before.
    fn writer(&mut self) -> Result<&mut ChainWriter> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let name = format!("{}/{}", self.source.tool.name(), self.target.0);
                open(self.chain_path, &name, self.session_sealer)?
            }
        };
        Ok(self.writer.insert(writer))
    }

    /// If one action is held back, all later ones are too: the chain has the order of the transcript.
    fn add_action(&mut self, action: Action, finish: bool) -> Result<()> {
        if self.renamed.holds(&action) {
            return Ok(());
        }
        if !finish && (action.open || self.held_back > 0) {
            self.held_back += 1;
            return Ok(());
        }
        let weight = weight(&action);
        self.bytes += weight;
        self.waiting.push(PendingRecord {
            key: action.key.clone(),
            open: action.open,
            weight,
            item: (action, self.source),
        });
        if self.waiting.len() >= BATCH || self.bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let (session_sealer, target) = (self.session_sealer, self.target);
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let tenant = self.chain_path.tenant.as_deref();
        let appended = self
            .writer()?
            .append(tenant, waiting, |item, turn, link| session_sealer.stored(item, target, turn, link))?;
        self.so_far.appended += appended.appended;
        self.so_far.skipped += appended.skipped;
        self.so_far.total = appended.total;
        self.so_far.head = appended.head;
        self.so_far.pending = appended.pending;
        Ok(())
    }

    fn finish(&mut self) -> Result<AppendOutcome> {
        if !self.waiting.is_empty() || self.chain_path.database.exists() {
            self.flush()?;
            let chain_path = self.chain_path;
            self.writer()?.write_checkpoint(chain_path.tenant.as_deref(), &chain_path.checkpoint)?;
        }
        Ok(std::mem::take(&mut self.so_far))
    }
}

fn open(chain_path: &ChainPath, name: &str, session_sealer: &SessionSealer<'_>) -> Result<ChainWriter> {
    let SessionSealer { home, sealer, .. } = session_sealer;
    let writer = ChainWriter::open(&chain_path.database)?.with_checkpoint(chain_path.checkpoint.clone());
    let writer = writer.owned_by(ChainOwner::new(home.root(), name, sealer));
    Ok(writer.signing_with((*sealer).clone()))
}

/// About how many bytes an action holds.
fn weight(action: &Action) -> usize {
    let call = action.call.as_ref().map_or(0, |call| size(&call.arguments) + size(&call.result));
    let texts = [&action.prompt, &action.analysis, &action.reasoning, &action.summary];
    texts.iter().map(|text| text.len()).sum::<usize>() + call + size(&action.result) + 1024
}

fn size(value: &ExactJson) -> usize {
    match value {
        ExactJson::String(text) => text.len(),
        ExactJson::Array(items) => items.iter().map(size).sum::<usize>() + 8 * items.len(),
        ExactJson::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value) + 16).sum(),
        number => canonical(number).len(),
    }
}
