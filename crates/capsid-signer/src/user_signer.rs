//! One user's key, journal and heads file.

use crate::journal::SignerJournal;
use crate::rules::entry::{EpochReason, JournalEvent};
use crate::rules::rate_limit::{RECORDS_PER_SECOND, RecordBucket};
use crate::rules::record_text::RecordText;
use crate::rules::refusal::SignerRefusal;
use crate::rules::signer_chain::SignerChain;
use crate::rules::signer_state::SignerState;
use crate::rules::statement::{self, HeadsStatement, StatementOrigin};
use crate::wire::{AdoptedHead, SignerReply, SignerStatus, TrustedEpoch};
use capsid_disk::{Lock, files};
use capsid_model::{Clock, Code, Problem, Time};
use capsid_seal::hash::{hex, unhex};
use capsid_seal::{PublicKey, SigningKey, keys};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The name of the private key in a user's folder.
pub const KEY_FILE: &str = "key";
/// The next private key, while a rotation is under way.
pub const NEXT_KEY_FILE: &str = "key.next";
/// The name of the journal.
pub const JOURNAL_FILE: &str = "journal";
/// The name of the signed heads.
pub const HEADS_FILE: &str = "heads";
const WRITE_FAILED: &str = "The service could not write its journal. It must be started again.";
/// Chains that are adopted with one sync.
const ADOPT_GROUP: usize = 4;

type Answer<T> = Result<T, SignerRefusal>;

/// Signs for one user. Every method may be called by several threads.
pub struct UserSigner {
    user: u32,
    folder: PathBuf,
    shared: Mutex<UserShared>,
    /// How many bytes of the journal are written, and how many are synced.
    written: AtomicU64,
    synced: Mutex<u64>,
    sync_file: File,
    /// After an error of the disk nothing is signed until the service starts again.
    has_failed: AtomicBool,
    /// The next entry number when the heads file was written last.
    stated: AtomicU64,
    _lock: Lock,
}

struct UserShared {
    key: SigningKey,
    journal: SignerJournal,
    state: SignerState,
    bucket: RecordBucket,
}

impl UserSigner {
    /// Opens a user's folder. It belongs to this process until the end.
    pub fn open(folder: &Path, user: u32, clock: &dyn Clock) -> capsid_model::Result<Self> {
        let lock = lock_folder(folder)?;
        let (journal, state) = SignerJournal::open(&folder.join(JOURNAL_FILE))?;
        let key = load_key(folder, &state)?;
        check_heads(folder, &state)?;
        let written = journal.length();
        Ok(Self {
            user,
            folder: folder.to_owned(),
            sync_file: journal.handle()?,
            written: AtomicU64::new(written),
            synced: Mutex::new(written),
            has_failed: AtomicBool::new(false),
            stated: AtomicU64::new(0),
            shared: Mutex::new(UserShared { key, journal, state, bucket: RecordBucket::full(clock.ticks()) }),
            _lock: lock,
        })
    }

    /// Signs texts of one chain.
    pub fn sign(&self, texts: &[&str], clock: &dyn Clock) -> Answer<SignerReply> {
        let records = parse_records(texts)?;
        let mut shared = self.shared()?;
        let journal = &shared.journal;
        let events = shared.state.plan_records(&records, false, |offset| journal.hashes_at(offset))?;
        shared
            .bucket
            .withdraw(records.len() as u64, clock.ticks())
            .map_err(|wait| SignerRefusal::busy(&format!("{RECORDS_PER_SECOND} records a second"), wait))?;
        let end = self.record(&mut shared, events, clock.now())?;
        let chain =
            shared.state.chain(&records[0].chain).and_then(|chain| Some((chain.name.clone(), chain.head?)));
        let origin = self.origin(&shared, None, clock.now());
        let key = shared.key.clone();
        drop(shared);
        self.sync_to(end)?;
        let (name, head) =
            chain.ok_or_else(|| SignerRefusal::damaged("A chain that was signed has no head."))?;
        let statement = statement::head_text(&origin, &name, &head);
        Ok(SignerReply::Signed {
            key: origin.key.hex(),
            signatures: records.iter().map(|record| key.sign(&hex(&record.hash))).collect(),
            statement_signature: key.sign(&statement),
            statement,
        })
    }

    /// Learns records again that carry a signature of this service and extend what it knows.
    pub fn catch_up(&self, texts: &[&str], signatures: &[String], clock: &dyn Clock) -> Answer<SignerReply> {
        let records = parse_records(texts)?;
        let mut shared = self.shared()?;
        shared
            .bucket
            .withdraw(records.len() as u64, clock.ticks())
            .map_err(|wait| SignerRefusal::busy(&format!("{RECORDS_PER_SECOND} records a second"), wait))?;
        // A key that was replaced may have been lost to somebody, so only the present one counts.
        let key = shared.key.public();
        let is_ours = |record: &RecordText, signature: &String| key.verifies(&hex(&record.hash), signature);
        if signatures.len() != records.len() || !records.iter().zip(signatures).all(|(r, s)| is_ours(r, s)) {
            return Err(SignerRefusal::refused("A record does not carry a signature of this service."));
        }
        let journal = &shared.journal;
        let events = shared.state.plan_records(&records, true, |offset| journal.hashes_at(offset))?;
        let end = self.record(&mut shared, events, clock.now())?;
        drop(shared);
        self.sync_to(end).map(|()| SignerReply::Done)
    }

    /// Takes chains over with the records that they have.
    pub fn adopt(&self, chains: &[AdoptedHead], clock: &dyn Clock) -> Answer<SignerReply> {
        for group in chains.chunks(ADOPT_GROUP) {
            let mut shared = self.shared()?;
            let mut end = shared.journal.length();
            for AdoptedHead { chain, count, head } in group {
                let chain = SignerChain::new(&chain.domain, &chain.session)
                    .ok_or_else(|| SignerRefusal::malformed("a domain or session is empty or too long"))?;
                let head = unhex(head).ok_or_else(|| SignerRefusal::malformed("a head is not a hash"))?;
                let events = shared.state.plan_adopt(&chain, *count, head)?;
                end = self.record(&mut shared, events, clock.now())?;
            }
            self.sync_to(end)?;
        }
        Ok(SignerReply::Done)
    }

    /// States all heads: the text and its signature.
    pub fn heads(&self, nonce: Option<&str>, clock: &dyn Clock) -> Answer<(String, String)> {
        if nonce.is_some_and(|nonce| !statement::is_nonce(nonce)) {
            return Err(SignerRefusal::malformed("a nonce has 64 hex digits"));
        }
        let shared = self.shared()?;
        let origin = self.origin(&shared, nonce, clock.now());
        let text = statement::heads_text(&origin, shared.state.chains());
        let (key, end) = (shared.key.clone(), shared.journal.length());
        drop(shared);
        self.sync_to(end)?;
        let signature = key.sign(&text);
        Ok((text, signature))
    }

    /// States the head of one chain.
    pub fn head(&self, chain: &SignerChain, clock: &dyn Clock) -> Answer<SignerReply> {
        let shared = self.shared()?;
        let Some(head) = shared.state.chain(chain).and_then(|state| state.head) else {
            return Ok(SignerReply::Head { statement: None, signature: String::new() });
        };
        let statement = statement::head_text(&self.origin(&shared, None, clock.now()), chain, &head);
        let (key, end) = (shared.key.clone(), shared.journal.length());
        drop(shared);
        self.sync_to(end)?;
        Ok(SignerReply::Head { signature: key.sign(&statement), statement: Some(statement) })
    }

    /// How things are.
    pub fn status(&self) -> Answer<SignerStatus> {
        let shared = self.shared()?;
        Ok(SignerStatus {
            user: self.user,
            key: shared.key.public().hex(),
            chains: shared.state.chains().len() as u64,
            records: shared.state.records(),
            entries: shared.state.next_number(),
            is_adopt_open: shared.state.is_adopt_open(),
        })
    }

    /// Allows a new history of a chain.
    pub fn restart_chain(&self, chain: &SignerChain, clock: &dyn Clock) -> Answer<SignerReply> {
        let mut shared = self.shared()?;
        let event = shared.state.plan_restart(chain)?;
        let end = self.record(&mut shared, vec![event], clock.now())?;
        drop(shared);
        self.sync_to(end).map(|()| SignerReply::Done)
    }

    /// Puts the key of `seed` in the place of the present one, which signs its successor and is removed.
    pub fn rotate(&self, seed: &[u8; 32], clock: &dyn Clock) -> Answer<SignerReply> {
        let mut shared = self.shared()?;
        let (old, new) = (shared.key.public(), SigningKey::from_seed(seed));
        let text = statement::rotation_text(self.user, &old, &new.public());
        let signature = unhex(&shared.key.sign(&text)).unwrap_or([0; 64]);
        files::replace_secret(&self.folder.join(NEXT_KEY_FILE), seed)?;
        let event = epoch_event(EpochReason::Rotated, &new.public(), signature)?;
        let end = self.record(&mut shared, vec![event], clock.now())?;
        self.sync_to(end)?;
        move_next_key(&self.folder)?;
        shared.key = new;
        drop(shared);
        self.epochs()
    }

    /// The keys over time.
    pub fn epochs(&self) -> Answer<SignerReply> {
        let shared = self.shared()?;
        Ok(SignerReply::Epochs { epochs: list_epochs(&shared.state) })
    }

    /// Writes the heads file if anything changed since the last time.
    pub fn write_heads(&self, clock: &dyn Clock) -> Answer<()> {
        let next = self.shared()?.state.next_number();
        if self.stated.load(Ordering::Acquire) == next {
            return Ok(());
        }
        let (text, signature) = self.heads(None, clock)?;
        files::replace(&self.folder.join(HEADS_FILE), format!("{text}signature {signature}\n").as_bytes())?;
        // What was signed meanwhile is written the next time.
        self.stated.store(next, Ordering::Release);
        Ok(())
    }

    fn shared(&self) -> Answer<MutexGuard<'_, UserShared>> {
        match self.shared.lock() {
            Ok(shared) if !self.has_failed.load(Ordering::Acquire) => Ok(shared),
            _ => Err(SignerRefusal::damaged(WRITE_FAILED)),
        }
    }

    /// Appends events to the journal and to the state; the position up to which it has to be synced.
    fn record(&self, shared: &mut UserShared, events: Vec<JournalEvent>, now: Time) -> Answer<u64> {
        let mut entries = shared.state.chain_entries(events, now.0);
        let bytes: Vec<u8> = entries.iter().flat_map(|(_, bytes, _)| bytes.iter().copied()).collect();
        let mut offset = shared.journal.length();
        if let Err(failure) = shared.journal.append(&bytes) {
            if failure.is_intact {
                return Err(SignerRefusal::busy("the disk of the service", 5_000));
            }
            self.has_failed.store(true, Ordering::Release);
            return Err(failure.problem.into());
        }
        self.written.store(shared.journal.length(), Ordering::Release);
        for (entry, bytes, hash) in entries.drain(..) {
            shared.state.apply(&entry, hash, offset).map_err(|reason| {
                self.has_failed.store(true, Ordering::Release);
                SignerRefusal::damaged(reason)
            })?;
            offset += bytes.len() as u64;
        }
        Ok(shared.journal.length())
    }

    fn sync_to(&self, end: u64) -> Answer<()> {
        let mut synced = self.synced.lock().map_err(|_| SignerRefusal::damaged("A sync did not end."))?;
        // After an error the system calls the next sync good, although what was to be written is lost.
        if self.has_failed.load(Ordering::Acquire) {
            return Err(SignerRefusal::damaged(WRITE_FAILED));
        }
        if *synced < end {
            let written = self.written.load(Ordering::Acquire);
            if let Err(error) = self.sync_file.sync_data() {
                self.has_failed.store(true, Ordering::Release);
                return Err(Problem::io("sync", &self.folder.join(JOURNAL_FILE), &error).into());
            }
            *synced = written.max(*synced);
        }
        Ok(())
    }

    fn origin(&self, shared: &UserShared, nonce: Option<&str>, now: Time) -> StatementOrigin {
        StatementOrigin {
            user: self.user,
            key: shared.key.public(),
            entry: shared.state.next_number().saturating_sub(1),
            nonce: nonce.map(str::to_owned),
            time: format!("{}Z", now.iso().chars().take(19).collect::<String>()),
        }
    }
}

/// The lock that a service, or root at work on the files, holds.
pub fn lock_folder(folder: &Path) -> capsid_model::Result<Lock> {
    let lock = folder.join("lock");
    refuse_link(&lock)?;
    // Who can open the file can hold its lock, and then the service would not start.
    files::create_private(&lock)?;
    crate::trust_root::set_mode(&lock, 0o600)?;
    Lock::acquire(&lock, "The state of the signing service", Duration::from_millis(500))
}

/// Root works in folders of the service's account too, and must write through no link of that account.
pub fn refuse_link(path: &Path) -> capsid_model::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => {
            let message = format!("`{}` is not a plain file.", path.display());
            Err(Problem::new(Code::SignerDamaged, message)
                .fix("Find out who put it there before you go on: only the service writes in this folder."))
        }
        _ => Ok(()),
    }
}

/// The keys over time, as they are told.
pub fn list_epochs(state: &SignerState) -> Vec<TrustedEpoch> {
    let epochs = state.epochs().iter().map(|epoch| TrustedEpoch {
        key: hex(&epoch.key),
        from_entry: epoch.from_entry,
        reason: epoch.reason,
        signature: if epoch.signature == [0; 64] { String::new() } else { hex(&epoch.signature) },
    });
    epochs.collect()
}

/// The event that brings a key into use.
pub fn epoch_event(
    reason: EpochReason,
    key: &PublicKey,
    signature: [u8; 64],
) -> capsid_model::Result<JournalEvent> {
    let key = unhex(&key.hex()).ok_or_else(|| Problem::new(Code::Internal, "A key has no digits."))?;
    Ok(JournalEvent::Epoch { reason, key, signature })
}

fn parse_records(texts: &[&str]) -> Answer<Vec<RecordText>> {
    if texts.is_empty() || texts.len() > crate::rules::MAX_TEXTS {
        return Err(SignerRefusal::malformed("a request holds 1 to 1000 texts"));
    }
    texts.iter().map(|text| RecordText::parse(text)).collect()
}

/// The key that the journal names. A rotation that was killed between journal and rename is finished here.
fn load_key(folder: &Path, state: &SignerState) -> capsid_model::Result<SigningKey> {
    let named = state.epochs().last().map(|epoch| hex(&epoch.key));
    let is_named = |key: &SigningKey| Some(key.public().hex()) == named;
    if let Some(key) = keys::file::load(&folder.join(KEY_FILE))?.filter(is_named) {
        return Ok(key);
    }
    if let Some(key) = keys::file::load(&folder.join(NEXT_KEY_FILE))?.filter(is_named) {
        move_next_key(folder)?;
        return Ok(key);
    }
    let message = format!("`{}` does not hold the key that the journal names.", folder.display());
    Err(Problem::new(Code::SignerDamaged, message)
        .fix("Put it back with `sudo capsid trail signer restore DIR`, or begin a new key with `reset`."))
}

fn move_next_key(folder: &Path) -> capsid_model::Result<()> {
    let (from, to) = (folder.join(NEXT_KEY_FILE), folder.join(KEY_FILE));
    std::fs::rename(&from, &to).map_err(|error| Problem::io("rename", &from, &error))?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| Problem::io("sync", folder, &error))
}

/// A journal that is older than the heads which were stated would let a second history be signed.
fn check_heads(folder: &Path, state: &SignerState) -> capsid_model::Result<()> {
    let Some(text) = files::read_optional(&folder.join(HEADS_FILE))? else { return Ok(()) };
    let stated = text.rfind("signature ").and_then(|end| HeadsStatement::parse(&text[..end]));
    if stated.is_none_or(|stated| stated.origin.entry < state.next_number()) {
        return Ok(());
    }
    let message = format!("The journal in `{}` is older than the heads that were stated.", folder.display());
    Err(Problem::new(Code::SignerDamaged, message).fix(
        "Put a newer copy back with `sudo capsid trail signer restore DIR`. If there is none, remove `heads` beside the journal.",
    ))
}
