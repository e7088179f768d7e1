//! The head statements of a bundle, checked.

use crate::heads::{HeadStatement, SignedStatement, read_heads};
use crate::keys::{KeySet, TrustedKey};
use capsid_model::Result;
use std::path::Path;

/// What came of one statement of a bundle.
#[allow(clippy::large_enum_variant, reason = "one at a time, never stored")]
pub(super) enum CheckedStatement {
    /// Its signature holds for a key that is known here.
    Good(HeadStatement, TrustedKey),
    /// It cannot be used; the chain that it names, if it can be read.
    Bad(Option<String>),
}

/// The statements of a bundle, checked.
pub(super) fn read_statements(folder: &Path, keys: &KeySet) -> Result<Vec<CheckedStatement>> {
    Ok(read_heads(folder)?.iter().map(|signed| check(signed, keys)).collect())
}

fn check(signed: &SignedStatement, keys: &KeySet) -> CheckedStatement {
    let Some(statement) = signed.statement() else { return CheckedStatement::Bad(None) };
    let key = keys.candidates(&statement.key.hex()).into_iter().next();
    match key.filter(|key| signed.is_signed_by(&key.key)) {
        Some(key) => CheckedStatement::Good(statement, key),
        None => CheckedStatement::Bad(Some(statement.chain())),
    }
}
