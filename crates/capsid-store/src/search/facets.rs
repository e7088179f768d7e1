//! What a list could be narrowed down to, and how much would be left.

use crate::assets::list;
use crate::assets::list::AssetFilter;
use crate::db::tx::Tx;
use crate::params;
use crate::search::by_signal;
use capsid_model::problem::Result;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use std::collections::{BTreeMap, BTreeSet};

/// How many assets of each state and type are looked at, the newest first.
const LOOKED_AT: i64 = 2000;
/// How many signals are told.
const MAX_SIGNALS: usize = 50;
/// Signals can be whole logs; longer ones are not told.
const MAX_SIGNAL_LEN: usize = 100;

/// Words and how many assets have each, the most frequent first.
pub type FacetCounts = Vec<(String, i64)>;

/// What a list could be narrowed down to. Each counts the assets that all other parts of the filter let through.
#[derive(Debug, Clone, Default)]
pub struct Facets {
    pub types: FacetCounts,
    pub statuses: FacetCounts,
    pub categories: FacetCounts,
    /// By what the validation proves.
    pub labels: FacetCounts,
    pub signals: FacetCounts,
    /// Whether there are more assets than were looked at, so that there are at least so many.
    pub is_lower_bound: bool,
}

/// `asset_type, category, proof, card`.
type FacetColumns = (AssetType, Option<String>, ProofLevel, String);

/// What is known of an asset that was looked at.
struct FacetRow {
    asset_type: AssetType,
    category: Option<String>,
    proof: ProofLevel,
    signals: Vec<String>,
}

/// A part of a filter that leaves itself out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FacetExclusion {
    Type,
    Category,
    Label,
    Nothing,
}

impl FacetRow {
    fn new((asset_type, category, proof, card): FacetColumns) -> Self {
        Self { asset_type, category, proof, signals: by_signal::signals_in_card(&card) }
    }

    fn fits(&self, filter: &AssetFilter, except: FacetExclusion) -> bool {
        (except == FacetExclusion::Type || filter.types().contains(&self.asset_type))
            && (except == FacetExclusion::Category
                || filter.category.is_none()
                || filter.category == self.category)
            && (except == FacetExclusion::Label || filter.label.is_none_or(|label| label == self.proof))
    }
}

/// What a list could be narrowed down to, of assets that name a signal where one is given.
pub fn facets(tx: &mut dyn Tx, filter: &AssetFilter, signal: Option<&str>) -> Result<Facets> {
    let open = AssetFilter { types: Vec::new(), category: None, label: None, ..filter.clone() };
    let (pool, more) = pool(tx, &open, signal)?;
    let of = |except: FacetExclusion| pool.iter().filter(move |seen| seen.fits(filter, except));
    let mut facets = Facets {
        types: counted(of(FacetExclusion::Type).map(|seen| seen.asset_type.as_str())),
        categories: counted(of(FacetExclusion::Category).filter_map(|seen| seen.category.as_deref())),
        labels: counted(of(FacetExclusion::Label).map(|seen| seen.proof.as_str())),
        signals: counted(of(FacetExclusion::Nothing).flat_map(short_signals)),
        is_lower_bound: more,
        ..Facets::default()
    };
    facets.signals.truncate(MAX_SIGNALS);
    for status in AssetStatus::ALL {
        let filter = AssetFilter { statuses: vec![status], ..filter.clone() };
        let (count, more) = match signal {
            Some(signal) => {
                let (assets, more) = by_signal::find_by_signal(tx, &filter, signal)?;
                (assets.len() as i64, more)
            }
            None => list::total(tx, &filter)?,
        };
        facets.is_lower_bound |= more;
        if count > 0 {
            facets.statuses.push((status.as_str().to_owned(), count));
        }
    }
    facets.statuses.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(facets)
}

/// Each signal of an asset once.
fn short_signals(seen: &FacetRow) -> BTreeSet<&str> {
    let short = |signal: &&str| !signal.is_empty() && signal.chars().count() <= MAX_SIGNAL_LEN;
    seen.signals.iter().map(|signal| signal.trim()).filter(short).collect()
}

fn counted<'w>(words: impl Iterator<Item = &'w str>) -> FacetCounts {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: FacetCounts = counts.into_iter().map(|(word, count)| (word.to_owned(), count)).collect();
    // Words with the same count stay in their own order.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The assets that are looked at, and whether there are more.
fn pool(tx: &mut dyn Tx, filter: &AssetFilter, signal: Option<&str>) -> Result<(Vec<FacetRow>, bool)> {
    if let Some(signal) = signal {
        let (assets, more) = by_signal::find_by_signal(tx, filter, signal)?;
        let seen = assets.into_iter().map(|listed| FacetRow {
            asset_type: listed.asset.asset_type,
            signals: by_signal::signals_in_card(&listed.asset.card),
            category: listed.asset.traits.category,
            proof: listed.asset.traits.proof,
        });
        return Ok((seen.collect(), more));
    }
    let (mut pool, mut more) = (Vec::new(), false);
    for status in &filter.statuses {
        for kind in filter.types() {
            let (seen, all) = stretch(tx, filter, *status, *kind)?;
            more |= all >= LOOKED_AT;
            pool.extend(seen);
        }
    }
    Ok((pool, more))
}

/// The newest assets of one state and type, and how many rows that took.
fn stretch(
    tx: &mut dyn Tx,
    filter: &AssetFilter,
    status: AssetStatus,
    kind: AssetType,
) -> Result<(Vec<FacetRow>, i64)> {
    let (status, kind) = (status.as_str(), kind.as_str());
    let rows: Vec<(FacetColumns, bool)> = match (&filter.node_id, &filter.chain_id) {
        (Some(node), chain) => tx.query_all("SELECT asset_type, category, proof, card, CASE WHEN status = $2 AND asset_type = $3
                AND trust_tier <> 'delisted' AND scan_version > 0 AND ($4 IS NULL OR chain_id = $4) THEN 1 ELSE 0 END FROM (
                SELECT * FROM assets WHERE node_id = $1 ORDER BY seq DESC LIMIT $5) a", params![node, status, kind, chain, LOOKED_AT])?,
        (None, Some(chain)) => tx.query_all("SELECT asset_type, category, proof, card, CASE WHEN status = $2 AND asset_type = $3
                AND trust_tier <> 'delisted' AND scan_version > 0 THEN 1 ELSE 0 END FROM (
                SELECT * FROM assets WHERE chain_id = $1 LIMIT $4) a", params![chain, status, kind, LOOKED_AT])?,
        (None, None) => tx.query_all("SELECT asset_type, category, proof, card, CASE WHEN trust_tier <> 'delisted' AND scan_version > 0 THEN 1 ELSE 0 END FROM (
                SELECT * FROM assets WHERE status = $1 AND asset_type = $2 ORDER BY seq DESC LIMIT $3) a", params![status, kind, LOOKED_AT])?,
    };
    let all = rows.len() as i64;
    Ok((rows.into_iter().filter(|(_, fits)| *fits).map(|(seen, _)| FacetRow::new(seen)).collect(), all))
}
