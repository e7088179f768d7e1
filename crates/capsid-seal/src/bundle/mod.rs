//! The export bundle: `index.json`, a file for each chain, and the meta-chain, ready for a static page to verify.

mod names;
mod write;

pub use crate::sources::{ChainClaim, ChainFacts, is_plain};
pub use write::{BundleExport, BundlePlan, HeadSigner, UnreadablePolicy, WrittenBundle, write};
