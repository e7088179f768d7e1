//! Assets: publish, fetch, list, search, and everything about one of them.

pub mod audit_trail;
pub mod bundle;
pub mod detail;
pub mod dry_run;
pub mod evolution_events;
pub mod facets;
pub mod fetch;
pub mod lineage;
pub mod list;
pub mod list_own;
mod own_work;
pub mod publish;
pub mod purchase;
pub mod revoke;
pub mod search;
pub mod semantic_search;
mod trial;
pub mod usage;
pub mod verify;
pub mod view;
pub mod visibility;

pub(crate) use semantic_search::names as names_of_signals;

use crate::error::{ApiError, ApiResult};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;

/// A word of a query that may be missing or empty.
fn word<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> ApiResult<Option<T>> {
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| ApiError::field(name, expected, "another word")),
    }
}

/// A status in a query.
pub fn status(text: Option<&str>) -> ApiResult<Option<AssetStatus>> {
    let expected = "candidate, promoted, rejected, quarantined, revoked, stale or archived";
    word("status", text, |word| AssetStatus::parse(&word.to_ascii_lowercase()), expected)
}

/// A type in a query.
pub fn asset_type(text: Option<&str>) -> ApiResult<Option<AssetType>> {
    word("type", text, AssetType::parse, "Gene, Capsule or EvolutionEvent")
}

/// The asset that a path names. What is no id names nothing.
pub(crate) fn id_in_path(text: &str) -> ApiResult<AssetId> {
    AssetId::parse(text).ok_or_else(revoke::not_found)
}

/// An asset id, or which field holds none.
pub fn parse_asset_id(text: &str, path: &str) -> ApiResult<AssetId> {
    AssetId::parse(text).ok_or_else(|| {
        ApiError::field(path, "`sha256:` and 64 lower-case hexadecimal digits", "another text")
    })
}
