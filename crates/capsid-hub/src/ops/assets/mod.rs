//! `GET /a2a/assets…`: lists, searches, and everything about one asset.

pub mod bundle;
mod detail;
pub mod evolution_events;
mod facets;
pub mod fetch;
mod lineage;
mod list;
mod list_own;
pub mod publish;
pub mod purchase;
pub mod revoke;
mod search;
mod semantic_search;
mod usage;
pub mod view;

pub(crate) use detail::id_in_path;
pub use detail::{__path_audit_trail, __path_detail, __path_verify, audit_trail, detail, verify};
pub use facets::{__path_facets, facets};
pub use lineage::{__path_lineage, lineage};
pub use list::{__path_list, __path_ranked, list, ranked};
pub use list_own::{__path_published_by_me, __path_purchased, published_by_me, purchased};
pub use search::{__path_search, search};
pub use semantic_search::{__path_semantic_search, semantic_search};
pub(crate) use semantic_search::{hit_json as row_found, names as names_of_signals};
pub use usage::{__path_usage, usage};

use crate::error::{ApiError, ApiResult};
use capsid_rules::lifecycle::{AssetStatus, AssetType};

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

/// A page of a list as JSON: the rows, how many there are, and where to go on.
pub fn page(name: &str, rows: &[String], total: Option<(i64, bool)>, next: Option<String>) -> String {
    let mut text = format!("{{\"{name}\":{},\"count\":{}", crate::ops::assets::view::array(rows), rows.len());
    if let Some((total, at_least)) = total {
        text.push_str(&format!(",\"total\":{total}"));
        if at_least {
            text.push_str(",\"total_is_lower_bound\":true");
        }
    }
    text.push_str(&format!(",\"has_more\":{},\"next_cursor\":", next.is_some()));
    text.push_str(&next.map_or_else(|| "null".to_owned(), |next| crate::ops::assets::view::quoted(&next)));
    text.push('}');
    text
}
