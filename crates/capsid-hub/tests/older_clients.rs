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

/// The calls of the MCP server with a node's secret, as its remote mode makes them.
struct McpServer<'a> {
    hub: &'a TestHub,
    secret: String,
}

impl McpServer<'_> {
    fn get(&self, path: &str) -> Value {
        self.hub.get_as(&self.secret, path).expect(200)
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.hub.post_as(&self.secret, path, &body).expect(200)
    }

    fn message(&self, kind: &str, payload: Value) -> Value {
        self.hub.message_as("node_mcp", &self.secret, kind, payload).expect(200)
    }
}

#[test]
fn gep_mcp_server_finds_what_its_tools_need() {
    both(|hub| {
        let mcp = McpServer { hub, secret: hub.register("node_mcp") };
        // gep_evolve and gep_recall
        let remembered = mcp.post("/a2a/memory/record", json!({"node_id": "node_mcp", "signals": ["log_error"],
            "gene_id": "gene_retry", "status": "success", "score": 0.9, "summary": "Retrying requests that time out"}));
        assert!(remembered.is_object());
        let recalled = mcp.post(
            "/a2a/memory/recall",
            json!({"node_id": "node_mcp", "query": "requests time out",
            "signals": ["log_error"], "limit": 10}),
        );
        assert!(recalled["signals_extracted"].is_array() && recalled["matches"].is_array(), "{recalled}");
        mcp.post(
            "/a2a/memory/recall",
            json!({"node_id": "node_mcp", "query": "requests time out", "signals": null, "limit": 10}),
        );
        assert!(mcp.get("/a2a/memory/status?node_id=node_mcp").is_object());
        // gep_publish_bundle, with an id of its own for each asset and no signature
        let bundle = Bundle::new(1);
        assert_eq!(mcp.message("publish", bundle.payload())["status"], "accepted");
        let root = crate::common::economy::admin(hub);
        for id in [bundle.gene_id(), bundle.capsule_id()] {
            hub.post_as(&root, &format!("/admin/assets/{id}/promote"), &json!({"reason": "Works."}))
                .expect(200);
        }
        // A refusal throws there only if the status says so.
        let poor = Bundle::new(2).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
        hub.message_as("node_mcp", &mcp.secret, "publish", poor.payload()).refused(422, "bundle_rejected");
        // gep_list_genes and gep_search_community
        let genes = mcp.get("/a2a/assets/semantic-search?q=repair&type=Gene&limit=20");
        assert!(genes["assets"].is_array());
        let found = mcp.get("/a2a/assets/semantic-search?q=Signal1Error&type=Capsule&outcome=success&limit=10&include_context=true");
        let row = &found["assets"][0];
        assert!(
            row["similarity"].is_number() && row["validation_summary"]["validationQuality"] == "suspicious",
            "{row}"
        );
        // gep_submit_validation_report
        let report = json!({"target_asset_id": bundle.capsule_id(), "target_local_id": null,
            "validation_report": {"type": "ValidationReport", "id": "vr_1", "overall_ok": true, "commands": [
                {"command": "node tests/retry.test.js", "ok": true, "stdout": "", "stderr": ""}]}});
        hub.message("node_reads", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        hub.message("node_reads", "report", report).expect(200);
        share_skills(&mcp);
        // gep_get_identity and gep_get_audit_logs
        assert_eq!(mcp.get("/a2a/identity/node_mcp")["node_id"], "node_mcp");
        assert!(mcp.get("/a2a/identity/node_mcp/attestation").is_object());
        let logs = mcp.get("/a2a/audit/node_mcp?sender_id=node_mcp&limit=50&offset=0");
        assert!(logs["logs"].is_array() && logs["total"].is_number(), "{logs}");
        // gep_revoke
        let revoke = json!({"target_asset_id": bundle.capsule_id(), "target_local_id": null, "reason": null});
        assert_eq!(mcp.message("revoke", revoke)["status"], "revoked");
    });
}

/// gep_publish_skill, gep_list_skill, gep_load_skill, and the withdrawal of a skill.
fn share_skills(mcp: &McpServer<'_>) {
    let hub = mcp.hub;
    let content = "---\nname: Retry With Pauses\ndescription: Try again, later each time\n---\n# Retry";
    let skill = json!({"sender_id": "node_mcp", "skill_id": "skill_retry_with_pauses", "content": content,
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
    mcp.post(
        "/a2a/skill/store/delete",
        json!({"sender_id": "node_mcp", "skill_id": "skill_retry_with_pauses", "reason": null}),
    );
}
