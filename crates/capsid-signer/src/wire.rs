//! Requests and responses over the socket: two lengths, a JSON head, and raw bytes. All are bounded.

use crate::rules::entry::EpochReason;
use crate::rules::refusal::SignerRefusal;
use crate::rules::signer_chain::SignerChain;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind, Read, Result, Write};

/// The longest head.
const MAX_HEAD: usize = 2 << 20;
/// The longest response: the heads of a million chains.
pub const MAX_RESPONSE_BYTES: usize = 1 << 30;
/// How many chains are adopted by one request.
pub const MAX_ADOPTED: usize = 500;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum SignerRequest {
    /// Sign records of one chain. The texts follow, in order; these are their lengths.
    Sign { lengths: Vec<u32> },
    /// Learn records again that carry the service's own signature.
    CatchUp { lengths: Vec<u32>, signatures: Vec<String> },
    /// State all heads.
    Heads {
        nonce: String,
        /// Root may ask for those of another user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<u32>,
    },
    /// State the head of one chain.
    Head {
        chain: SignerChain,
        /// Root may ask for that of another user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<u32>,
    },
    /// Say how things are.
    Status,
    /// Take chains over.
    Adopt { chains: Vec<AdoptedHead> },
    /// Root: allow a new history of a chain.
    RestartChain { user: u32, chain: SignerChain },
    /// Root: a new key.
    Rotate { user: u32 },
    /// Root: the keys over time.
    Epochs { user: u32 },
}

/// A chain to take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptedHead {
    pub chain: SignerChain,
    pub count: u64,
    pub head: String,
}

/// A key of the service, and since which entry of the journal it signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedEpoch {
    pub key: String,
    pub from_entry: u64,
    pub reason: EpochReason,
    /// The signature of the key before it over the rotation statement; empty where there is none.
    pub signature: String,
}

/// How things are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerStatus {
    pub user: u32,
    pub key: String,
    pub chains: u64,
    pub records: u64,
    pub entries: u64,
    pub is_adopt_open: bool,
}

/// What the service answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum SignerReply {
    /// A signature for each text, and the signed statement about the chain's head.
    Signed {
        key: String,
        signatures: Vec<String>,
        statement: String,
        statement_signature: String,
    },
    /// The statement follows.
    Heads {
        signature: String,
    },
    /// The statement about one chain; none of a chain that it never signed.
    Head {
        statement: Option<String>,
        signature: String,
    },
    Status(SignerStatus),
    Epochs {
        epochs: Vec<TrustedEpoch>,
    },
    Done,
    Refused(SignerRefusal),
}

/// Writes a head and what follows it.
pub fn write_frame(stream: &mut impl Write, head: &impl Serialize, parts: &[&[u8]]) -> Result<()> {
    let head = serde_json::to_vec(head)?;
    let payload: usize = parts.iter().map(|part| part.len()).sum();
    let length = |length: usize| u32::try_from(length).map_err(|_| too_long()).map(u32::to_le_bytes);
    let mut frame = Vec::with_capacity(8 + head.len() + payload);
    frame.extend(length(head.len())?);
    frame.extend(length(payload)?);
    frame.extend(head);
    parts.iter().for_each(|part| frame.extend(*part));
    stream.write_all(&frame)
}

/// Reads a head and what follows it; nothing when the other end closed the connection between two.
pub fn read_frame<T: DeserializeOwned>(
    stream: &mut impl Read,
    max_payload: usize,
) -> Result<Option<(T, Vec<u8>)>> {
    let mut lengths = [0; 8];
    match stream.read(&mut lengths)? {
        0 => return Ok(None),
        read => stream.read_exact(&mut lengths[read..])?,
    }
    let [a, b, c, d, rest @ ..] = lengths;
    let head = u32::from_le_bytes([a, b, c, d]) as usize;
    let payload = u32::from_le_bytes(rest) as usize;
    if head > MAX_HEAD || payload > max_payload {
        return Err(too_long());
    }
    let head = serde_json::from_slice(&read_bytes(stream, head)?)?;
    Ok(Some((head, read_bytes(stream, payload)?)))
}

/// Memory grows with what was sent, not with what was announced.
fn read_bytes(stream: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length.min(1 << 16));
    stream.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// The texts of a payload. Their lengths must add up to it.
pub fn split_texts<'a>(
    payload: &'a [u8],
    lengths: &[u32],
) -> std::result::Result<Vec<&'a str>, SignerRefusal> {
    let mut rest = payload;
    let mut texts = Vec::with_capacity(lengths.len().min(crate::rules::MAX_TEXTS));
    for length in lengths {
        let (text, after) = rest
            .split_at_checked(*length as usize)
            .ok_or_else(|| SignerRefusal::malformed("the lengths do not add up"))?;
        texts.push(std::str::from_utf8(text).map_err(SignerRefusal::malformed)?);
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(texts),
        false => Err(SignerRefusal::malformed("the lengths do not add up")),
    }
}

fn too_long() -> Error {
    Error::new(ErrorKind::InvalidData, "the message is longer than the protocol allows")
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
