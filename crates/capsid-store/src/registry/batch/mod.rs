//! Publishing many bundles with few statements: all rows that they are compared with are read at once, each bundle is
//! decided on from these, and what they add is written at once.
//!
//! A batch holds bundles that add rows and do nothing else. Whatever does more, such as one that is like another capsule,
//! is left to [`publish`], and so is what another bundle of the batch would have to be stored for.

mod nodes;
mod quota;

use crate::assets::id::AssetId;
use crate::assets::new::NewAsset;
use crate::db::row_batch::{RowBatch, RowsSql, insert_rows};
use crate::db::tx::Tx;
use crate::nodes::lock_known;
use crate::params;
use crate::registry::publish::{
    INSERT_ASSETS, NewAssetRow, NewBundle, PublishOutcome, PublishedAsset, publish,
};
use crate::registry::quotas::PublishQuota;
use crate::registry::sketches::{self, FIND_BANDS, NewSketch};
use crate::system::responses::{self, MessageKey, StoredResponse};
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_rules::assets::similarity::SimilarityVerdict;
use capsid_rules::evaluation::gdi::Gdi;
use capsid_rules::lifecycle::AssetStatus;
pub use nodes::PublishingNode;
use quota::DayQuotas;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A bundle that is to be published, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct BatchItem<'a> {
    pub node_id: &'a str,
    pub bundle: &'a NewBundle,
    /// What makes the message the same when it comes again; nothing where no response is kept.
    pub message: Option<&'a MessageKey>,
}

/// What decides on an item besides the rows of the database.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublishTerms<'a> {
    /// The owner that it is counted for, if it is.
    pub counted_for: Option<&'a str>,
    /// What that owner may publish on this day; nothing is no limit.
    pub quota: Option<PublishQuota>,
    /// The public key that the bundle is signed with.
    pub signed_by: Option<&'a [u8]>,
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchPlan {
    /// It is written with the batch.
    Kept(PublishOutcome),
    /// It follows from another item of the batch, and can be part of the next one.
    Later,
    /// It does more than a batch can do.
    Alone,
}

/// How an asset stands that the database has or that the batch adds.
#[derive(Debug, Clone)]
struct KnownAsset {
    asset: PublishedAsset,
    /// Whether the batch adds it.
    is_new: bool,
}

/// A bundle that is written with the batch.
struct PlannedBundle<'a> {
    item: BatchItem<'a>,
    assets: Vec<(&'a NewAsset, Option<&'a str>, Gdi)>,
    similar_to: Option<AssetId>,
    signed_by: Option<Vec<u8>>,
    /// Its status and its bytes.
    response: Option<(u16, Vec<u8>)>,
}

/// Bundles that are published together.
pub struct PublishBatch<'a> {
    items: Vec<BatchItem<'a>>,
    now: Time,
    nodes: BTreeMap<String, PublishingNode>,
    messages: HashSet<Vec<u8>>,
    assets: HashMap<AssetId, KnownAsset>,
    bands: HashSet<i64>,
    /// The bands of what the batch adds.
    new_bands: HashSet<i64>,
    quotas: DayQuotas,
    planned: BTreeMap<usize, PlannedBundle<'a>>,
}

const FIND_ASSETS: RowsSql = RowsSql {
    sqlite: "SELECT asset_id, asset_type, status, gdi, gdi_mean, gdi_intrinsic, gdi_usage, gdi_social, gdi_freshness
             FROM assets WHERE asset_id IN ($1, $2, $3)",
    postgres: "SELECT asset_id, asset_type, status, gdi, gdi_mean, gdi_intrinsic, gdi_usage, gdi_social, gdi_freshness
               FROM assets WHERE asset_id = ANY($1 || $2 || $3)",
};
const INSERT_BUNDLES: RowsSql = insert_rows!(
    "bundles",
    "bundle_id, gene_id, capsule_id, event_id, node_id, receipt_id, created_at, signed_by",
    "$1, $2, $3, $4, $5, $6, $7, $8"
);
const COUNT_PUBLISHED: RowsSql = RowsSql {
    sqlite: "UPDATE nodes SET total_published = total_published + $2 WHERE node_id = $1",
    postgres: "UPDATE nodes n SET total_published = n.total_published + u.bundles
               FROM unnest($1, $2) AS u (node_id, bundles) WHERE n.node_id = u.node_id",
};

impl<'a> PublishBatch<'a> {
    /// Locks the nodes of a batch, and reads what its bundles will be compared with.
    pub fn load(tx: &mut dyn Tx, items: Vec<BatchItem<'a>>, now: Time) -> Result<Self> {
        let nodes = nodes::lock_nodes(tx, items.iter().map(|item| item.node_id))?;
        let mut batch = Self {
            quotas: DayQuotas::new(now),
            items,
            now,
            nodes,
            messages: HashSet::new(),
            assets: HashMap::new(),
            bands: HashSet::new(),
            new_bands: HashSet::new(),
            planned: BTreeMap::new(),
        };
        batch.find_messages(tx)?;
        batch.find_assets(tx)?;
        batch.find_bands(tx)?;
        Ok(batch)
    }

    fn find_messages(&mut self, tx: &mut dyn Tx) -> Result<()> {
        let mut rows = RowBatch::default();
        self.items.iter().filter_map(|item| item.message).for_each(|key| rows.push(params![key.parts().0]));
        rows.query_each(tx, responses::FIND_KEYS, |key| {
            self.messages.insert(key);
            Ok(())
        })
    }

    fn find_assets(&mut self, tx: &mut dyn Tx) -> Result<()> {
        type Row = (AssetId, capsid_rules::lifecycle::AssetType, AssetStatus, i64, Scores);
        type Scores = (f64, f64, f64, f64, f64);
        let mut rows = RowBatch::default();
        for item in &self.items {
            let event = item.bundle.event.as_ref().map(|event| &event.asset_id.0[..]);
            rows.push(params![&item.bundle.gene.asset_id, &item.bundle.capsule.asset_id, event]);
        }
        rows.query_each::<Row>(tx, FIND_ASSETS, |(asset_id, asset_type, status, gdi, parts)| {
            let parts = [parts.0, parts.1, parts.2, parts.3, parts.4];
            let asset = PublishedAsset { asset_id, asset_type, status, gdi, parts };
            self.assets.insert(asset_id, KnownAsset { asset, is_new: false });
            Ok(())
        })
    }

    fn find_bands(&mut self, tx: &mut dyn Tx) -> Result<()> {
        let mut rows = RowBatch::default();
        for item in self.items.iter().filter(|item| item.bundle.status == AssetStatus::Candidate) {
            let [a, b, c, d] = sketches::bands(item.bundle);
            rows.push(params![a, b, c, d]);
        }
        rows.query_each(tx, FIND_BANDS, |band| {
            self.bands.insert(band);
            Ok(())
        })
    }

    /// The moment of the batch.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The node of an item; nothing where it has to be made first.
    pub fn node(&self, at: usize) -> Option<&PublishingNode> {
        self.nodes.get(self.items.get(at)?.node_id)
    }

    /// The same to note what changes in its row.
    pub fn node_mut(&mut self, at: usize) -> Option<&mut PublishingNode> {
        self.nodes.get_mut(self.items.get(at)?.node_id)
    }

    /// Decides on an item. Only what is kept changes the batch.
    pub fn plan(&mut self, tx: &mut dyn Tx, at: usize, terms: PublishTerms<'_>) -> Result<BatchPlan> {
        let (Some(item), Some(node)) = (self.items.get(at).copied(), self.node(at)) else {
            return Ok(BatchPlan::Alone);
        };
        let (bundle, reputation) = (item.bundle, node.reputation);
        if let Some(plan) = self.find_obstacle(&item) {
            return Ok(plan);
        }
        let similar = match sketches::bands(bundle).iter().any(|band| self.bands.contains(band)) {
            true => sketches::most_similar(tx, item.node_id, bundle)?,
            false => None,
        };
        if similar.as_ref().is_some_and(|(.., verdict)| *verdict == SimilarityVerdict::Quarantine) {
            return Ok(BatchPlan::Alone);
        }
        if let Some(owner) = terms.counted_for
            && !self.quotas.count_within(tx, owner, terms.quota.as_ref(), bundle.bytes())?
        {
            return Ok(BatchPlan::Alone);
        }
        let mut planned = PlannedBundle {
            item,
            assets: Vec::new(),
            similar_to: similar.as_ref().map(|(id, ..)| *id),
            signed_by: terms.signed_by.map(<[u8]>::to_vec),
            response: None,
        };
        let reason = bundle.reason.as_deref();
        let rule = tx.trust().belief;
        let mut add = |asset: &'a NewAsset, reason: Option<&'a str>| {
            let known = self.assets.entry(asset.asset_id).or_insert_with(|| {
                let gdi = asset.score(reputation, &rule);
                let published = PublishedAsset::new(asset, AssetStatus::Candidate, &gdi);
                planned.assets.push((asset, reason, gdi));
                KnownAsset { asset: published, is_new: true }
            });
            known.asset.clone()
        };
        let capsule = add(&bundle.capsule, reason);
        let gene = add(&bundle.gene, reason.filter(|reason| *reason == "anti_pattern"));
        let mut assets = vec![gene, capsule];
        assets.extend(bundle.event.as_ref().map(|event| add(event, reason)));
        self.planned.insert(at, planned);
        self.new_bands.extend(sketches::bands(bundle));
        self.messages.extend(item.message.map(|key| key.parts().0.to_vec()));
        Ok(BatchPlan::Kept(PublishOutcome::Kept {
            status: AssetStatus::Candidate,
            reason: bundle.reason.clone(),
            similar: similar.map(|(id, likeness, _)| (id, likeness)),
            assets,
        }))
    }

    /// Why an item cannot be part of this batch.
    fn find_obstacle(&self, item: &BatchItem<'_>) -> Option<BatchPlan> {
        let bundle = item.bundle;
        if bundle.status != AssetStatus::Candidate || bundle.gene_held {
            return Some(BatchPlan::Alone);
        }
        if let Some(capsule) = self.assets.get(&bundle.capsule.asset_id) {
            return Some(if capsule.is_new { BatchPlan::Later } else { BatchPlan::Alone });
        }
        let gene = self.assets.get(&bundle.gene.asset_id);
        if gene.is_some_and(|gene| gene.asset.status == AssetStatus::Revoked)
            || item.message.is_some_and(|key| self.messages.contains(key.parts().0))
        {
            return Some(BatchPlan::Alone);
        }
        let is_like_new = sketches::bands(bundle).iter().any(|band| self.new_bands.contains(band));
        is_like_new.then_some(BatchPlan::Later)
    }

    /// Keeps the response to an item that is written with the batch.
    pub fn keep_response(&mut self, at: usize, status: u16, response: &StoredResponse) -> Result<()> {
        if let Some(planned) = self.planned.get_mut(&at) {
            planned.response = Some((status, response.to_bytes()?));
        }
        Ok(())
    }

    /// Writes what was planned. Fails where another hub stored the same meanwhile.
    pub fn write(self, tx: &mut dyn Tx) -> Result<()> {
        let now = self.now;
        let planned: Vec<&PlannedBundle<'_>> = self.planned.values().collect();
        let (mut answered, mut assets, mut bundles) =
            (RowBatch::default(), RowBatch::default(), RowBatch::default());
        let (mut sketches, mut published) = (Vec::new(), BTreeMap::<&str, i64>::new());
        for plan in planned {
            let BatchItem { node_id, bundle, message } = plan.item;
            if let (Some(message), Some((status, response))) = (message, &plan.response) {
                let (key, body) = message.parts();
                answered.push(params![key, body, i64::from(*status), response, now]);
            }
            for (asset, reason, gdi) in &plan.assets {
                let is_capsule = asset.asset_id == bundle.capsule.asset_id;
                let row = NewAssetRow {
                    asset,
                    gdi,
                    node_id,
                    bundle_id: &bundle.bundle_id,
                    status: AssetStatus::Candidate,
                    reason: *reason,
                    similar_to: if is_capsule { &plan.similar_to } else { &None },
                };
                row.push_to(&mut assets, now);
            }
            bundles.push(params![
                &bundle.bundle_id,
                &bundle.gene.asset_id,
                &bundle.capsule.asset_id,
                bundle.event.as_ref().map(|event| &event.asset_id.0[..]),
                node_id,
                &bundle.receipt_id,
                now,
                plan.signed_by.as_deref()
            ]);
            sketches.push(NewSketch { node_id, bundle });
            *published.entry(node_id).or_default() += 1;
        }
        for (rows, sql) in [(answered, responses::INSERT), (assets, INSERT_ASSETS), (bundles, INSERT_BUNDLES)]
        {
            if rows.run(tx, sql)? != rows.len() {
                return Err(conflict());
            }
        }
        sketches::insert_sketches(tx, &sketches)?;
        let mut counts = RowBatch::default();
        published.iter().for_each(|(node_id, bundles)| counts.push(params![*node_id, *bundles]));
        counts.run(tx, COUNT_PUBLISHED)?;
        match self.quotas.write(tx)? {
            true => Ok(()),
            false => Err(conflict()),
        }
    }
}

fn conflict() -> Problem {
    Problem::new(Code::StoreBusy, "Another hub stored the same at the same time.").fix("Try again.")
}

/// Publishes many bundles in one transaction: those that only add rows with few statements, the others after them, one by
/// one. The outcomes come in the order of the items. Every node must be known.
pub fn publish_batch(tx: &mut dyn Tx, items: &[BatchItem<'_>], now: Time) -> Result<Vec<PublishOutcome>> {
    let mut batch = PublishBatch::load(tx, items.to_vec(), now)?;
    let mut plans = Vec::with_capacity(items.len());
    for at in 0..items.len() {
        plans.push(batch.plan(tx, at, PublishTerms::default())?);
    }
    batch.write(tx)?;
    let mut outcomes = Vec::with_capacity(items.len());
    for (item, plan) in items.iter().zip(plans) {
        outcomes.push(match plan {
            BatchPlan::Kept(outcome) => outcome,
            BatchPlan::Later | BatchPlan::Alone => {
                let node = lock_known(tx, item.node_id)?;
                publish(tx, &node, item.bundle, now)?
            }
        });
    }
    Ok(outcomes)
}
