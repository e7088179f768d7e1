//! The journal on disk: entries one after the other, each with the hash of the one before it.

use crate::rules::HashBytes;
use crate::rules::entry::{DecodedEntry, JournalEntry, JournalEvent, MAX_ENTRY_BYTES};
use crate::rules::refusal::SignerRefusal;
use crate::rules::signer_state::SignerState;
use capsid_model::{Code, Problem, Result};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How many entries may be written and not yet synced: two for each connection of a user.
pub const MAX_UNSYNCED: u64 = 2 * crate::rules::MAX_CONNECTIONS as u64;

/// An append that failed.
#[derive(Debug)]
pub struct AppendFailure {
    pub problem: Problem,
    /// Whether the file is as it was before.
    pub is_intact: bool,
}

/// A journal that is appended to.
#[derive(Debug)]
pub struct SignerJournal {
    path: PathBuf,
    file: File,
    length: u64,
}

impl SignerJournal {
    /// Opens a journal, and makes it where there is none. Entries that a crash tore are cut off: nothing was signed for
    /// them, since that happens after the sync.
    pub fn open(path: &Path) -> Result<(Self, SignerState)> {
        let fail = |error: std::io::Error| Problem::io("open", path, &error);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let no_link = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
            options.mode(0o600).custom_flags(no_link);
        }
        let mut file = options.open(path).map_err(fail)?;
        let (state, length) = read_entries(path, &mut file)?;
        if file.metadata().map_err(fail)?.len() != length {
            file.set_len(length).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        Ok((Self { path: path.to_owned(), file, length }, state))
    }

    /// Reads a journal and changes nothing.
    pub fn load(path: &Path) -> Result<SignerState> {
        let mut file = File::open(path).map_err(|error| Problem::io("open", path, &error))?;
        read_entries(path, &mut file).map(|(state, _)| state)
    }

    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Another handle of the same file, to sync it.
    pub fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Problem::io("open", &self.path, &error))
    }

    /// Appends bytes of whole entries.
    pub fn append(&mut self, bytes: &[u8]) -> std::result::Result<(), AppendFailure> {
        let write = |file: &mut File, length: u64| {
            file.seek(SeekFrom::Start(length))?;
            file.write_all(bytes)
        };
        if let Err(error) = write(&mut self.file, self.length) {
            let is_intact = self.file.set_len(self.length).is_ok();
            return Err(AppendFailure { problem: Problem::io("write", &self.path, &error), is_intact });
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The hashes of the entry at a position.
    pub fn hashes_at(&self, offset: u64) -> std::result::Result<Vec<HashBytes>, SignerRefusal> {
        let mut file = &self.file;
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| file.take(MAX_ENTRY_BYTES as u64 + 4).read_to_end(&mut bytes));
        read.map_err(|error| Problem::io("read", &self.path, &error))?;
        match JournalEntry::decode(&bytes) {
            DecodedEntry::Whole(entry, ..) => match entry.event {
                JournalEvent::Signed { hashes, .. } | JournalEvent::CaughtUp { hashes, .. } => Ok(hashes),
                _ => Err(damaged(&self.path, "an entry is not the one that was written").into()),
            },
            _ => Err(damaged(&self.path, "an entry cannot be read any more").into()),
        }
    }
}

fn read_entries(path: &Path, file: &mut File) -> Result<(SignerState, u64)> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    let mut state = SignerState::default();
    let (mut buffer, mut start, mut offset) = (Vec::new(), 0, 0_u64);
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    loop {
        match JournalEntry::decode(&buffer[start..]) {
            DecodedEntry::Whole(entry, hash, length) => {
                state.apply(&entry, hash, offset).map_err(|reason| damaged(path, &reason))?;
                start += length;
                offset += length as u64;
            }
            DecodedEntry::Torn => {
                buffer.drain(..start);
                start = 0;
                if file.take(1 << 20).read_to_end(&mut buffer).map_err(fail)? == 0 {
                    check_tail(path, &buffer, state.next_number())?;
                    return Ok((state, offset));
                }
            }
            DecodedEntry::Wrong => {
                file.take(MAX_UNSYNCED * MAX_ENTRY_BYTES as u64).read_to_end(&mut buffer).map_err(fail)?;
                check_tail(path, &buffer[start..], state.next_number())?;
                return Ok((state, offset));
            }
        }
    }
}

/// What follows the last good entry may be cut if it is no more than what can be unsynced at a crash.
fn check_tail(path: &Path, tail: &[u8], next: u64) -> Result<()> {
    let is_short = tail.len() < (MAX_UNSYNCED as usize) * MAX_ENTRY_BYTES;
    let is_later = |at: usize| match JournalEntry::decode(&tail[at..]) {
        DecodedEntry::Whole(entry, ..) => entry.number >= next + MAX_UNSYNCED,
        _ => false,
    };
    if is_short && !(0..tail.len()).any(is_later) {
        return Ok(());
    }
    Err(damaged(path, &format!("entry {next} is damaged, and entries that were signed follow it")))
}

fn damaged(path: &Path, reason: &str) -> Problem {
    let message = format!("The journal `{}` cannot be used: {reason}.", path.display());
    Problem::new(Code::SignerDamaged, message).fix("Put it back with `sudo capsid trail signer restore DIR`.")
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
