//! One chain: its records, and the facts about them that claims and witnesses are compared with.

use super::CollectOptions;
use super::changes::read_settled;
use crate::chain::ChainReader;
use crate::keys::KeySet;
use crate::sources::{ChainClaim, ChainFacts, ChainSource, RecordsLocation};
use crate::verify::{ChainVerdict, VerifiedCheckpoint, VerifyOptions, verify};
use crate::{RecordSeal, StoredRecord};
use capsid_model::Result;
use capsid_verdict::FindingCode;
use capsid_verdict::evidence::{ChainEvidence, ChainPlace, EvidenceNote, UnreadableChain};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// A claimed time may go back so far: clocks are set.
const CLOCK_SECONDS: i64 = 600;

/// What was found out about a chain.
pub(super) struct ReadChain {
    pub(super) evidence: ChainEvidence,
    pub(super) records: ChainVerdict,
    pub(super) facts: ChainFacts,
    /// What the chain file itself claims.
    pub(super) header: Option<ChainClaim>,
    pub(super) notes: Vec<EvidenceNote>,
    /// What was left out on purpose.
    pub(super) not_checked: Option<String>,
}

/// A chain and what to find out about it.
pub(super) struct ChainTask<'a> {
    pub(super) source: &'a ChainSource,
    pub(super) name: &'a str,
    pub(super) place: ChainPlace,
    /// The lengths at which somebody knows the hash of the last record.
    pub(super) watch: BTreeSet<u64>,
    pub(super) keys: &'a KeySet,
    pub(super) options: &'a CollectOptions,
}

/// What reading a chain came to.
pub(super) enum ChainOutcome {
    Read(Box<ReadChain>),
    /// The file changes while it is read.
    Changed(UnreadableChain),
}

impl ChainTask<'_> {
    /// Reads the chain, twice if it changes meanwhile.
    pub(super) fn run(&self) -> Result<ChainOutcome> {
        self.run_with(|| self.read())
    }

    fn run_with(&self, read: impl FnMut() -> Result<ReadChain>) -> Result<ChainOutcome> {
        let path = self.source.path();
        Ok(match read_settled(path, read, |read| read.records.valid)? {
            Some(read) => ChainOutcome::Read(Box::new(read)),
            None => ChainOutcome::Changed(UnreadableChain {
                chain: self.name.to_owned(),
                code: FindingCode::Changed,
                message: format!("`{}` changes while it is read.", path.display()),
                fix: Some("Run the command again.".to_owned()),
            }),
        })
    }

    fn read(&self) -> Result<ReadChain> {
        let start = self.start()?;
        let options = VerifyOptions {
            signatures: !self.options.skip_signatures,
            batch: self.options.batch,
            since: start.as_ref().map(|start| start.checkpoint.clone()),
            threads: self.options.threads,
            passes_unknown_signers: true,
            watch: self.watch.clone(),
        };
        let mut seen = SeenRecords::default();
        let first = options.since.as_ref().map_or(0, |checkpoint| checkpoint.sequence);
        let (records, header) = self.source.records_with_header(first)?;
        let is_recovered = records.is_recovered();
        let records = records.inspect(|stored| {
            if let Ok(stored) = stored {
                seen.push(&stored.seal);
            }
        });
        let verdict = verify(records, &options, self.keys)?;
        let mut evidence = ChainEvidence::from_records(
            self.name.to_owned(),
            self.place,
            self.source.is_meta,
            &verdict,
            options.signatures,
        );
        let mut not_checked = None;
        if let Some(start) = start {
            evidence.at.extend(start.heads);
            evidence.total = evidence.total.max(start.total);
            not_checked = start.left_out;
        }
        if let RecordsLocation::Database(path) = &self.source.location {
            evidence.pending = ChainReader::open(path)?.pending(self.source.tenant.as_deref())?;
        }
        let note = |code, position, message: String| EvidenceNote {
            code,
            chain: self.name.to_owned(),
            position,
            message,
        };
        let mut notes = Vec::new();
        if is_recovered {
            let message = "A writer stopped half way. A private copy was rolled back and read.";
            notes.push(note(FindingCode::RecoveredCopy, None, message.to_owned()));
        }
        if let Some(at) = seen.time_goes_back {
            let at = first + at;
            let message = format!("Record {at} claims an earlier time than record {}.", at.saturating_sub(1));
            notes.push(note(FindingCode::TimeOrder, Some(at), message));
        }
        let header = header.and_then(|header| header.borrow().as_ref().map(ChainClaim::parse));
        Ok(ReadChain { evidence, records: verdict, facts: seen.facts, header, notes, not_checked })
    }

    /// Where to begin, if not at the first record.
    fn start(&self) -> Result<Option<ChainStart>> {
        let path = match (&self.options.since, &self.source.location) {
            // It is about the chain that was named, and not about the meta-chain beside it.
            (Some(since), _) if !self.source.is_meta => {
                let (total, heads) = (0, Vec::new());
                return Ok(Some(ChainStart { checkpoint: since.clone(), total, heads, left_out: None }));
            }
            (None, RecordsLocation::Database(path)) if self.options.quick => path,
            _ => return Ok(None),
        };
        let reader = ChainReader::open(path)?;
        let tenant = self.source.tenant.as_deref();
        let total = reader.count(tenant)?;
        // Two records at one place are found by reading all of them.
        let hash_at = |count: u64| -> Result<Option<String>> {
            let there = reader.at(tenant, count.saturating_sub(1))?;
            Ok(match there.as_slice() {
                [StoredRecord { seal: RecordSeal { hash, .. }, .. }] => Some(hash.clone()),
                _ => None,
            })
        };
        let recorded = self.watch.iter().rfind(|count| **count <= total).copied().unwrap_or_default();
        let Some(sequence) = recorded.checked_sub(1).filter(|sequence| *sequence > 0) else {
            return Ok(None);
        };
        let Some(hash) = hash_at(recorded)? else { return Ok(None) };
        let mut heads = Vec::new();
        for count in self.watch.range(1..recorded) {
            heads.extend(hash_at(*count)?.map(|hash| (*count, hash)));
        }
        let left_out = format!("content and signatures of {sequence} records of {}", self.name);
        let checkpoint = VerifiedCheckpoint { sequence, hash };
        Ok(Some(ChainStart { checkpoint, total, heads, left_out: Some(left_out) }))
    }
}

struct ChainStart {
    checkpoint: VerifiedCheckpoint,
    total: u64,
    heads: Vec<(u64, String)>,
    left_out: Option<String>,
}

/// What the records state beside their content, in the order they came.
#[derive(Default)]
struct SeenRecords {
    facts: ChainFacts,
    /// The text of a time and what it means; records of one moment have the same.
    last_time: Option<(String, i64)>,
    time_goes_back: Option<u64>,
}

impl SeenRecords {
    fn push(&mut self, seal: &RecordSeal) {
        let text = seal.signed_at.as_deref().unwrap_or_default();
        if self.last_time.as_ref().is_none_or(|(last, _)| last != text)
            && let Ok(time) = text.parse::<Timestamp>()
        {
            let time = time.as_second();
            let goes_back = self.last_time.as_ref().is_some_and(|(_, last)| time < last - CLOCK_SECONDS);
            if goes_back && self.time_goes_back.is_none() {
                self.time_goes_back = Some(self.facts.length);
            }
            self.last_time = Some((text.to_owned(), time));
        }
        self.facts.record(seal);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::chain::{ChainWriter, PendingRecord};
    use crate::evidence::CollectedEvidence;
    use crate::sources::open_any;
    use crate::{ActionRecord, Sealer, SigningKey};
    use capsid_verdict::{KeyOrigin, Require, SignerPolicy};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    const KEY: [u8; 32] = [1; 32];

    fn seal(path: &Path) {
        let sealer = Sealer::new(SigningKey::from_seed(&KEY));
        let item = PendingRecord { key: "a".to_owned(), open: false, weight: 0, item: () };
        let mut writer = ChainWriter::open(path).unwrap().signing_with(sealer.clone());
        let record = ActionRecord { id: "a".into(), domain: "codex".into(), ..ActionRecord::default() };
        let prepare = |(): &(), _, link: &_| sealer.prepare(&record, link, "2026-02-07T15:20:54+00:00");
        writer.append(None, [item], prepare).unwrap();
    }

    fn tamper(path: &Path) {
        let edit = "UPDATE capsules SET canonical = replace(canonical, 'codex', 'cline')";
        assert_eq!(rusqlite::Connection::open(path).unwrap().execute(edit, []).unwrap(), 1);
    }

    /// Runs a task on a chain that was tampered with, and does something to its file after each reading.
    fn run(after: impl Fn(&Path, u64)) -> (u64, ChainOutcome) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        seal(&path);
        tamper(&path);
        let mut keys = KeySet::default();
        keys.add(SigningKey::from_seed(&KEY).public(), KeyOrigin::Own);
        let sources = open_any(&path).unwrap();
        let task = ChainTask {
            source: &sources.chains[0],
            name: "codex/s",
            place: ChainPlace::File,
            watch: BTreeSet::new(),
            keys: &keys,
            options: &CollectOptions::default(),
        };
        let mut reads = 0;
        let outcome = task.run_with(|| {
            reads += 1;
            let read = task.read();
            after(&path, reads);
            read
        });
        (reads, outcome.unwrap())
    }

    /// Gives the file another time, as a writer does.
    fn touch(path: &Path, number: u64) {
        let time = SystemTime::now() + Duration::from_secs(number);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_file_that_does_not_change_is_read_once() {
        let (reads, outcome) = run(|_, _| {});
        let ChainOutcome::Read(read) = outcome else { panic!("it did not change") };
        assert_eq!((reads, read.records.valid), (1, false));
    }

    #[test]
    fn of_a_file_that_changed_once_the_second_reading_counts() {
        let (reads, outcome) = run(|path, number| {
            if number == 1 {
                std::fs::remove_file(path).unwrap();
                seal(path);
                touch(path, number);
            }
        });
        let ChainOutcome::Read(read) = outcome else { panic!("it changed once") };
        assert_eq!((reads, read.records.valid, read.records.total), (2, true, 1));
    }

    #[test]
    fn a_file_that_changed_twice_is_unreadable_and_the_exit_status_says_so() {
        let (reads, outcome) = run(touch);
        let ChainOutcome::Changed(unreadable) = outcome else { panic!("it changed twice") };
        assert_eq!((reads, unreadable.code), (2, FindingCode::Changed));
        let mut found = CollectedEvidence::default();
        found.evidence.unreadable.push(unreadable);
        let verdict = found.evaluate(&SignerPolicy::implied(Require::Any));
        assert_eq!((verdict.level.as_str(), verdict.exit_code(false)), ("unreadable", 2));
    }
}
