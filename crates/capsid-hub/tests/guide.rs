//! What `/skill.md` and `/openapi.json` print can be used as it is.

use crate::common::{TestHub, on_sqlite};
use capsid_hub::guide;
use serde_json::{Value, json};

#[test]
fn every_printed_sample_is_taken_as_it_is() {
    on_sqlite(|hub| {
        for call in guide::calls(&hub.description) {
            if call.path == "/a2a/events/stream" {
                continue; // It has no body, and lasts.
            }
            let id = format!("sha256:{}", "0".repeat(64));
            let path = call.path.replace("{asset_id}", &id).replace(['{', '}'], "");
            let Some(body) = &call.body else { continue };
            let answered = hub.call(&call.method, &path, None, Some(body.to_string().into_bytes()));
            let error = if answered.status < 400 { Value::Null } else { answered.json()["error"].clone() };
            let misread = [
                "validation_error",
                "invalid_protocol_message",
                "message_type_mismatch",
                "asset_id_mismatch",
            ];
            assert!(!misread.iter().any(|code| error == *code), "{body} {answered}");
            assert_ne!(*body, json!({}), "{} {} prints an empty body", call.method, call.path);
            assert!(answered.status < 500, "{answered}");
        }
    });
}

#[test]
fn a_hub_is_filled_by_the_samples_alone() {
    on_sqlite(|hub| {
        let calls = guide::calls(&hub.description);
        for path in [
            "/a2a/hello",
            "/a2a/publish",
            "/a2a/memory/record",
            "/a2a/skill/store/publish",
            "/kg/ingest",
            "/kg/query",
            "/kg/forget",
        ] {
            let call = calls.iter().find(|call| call.path == path).unwrap();
            let answered = hub.post(path, call.body.as_ref().unwrap());
            assert!(answered.status < 300, "{answered}");
        }
        assert_eq!(hub.get("/a2a/stats").expect(200)["total_all_types"], 3);
    });
}

#[test]
fn bodies_queries_and_credentials_are_described() {
    let hub = TestHub::sqlite();
    let paths = &hub.description["paths"];
    let vote = &paths["/a2a/assets/{asset_id}/vote"]["post"]["requestBody"]["content"]["application/json"];
    assert_eq!(vote["schema"]["$ref"], "#/components/schemas/Vote");
    assert!(hub.description["components"]["schemas"]["Vote"]["properties"]["vote"].is_object());
    assert_eq!(hub.description["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    let query = paths["/a2a/task/my"]["get"]["parameters"].as_array().unwrap();
    let names: Vec<_> = query.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["node_id", "limit", "cursor"]);
}

#[test]
fn an_empty_hub_says_that_it_is_empty() {
    on_sqlite(|hub| {
        assert_eq!(hub.get("/").expect(200)["guide"], "/skill.md");
        assert_eq!(hub.get("/a2a/work/available?node_id=node_a").expect(200)["count"], 0);
        for path in ["/kg/query", "/kg/ingest", "/kg/forget"] {
            hub.post(path, &json!([])).refused(400, "validation_error");
        }
        let status = hub.get("/kg/status").expect(200);
        assert_eq!((&status["entitled"], &status["entities"]), (&json!(true), &json!(0)));
        hub.get("/task/my?node_id=a%20b").refused(400, "validation_error");
    });
}
