//! Rules about assets: admission, bundles, traits, safety, similarity and lineage.

pub mod admission;
pub mod bundle;
pub mod fill_ids;
pub mod lineage;
pub mod reproduction;
pub mod safety;
pub mod similarity;
pub mod sizes;
pub mod traits;
pub mod trending;
