//! Filling in the ids of a bundle, for publishers that cannot hash: each asset's own, and those by which one names another.

use capsid_model::asset::{self, ASSET_ID};
use capsid_model::{Object, Value};

/// Sets the id of every asset of a bundle, and the links between them where they are missing or name an id that changes.
/// A link to anything else stays as it is.
pub fn fill_ids(assets: &mut [Object]) {
    let gene = assets.iter().position(|asset| is_type(asset, "Gene"));
    let capsule = assets.iter().position(|asset| is_type(asset, "Capsule"));
    let event = assets.iter().position(|asset| is_type(asset, "EvolutionEvent"));
    let gene = gene.and_then(|at| assets.get_mut(at)).map(stamp);
    let capsule = capsule.and_then(|at| assets.get_mut(at)).map(|capsule| {
        if let Some(gene) = &gene {
            link(capsule, "gene", gene);
        }
        stamp(capsule)
    });
    if let Some(event) = event.and_then(|at| assets.get_mut(at)) {
        if let Some(capsule) = &capsule {
            link(event, "capsule_id", capsule);
        }
        if let Some(gene) = &gene {
            link_list(event, "genes_used", gene);
        }
        stamp(event);
    }
}

/// The id that an asset claimed, and the one that it has.
struct NewId {
    claimed: Option<String>,
    id: String,
}

fn is_type(asset: &Object, name: &str) -> bool {
    asset.get("type").and_then(Value::as_str) == Some(name)
}

fn stamp(asset: &mut Object) -> NewId {
    let claimed = asset.get(ASSET_ID).and_then(Value::as_str).map(str::to_owned);
    asset::stamp(asset);
    let id = asset.get(ASSET_ID).and_then(Value::as_str).unwrap_or_default().to_owned();
    NewId { claimed, id }
}

fn link(asset: &mut Object, member: &str, to: &NewId) {
    let named = asset.get(member).and_then(Value::as_str);
    if named.is_none() || named == to.claimed.as_deref() {
        asset.insert(member.to_owned(), to.id.clone().into());
    }
}

fn link_list(asset: &mut Object, member: &str, to: &NewId) {
    let Some(Value::Array(named)) = asset.get_mut(member) else {
        asset.entry(member.to_owned()).or_insert_with(|| vec![to.id.clone()].into());
        return;
    };
    for id in named.iter_mut().filter(|id| id.as_str().is_some() && id.as_str() == to.claimed.as_deref()) {
        *id = to.id.clone().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn objects(assets: Value) -> Vec<Object> {
        serde_json::from_value(assets).unwrap()
    }

    #[test]
    fn missing_ids_and_links_are_filled_in() {
        let mut assets =
            objects(json!([{"type": "EvolutionEvent"}, {"type": "Capsule"}, {"type": "Gene", "x": 1.0}]));
        fill_ids(&mut assets);
        assert!(assets.iter().all(|asset| asset::verify(asset) == asset::IdVerdict::Verified));
        assert_eq!(assets[1]["gene"], assets[2][ASSET_ID]);
        assert_eq!(assets[0]["capsule_id"], assets[1][ASSET_ID]);
        assert_eq!(assets[0]["genes_used"][0], assets[2][ASSET_ID]);
        let filled = assets.clone();
        fill_ids(&mut assets);
        assert_eq!(assets, filled, "filling in again changes nothing");
    }

    #[test]
    fn links_follow_an_id_that_changes_and_others_stay() {
        let mut assets = objects(json!([
            {"type": "Gene", "asset_id": "sha256:GENE"},
            {"type": "Capsule", "gene": "sha256:GENE", "asset_id": "sha256:CAPSULE"},
            {"type": "EvolutionEvent", "capsule_id": "capsule_7", "genes_used": ["gene_1", "sha256:GENE", 7]}]));
        fill_ids(&mut assets);
        assert_eq!(assets[1]["gene"], assets[0][ASSET_ID]);
        assert_eq!(assets[2]["capsule_id"], "capsule_7");
        assert_eq!(assets[2]["genes_used"], json!(["gene_1", assets[0][ASSET_ID], 7]));
        fill_ids(&mut []);
    }
}
