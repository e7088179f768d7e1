//! Verification that trusts stored bytes only.
//!
//! Everything is read from the text that was hashed: the copies that a database keeps in columns only have to agree
//! with it. No section needs any particular shape, and a record may have fields that this crate does not know.
//!
//! Each record is checked in this order, and the first failure ends it. The position is the one that the record
//! should have, which is also the number of good records before it.
//!
//! | check | class |
//! |---|---|
//! | the hash is 64 hex digits | malformed |
//! | the text has that hash, which is lowercase | hash |
//! | the text is a JSON object with one `id`, one `sequence` and one `previous_hash` | malformed |
//! | the columns, where there are any, repeat these three | column |
//! | the sequence is the expected one | missing when it is higher, link when it is lower |
//! | `previous_hash` is the hash of the record before, and null at the first | link |
//! | the signature is 128 lowercase hex digits | signature |
//! | a key goes by the name of the signer | unknown signer |
//! | the signature holds for one of these keys | signature |
//! | a post-quantum signature by the home's own key holds (with the feature `pq`) | signature |
//!
//! So this is how tampering with record `i` shows:
//!
//! | tampering | class | position |
//! |---|---|---|
//! | text edited, or stored hash edited | hash (malformed if the hash is no hex any more) | `i` |
//! | text edited, hash recomputed | signature if they are checked, else link | `i`, else `i + 1` |
//! | removed | missing | `i` |
//! | swapped with a later one | link: the record is there, but not at its place | `i` |
//! | repeated behind itself | link | `i + 1` |
//! | moved or removed, and the columns renumbered | column | the first renumbered |
//! | one column edited | column | `i`, or where reading by column meets it |
//! | first record links to something | link | 0 |
//! | signed again with another key | unknown signer; signature if it claims a key that is known | `i` |
//! | signature edited, emptied or no hex | signature | `i` |
//! | end cut off | nothing: only the meta-chain or a checkpoint shows it | |
//!
//! `signed_at` is covered by no signature, and `signed_by` only picks the key.

mod pool;
mod ranges;

pub use capsid_verdict::verify::*;
pub use capsid_verdict::{RecordHead, skim};
pub use ranges::SealObserver;

use crate::chain::ChainReader;
use crate::keys::KeySet;
use crate::stored::StoredRecord;
use capsid_model::Result;
use std::path::Path;

/// Verifies a chain from its records in order. Memory does not grow with their number.
///
/// An item that is an error with the code `chain_broken` counts as a malformed record. Any other error means that the
/// chain cannot be read: it is returned, unless the records before it are broken already.
pub fn verify(
    records: impl IntoIterator<Item = Result<StoredRecord>>,
    options: &VerifyOptions,
    keys: &KeySet,
) -> Result<ChainVerdict> {
    pool::run(records.into_iter(), options, keys)
}

/// Verifies a chain of a database, beginning at the checkpoint of the options where there is one. Each core reads a part
/// of it; the verdict is the one of [`verify`].
pub fn verify_database(
    path: &Path,
    tenant: Option<&str>,
    options: &VerifyOptions,
    keys: &KeySet,
    observer: &mut dyn SealObserver,
) -> Result<ChainVerdict> {
    if let Some(verdict) = ranges::run(path, tenant, options, keys, observer)? {
        return Ok(verdict);
    }
    observer.restart();
    let reader = ChainReader::open(path)?;
    let first = options.since.as_ref().map_or(0, |checkpoint| checkpoint.sequence);
    let records = reader.records_from(tenant, first).inspect(|stored| {
        if let Ok(stored) = stored {
            observer.see(&stored.seal);
        }
    });
    verify(records, options, keys)
}
