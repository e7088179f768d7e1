//! What a list of assets could be narrowed down to.

use super::describe::told;

told! {
    /// What a list could be narrowed down to, the most frequent first.
    Facets {
        types: Vec<FacetCount>,
        statuses: Vec<FacetCount>,
        categories: Vec<FacetCount>,
        labels: Vec<FacetCount>,
        /// The 50 most frequent.
        signals: Vec<FacetCount>,
        /// There are more assets than were looked at: each count is at least so many.
        is_lower_bound: bool,
    }

    /// A value and how many assets have it.
    FacetCount {
        value: String,
        count: i64,
    }
}
