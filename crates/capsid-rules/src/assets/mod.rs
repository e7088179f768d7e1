//! Rules about assets: bundles, traits, safety, similarity and lineage.

pub mod bundle;
pub mod lineage;
pub mod safety;
pub mod similarity;
pub mod traits;
pub mod trending;
