//! Every sample request of the protocol, and what it promises about the answers.

use serde_json::Value;

/// Sends a request (method, path, body) and gives status and answer.
pub type Call<'a> = dyn FnMut(&str, &str, Option<&str>) -> (u16, Value) + 'a;

pub const GENE: &str = "sha256:1c378f08f5cf0f2ad82f3f8a695aec9610137b5708dbff31d38fe2fe29176919";
pub const CAPSULE: &str = "sha256:1690a03cb76c0d24e1a77647d8e98f619bd2af6ff92a3d3f8286c55307395e3d";
pub const EVENT: &str = "sha256:eae2d45e966129ebf012075bf856c093a355134d64b56d90468fe62f3fbbd94a";
const NODE: &str = "node_e5f6a7b8c9d0e1f2";

const HELLO: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "hello",
"message_id": "msg_1736934600_a1b2c3d4",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:30:00Z",
"payload": {
"capabilities": {},
"gene_count": 0,
"capsule_count": 0,
"env_fingerprint": {
"platform": "linux",
"arch": "x64"
}
}
}"#;

const PUBLISH: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "publish",
"message_id": "msg_1736934700_b2c3d4e5",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:31:40Z",
"payload": {
"assets": [
{
"type": "Gene",
"schema_version": "1.5.0",
"category": "repair",
"signals_match": ["TimeoutError"],
"summary": "Retry with exponential backoff on timeout errors",
"asset_id": "sha256:GENE_HASH_HERE"
},
{
"type": "Capsule",
"schema_version": "1.5.0",
"trigger": ["TimeoutError"],
"gene": "sha256:GENE_HASH_HERE",
"summary": "Fix API timeout with bounded retry and connection pooling",
"confidence": 0.85,
"blast_radius": { "files": 1, "lines": 10 },
"outcome": { "status": "success", "score": 0.85 },
"env_fingerprint": { "platform": "linux", "arch": "x64" },
"success_streak": 3,
"asset_id": "sha256:CAPSULE_HASH_HERE"
},
{
"type": "EvolutionEvent",
"intent": "repair",
"capsule_id": "sha256:CAPSULE_HASH_HERE",
"genes_used": ["sha256:GENE_HASH_HERE"],
"outcome": { "status": "success", "score": 0.85 },
"mutations_tried": 3,
"total_cycles": 5,
"asset_id": "sha256:EVENT_HASH_HERE"
}
]
}
}"#;

const FETCH: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "fetch",
"message_id": "msg_1736934800_c3d4e5f6",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:33:20Z",
"payload": {
"asset_type": "Capsule"
}
}"#;

const FETCH_WITH_TASKS: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "fetch",
"message_id": "msg_1736935000_d4e5f6a7",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:36:40Z",
"payload": {
"asset_type": "Capsule",
"include_tasks": true
}
}"#;

const FETCH_WITH_NULLS: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "fetch",
"message_id": "msg_1736934800_c3d4e5f6",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:33:20Z",
"payload": {
"asset_type": "Capsule",
"local_id": null,
"content_hash": null
}
}"#;

const HELLO_WITH_WEBHOOK: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "hello",
"message_id": "msg_1736935100_e5f6a7b8",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:38:20Z",
"payload": {
"capabilities": {},
"gene_count": 0,
"capsule_count": 0,
"env_fingerprint": { "platform": "linux", "arch": "x64" },
"webhook_url": "https://your-agent.example.com/webhook"
}
}"#;

const REPORT: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "report",
"message_id": "msg_1736934900_d4e5f6a7",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:35:00Z",
"payload": {
"target_asset_id": "sha256:ASSET_HASH_HERE",
"validation_report": {
"report_id": "report_001",
"overall_ok": true,
"env_fingerprint_key": "linux_x64"
}
}
}"#;

const DECISION: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "decision",
"message_id": "msg_1736935000_e5f6a7b8",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:36:40Z",
"payload": {
"target_asset_id": "sha256:ASSET_HASH_HERE",
"decision": "accept",
"reason": "Validation passed on all test environments"
}
}"#;

const REVOKE: &str = r#"{
"protocol": "gep-a2a",
"protocol_version": "1.0.0",
"message_type": "revoke",
"message_id": "msg_1736935100_f6a7b8c9",
"sender_id": "node_e5f6a7b8c9d0e1f2",
"timestamp": "2025-01-15T08:38:20Z",
"payload": {
"target_asset_id": "sha256:ASSET_HASH_HERE",
"reason": "Superseded by improved version"
}
}"#;

/// Walks through all of them in the order of the document, on an empty hub.
pub fn walk(call: &mut Call<'_>) {
    register(call);
    publish(call);
    fetch(call);
    report_and_decide(call);
    look_around(call);
    revoke(call);
    common_failures(call);
}

fn register(call: &mut Call<'_>) {
    let hello = expect(call, 200, "POST", "/a2a/hello", Some(HELLO));
    assert_eq!(hello["status"], "acknowledged", "{hello}");
    let code = hello["claim_code"].as_str().unwrap();
    assert!(code.len() == 9 && code.as_bytes()[4] == b'-', "{code}");
    assert!(hello["claim_url"].as_str().unwrap().ends_with(&format!("/claim/{code}")), "{hello}");
    let again = expect(call, 200, "POST", "/a2a/hello", Some(HELLO_WITH_WEBHOOK));
    assert_eq!(again["status"], "acknowledged", "{again}");
    assert_eq!(again["claim_code"], code, "the code lives for a day");
}

fn publish(call: &mut Call<'_>) {
    let message = filled(PUBLISH);
    let published = expect(call, 200, "POST", "/a2a/publish", Some(&message));
    assert_eq!(published["payload"]["decision"], "accept", "{published}");
    let bundle = published["bundle_id"].as_str().unwrap().to_owned();
    assert!(bundle.starts_with("bundle_"), "{bundle}");
    let statuses: Vec<&Value> =
        published["assets"].as_array().unwrap().iter().map(|asset| &asset["status"]).collect();
    assert_eq!(statuses, ["candidate", "candidate", "candidate"], "{published}");
    let again = expect(call, 200, "POST", "/a2a/publish", Some(&message));
    assert_eq!(again, published, "the same message gets the same answer");
    let renamed = message.replace("msg_1736934700_b2c3d4e5", "msg_1736934701_b2c3d4e5");
    let again = expect(call, 200, "POST", "/a2a/publish", Some(&renamed));
    assert_eq!(again["bundle_id"], bundle, "the bundle's id comes from its assets");
}

fn fetch(call: &mut Call<'_>) {
    for message in [FETCH, FETCH_WITH_TASKS, FETCH_WITH_NULLS] {
        let fetched = expect(call, 200, "POST", "/a2a/fetch", Some(message));
        // Nothing is promoted yet.
        assert_eq!(fetched["payload"]["results"], serde_json::json!([]), "{fetched}");
        let tasks = fetched["payload"].get("tasks").map(Value::is_array);
        assert!(message != FETCH_WITH_TASKS || tasks == Some(true), "{fetched}");
    }
}

fn report_and_decide(call: &mut Call<'_>) {
    let report = REPORT.replace("sha256:ASSET_HASH_HERE", CAPSULE);
    let reported = expect(call, 200, "POST", "/a2a/report", Some(&report));
    assert_eq!(reported["payload"]["status"], "recorded", "a publisher's own report: {reported}");
    let decision = DECISION.replace("sha256:ASSET_HASH_HERE", CAPSULE);
    let decided = expect(call, 200, "POST", "/a2a/decision", Some(&decision));
    assert_eq!(decided["payload"]["status"], "recorded", "without authority: {decided}");
    assert_eq!(decided["payload"]["asset_status"], "candidate", "{decided}");
}

fn look_around(call: &mut Call<'_>) {
    for sort in ["newest", "ranked", "most_used"] {
        let path = format!("/a2a/assets?status=candidate&type=Capsule&limit=5&sort={sort}");
        assert_eq!(ids(&expect(call, 200, "GET", &path, None)), [CAPSULE], "{sort}");
    }
    assert!(ids(&expect(call, 200, "GET", "/a2a/assets", None)).is_empty());
    let path = "/a2a/assets/search?signals=TimeoutError&status=candidate&type=Gene&limit=5";
    assert_eq!(ids(&expect(call, 200, "GET", path, None)), [GENE]);
    assert!(ids(&expect(call, 200, "GET", "/a2a/assets/ranked?type=Capsule&limit=5", None)).is_empty());
    for id in [GENE, CAPSULE, EVENT, &CAPSULE.replace(':', "%3A")] {
        let detail = expect(call, 200, "GET", &format!("/a2a/assets/{id}"), None);
        assert_eq!(detail["asset_id"], id.replace("%3A", ":"), "{detail}");
        assert_eq!(detail["status"], "candidate", "{detail}");
    }
    let vote = format!("/a2a/assets/{CAPSULE}/vote");
    let refused = expect(call, 401, "POST", &vote, Some(r#"{"vote": "up"}"#));
    assert_eq!(refused["error"], "unauthorized", "{refused}");
    let nodes = expect(call, 200, "GET", "/a2a/nodes?sort=reputation&limit=5", None);
    assert_eq!(nodes["nodes"][0]["node_id"], NODE, "{nodes}");
    let node = expect(call, 200, "GET", &format!("/a2a/nodes/{NODE}"), None);
    assert!(node["reputation_score"].is_number() && node["total_published"].is_number(), "{node}");
    let stats = expect(call, 200, "GET", "/a2a/stats", None);
    assert_eq!(stats["total_nodes"], 1, "{stats}");
    let trending = expect(call, 200, "GET", "/a2a/trending", None);
    assert!(trending["assets"].is_array(), "{trending}");
    let reports = expect(call, 200, "GET", "/a2a/validation-reports", None);
    assert_eq!(reports["reports"][0]["target_asset_id"], CAPSULE, "{reports}");
    let events = expect(call, 200, "GET", "/a2a/evolution-events", None);
    assert_eq!(events["events"][0]["asset_id"], EVENT, "{events}");
}

fn revoke(call: &mut Call<'_>) {
    let message = REVOKE.replace("sha256:ASSET_HASH_HERE", CAPSULE);
    expect(call, 200, "POST", "/a2a/revoke", Some(&message));
    let detail = expect(call, 200, "GET", &format!("/a2a/assets/{CAPSULE}"), None);
    assert_eq!(detail["status"], "revoked", "{detail}");
}

/// What the document says that goes wrong goes wrong as it says.
fn common_failures(call: &mut Call<'_>) {
    let bare = expect(call, 400, "POST", "/a2a/hello", Some(r#"{"capabilities": {}}"#));
    assert_eq!(bare["error"], "invalid_protocol_message", "{bare}");
    expect(call, 404, "GET", "/a2a/hello", None);
    expect(call, 404, "POST", "/a2a/a2a/hello", Some(HELLO));
    let mut single: Value = serde_json::from_str(&filled(PUBLISH)).unwrap();
    single["message_id"] = "msg_1736934700_00000001".into();
    single["payload"] = serde_json::json!({"asset": single["payload"]["assets"][0]});
    let single = expect(call, 422, "POST", "/a2a/publish", Some(&single.to_string()));
    assert_eq!(single["error"], "bundle_required", "{single}");
    let wrong = filled(PUBLISH).replace("on timeout errors", "on errors").replace("b2c3d4e5", "00000002");
    let wrong = expect(call, 422, "POST", "/a2a/publish", Some(&wrong));
    assert_eq!(wrong["error"], "asset_id_mismatch", "{wrong}");
    assert!(wrong["correction"]["problem"].as_str().unwrap().contains("asset_id mismatch"), "{wrong}");
}

fn filled(message: &str) -> String {
    message
        .replace("sha256:GENE_HASH_HERE", GENE)
        .replace("sha256:CAPSULE_HASH_HERE", CAPSULE)
        .replace("sha256:EVENT_HASH_HERE", EVENT)
}

fn ids(list: &Value) -> Vec<&str> {
    list["assets"].as_array().unwrap().iter().map(|asset| asset["asset_id"].as_str().unwrap()).collect()
}

#[track_caller]
fn expect(call: &mut Call<'_>, status: u16, method: &str, path: &str, body: Option<&str>) -> Value {
    let (got, answer) = call(method, path, body);
    assert_eq!(got, status, "{method} {path}: {answer}");
    answer
}
