//! What strangers could do to nodes once, by the words in which it was found.

use super::*;
use crate::common::{Bundle, both, both_with};
use capsid_model::problem::Problem;
use capsid_rules::identity::secrets::RequireSecret;
use serde_json::json;

fn with_device(device: &str, rotate: bool) -> Value {
    json!({"rotate_secret": rotate, "env_fingerprint": {"device_id": device, "platform": "linux"}})
}

#[test]
fn a_hello_with_rotate_secret_and_the_right_device_id_replaces_no_secret() {
    with_each_identity(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let secret = secret_in(&home.hello(NODE, None, with_device("device-1", false)).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        for caller in [&home, &elsewhere] {
            let refused =
                caller.hello(NODE, None, with_device("device-1", true)).refused(401, "node_secret_required");
            assert_eq!(refused["reason"], "rotation_requires_current_secret");
            let wrong = "0".repeat(64);
            let refused = caller.hello(NODE, Some(&wrong), with_device("device-1", true));
            assert_eq!(
                refused.refused(403, "node_secret_invalid")["reason"],
                "rotation_requires_current_secret"
            );
        }
        home.heartbeat(NODE, Some(&secret)).expect(200);
    });
}

#[test]
fn a_device_id_that_leaked_through_a_published_asset_proves_nothing() {
    both(|hub| {
        let home = hub.from(HOME);
        let secret = secret_in(&home.hello(NODE, None, with_device("device-1", false)).expect(200));
        let print = json!({"device_id": "device-1", "platform": "linux"});
        let bundle = Bundle::new(1).with(|bundle| bundle.capsule["env_fingerprint"] = print.clone());
        home.message(NODE, Some(&secret), "publish", bundle.payload()).expect(200);
        hub.clock.advance(48 * HOUR);
        home.hello(NODE, None, with_device("device-1", true)).refused(401, "node_secret_required");
        home.heartbeat(NODE, Some(&secret)).expect(200);
    });
}

#[test]
fn a_device_id_is_stored_as_a_keyed_hash_and_is_in_no_answer() {
    both(|hub| {
        let home = hub.from(HOME);
        let payload = with_device("device-0123456789abcdef", false);
        let met = home.hello(NODE, None, payload).expect(200);
        home.heartbeat(NODE, Some(&secret_in(&met))).expect(200);
        let dump = hub.dump();
        assert!(!dump.contains("device-0123456789abcdef"), "{dump}");
        // Without the hub's key nobody can try ids.
        assert!(!dump.contains(&capsid_model::hash::sha256_hex(b"device-0123456789abcdef")));
        assert_eq!(count(hub, "SELECT COUNT(*) FROM nodes WHERE device_hash IS NOT NULL"), 1);
        for path in [
            format!("/a2a/nodes/{NODE}"),
            "/a2a/nodes".to_owned(),
            format!("/a2a/identity/{NODE}"),
            format!("/a2a/nodes/{NODE}/activity"),
        ] {
            assert!(!hub.get(&path).text.contains("device"), "{path}");
        }
        assert!(!met.to_string().contains("device"), "{met}");
    });
}

#[test]
fn a_strangers_hello_before_binding_returns_no_secret_and_no_claim_code() {
    for policy in [RequireSecret::Never, RequireSecret::Tofu, RequireSecret::Always] {
        for client in [json!({}), json!({"client": "capsid", "client_version": "0.1.0"})] {
            both_with(
                |config| config.require_secret = policy,
                |hub| {
                    let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
                    let payload = json!({"env_fingerprint": client});
                    let secret = secret_in(&home.hello(NODE, None, payload).expect(200));
                    let greets_a_stranger = || {
                        let before = hub.dump();
                        let named =
                            json!({"name": "mine", "model": "mine", "webhook_url": "https://example.org/"});
                        let answer = elsewhere.hello(NODE, None, named).expect(200);
                        holds_nothing(&answer["payload"]);
                        assert_eq!(answer["status"], "acknowledged");
                        assert_eq!(answer["node_secret_status"], "active");
                        assert!(!answer.to_string().contains("balance"), "{answer}");
                        assert_eq!(hub.dump(), before, "it changes nothing");
                    };
                    greets_a_stranger();
                    hub.clock.advance(61 * SECOND);
                    greets_a_stranger();
                    home.heartbeat(NODE, Some(&secret)).expect(200);
                    greets_a_stranger();
                },
            );
        }
    }
}

#[test]
fn a_strangers_claim_code_does_not_work_after_binding() {
    both(|hub| {
        let home = hub.from(HOME);
        let met = home.hello(NODE, None, json!({})).expect(200);
        let code = met["claim_code"].as_str().unwrap();
        // As older hubs gave them to anybody, and as a stranger of another network may have one.
        run_sql(
            hub,
            "INSERT INTO claims (code, node_id, network, created_at, expires_at) VALUES
                ('OLD2-CODE', 'node_e5f6a7b8c9d0e1f2', NULL, 0, 9000000000000),
                ('FARA-WAYS', 'node_e5f6a7b8c9d0e1f2', '198.51.100.0/24', 0, 9000000000000)",
        );
        home.heartbeat(NODE, Some(&secret_in(&met))).expect(200);
        let ann = account(hub, "ann@example.org");
        for stranger in ["OLD2-CODE", "FARA-WAYS"] {
            hub.get(&format!("/claim/{stranger}")).refused(410, "claim_code_expired");
            hub.post_as(&ann, &format!("/claim/{stranger}"), &json!({})).refused(410, "claim_code_expired");
        }
        // The code that the client printed before it was bound is the user's.
        hub.post_as(&ann, &format!("/claim/{code}"), &json!({})).expect(200);
    });
}

#[test]
fn issued_secrets_are_not_stored_in_clear_text() {
    both(|hub| {
        let home = hub.from(HOME);
        let secret = secret_in(&home.hello(NODE, None, json!({})).expect(200));
        assert!(!hub.dump().contains(&secret), "not even while the window is open");
        let folder = tempfile::tempdir().unwrap();
        let backup = folder.path().join("backup.db");
        crate::backup::back_up(hub, &backup);
        let bytes = std::fs::read(&backup).unwrap();
        assert!(!holds(&bytes, secret.as_bytes()), "a backup holds the secret");
        let sealed =
            hub.hub.store.read_now(|tx| tx.query_one::<Vec<u8>>("SELECT issued_sealed FROM nodes", &[]));
        assert!(hub.on == crate::common::On::Sqlite || !holds(&bytes, &sealed.unwrap()), "or what opens it");
        hub.clock.advance(61 * SECOND);
        run_jobs(hub);
        let kept = "SELECT COUNT(*) FROM nodes WHERE issued_sealed IS NOT NULL OR issued_secret IS NOT NULL";
        assert_eq!(count(hub, kept), 0, "nothing is left after the window");
        home.heartbeat(NODE, Some(&secret)).expect(200);
    });
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_secret_that_is_shown_is_erased_at_once() {
    both(|hub| {
        let home = hub.from(HOME);
        let secret = secret_in(&home.hello(NODE, None, json!({})).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        assert_eq!(count(hub, "SELECT COUNT(*) FROM nodes WHERE issued_sealed IS NOT NULL"), 0);
        let answer = home.hello(NODE, None, json!({})).expect(200);
        holds_nothing(&answer["payload"]);
    });
}

#[test]
fn a_bundle_that_is_signed_with_the_nodes_id_is_taken_if_the_bearer_is_right() {
    use hmac::{Hmac, KeyInit, Mac};
    both(|hub| {
        let home = hub.from(HOME);
        let secret = secret_in(&home.hello(NODE, None, json!({})).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        let signed = |n: u64, key: &str| {
            let bundle = Bundle::new(n);
            let mut ids = [bundle.gene_id(), bundle.capsule_id()];
            ids.sort();
            let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key.as_bytes()).unwrap();
            mac.update(ids.join("|").as_bytes());
            let mut payload = bundle.payload();
            payload["signature"] = json!(capsid_model::hash::hex(&mac.finalize().into_bytes()));
            payload
        };
        let weak = |answer: &Value| answer["warnings"].to_string().contains("signature_weak");
        let answer = home.message(NODE, Some(&secret), "publish", signed(1, &secret)).expect(200);
        assert!(!weak(&answer), "{answer}");
        let answer = home.message(NODE, Some(&secret), "publish", signed(2, NODE)).expect(200);
        assert!(weak(&answer), "{answer}");
        let other = signed(3, "something else");
        home.message(NODE, Some(&secret), "publish", other).refused(422, "signature_invalid");
        home.message(NODE, None, "publish", signed(4, NODE)).refused(401, "node_secret_required");
        let wrong = "0".repeat(64);
        home.message(NODE, Some(&wrong), "publish", signed(5, NODE)).refused(403, "node_secret_invalid");
    });
}

#[test]
fn what_a_report_says_of_its_machine_is_in_no_answer() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_author", &bundle).expect(200);
        let report = json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true,
            "env_fingerprint": {"platform": "linux", "arch": "x64", "device_id": "device-77"}}});
        hub.message("node_b", "report", report).expect(200);
        for path in ["/a2a/validation-reports", "/a2a/nodes/node_b/activity"] {
            let answer = hub.get(path).expect(200);
            assert!(!answer.to_string().contains("device-77"), "{answer}");
        }
        let detail = format!("/a2a/assets/{}?detailed=true", bundle.capsule_id());
        assert!(!hub.get(&detail).text.contains("device-77"));
    });
}

#[test]
fn fsck_finds_a_secret_that_can_be_read_and_erases_it() {
    use capsid_store::fsck;
    both(|hub| {
        hub.from(HOME).hello(NODE, None, json!({})).expect(200);
        let now = capsid_model::time::Time(crate::common::START.0 + HOUR);
        let check = move |hub: &TestHub, now| {
            hub.hub.store.read_now(move |tx| {
                let mut report = fsck::check(tx, &mut |_, _, _| {})?;
                fsck::check_issued(tx, &mut report, now)?;
                Ok::<_, Problem>(report)
            })
        };
        assert!(check(hub, crate::common::START).unwrap().is_clean(), "its window is open");
        // A hub that was killed left it behind. With SQLite its key is gone too.
        let left = check(hub, now).unwrap();
        assert_eq!(left.total(), u64::from(hub.on == crate::common::On::Postgres));
        run_sql(hub, "UPDATE nodes SET issued_secret = 'plain'");
        let report = check(hub, now).unwrap();
        assert_eq!(report.findings[0].code, "plain_secret");
        fsck::repair(&hub.hub.store, &report, now).unwrap();
        assert!(check(hub, now).unwrap().is_clean());
        assert!(!hub.dump().contains("plain"));
    });
}
