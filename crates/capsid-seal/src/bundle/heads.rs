//! Who signs the statements about heads in an export.

use crate::SigningKey;
use crate::heads::{HeadStatement, SignedStatement};
use capsid_model::Result;
use std::fmt::Debug;

/// The head of a chain as it is exported.
#[derive(Debug, Clone, Copy)]
pub struct ExportedHead<'a> {
    /// The tool; `meta` for the meta-chain.
    pub tool: &'a str,
    /// The session; `meta` for the meta-chain.
    pub session: &'a str,
    /// How many records it has.
    pub count: u64,
    /// The hash of the last one.
    pub head: &'a str,
    /// Whether others sealed it.
    pub is_imported: bool,
}

/// Signs statements about heads.
pub trait HeadSigner: Debug {
    /// The statement about a chain; none where nothing can be stated of it.
    fn sign(&self, head: &ExportedHead<'_>) -> Result<Option<SignedStatement>>;
}

/// Signs with the key of a home.
#[derive(Debug, Clone)]
pub struct OwnHeads {
    /// The home's key.
    pub key: SigningKey,
    /// The present moment in UTC.
    pub time: String,
}

impl HeadSigner for OwnHeads {
    fn sign(&self, head: &ExportedHead<'_>) -> Result<Option<SignedStatement>> {
        let statement = HeadStatement {
            key: self.key.public(),
            tool: head.tool.to_owned(),
            session: head.session.to_owned(),
            count: head.count,
            head: head.head.to_owned(),
        };
        Ok(Some(statement.sign(&self.key, &self.time)))
    }
}
