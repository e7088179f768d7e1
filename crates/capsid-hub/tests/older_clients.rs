//! What clients send that no registry here has any more, request by request: evolver 1.20.4, which never shows a secret, and the
//! tools of gep-mcp-server 1.6.0. What they read of the answers is there.

use crate::common::{Bundle, TestHub, both};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

const MINUTE: i64 = 60_000;

/// What 1.20.4 says of itself.
fn env_fingerprint() -> Value {
    json!({"node_version": "v22.22.0", "platform": "linux", "arch": "x64", "evolver_version": "1.20.4",
        "client": "evolver", "client_version": "1.20.4"})
}

#[test]
fn evolver_1_20_4_runs_for_two_hours_without_a_secret() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_other", &bundle).expect(200);
        let root = crate::common::economy::admin(hub);
        let path = format!("/admin/assets/{}/promote", bundle.capsule_id());
        hub.post_as(&root, &path, &json!({"reason": "Works."})).expect(200);
        let hello = json!({"capabilities": {}, "gene_count": 3, "capsule_count": 0, "env_fingerprint": env_fingerprint()});
        hub.message("node_old", "hello", hello).expect(200);
        hub.clock.advance(5000);
        for round in 0..60 {
            let beat = hub
                .post("/a2a/heartbeat", &json!({"node_id": "node_old", "sender_id": "node_old"}))
                .expect(200);
            assert_eq!(beat["status"], "ok", "round {round}");
            if round % 10 == 0 {
                let fetched = hub
                    .message("node_old", "fetch", json!({"asset_type": null, "include_tasks": true}))
                    .expect(200);
                assert!(fetched["payload"]["tasks"].is_array());
                let found =
                    hub.get("/a2a/assets/search?signals=Signal1Error&status=promoted&limit=5").expect(200);
                let row = &found["assets"][0];
                for member in ["status", "confidence", "success_streak", "reputation_score", "asset_id"] {
                    assert!(!row[member].is_null(), "{member} of {row}");
                }
                hub.publish("node_old", &Bundle::new(100 + round)).expect(200);
            }
            hub.clock.advance(2 * MINUTE);
        }
    });
}

/// 1.29.8 signs its bundles with its own id, and shows the right secret beside them.
#[test]
fn evolver_1_29_8_publishes_with_its_signature() {
    both(|hub| {
        let fingerprint = json!({"platform": "linux", "arch": "x64", "evolver_version": "1.29.8", "client": "evolver",
            "client_version": "1.29.8"});
        let hello =
            hub.message("node_0a1b2c3d4e5f", "hello", json!({"env_fingerprint": fingerprint})).expect(200);
        let secret = hello["node_secret"].as_str().unwrap();
        // It fetches before it has stored the secret, and shows that from its first claim on.
        hub.message("node_0a1b2c3d4e5f", "fetch", json!({"asset_type": null, "include_tasks": true}))
            .expect(200);
        hub.post_as(secret, "/a2a/heartbeat", &json!({"node_id": "node_0a1b2c3d4e5f"})).expect(200);
        let bundle = Bundle::new(1);
        let mut ids = [bundle.gene_id(), bundle.capsule_id()];
        ids.sort_unstable();
        let mut signature = Hmac::<Sha256>::new_from_slice(b"node_0a1b2c3d4e5f").unwrap();
        signature.update(ids.join("|").as_bytes());
        let mut payload = bundle.payload();
        payload["signature"] = json!(capsid_model::hash::hex(&signature.finalize().into_bytes()));
        let published = hub.message_as("node_0a1b2c3d4e5f", secret, "publish", payload).expect(200);
        assert_eq!(published["status"], "accepted");
    });
}

/// The MCP server in its remote mode: it reads with the API key of an account where it has one, and writes with the node's secret.
struct McpServer<'a> {
    hub: &'a TestHub,
    node: &'a str,
    api_key: Option<String>,
    secret: String,
}

impl<'a> McpServer<'a> {
    /// A node that an account claimed, with or without a key of that account.
    fn new(hub: &'a TestHub, node: &'a str, has_key: bool) -> Self {
        let hello = hub.message(node, "hello", json!({"capabilities": {}})).expect(200);
        let text = |name: &str| hello[name].as_str().unwrap().to_owned();
        let (token, _) = crate::common::economy::user(hub, node);
        hub.post_as(&token, &format!("/claim/{}", text("claim_code")), &json!({})).expect(200);
        let made = hub.post_as(&token, "/account/api-keys", &json!({"name": "mcp"})).expect(201);
        let api_key = has_key.then(|| made["api_key"].as_str().unwrap().to_owned());
        Self { hub, node, api_key, secret: text("node_secret") }
    }

    /// What it shows where it only reads, and for its memory.
    fn reader(&self) -> &str {
        self.api_key.as_ref().unwrap_or(&self.secret)
    }

    fn get(&self, path: &str) -> Value {
        self.hub.get_as(self.reader(), path).expect(200)
    }

    fn remember(&self, path: &str, body: Value) -> Value {
        self.hub.post_as(self.reader(), path, &body).expect(200)
    }

    fn message(&self, kind: &str, payload: Value) -> Value {
        self.hub.message_as(self.node, &self.secret, kind, payload).expect(200)
    }
}

#[test]
fn gep_mcp_server_finds_what_its_tools_need() {
    both(|hub| {
        let root = crate::common::economy::admin(hub);
        for (n, node, has_key) in [(1, "node_mcp", true), (11, "node_bare_mcp", false)] {
            use_every_tool(&McpServer::new(hub, node, has_key), &root, n);
        }
    });
}

fn use_every_tool(mcp: &McpServer<'_>, root: &str, n: u64) {
    let (hub, node) = (mcp.hub, mcp.node);
    // gep_record_outcome, gep_recall, gep_status
    let outcome = json!({"node_id": node, "signals": ["log_error"], "gene_id": "gene_retry", "status": "success",
        "score": 0.9, "summary": "Retrying requests that time out"});
    assert_eq!(mcp.remember("/a2a/memory/record", outcome)["recorded"], true);
    for signals in [json!(["log_error"]), json!(["intent:repair"]), Value::Null] {
        let recall = json!({"node_id": node, "query": "requests time out", "signals": signals, "limit": 10});
        let recalled = mcp.remember("/a2a/memory/recall", recall);
        assert!(recalled["signals_extracted"].is_array() && recalled["matches"].is_array(), "{recalled}");
    }
    assert_eq!(mcp.get(&format!("/a2a/memory/status?node_id={node}"))["total"], 1);
    // gep_publish_bundle, with an id of its own for each asset and no signature
    let bundle = Bundle::new(n);
    let mut payload = bundle.payload();
    payload["chain_id"] = json!("chain_of_retries");
    assert_eq!(mcp.message("publish", payload)["status"], "accepted");
    for id in [bundle.gene_id(), bundle.capsule_id()] {
        hub.post_as(root, &format!("/admin/assets/{id}/promote"), &json!({"reason": "Works."})).expect(200);
    }
    // A refusal throws there only if the status says so.
    let poor = Bundle::new(n + 1).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
    hub.message_as(node, &mcp.secret, "publish", poor.payload()).refused(422, "bundle_rejected");
    // gep_evolve, gep_list_genes with and without a category, gep_search_community
    let search = |query: &str| mcp.get(&format!("/a2a/assets/semantic-search?{query}"))["assets"].clone();
    for query in ["q=repair+requests+time+out&type=Gene&limit=5", "q=evolution+strategy&type=Gene&limit=20"] {
        assert!(search(query).is_array(), "{query}");
    }
    let genes = search("q=repair&type=Gene&limit=20");
    assert!(genes[0]["asset_id"].is_string() && genes[0]["category"] == "repair", "{genes}");
    let found =
        search(&format!("q=Signal{n}Error&type=Capsule&outcome=success&limit=10&include_context=true"));
    let row = &found[0];
    assert!(
        row["similarity"].is_number() && row["validation_summary"]["validationQuality"] == "suspicious",
        "{row}"
    );
    // gep_submit_validation_report
    let report = json!({"target_asset_id": bundle.capsule_id(), "target_local_id": null, "validation_report": {
        "type": "ValidationReport", "schema_version": "1.13.0", "id": format!("vr_{n}"), "gene_id": null,
        "asset_id": format!("sha256:{}", "0a".repeat(32)), "overall_ok": true, "duration_ms": null,
        "created_at": "2026-01-01T00:00:00.000Z", "commands": [
            {"command": "node tests/retry.test.js", "ok": true, "stdout": "", "stderr": ""}]}});
    assert_eq!(mcp.message("report", report.clone())["payload"]["label"], "self");
    hub.register("node_reads");
    hub.message("node_reads", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
    let told = hub.message("node_reads", "report", report).expect(200);
    assert_eq!(told["grade"], "fetched", "{told}");
    share_skills(mcp);
    // gep_get_identity and gep_get_audit_logs
    assert_eq!(mcp.get(&format!("/a2a/identity/{node}"))["node_id"], node);
    assert_eq!(mcp.get("/a2a/identity/node_reads")["node_id"], "node_reads");
    assert!(mcp.get(&format!("/a2a/identity/{node}/attestation")).is_object());
    let logs = mcp.get(&format!("/a2a/audit/{node}?sender_id={node}&limit=50&offset=0"));
    assert!(logs["logs"].is_array() && logs["total"].is_number(), "{logs}");
    // gep_revoke
    let revoke = json!({"target_asset_id": bundle.capsule_id(), "target_local_id": null, "reason": null});
    assert_eq!(mcp.message("revoke", revoke)["status"], "revoked");
}

/// gep_publish_skill, gep_list_skill, gep_load_skill, and the withdrawal of a skill.
fn share_skills(mcp: &McpServer<'_>) {
    let hub = mcp.hub;
    let skill_id = format!("skill_of_{}", mcp.node);
    let content = "---\nname: Retry With Pauses\ndescription: Try again, later each time\n---\n# Retry";
    let skill = json!({"sender_id": mcp.node, "skill_id": skill_id, "content": content,
        "category": "repair", "tags": ["timeout"]});
    hub.post_as(&mcp.secret, "/a2a/skill/store/publish", &skill).expect(201);
    hub.post_as(&mcp.secret, "/a2a/skill/store/publish", &skill).refused(409, "already_exists");
    let mut changed = skill;
    changed["changelog"] = json!("Iterative evolution update");
    let body = changed.to_string().into_bytes();
    hub.call("PUT", "/a2a/skill/store/update", Some(&mcp.secret), Some(body)).expect(200);
    let listed = mcp.get("/a2a/skill/store/list?limit=50");
    let row = &listed["skills"][0];
    assert_eq!((&row["name"], &row["tags"]), (&json!("Retry With Pauses"), &json!(["timeout"])));
    assert!(
        row["version"].is_string() && row["description"].is_string() && row["sizeBytes"].is_number(),
        "{row}"
    );
    assert_eq!(mcp.get("/a2a/skill/store/list?q=pauses&limit=50")["count"], 1);
    let loaded = mcp.get("/a2a/skill/store/fetch?name=Retry+With+Pauses");
    assert_eq!((&loaded["content"], &loaded["version"]), (&json!(content), &json!("2")));
    hub.get_as(&mcp.secret, "/a2a/skill/store/fetch?name=none").refused(404, "not_found");
    let delete = json!({"sender_id": mcp.node, "skill_id": skill_id, "reason": null});
    hub.post_as(&mcp.secret, "/a2a/skill/store/delete", &delete).expect(200);
}
