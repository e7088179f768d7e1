//! The export bundle: `index.json`, a file for each chain, and the meta-chain, ready for a static page to verify.

mod names;
mod read;
mod write;

pub use write::{Export, Written, write};

pub(crate) use read::{chain_file, sources};

/// The index, which lists the chains and the keys.
const INDEX: &str = "index.json";
/// The meta-chain.
const META: &str = "meta.json";

/// What a bundle says about a chain, besides the records themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// How many records it has.
    pub length: Option<u64>,
    /// The hash of the last one.
    pub head_hash: Option<String>,
}

impl Claim {
    /// In what the records contradict it.
    pub fn contradiction(&self, length: u64, head_hash: Option<&str>) -> Option<String> {
        if let Some(claimed) = self.length.filter(|claimed| *claimed != length) {
            return Some(format!("{claimed} records were announced and {length} are there"));
        }
        let claimed =
            self.head_hash.as_deref().filter(|claimed| *claimed != head_hash.unwrap_or_default())?;
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let found = head_hash.map_or("no record".to_owned(), short);
        Some(format!("the head was announced as {} and is {found}", short(claimed)))
    }
}
