//! Embeddings: what an endpoint of the operator's choice makes of an asset's text, a list of numbers.

use crate::id::AssetId;

/// Assets whose embedding lies near that of a question, the nearest first, each with its similarity from -1 to 1.
pub type Near = Vec<(AssetId, f64)>;
