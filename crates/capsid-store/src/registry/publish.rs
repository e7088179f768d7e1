//! Publishing: a gene and a capsule together, perhaps with the event that tells how they came about.

use super::sketches::{self, NewSketch};
use crate::assets::id::AssetId;
use crate::assets::new::NewAsset;
use crate::audit::{self, AuditChange};
use crate::db::row_batch::{RowBatch, RowsSql, insert_rows};
use crate::db::tx::Tx;
use crate::evaluation::{penalties, scoring};
use crate::nodes::NodeRow;
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::safety::SCAN_VERSION;
use capsid_rules::assets::similarity::{SimilarityVerdict, TextSketch};
use capsid_rules::evaluation::gdi::{Gdi, hundredths};
use capsid_rules::lifecycle::{AssetStatus, AssetType};

/// Why a bundle waits that has a warning and comes from somebody nobody knows.
pub const AWAITING_MODERATION: &str = "awaiting_moderation";

/// A bundle that passed every check that needs no database.
#[derive(Debug, Clone)]
pub struct NewBundle {
    /// Follows from the ids of gene and capsule.
    pub bundle_id: String,
    pub gene: NewAsset,
    pub capsule: NewAsset,
    pub event: Option<NewAsset>,
    /// The state it enters in: candidate, rejected or quarantined.
    pub status: AssetStatus,
    /// Why it is rejected, quarantined or warned of.
    pub reason: Option<String>,
    /// Whether it is the gene's own text that must be held back.
    pub gene_held: bool,
    /// What the capsule says, for finding near duplicates.
    pub sketch: TextSketch,
    pub receipt_id: String,
}

impl NewBundle {
    /// How many bytes its assets have.
    pub fn bytes(&self) -> i64 {
        let assets = [Some(&self.gene), Some(&self.capsule), self.event.as_ref()];
        assets.into_iter().flatten().map(|asset| asset.body.len() as i64).sum()
    }
}

/// An asset of a bundle as it now stands.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedAsset {
    pub asset_id: AssetId,
    pub asset_type: AssetType,
    pub status: AssetStatus,
    /// Its score in hundredths of a point.
    pub gdi: i64,
    /// The score's mean track and its four dimensions.
    pub parts: [f64; 5],
}

impl PublishedAsset {
    /// An asset that enters with its first score.
    pub(super) fn new(asset: &NewAsset, status: AssetStatus, gdi: &Gdi) -> Self {
        Self {
            asset_id: asset.asset_id,
            asset_type: asset.asset_type,
            status,
            gdi: hundredths(gdi.score),
            parts: [gdi.mean, gdi.intrinsic, gdi.usage, gdi.social, gdi.freshness],
        }
    }
}

/// A row of `assets` that is about to be added.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewAssetRow<'a> {
    pub asset: &'a NewAsset,
    pub gdi: &'a Gdi,
    pub node_id: &'a str,
    pub bundle_id: &'a str,
    pub status: AssetStatus,
    pub reason: Option<&'a str>,
    pub similar_to: &'a Option<AssetId>,
}

/// Adds assets, unless they are there.
pub(super) const INSERT_ASSETS: RowsSql = insert_rows!(
    "assets",
    "asset_id, asset_type, status, node_id, bundle_id, created_at, last_activity_at, scored_at, scan_at, local_id,
     category, chain_id, confidence, success_streak, blast_files, blast_lines, triggers, summary_chars, has_event,
     anti_pattern, proof, safety, similar_to, gdi, gdi_mean, gdi_intrinsic, gdi_usage, gdi_social, gdi_freshness, card,
     body, environment, scan_version, scan_verdict",
    "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
     $26, $27, $28, $29, $30, $31, $32, $33, $34"
);

impl<'a> NewAssetRow<'a> {
    /// The values of [`INSERT_ASSETS`].
    pub(super) fn push_to(&self, rows: &mut RowBatch<'a>, now: Time) {
        let Self { asset, gdi, .. } = *self;
        let traits = &asset.traits;
        rows.push(params![
            &asset.asset_id,
            asset.asset_type.as_str(),
            self.status.as_str(),
            self.node_id,
            self.bundle_id,
            now,
            now,
            now,
            now,
            &traits.local_id,
            &traits.category,
            &traits.chain_id,
            traits.confidence,
            traits.success_streak,
            traits.blast_files,
            traits.blast_lines,
            traits.triggers,
            traits.summary_chars,
            traits.has_event,
            traits.anti_pattern,
            traits.proof.as_str(),
            self.reason,
            self.similar_to,
            hundredths(gdi.score),
            gdi.mean,
            gdi.intrinsic,
            gdi.usage,
            gdi.social,
            gdi.freshness,
            &asset.card,
            &asset.body,
            &asset.environment,
            SCAN_VERSION,
            asset.scanned.as_str()
        ]);
    }
}

/// What became of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishOutcome {
    Kept {
        /// In this state.
        status: AssetStatus,
        /// Because of this.
        reason: Option<String>,
        /// Something that it is much like, and how much.
        similar: Option<(AssetId, f64)>,
        /// Gene, capsule and event.
        assets: Vec<PublishedAsset>,
    },
    /// The same node published it before; it is as it was.
    Already {
        /// In this state.
        status: AssetStatus,
        /// With this receipt.
        receipt_id: String,
        /// Gene, capsule and event.
        assets: Vec<PublishedAsset>,
    },
    /// This asset was withdrawn and cannot come back.
    Revoked(AssetId),
    /// Another node published this capsule, which is in this state.
    OfAnother(AssetStatus),
}

/// Keeps a bundle.
pub fn publish(tx: &mut dyn Tx, node: &NodeRow, bundle: &NewBundle, now: Time) -> Result<PublishOutcome> {
    if let Some(known) = find_existing(tx, node, bundle, now)? {
        return Ok(known);
    }
    let gene = &bundle.gene.asset_id;
    let withdrawn = "SELECT 1 FROM assets WHERE asset_id = $1 AND status = 'revoked' AND node_id = $2";
    if tx.exists(withdrawn, params![gene, &node.node_id])? {
        return Ok(PublishOutcome::Revoked(*gene));
    }
    let similar = match bundle.status {
        AssetStatus::Candidate => sketches::most_similar(tx, &node.node_id, bundle)?,
        _ => None,
    };
    let held = similar.as_ref().is_some_and(|(_, _, verdict)| *verdict == SimilarityVerdict::Quarantine);
    let entry = match held {
        true => InitialStatus { status: AssetStatus::Quarantined, reason: Some("near_duplicate".to_owned()) },
        false => InitialStatus { status: bundle.status, reason: bundle.reason.clone() },
    };
    let like = similar.as_ref().map(|(id, ..)| *id);
    // The capsule comes first: of two that publish it at once, the one that adds it is its publisher.
    let (capsule, added) = add(tx, node, bundle, &bundle.capsule, &entry, like, now)?;
    if !added {
        let known = find_existing(tx, node, bundle, now)?;
        return known.ok_or_else(|| {
            crate::damaged(format!("The asset {} is not there after it was found.", capsule.asset_id))
        });
    }
    let assets = add_others(tx, node, bundle, &entry, capsule, now)?;
    link(tx, &node.node_id, bundle, now)?;
    if entry.status == AssetStatus::Candidate {
        sketches::insert_sketches(tx, &[NewSketch { node_id: &node.node_id, bundle }])?;
    }
    tx.run(
        "UPDATE nodes SET total_published = total_published + 1, total_rejected = total_rejected + $2 WHERE node_id = $1",
        params![&node.node_id, entry.status == AssetStatus::Rejected],
    )?;
    // What waits for a moderator is not judged yet.
    if entry.status == AssetStatus::Quarantined && entry.reason.as_deref() != Some(AWAITING_MODERATION) {
        let why = entry.reason.as_deref().unwrap_or_default();
        penalties::penalize_quarantine(tx, node, &bundle.capsule.asset_id, why, like.as_ref(), now)?;
    }
    let similar = similar.map(|(id, likeness, _)| (id, likeness));
    Ok(PublishOutcome::Kept { status: entry.status, reason: entry.reason, similar, assets })
}

/// What there is to say when the capsule is known. Its publisher may say so as often as it likes, and may link it to
/// another gene; what is new in that enters by its own merit, not by the capsule's.
fn find_existing(
    tx: &mut dyn Tx,
    node: &NodeRow,
    bundle: &NewBundle,
    now: Time,
) -> Result<Option<PublishOutcome>> {
    let known = tx.query_first::<(String, AssetStatus)>(
        "SELECT node_id, status FROM assets WHERE asset_id = $1 FOR UPDATE",
        params![&bundle.capsule.asset_id],
    )?;
    let status = match known {
        None => return Ok(None),
        Some((_, AssetStatus::Revoked)) => {
            return Ok(Some(PublishOutcome::Revoked(bundle.capsule.asset_id)));
        }
        Some((publisher, status)) if publisher != node.node_id => {
            return Ok(Some(PublishOutcome::OfAnother(status)));
        }
        Some((_, status)) => status,
    };
    let entry = InitialStatus { status: bundle.status, reason: bundle.reason.clone() };
    let capsule = load_published(tx, &bundle.capsule)?;
    let assets = add_others(tx, node, bundle, &entry, capsule, now)?;
    link(tx, &node.node_id, bundle, now)?;
    graph::membership::asset_changed(tx, &bundle.capsule.asset_id, now)?;
    let receipt_id =
        tx.query_one("SELECT receipt_id FROM bundles WHERE bundle_id = $1", params![&bundle.bundle_id])?;
    Ok(Some(PublishOutcome::Already { status, receipt_id, assets }))
}

/// How an asset enters, and why.
pub(super) struct InitialStatus {
    status: AssetStatus,
    reason: Option<String>,
}

impl InitialStatus {
    /// A gene is not to blame when the capsule beside it is weak, a copy, or says what it must not: others may do
    /// better with it.
    fn for_gene(&self, bundle: &NewBundle) -> Self {
        match self.reason.as_deref() {
            Some("anti_pattern") => Self { status: self.status, reason: self.reason.clone() },
            _ if bundle.gene_held => {
                Self { status: AssetStatus::Quarantined, reason: Some("content_safety".to_owned()) }
            }
            _ => Self { status: AssetStatus::Candidate, reason: None },
        }
    }
}

/// Adds what goes with a capsule. Gives gene, capsule and event as they now stand.
fn add_others(
    tx: &mut dyn Tx,
    node: &NodeRow,
    bundle: &NewBundle,
    entry: &InitialStatus,
    capsule: PublishedAsset,
    now: Time,
) -> Result<Vec<PublishedAsset>> {
    let (gene, _) = add(tx, node, bundle, &bundle.gene, &entry.for_gene(bundle), None, now)?;
    let mut assets = vec![gene, capsule];
    if let Some(event) = &bundle.event {
        assets.push(add(tx, node, bundle, event, entry, None, now)?.0);
    }
    Ok(assets)
}

/// Notes the public key that the publisher of a bundle signed it with.
pub fn set_signer(tx: &mut dyn Tx, bundle_id: &str, node_id: &str, key: &[u8]) -> Result<()> {
    tx.run(
        "UPDATE bundles SET signed_by = $3 WHERE bundle_id = $1 AND node_id = $2",
        params![bundle_id, node_id, key],
    )?;
    Ok(())
}

fn link(tx: &mut dyn Tx, node_id: &str, bundle: &NewBundle, now: Time) -> Result<()> {
    let event = bundle.event.as_ref().map(|event| event.asset_id);
    tx.run(
        "INSERT INTO bundles (bundle_id, gene_id, capsule_id, event_id, node_id, receipt_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (bundle_id) DO UPDATE SET event_id = COALESCE(bundles.event_id, excluded.event_id)",
        params![
            &bundle.bundle_id,
            &bundle.gene.asset_id,
            &bundle.capsule.asset_id,
            &event,
            node_id,
            &bundle.receipt_id,
            now
        ],
    )?;
    Ok(())
}

/// Keeps an asset, unless it is there already: genes and events may be shared between bundles. Tells whether it is new.
fn add(
    tx: &mut dyn Tx,
    node: &NodeRow,
    bundle: &NewBundle,
    asset: &NewAsset,
    entry: &InitialStatus,
    similar_to: Option<AssetId>,
    now: Time,
) -> Result<(PublishedAsset, bool)> {
    let (status, reason) = (entry.status, entry.reason.as_deref());
    let reputation = scoring::publisher_reputation(tx, &node.node_id)?;
    let gdi = asset.score(reputation, &tx.trust().belief);
    let published = PublishedAsset::new(asset, status, &gdi);
    let row = NewAssetRow {
        asset,
        gdi: &gdi,
        node_id: &node.node_id,
        bundle_id: &bundle.bundle_id,
        status,
        reason,
        similar_to: &similar_to,
    };
    let mut rows = RowBatch::default();
    row.push_to(&mut rows, now);
    let added = rows.run(tx, INSERT_ASSETS)? == 1;
    if !added {
        reassign_gene(tx, node, bundle, asset, entry, now)?;
        return Ok((load_published(tx, asset)?, false));
    }
    // What is not a candidate from the start was judged, and a judgement is audited.
    if status != AssetStatus::Candidate {
        audit_publish(tx, asset, None, entry, now)?;
    }
    Ok((published, true))
}

fn audit_publish(
    tx: &mut dyn Tx,
    asset: &NewAsset,
    before: Option<&str>,
    entry: &InitialStatus,
    now: Time,
) -> Result<()> {
    let subject = asset.asset_id.to_string();
    let change = AuditChange {
        kind: "asset",
        subject: &subject,
        action: "publish",
        before,
        after: Some(entry.status.as_str()),
        reason: entry.reason.as_deref(),
    };
    audit::add(tx, "hub", change, now)
}

/// A gene that its publisher withdrew becomes the next one's who publishes it: nobody can take a gene from everybody.
fn reassign_gene(
    tx: &mut dyn Tx,
    node: &NodeRow,
    bundle: &NewBundle,
    asset: &NewAsset,
    entry: &InitialStatus,
    now: Time,
) -> Result<()> {
    if asset.asset_type != AssetType::Gene {
        return Ok(());
    }
    let reassigned = tx.run(
        "UPDATE assets SET status = $2, node_id = $3, bundle_id = $4, promoted_at = NULL, last_activity_at = $5
         WHERE asset_id = $1 AND status = 'revoked' AND node_id <> $3",
        params![&asset.asset_id, entry.status.as_str(), &node.node_id, &bundle.bundle_id, now],
    )?;
    if reassigned == 1 {
        audit_publish(tx, asset, Some(AssetStatus::Revoked.as_str()), entry, now)?;
        graph::membership::asset_changed(tx, &asset.asset_id, now)?;
    }
    Ok(())
}

/// How an asset stands that was known before.
fn load_published(tx: &mut dyn Tx, asset: &NewAsset) -> Result<PublishedAsset> {
    type Scores = (f64, f64, f64, f64, f64);
    let (status, gdi, (mean, intrinsic, usage, social, freshness)) = tx
        .query_one::<(AssetStatus, i64, Scores)>(
            "SELECT status, gdi, gdi_mean, gdi_intrinsic, gdi_usage, gdi_social, gdi_freshness FROM assets
         WHERE asset_id = $1",
            params![&asset.asset_id],
        )?;
    Ok(PublishedAsset {
        asset_id: asset.asset_id,
        asset_type: asset.asset_type,
        status,
        gdi,
        parts: [mean, intrinsic, usage, social, freshness],
    })
}
