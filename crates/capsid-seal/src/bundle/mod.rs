//! The export bundle: `index.json`, a file for each chain, and the meta-chain, ready for a static page to verify.

mod claim;
mod names;
mod read;
mod write;

pub use claim::{ChainClaim, ChainFacts};
pub use names::is_plain;
pub use write::{BundleExport, BundlePlan, UnreadablePolicy, WrittenBundle, write};

pub(crate) use read::{chain_file, keys_beside, sources};

/// The index, which lists the chains and the keys.
const INDEX: &str = "index.json";
/// The meta-chain.
const META: &str = "meta.json";
