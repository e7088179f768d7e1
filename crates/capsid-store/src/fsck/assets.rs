//! Assets: each id is the hash of its body, and what was derived from the body still follows from it.

use super::{FsckProgress, FsckReport, count, scores};
use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::row::{Attempt, row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::{Object, Value, asset};
use capsid_rules::assets::traits::{AssetTraits, card, environment, id_holds, strings, text, traits};
use capsid_rules::evaluation::proof::{ProofLevel, proof};
use capsid_rules::lifecycle::AssetType;

const PAGE: i64 = 200;

row! {
    /// What is stored beside an asset and decides what its derived values have to be.
    pub(super) struct AssetSource {
        pub body: String = "a.body",
        /// What the validation of the gene in its first bundle proves.
        gene_proof: Option<String> = "(SELECT g.proof FROM assets g WHERE g.asset_id = b.gene_id)",
        /// Whether the validation passed without the change, by a report that counts or by the hub's runner.
        is_shown_vacuous: bool = "CASE WHEN EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = a.asset_id AND r.weight > 0 AND (r.control_bare = 1 OR r.control_base = 1)) OR EXISTS (SELECT 1 FROM runner_jobs j WHERE j.asset_id = a.asset_id AND j.outcome IN ('vacuous_empty', 'vacuous_base')) THEN 1 ELSE 0 END",
        bundle_has_event: bool = "CASE WHEN b.event_id IS NULL THEN 0 ELSE 1 END",
        /// Whether others reported or fetched it.
        pub has_evidence: bool = "CASE WHEN EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = a.asset_id) OR EXISTS (SELECT 1 FROM fetches f WHERE f.asset_id = a.asset_id) THEN 1 ELSE 0 END",
        environment: Option<String> = "a.environment",
        /// Whether it is an asset of old whose environment and category have still to be filled in.
        is_unfilled: bool = "CASE WHEN EXISTS (SELECT 1 FROM unfilled_traits u WHERE u.seq = a.seq) THEN 1 ELSE 0 END",
        gene_body: Option<String> = "CASE WHEN a.asset_type = 'Capsule' THEN (SELECT g.body FROM assets g WHERE g.asset_id = b.gene_id) END",
    }
}

macro_rules! sources {
    ($rest:literal) => {
        select!(
            AssetSource,
            concat!("FROM assets a LEFT JOIN bundles b ON b.bundle_id = a.bundle_id ", $rest)
        )
    };
}

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport, progress: FsckProgress<'_>) -> Result<()> {
    let total = count(tx, "SELECT COUNT(*) FROM assets")?;
    let malformed = tx.count("SELECT COUNT(*) FROM assets WHERE length(asset_id) <> 32", params![])?;
    if malformed > 0 {
        report.lost("asset_id_malformed", "assets", format!("{malformed} ids are not 32 bytes long."));
    }
    let mut after = 0;
    loop {
        let page = assets::page(tx, after, PAGE)?;
        let sources = tx.query_all::<AssetSource>(
            sources!("WHERE a.seq > $1 AND length(a.asset_id) = 32 ORDER BY a.seq LIMIT $2"),
            params![after, PAGE],
        )?;
        let Some((last, ..)) = page.last() else { return Ok(()) };
        after = *last;
        for ((_, id, Attempt(asset)), source) in page.iter().zip(&sources) {
            match asset {
                Ok(asset) => check_one(tx, asset, source, report)?,
                Err(problem) => report.lost("row_unreadable", id.to_string(), &problem.message),
            }
        }
        report.assets += page.len() as u64;
        progress("assets", report.assets, total);
    }
}

fn check_one(tx: &mut dyn Tx, asset: &AssetRow, source: &AssetSource, report: &mut FsckReport) -> Result<()> {
    let subject = asset.asset_id.to_string();
    let Ok(Value::Object(object)) = serde_json::from_str(&source.body) else {
        report.lost("body_unreadable", subject, "The body is not a JSON object.");
        return Ok(());
    };
    if !has_id(&asset.asset_id, &source.body, &object) {
        report.lost("asset_id_mismatch", subject, "The id is not the hash of the body.");
        return Ok(());
    }
    if object.get("type").and_then(Value::as_str) != Some(asset.asset_type.as_str()) {
        report.lost("asset_type_mismatch", subject, "The body is of another type than the row.");
        return Ok(());
    }
    let mut due = derived(asset, source, &object);
    if source.is_unfilled && asset.traits.category.is_none() {
        due.traits.category = None;
    }
    if due.card != asset.card {
        report.asset_differs("card_wrong", asset.asset_id, "The card does not follow from the body.");
    }
    if due.environment != source.environment && !source.is_unfilled {
        let problem = "`environment` does not follow from the body.";
        report.asset_differs("meaning_wrong", asset.asset_id, problem);
    }
    // What an asset from before is worth is worked out when it is evaluated again.
    let differs = first_difference(&due.traits, &asset.traits)
        .filter(|name| !asset.is_unproven || !matches!(*name, "proof" | "blast_files" | "blast_lines"));
    if let Some(name) = differs {
        let problem = format!("`{name}` does not follow from the body.");
        report.asset_differs("trait_wrong", asset.asset_id, problem);
        return Ok(());
    }
    if let Some(problem) = scores::fault(tx, asset, source.has_evidence)? {
        report.asset_differs("score_wrong", asset.asset_id, problem);
    }
    Ok(())
}

fn has_id(id: &AssetId, body: &str, object: &Object) -> bool {
    let claimed = object.get(asset::ASSET_ID).and_then(Value::as_str).unwrap_or_default();
    AssetId::parse(claimed).as_ref() == Some(id) && id_holds(body, object, claimed)
}

/// What follows from an asset's body.
pub(super) struct DerivedAsset {
    pub card: String,
    pub traits: AssetTraits,
    pub environment: Option<String>,
}

/// What an asset's derived values have to be.
pub(super) fn derived(asset: &AssetRow, source: &AssetSource, object: &Object) -> DerivedAsset {
    let proven = match asset.asset_type {
        AssetType::Gene => proof(&strings(object, "validation")).0,
        AssetType::Capsule => {
            let declared = source.gene_proof.as_deref().and_then(ProofLevel::parse);
            let declared = declared.unwrap_or(asset.traits.proof);
            if source.is_shown_vacuous { declared.min(ProofLevel::Vacuous) } else { declared }
        }
        AssetType::EvolutionEvent => ProofLevel::Absent,
    };
    // An event that came later is linked to the bundle and leaves the assets as they were.
    let has_event = match asset.asset_type {
        AssetType::EvolutionEvent => true,
        _ => asset.traits.has_event && source.bundle_has_event,
    };
    // The chain may come from the message instead of the body.
    let chain = match asset.asset_type {
        AssetType::Gene => None,
        AssetType::Capsule => asset.traits.chain_id.clone().or_else(|| text(object, "chain_id")),
        AssetType::EvolutionEvent => asset.traits.chain_id.clone(),
    };
    let gene: Option<Object> = source.gene_body.as_deref().and_then(|body| serde_json::from_str(body).ok());
    DerivedAsset {
        card: card(object, asset.asset_type, &asset.asset_id.to_string()),
        traits: traits(object, asset.asset_type, gene.as_ref(), proven, has_event, chain),
        environment: environment(object),
    }
}

/// The source of one asset, unless its body cannot be relied on.
pub(super) fn sound_source(tx: &mut dyn Tx, asset: &AssetRow) -> Result<Option<(AssetSource, Object)>> {
    let source =
        tx.query_first::<AssetSource>(sources!("WHERE a.asset_id = $1"), params![&asset.asset_id])?;
    Ok(source.and_then(|source| match serde_json::from_str(&source.body) {
        Ok(Value::Object(object)) if has_id(&asset.asset_id, &source.body, &object) => Some((source, object)),
        _ => None,
    }))
}

fn first_difference(due: &AssetTraits, stored: &AssetTraits) -> Option<&'static str> {
    let equal = [
        ("local_id", due.local_id == stored.local_id),
        ("category", due.category == stored.category),
        ("chain_id", due.chain_id == stored.chain_id),
        ("confidence", due.confidence == stored.confidence),
        ("success_streak", due.success_streak == stored.success_streak),
        ("blast_files", due.blast_files == stored.blast_files),
        ("blast_lines", due.blast_lines == stored.blast_lines),
        ("triggers", due.triggers == stored.triggers),
        ("summary_chars", due.summary_chars == stored.summary_chars),
        ("has_event", due.has_event == stored.has_event),
        ("anti_pattern", due.anti_pattern == stored.anti_pattern),
        ("proof", due.proof == stored.proof),
    ];
    equal.into_iter().find(|(_, equal)| !equal).map(|(name, _)| name)
}
