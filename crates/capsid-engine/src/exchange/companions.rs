//! A capsule that is fetched for use brings its gene: without the gene no command could validate the capsule here.

use super::stage::load_known_ids;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_client::asset::is_id;
use capsid_client::calls::FetchedAssets;
use capsid_client::node::encoded;
use capsid_model::{Object, Result, Value};
use std::collections::BTreeSet;

/// Fetches the genes of fetched capsules that neither came with them nor are here. What came stays, whatever becomes of
/// them: a hub that fails now is listed among what was refused.
pub fn add_gene_companions(
    workspace: &Workspace,
    node: &NodeClient,
    fetched: &mut FetchedAssets,
) -> Result<()> {
    let (here, _) = load_known_ids(workspace)?;
    let capsules = fetched.assets.iter().filter(|asset| text(asset, "type") == "Capsule");
    let mut genes: BTreeSet<String> = capsules.filter_map(|capsule| gene_of(node, capsule)).collect();
    genes.retain(|id| !here.contains(id) && fetched.assets.iter().all(|asset| text(asset, "asset_id") != id));
    if genes.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = genes.iter().map(String::as_str).collect();
    match node.fetch(&ids) {
        Ok(more) => join(fetched, more),
        Err(problem) => fetched.refused.push(problem),
    }
    Ok(())
}

/// The asset id of a capsule's gene: from the capsule, or from its bundle if the capsule only has a local name.
fn gene_of(node: &NodeClient, capsule: &Object) -> Option<String> {
    let named = text(capsule, "gene");
    if is_id(named) {
        return Some(named.to_owned());
    }
    let path = format!("/a2a/assets/{}", encoded(text(capsule, "asset_id")));
    let detail = node.get(&path, &[("node_id", node.id())]).ok()?;
    detail.pointer("/bundle/gene/asset_id")?.as_str().filter(|id| is_id(id)).map(str::to_owned)
}

/// Puts two answers together; the later balance is the one that holds.
fn join(fetched: &mut FetchedAssets, more: FetchedAssets) {
    fetched.assets.extend(more.assets);
    fetched.refused.extend(more.refused);
    fetched.sources.extend(more.sources);
    for (name, value) in more.payload {
        let joined = match (fetched.payload.get(&name), value) {
            (Some(Value::Object(before)), Value::Object(after)) => {
                Value::Object(before.clone().into_iter().chain(after).collect())
            }
            (Some(Value::Array(before)), Value::Array(after)) => [before.clone(), after].concat().into(),
            (Some(before), after) if name == "credits_charged" => {
                (before.as_f64().unwrap_or_default() + after.as_f64().unwrap_or_default()).into()
            }
            (_, after) => after,
        };
        fetched.payload.insert(name, joined);
    }
}

fn text<'a>(document: &'a Object, member: &str) -> &'a str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn two_answers_are_told_as_one() {
        let answer = |payload: Value| FetchedAssets {
            payload: payload.as_object().cloned().unwrap(),
            ..FetchedAssets::default()
        };
        let mut first =
            answer(json!({"meta": {"a": 1}, "missing": ["x"], "credits_charged": 1.5, "credit_balance": 9}));
        let more = json!({"meta": {"b": 2}, "missing": ["y"], "credits_charged": 2, "credit_balance": 7, "count": 1});
        join(&mut first, answer(more));
        let wanted = json!({"meta": {"a": 1, "b": 2}, "missing": ["x", "y"], "credits_charged": 3.5,
            "credit_balance": 7, "count": 1});
        assert_eq!(Value::Object(first.payload), wanted);
    }
}
