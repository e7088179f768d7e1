//! `GET /a2a/assets…`: lists, searches, and everything about one asset.

mod detail;
pub mod evolution_events;
mod facets;
pub mod fetch;
mod lineage;
mod list;
mod meaning;
mod mine;
pub mod publication;
pub mod publish;
pub mod purchase;
pub mod revoke;
pub mod row;
mod search;
mod usage;

pub(crate) use detail::id_in_path;
pub use detail::{__path_audit_trail, __path_detail, __path_verify, audit_trail, detail, verify};
pub use facets::{__path_facets, facets};
pub use lineage::{__path_lineage, lineage};
pub use list::{__path_list, __path_ranked, list, ranked};
pub use meaning::{__path_semantic_search, semantic_search};
pub(crate) use meaning::{names as names_of_signals, told as row_found};
pub use mine::{__path_published_by_me, __path_purchased, published_by_me, purchased};
pub use search::{__path_search, search};
pub use usage::{__path_usage, usage};

use crate::error::{ApiError, Result};
use capsid_rules::lifecycle::{AssetType, Status};

/// A word of a query that may be missing or empty.
fn word<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Option<T>> {
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| ApiError::field(name, expected, "another word")),
    }
}

/// A status in a query.
pub fn status(text: Option<&str>) -> Result<Option<Status>> {
    let expected = "candidate, promoted, rejected, quarantined, revoked, stale or archived";
    word("status", text, |word| Status::parse(&word.to_ascii_lowercase()), expected)
}

/// A type in a query.
pub fn asset_type(text: Option<&str>) -> Result<Option<AssetType>> {
    word("type", text, AssetType::parse, "Gene, Capsule or EvolutionEvent")
}

/// A page of a list as JSON: the rows, how many there are, and where to go on.
pub fn page(name: &str, rows: &[String], total: Option<(i64, bool)>, next: Option<String>) -> String {
    let mut text = format!("{{\"{name}\":{},\"count\":{}", crate::ops::assets::row::array(rows), rows.len());
    if let Some((total, at_least)) = total {
        text.push_str(&format!(",\"total\":{total}"));
        if at_least {
            text.push_str(",\"total_is_lower_bound\":true");
        }
    }
    text.push_str(&format!(",\"has_more\":{},\"next_cursor\":", next.is_some()));
    text.push_str(&next.map_or_else(|| "null".to_owned(), |next| crate::ops::assets::row::quoted(&next)));
    text.push('}');
    text
}
