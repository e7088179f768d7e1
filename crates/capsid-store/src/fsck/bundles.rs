//! Bundles: their names follow from what they hold, and what they hold is there.

use super::FsckReport;
use crate::assets::id::AssetId;
use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::assets::bundle::bundle_id;
use capsid_rules::lifecycle::AssetType;

const PAGE: i64 = 500;

struct StoredBundle {
    bundle_id: String,
    gene: Option<AssetId>,
    capsule: Option<AssetId>,
    has_event: bool,
    /// The types of the assets that these ids lead to.
    types: [Option<String>; 3],
}

impl StoredBundle {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            bundle_id: row.string(0)?,
            gene: AssetId::read_or(row, 1)?,
            capsule: AssetId::read_or(row, 2)?,
            has_event: row.blob_or(3)?.is_some(),
            types: [row.string_or(4)?, row.string_or(5)?, row.string_or(6)?],
        })
    }
}

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let mut after = String::new();
    loop {
        let page = tx.all(
            "SELECT b.bundle_id, b.gene_id, b.capsule_id, b.event_id, g.asset_type, c.asset_type, e.asset_type
             FROM bundles b LEFT JOIN assets g ON g.asset_id = b.gene_id LEFT JOIN assets c ON c.asset_id = b.capsule_id
             LEFT JOIN assets e ON e.asset_id = b.event_id WHERE b.bundle_id > $1 ORDER BY b.bundle_id LIMIT $2",
            params![&after, PAGE],
            StoredBundle::read,
        )?;
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
    for (asset_type, found) in wanted.into_iter().zip(&bundle.types) {
        let expected = asset_type.as_str();
        let may_lack = asset_type == AssetType::EvolutionEvent && !bundle.has_event;
        match found.as_deref() {
            None if may_lack => {}
            None => report.lost(
                "bundle_incomplete",
                &bundle.bundle_id,
                format!("It points to a {expected} that is not there."),
            ),
            Some(found) if found != expected => report.lost(
                "bundle_incomplete",
                &bundle.bundle_id,
                format!("Where a {expected} should be there is a {found}."),
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
    tx.each(outside, params![], &mut |row| {
        let id = AssetId::read(row, 0)?.to_string();
        let problem = format!("The bundle {} that it came in is not there, or is without it.", row.text(1)?);
        report.lost("asset_outside_bundle", id, problem);
        Ok(())
    })
}
