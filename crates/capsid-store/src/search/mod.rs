//! Finding assets by their signals and words, best first.
//!
//! The [index](crate::index) keeps the terms of every asset in the order of rank, so that a search stops at the first rows
//! it meets. A worker brings assets into it a moment after they were published or changed ([`sync`]). An asset that it has
//! not reached yet is looked at by itself, so that a search sees what was published right before. What is found is shown as
//! the database has it: what the index says of an asset decides nothing but its place.

pub mod by_signal;
pub mod embeddings;
mod entry;
pub(crate) mod expression;
pub mod facets;
mod old_traits;
mod placement;
pub(crate) mod ranked;
pub mod semantic;
mod sync;

pub(crate) use entry::{MeaningSource, meaning_sources, meanings};
pub use old_traits::fill_old_traits;
pub use placement::index_again;
pub(crate) use placement::{rescored, status_changed};
pub use sync::{IndexHeads, SearchHeads};

use crate::assets::list;
use crate::assets::list::ListedAsset;
use crate::db::tx::{Dialect, Tx};
use crate::graph::sync::{Log, Positions, SEARCH_POSITIONS};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::terms;
use capsid_rules::meaning::terms::SignalQuery;
use expression::TermExpression;
use std::collections::HashSet;

/// The most signals of a question that are looked up.
pub const MAX_SIGNALS: usize = 16;
/// How many assets that are not indexed yet are looked at.
pub(crate) const MAX_FRESH: i64 = 300;
/// How many numbers that were missing are looked up, in case that their assets came late.
const MAX_LATE: usize = 300;
/// How many assets are looked at, over all signals, when none has all of them.
const SOME: usize = 160;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct SignalSearch {
    /// Signals; the more of them an asset answers, the better.
    pub signals: Vec<String>,
    /// Words, all of which an asset must have.
    pub words: String,
    pub asset_type: Option<AssetType>,
    pub status: AssetStatus,
    pub node_id: Option<String>,
    pub limit: usize,
}

impl SignalSearch {
    /// Asks for promoted assets that answer signals.
    pub fn signals(signals: Vec<String>, limit: usize) -> Self {
        Self {
            signals,
            words: String::new(),
            asset_type: None,
            status: AssetStatus::Promoted,
            node_id: None,
            limit,
        }
    }

    /// What every asset must have, whichever signals it answers.
    fn required(&self) -> Option<Vec<TermExpression>> {
        let words = terms::query_words(&self.words);
        // Words that say nothing find nothing, rather than everything.
        if words.is_empty() && !self.words.trim().is_empty() {
            return None;
        }
        let node = self.node_id.as_deref().map(|node| TermExpression::Term(expression::node_term(node)));
        Some(words.iter().map(|word| TermExpression::term(word)).chain(node).collect())
    }
}

/// An asset that was found.
#[derive(Debug, Clone)]
pub struct SearchHit {
    pub listed: ListedAsset,
    /// The asked signals that it answers.
    pub matched_signals: Vec<String>,
    /// Two for each that one of its own signals answers, one for each that only its words do.
    pub half_points: usize,
}

/// Finds assets: those that answer the most signals first, by a signal rather than by words, then by score, then the newest.
pub fn find(tx: &mut dyn Tx, query: &SignalSearch) -> Result<Vec<SearchHit>> {
    let Some(required) = query.required() else { return Ok(Vec::new()) };
    let queries = with_signals(&query.signals);
    let says_nothing = queries.is_empty() && (required.is_empty() || !query.signals.is_empty());
    if says_nothing || query.limit == 0 {
        return Ok(Vec::new());
    }
    // The fresh ones come first: what is indexed meanwhile is then seen twice rather than never.
    let mut fresh = fresh(tx, query.status)?;
    fresh.retain(|(listed, _)| query.asset_type.is_none_or(|kind| listed.asset.asset_type == kind));
    let search = SearchRun { query, fresh };
    let assets = match queries.is_empty() {
        true => search.top(tx, &TermExpression::All(required), query.limit)?,
        false => search.find_matching(tx, &queries, &required)?,
    };
    let mut words = entry::words(tx, &assets)?;
    let signals: Vec<EncodedSignal<'_>> = queries.iter().map(EncodedSignal::new).collect();
    let with_words = |listed: ListedAsset| {
        let words = words.remove(&listed.asset.seq).unwrap_or_default();
        hit(listed, &signals, &words)
    };
    let mut hits: Vec<SearchHit> = assets.into_iter().map(with_words).collect();
    hits.sort_by_key(|hit| {
        let asset = &hit.listed.asset;
        std::cmp::Reverse((hit.half_points, ranked::score_step(asset.gdi), asset.seq))
    });
    hits.truncate(query.limit);
    Ok(hits)
}

/// The asked signals, each once, with what they are looked up by.
fn with_signals(signals: &[String]) -> Vec<(String, SignalQuery)> {
    let mut queries: Vec<(String, SignalQuery)> = Vec::new();
    for signal in signals {
        let wanted = terms::signal_query_terms(signal);
        let says_something = !wanted.exact.is_empty() || !wanted.words.is_empty();
        if says_something && queries.len() < MAX_SIGNALS && !queries.iter().any(|(_, known)| *known == wanted)
        {
            queries.push((signal.clone(), wanted));
        }
    }
    queries
}

/// An asked signal in the form that the index takes, with a space around each term.
struct EncodedSignal<'q> {
    signal: &'q str,
    exact: Vec<String>,
    words: Vec<String>,
}

impl<'q> EncodedSignal<'q> {
    fn new((signal, wanted): &'q (String, SignalQuery)) -> Self {
        let encoded = |terms: &[String]| -> Vec<String> {
            terms.iter().map(|term| format!(" {} ", terms::encode_term(term))).collect()
        };
        Self { signal, exact: encoded(&wanted.exact), words: encoded(&wanted.words) }
    }

    /// How well words answer it: two for a signal, one for words alone.
    fn half_points(&self, words: &str) -> usize {
        let has = |term: &String| words.contains(term.as_str());
        if self.exact.iter().any(has) {
            return 2;
        }
        usize::from(!self.words.is_empty() && self.words.iter().all(has))
    }
}

fn hit(listed: ListedAsset, signals: &[EncodedSignal<'_>], words: &str) -> SearchHit {
    let (mut matched_signals, mut half_points) = (Vec::new(), 0);
    for wanted in signals {
        let points = wanted.half_points(words);
        half_points += points;
        if points > 0 {
            matched_signals.push(wanted.signal.to_owned());
        }
    }
    SearchHit { listed, matched_signals, half_points }
}

/// What a search for signals would tell of an asset, however that was found.
pub fn to_hit(listed: ListedAsset, signals: &[String]) -> SearchHit {
    let queries = with_signals(signals);
    let signals: Vec<EncodedSignal<'_>> = queries.iter().map(EncodedSignal::new).collect();
    let words = entry::words_of(&listed.asset.card);
    hit(listed, &signals, &words)
}

/// Whether an asset has all of these words.
pub fn has_words(listed: &ListedAsset, words: &str) -> bool {
    let terms = entry::terms_of(&listed.asset.card);
    terms::query_words(words).iter().all(|word| terms.contains(word))
}

macro_rules! fresh_sql {
    ($list:literal) => {
        concat!(
            "SELECT f.seq FROM (
                SELECT n.seq, n.status FROM (
                    SELECT seq, status FROM assets WHERE seq > $1 ORDER BY seq DESC LIMIT $2) n
                UNION ALL SELECT l.seq, l.status FROM assets l WHERE l.seq IN (",
            $list,
            ") AND +l.seq <= $1) f
             WHERE f.status = $3 ORDER BY f.seq DESC"
        )
    };
}

/// The newest assets after a sequence, and those that came late before it. Reads at most 300 rows of each.
const FRESH_SQLITE: &str = fresh_sql!("SELECT value FROM json_each($4)");
const FRESH_POSTGRES: &str =
    fresh_sql!("SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($4 AS JSON))");

/// The assets in a state that are not indexed yet, the newest first.
pub(crate) fn fresh_seqs(tx: &mut dyn Tx, status: AssetStatus) -> Result<Vec<i64>> {
    let positions = Positions::load_from(tx.index()?, &SEARCH_POSITIONS)?;
    let reached = positions.seq(Log::Assets);
    let late: Vec<i64> = positions.gaps(Log::Assets).iter().rev().take(MAX_LATE).copied().collect();
    if late.is_empty() && tx.count("SELECT COALESCE(MAX(seq), 0) FROM assets", params![])? <= reached {
        return Ok(Vec::new());
    }
    let sql = match tx.dialect() {
        Dialect::Sqlite => FRESH_SQLITE,
        Dialect::Postgres => FRESH_POSTGRES,
    };
    let late = serde_json::json!(late).to_string();
    tx.query_all::<i64>(sql, params![reached, MAX_FRESH, status.as_str(), &late])
}

/// Assets that are not indexed yet, with their terms in the form that the index takes.
pub(crate) fn fresh(tx: &mut dyn Tx, status: AssetStatus) -> Result<Vec<(ListedAsset, Vec<String>)>> {
    let seqs = fresh_seqs(tx, status)?;
    let with_terms = |listed: ListedAsset| {
        let terms = entry::indexed_terms(&listed.asset.node_id, &listed.asset.card);
        (listed, terms)
    };
    Ok(load_hits(tx, &seqs, status)?.into_iter().map(with_terms).collect())
}

/// One search under way.
struct SearchRun<'q> {
    query: &'q SignalSearch,
    fresh: Vec<(ListedAsset, Vec<String>)>,
}

impl SearchRun<'_> {
    /// Assets that answer all signals, those first that do so by their own; where these are too few, also the best that
    /// answer each.
    fn find_matching(
        &self,
        tx: &mut dyn Tx,
        queries: &[(String, SignalQuery)],
        required: &[TermExpression],
    ) -> Result<Vec<ListedAsset>> {
        let of = |signals: &[(String, SignalQuery)]| {
            let signals = signals.iter().map(|(_, wanted)| TermExpression::signal(wanted));
            TermExpression::All(signals.chain(required.iter().cloned()).collect())
        };
        let limit = self.query.limit;
        let mut assets = Vec::new();
        let whole: Option<Vec<TermExpression>> =
            queries.iter().map(|(_, wanted)| TermExpression::whole_signal(wanted)).collect();
        if let Some(mut whole) = whole {
            whole.extend(required.iter().cloned());
            assets = self.top(tx, &TermExpression::All(whole), limit)?;
        }
        if assets.len() < limit {
            add(&mut assets, self.top(tx, &of(queries), limit)?);
        }
        if queries.len() == 1 || assets.len() >= limit {
            return Ok(assets);
        }
        let each = (SOME / queries.len()).max(limit);
        for one in queries.chunks(1) {
            add(&mut assets, self.top(tx, &of(one), each)?);
        }
        Ok(assets)
    }

    /// The best assets that an expression finds.
    fn top(&self, tx: &mut dyn Tx, wanted: &TermExpression, limit: usize) -> Result<Vec<ListedAsset>> {
        let fresh = self.fresh.iter().filter(|(_, terms)| wanted.finds(terms));
        let mut assets: Vec<ListedAsset> = fresh.map(|(listed, _)| listed.clone()).collect();
        let wanted = match self.query.asset_type {
            Some(kind) => {
                let kind = TermExpression::Term(expression::type_term(kind).to_owned());
                &TermExpression::All(vec![wanted.clone(), kind])
            }
            None => wanted,
        };
        assets.extend(ranked::top(tx, wanted, self.query.status, limit)?);
        assets.sort_by_key(|listed: &ListedAsset| {
            std::cmp::Reverse((ranked::score_step(listed.asset.gdi), listed.asset.seq))
        });
        assets.dedup_by_key(|listed| listed.asset.seq);
        assets.truncate(limit);
        Ok(assets)
    }
}

/// Adds what is not there yet.
fn add(assets: &mut Vec<ListedAsset>, more: Vec<ListedAsset>) {
    let known: HashSet<i64> = assets.iter().map(|listed| listed.asset.seq).collect();
    assets.extend(more.into_iter().filter(|listed| !known.contains(&listed.asset.seq)));
}

/// Loads assets and leaves out those that are in another state, not to be shown or not scanned yet.
fn load_hits(tx: &mut dyn Tx, seqs: &[i64], status: AssetStatus) -> Result<Vec<ListedAsset>> {
    let mut assets = list::by_seq(tx, seqs)?;
    assets.retain(|listed| listed.asset.status == status && listed.asset.trust_tier != "delisted");
    assets.retain(|listed| listed.asset.is_scanned());
    Ok(assets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;

    fn plan(tx: &mut dyn Tx, sql: &'static str, params: &[crate::db::tx::Param<'_>]) -> Vec<String> {
        let explained: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
        let lines = tx.query_all::<(i64, i64, i64, String)>(explained, params).unwrap();
        lines.into_iter().map(|(.., line)| line).collect()
    }

    /// However many assets there are, a search looks them up and never goes through all of them.
    #[test]
    fn no_search_goes_through_all_assets() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        let goes_through = |line: &String| {
            line.starts_with("SCAN")
                && !["json_each", "VIRTUAL TABLE", "SCAN c", "SCAN f", "SCAN n", "SCAN s"]
                    .iter()
                    .any(|known| line.contains(known))
        };
        store
            .read_now(move |tx| {
                let lines = plan(tx, FRESH_SQLITE, params![1_i64, 300_i64, "promoted", "[1]"]);
                assert!(!lines.iter().any(goes_through), "{lines:#?}");
                for (sql, count) in ranked::statements() {
                    let index = tx.index()?;
                    let all = params!["t_gene", 5_i64, 9_i64, 1_i64];
                    let lines = plan(index, sql, &all[..count]);
                    assert!(!lines.is_empty() && !lines.iter().any(goes_through), "{sql}\n{lines:#?}");
                }
                Ok(())
            })
            .unwrap();
    }
}
