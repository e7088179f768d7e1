//! Entries of the journal, and their bytes.

use super::signer_chain::SignerChain;
use super::{HashBytes, MAX_TEXTS};
use sha3::{Digest, Sha3_256};

/// Separates these hashes from all others.
const LABEL: &[u8] = b"capsid-journal/v1\0";
/// Length, kind, number, time, hash of the entry before, and its own hash.
const FRAME: usize = 4 + 1 + 8 + 8 + 32 + 32;
/// No entry is longer: the largest holds the hashes of one request.
pub const MAX_ENTRY_BYTES: usize = FRAME + 4 + 8 + 32 * MAX_TEXTS + 4096;

/// Why a key came into use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpochReason {
    /// The first one.
    Created,
    /// The one before it signed it.
    Rotated,
    /// The one before it was lost.
    Reset,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalEvent {
    /// A key signs from here on. `signature` is that of the key before it; zero where there is none.
    Epoch { reason: EpochReason, key: HashBytes, signature: [u8; 64] },
    /// A chain gets the next number.
    Opened(SignerChain),
    /// Records of a chain are signed from `first` on.
    Signed { chain: u32, first: u64, hashes: Vec<HashBytes> },
    /// Records that carry the service's signature are known again after a restore.
    CaughtUp { chain: u32, first: u64, hashes: Vec<HashBytes> },
    /// A chain is taken over with the records that the home's own key signed.
    Adopted { chain: u32, count: u64, head: HashBytes },
    /// Root allows a new history of a chain.
    Restarted { chain: u32 },
}

/// An event at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    pub number: u64,
    /// Milliseconds since 1970, by the service's clock.
    pub time: i64,
    pub previous: HashBytes,
    pub event: JournalEvent,
}

/// What the first bytes of a text hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodedEntry {
    /// An entry, its hash, and how many bytes it took.
    Whole(JournalEntry, HashBytes, usize),
    /// Too few bytes.
    Torn,
    /// Enough bytes, and they are not an entry.
    Wrong,
}

impl JournalEntry {
    /// The bytes of the entry, and its hash.
    pub fn encode(&self) -> (Vec<u8>, HashBytes) {
        let mut body = vec![self.event.kind()];
        body.extend(self.number.to_le_bytes());
        body.extend(self.time.to_le_bytes());
        body.extend(self.previous);
        self.event.write(&mut body);
        let hash = hash_body(&body);
        let length = u32::try_from(body.len() + hash.len()).unwrap_or(u32::MAX);
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(body);
        bytes.extend(hash);
        (bytes, hash)
    }

    /// Reads the entry at the beginning of `bytes`.
    pub fn decode(bytes: &[u8]) -> DecodedEntry {
        let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return DecodedEntry::Torn };
        let length = u32::from_le_bytes(*length) as usize;
        if !(FRAME - 4..=MAX_ENTRY_BYTES).contains(&length) {
            return DecodedEntry::Wrong;
        }
        let Some(rest) = rest.get(..length) else { return DecodedEntry::Torn };
        let Some((body, hash)) = rest.split_last_chunk::<32>() else { return DecodedEntry::Wrong };
        if hash_body(body) != *hash {
            return DecodedEntry::Wrong;
        }
        match read_body(body) {
            Some(entry) => DecodedEntry::Whole(entry, *hash, length + 4),
            None => DecodedEntry::Wrong,
        }
    }
}

fn hash_body(body: &[u8]) -> HashBytes {
    let mut hash = Sha3_256::new();
    hash.update(LABEL);
    hash.update(body);
    hash.finalize().into()
}

fn read_body(body: &[u8]) -> Option<JournalEntry> {
    let mut bytes = ByteReader(body);
    let [kind] = bytes.array()?;
    let number = u64::from_le_bytes(bytes.array()?);
    let time = i64::from_le_bytes(bytes.array()?);
    let previous = bytes.array()?;
    let event = JournalEvent::read(kind, &mut bytes)?;
    bytes.0.is_empty().then_some(JournalEntry { number, time, previous, event })
}

struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::from(u16::from_le_bytes(self.array()?));
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn hashes(&mut self) -> Option<Vec<HashBytes>> {
        let (hashes, rest) = self.0.as_chunks::<32>();
        self.0 = rest;
        (rest.is_empty() && !hashes.is_empty()).then(|| hashes.to_vec())
    }
}

impl JournalEvent {
    fn kind(&self) -> u8 {
        match self {
            Self::Epoch { .. } => 1,
            Self::Opened(_) => 2,
            Self::Signed { .. } => 3,
            Self::CaughtUp { .. } => 4,
            Self::Adopted { .. } => 5,
            Self::Restarted { .. } => 6,
        }
    }

    fn write(&self, body: &mut Vec<u8>) {
        match self {
            Self::Epoch { reason, key, signature } => {
                body.push(*reason as u8);
                body.extend(key);
                body.extend(signature);
            }
            Self::Opened(chain) => {
                for name in [&chain.domain, &chain.session] {
                    body.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
                    body.extend(name.as_bytes());
                }
            }
            Self::Signed { chain, first, hashes } | Self::CaughtUp { chain, first, hashes } => {
                body.extend(chain.to_le_bytes());
                body.extend(first.to_le_bytes());
                hashes.iter().for_each(|hash| body.extend(hash));
            }
            Self::Adopted { chain, count, head } => {
                body.extend(chain.to_le_bytes());
                body.extend(count.to_le_bytes());
                body.extend(head);
            }
            Self::Restarted { chain } => body.extend(chain.to_le_bytes()),
        }
    }

    fn read(kind: u8, bytes: &mut ByteReader<'_>) -> Option<Self> {
        Some(match kind {
            1 => {
                let reason = match bytes.array()? {
                    [0] => EpochReason::Created,
                    [1] => EpochReason::Rotated,
                    [2] => EpochReason::Reset,
                    _ => return None,
                };
                Self::Epoch { reason, key: bytes.array()?, signature: bytes.array()? }
            }
            2 => Self::Opened(SignerChain::new(&bytes.text()?, &bytes.text()?)?),
            3 | 4 => {
                let chain = u32::from_le_bytes(bytes.array()?);
                let first = u64::from_le_bytes(bytes.array()?);
                let hashes = bytes.hashes()?;
                match kind {
                    3 => Self::Signed { chain, first, hashes },
                    _ => Self::CaughtUp { chain, first, hashes },
                }
            }
            5 => Self::Adopted {
                chain: u32::from_le_bytes(bytes.array()?),
                count: u64::from_le_bytes(bytes.array()?),
                head: bytes.array()?,
            },
            6 => Self::Restarted { chain: u32::from_le_bytes(bytes.array()?) },
            _ => return None,
        })
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
