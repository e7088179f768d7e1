//! Bundles: their names follow from what they hold, and what they hold is there.

use super::FsckReport;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::hash::hex;
use capsid_model::problem::Result;
use capsid_rules::assets::bundle::bundle_id;
use capsid_rules::lifecycle::AssetType;

const PAGE: i64 = 500;

struct StoredBundle {
    bundle_id: String,
    /// Nothing where the id is not 32 bytes long.
    gene: Option<AssetId>,
    capsule: Option<AssetId>,
    has_event: bool,
    /// The types of the assets that these ids lead to.
    types: [Option<String>; 3],
}

type BundleColumns =
    (String, Vec<u8>, Vec<u8>, Option<Vec<u8>>, Option<String>, Option<String>, Option<String>);

impl StoredBundle {
    fn new((bundle_id, gene, capsule, event, gene_type, capsule_type, event_type): BundleColumns) -> Self {
        let id = |bytes: Vec<u8>| bytes.try_into().ok().map(AssetId);
        Self {
            bundle_id,
            gene: id(gene),
            capsule: id(capsule),
            has_event: event.is_some(),
            types: [gene_type, capsule_type, event_type],
        }
    }
}

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let mut after = String::new();
    loop {
        let page = tx.query_all::<BundleColumns>(
            "SELECT b.bundle_id, b.gene_id, b.capsule_id, b.event_id, g.asset_type, c.asset_type, e.asset_type
             FROM bundles b LEFT JOIN assets g ON g.asset_id = b.gene_id LEFT JOIN assets c ON c.asset_id = b.capsule_id
             LEFT JOIN assets e ON e.asset_id = b.event_id WHERE b.bundle_id > $1 ORDER BY b.bundle_id LIMIT $2",
            params![&after, PAGE])?;
        let page: Vec<StoredBundle> = page.into_iter().map(StoredBundle::new).collect();
        let Some(last) = page.last() else { break };
        after.clone_from(&last.bundle_id);
        page.iter().for_each(|bundle| check_one(bundle, report));
    }
    assets_outside(tx, report)
}

fn check_one(bundle: &StoredBundle, report: &mut FsckReport) {
    let named = bundle.gene.zip(bundle.capsule).map(|(g, c)| bundle_id(&g.to_string(), &c.to_string()));
    if named.as_deref() != Some(bundle.bundle_id.as_str()) {
        report.lost("bundle_id_mismatch", &bundle.bundle_id, "The id does not follow from gene and capsule.");
    }
    let wanted = [AssetType::Gene, AssetType::Capsule, AssetType::EvolutionEvent];
    for (asset_type, actual) in wanted.into_iter().zip(&bundle.types) {
        let expected = asset_type.as_str();
        let may_lack = asset_type == AssetType::EvolutionEvent && !bundle.has_event;
        match actual.as_deref() {
            None if may_lack => {}
            None => report.lost(
                "bundle_incomplete",
                &bundle.bundle_id,
                format!("It points to a {expected} that is not there."),
            ),
            Some(actual) if actual != expected => report.lost(
                "bundle_incomplete",
                &bundle.bundle_id,
                format!("Where a {expected} should be there is a {actual}."),
            ),
            Some(_) => {}
        }
    }
}

/// Every asset names the bundle that it came in first.
fn assets_outside(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let outside = "SELECT a.asset_id, a.bundle_id FROM assets a LEFT JOIN bundles b ON b.bundle_id = a.bundle_id
        WHERE b.bundle_id IS NULL OR NOT (a.asset_id = b.gene_id OR a.asset_id = b.capsule_id
            OR (b.event_id IS NOT NULL AND a.asset_id = b.event_id) OR a.asset_type = 'EvolutionEvent') ORDER BY a.seq";
    tx.query_each(outside, params![], |(id, bundle_id): (Vec<u8>, String)| {
        let problem = format!("The bundle {bundle_id} that it came in is not there, or is without it.");
        report.lost("asset_outside_bundle", format!("sha256:{}", hex(&id)), problem);
        Ok(())
    })
}
