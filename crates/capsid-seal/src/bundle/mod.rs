//! The export bundle: `index.json`, a file for each chain, and the meta-chain, ready for a static page to verify.

mod heads;
mod names;
mod write;

pub use crate::sources::{ChainClaim, ChainFacts, is_plain};
pub use heads::{ExportedHead, HeadSigner, OwnHeads};
pub use write::{BundleExport, BundlePlan, UnreadablePolicy, WrittenBundle, write};
