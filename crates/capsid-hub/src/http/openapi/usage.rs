//! How an asset was used.

use super::describe::told;

told! {
    /// How an asset was used, day by day, the oldest first.
    AssetUsage {
        asset_id: String,
        days: Vec<UsageDay>,
    }

    /// One day in UTC. Only nodes of other owners count.
    UsageDay {
        /// Such as `2026-11-01`.
        day: String,
        fetches: i64,
        /// Nodes that fetched it for the first time.
        reuses: i64,
        reports_ok: i64,
        reports_failed: i64,
    }
}
