//! The calls that are there for the pages: what is drawn, counted and watched.

mod admins;
mod facets;
mod lineage;
mod live;
mod reputation;
mod usage;

use crate::common::{Bundle, TestHub};
use serde_json::{Value, json};

/// Publishes a bundle and has an admin promote it.
fn promoted(hub: &TestHub, admin: &str, node: &str, bundle: &Bundle) {
    hub.publish(node, bundle).expect(200);
    let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
    hub.post_as(admin, &path, &json!({"reason": "Works."})).expect(200);
}

/// A node fetches an asset.
fn fetch(hub: &TestHub, node: &str, asset: &str) {
    hub.message(node, "fetch", json!({"asset_ids": [asset]})).expect(200);
}

/// A node reports on an asset.
fn report(hub: &TestHub, node: &str, asset: &str, ok: bool) {
    let report = json!({"target_asset_id": asset, "validation_report": {
        "report_id": format!("report_{node}_{asset}"), "overall_ok": ok}});
    hub.take_on_trial(node, asset);
    hub.message(node, "report", report).expect(200);
}

/// The values of a member of each row.
fn column<'v>(rows: &'v Value, name: &str) -> Vec<&'v str> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap()).collect()
}
