//! Running a hub: what it says of itself, and what it does when its disk is nearly full.

use crate::common::{Bundle, TestHub, both, on_sqlite, on_sqlite_with, request, send};
use capsid_hub::config::{HubConfig, HubProfile, TlsConfig};
use capsid_rules::identity::addresses::AddressRange;
use serde_json::{Value, json};
use std::path::PathBuf;

#[test]
fn a_private_hub_that_the_whole_internet_reaches_says_so() {
    on_sqlite(|hub| {
        assert_eq!(hub.get("/health").expect(200)["checks"]["profile"], "ok");
    });
    on_sqlite_with(
        |config| config.listen = "8.8.8.8:4000".parse().unwrap(),
        |hub| {
            let health = hub.get("/health").expect(200);
            assert_eq!((&health["status"], &health["checks"]["profile"]), (&json!("ok"), &json!("degraded")));
        },
    );
}

#[test]
fn a_public_hub_needs_tls_or_a_proxy_that_has_it() {
    let mut config = HubConfig::for_profile(HubProfile::Public);
    let problem = config.check_profile().unwrap_err();
    assert!(problem.message.contains("TLS") && problem.fix.is_some(), "{problem}");
    config.admission.trusted_proxies = vec![AddressRange::parse("127.0.0.1").unwrap()];
    assert!(config.check_profile().is_ok());
    config.admission.trusted_proxies.clear();
    config.tls = Some(TlsConfig { certificate: PathBuf::from("a"), key: PathBuf::from("b") });
    assert!(config.check_profile().is_ok());
    assert!(HubConfig::default().check_profile().is_ok());
}

#[test]
fn a_disk_that_is_nearly_full_takes_no_writes_and_goes_on_reading() {
    let hub = TestHub::sqlite();
    let bundles = hub.fill(2);
    let hub = hub.restart_with(|config| config.admission.min_free_bytes = u64::MAX);
    // Without what the harness writes after each call.
    let get = |path: &str| hub.runtime.block_on(send(hub.router(), request("GET", path, None, None)));
    let post = |kind: &str, payload: Value| {
        let body = hub.envelope("node_0", kind, payload).to_string().into_bytes();
        let request = request("POST", &format!("/a2a/{kind}"), None, Some(body));
        hub.runtime.block_on(send(hub.router(), request))
    };
    post("publish", Bundle::new(7).payload()).refused(507, "storage_full");
    post("hello", json!({})).refused(507, "storage_full");
    post("fetch", json!({"asset_ids": [bundles[0].capsule_id()]})).expect(200);
    get(&format!("/a2a/assets/{}", bundles[0].capsule_id())).expect(200);
    get("/a2a/stats").expect(200);
    assert_eq!(get("/health").expect(503)["checks"]["database"]["write"], "failing");
    let hub = hub.restart_with(|config| config.admission.min_free_bytes = 1);
    hub.publish("node_0", &Bundle::new(7)).expect(200);
}

#[test]
fn metrics_report_what_waits() {
    both(|hub| {
        hub.fill(3);
        hub.offer("task_1", 40);
        hub.run_jobs();
        hub.clock.advance(30_000);
        let text = hub.get("/metrics").text;
        let value = |name: &str| {
            let line =
                text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
            line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
        };
        assert_eq!(value("capsid_hub_candidates_waiting"), 3.0);
        assert_eq!(value("capsid_hub_escrow_held_credits"), 40.0);
        assert_eq!(value(r#"capsid_hub_last_job_run_age_seconds{job="tidying"}"#), 30.0);
        assert_eq!(value("capsid_hub_log_lines_dropped_total"), 0.0);
        hub.follow();
        assert_eq!(hub.get("/metrics").text.matches("capsid_hub_index_lag_assets 0\n").count(), 1);
        hub.hub.store.reset_index().unwrap();
        let text = hub.get("/metrics").text;
        assert!(text.contains("capsid_hub_index_lag_assets 9\n"), "{text}");
        assert!(text.contains("capsid_hub_index_lag_seconds 30\n"), "{text}");
    });
}

#[test]
fn a_row_that_cannot_be_read_keeps_no_question_from_its_answer() {
    both(|hub| {
        hub.fill(2);
        hub.follow();
        hub.publish("node_0", &Bundle::new(9)).expect(200);
        hub.change("UPDATE assets SET created_at = 0, asset_type = 'Genome' WHERE seq = (SELECT MAX(seq) FROM assets)");
        let drawn = hub.get("/kg/graph").expect(200);
        assert!(drawn["index_lag"].as_i64().unwrap() > 0, "{drawn}");
    });
}
