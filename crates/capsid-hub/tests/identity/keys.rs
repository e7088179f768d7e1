//! Public keys of nodes, and what the hub signs.

use super::*;
use crate::common::{Bundle, both};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::hash::hex;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde_json::json;

fn key(n: u8) -> SigningKey {
    SigningKey::from_bytes(&[n; 32])
}

fn public(key: &SigningKey) -> String {
    hex(&key.verifying_key().to_bytes())
}

#[test]
fn a_public_key_is_replaced_only_by_a_message_that_both_keys_sign() {
    both(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let (first, second) = (key(1), key(2));
        let secret = secret_in(&home.hello(NODE, None, json!({"public_key": public(&first)})).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        let shown = || hub.get(&format!("/a2a/identity/{NODE}")).expect(200)["public_key"].clone();
        let first_shown = json!(STANDARD.encode(first.verifying_key().to_bytes()));
        assert_eq!(shown(), first_shown);
        // A stranger's key is ignored, as everything that a stranger says.
        elsewhere.hello(NODE, None, json!({"public_key": public(&second)})).expect(200);
        assert_eq!(shown(), first_shown);

        let change = |signatures: Value| {
            let mut payload = json!({"public_key": public(&second)});
            if !signatures.is_null() {
                payload["public_key_signatures"] = signatures;
            }
            home.hello(NODE, Some(&secret), payload)
        };
        let refused = change(Value::Null).refused(403, "public_key_in_use");
        let text = refused["signed_text"].as_str().unwrap().as_bytes();
        let sign = |key: &SigningKey| hex(&key.sign(text).to_bytes());
        for (current, next) in [(&second, &second), (&first, &first), (&key(3), &second)] {
            change(json!({"current": sign(current), "next": sign(next)})).refused(403, "public_key_in_use");
        }
        assert_eq!(shown(), first_shown);
        change(json!({"current": sign(&first), "next": sign(&second)})).expect(200);
        assert_eq!(shown(), json!(STANDARD.encode(second.verifying_key().to_bytes())));
        home.hello(NODE, Some(&secret), json!({"public_key": public(&second)})).expect(200);
    });
}

#[test]
fn a_bundle_shows_the_key_that_signed_it() {
    both(|hub| {
        let home = hub.from(HOME);
        let own = key(1);
        let secret = secret_in(&home.hello(NODE, None, json!({"public_key": public(&own)})).expect(200));
        let signed = |n: u64, key: &SigningKey| {
            let bundle = Bundle::new(n);
            let mut ids = [bundle.gene_id(), bundle.capsule_id()];
            ids.sort();
            let mut payload = bundle.payload();
            payload["public_key_signature"] = json!(hex(&key.sign(ids.join("|").as_bytes()).to_bytes()));
            payload
        };
        home.message(NODE, Some(&secret), "publish", signed(1, &own)).expect(200);
        home.message(NODE, Some(&secret), "publish", signed(2, &key(2))).refused(422, "signature_invalid");
        home.message("node_keyless", None, "publish", signed(3, &own)).refused(422, "signature_invalid");
        home.message(NODE, Some(&secret), "publish", Bundle::new(4).payload()).expect(200);
        let signer = |n: u64| {
            let path = format!("/a2a/assets/{}?detailed=true", Bundle::new(n).capsule_id());
            hub.get_as(&secret, &path).expect(200)["bundle"]["signed_by"].clone()
        };
        assert_eq!(signer(1), json!(STANDARD.encode(own.verifying_key().to_bytes())));
        assert_eq!(signer(4), Value::Null);
    });
}

#[test]
fn a_report_shows_the_key_that_signed_it() {
    both(|hub| {
        let home = hub.from(HOME);
        let own = key(1);
        let secret = secret_in(&home.hello(NODE, None, json!({"public_key": public(&own)})).expect(200));
        let bundle = Bundle::new(1);
        hub.publish("node_publisher", &bundle).expect(200);
        let report = json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true,
            "commands": [{"cmd": "node test.js", "ok": true, "exit_code": 0}], "reproduction_score": 0.5}});
        let sign = |key: &SigningKey, text: &str| {
            let mut signed = report.clone();
            signed["public_key_signature"] = json!(hex(&key.sign(text.as_bytes()).to_bytes()));
            signed
        };
        let text = capsid_model::canonical::canonical_value(&report);
        let signer = || {
            let path = format!("/a2a/validation-reports?asset_id={}", bundle.capsule_id());
            hub.get(&path).expect(200)["reports"][0]["signed_by"].clone()
        };
        for (key, text) in [(&key(2), text.as_str()), (&own, "something else")] {
            home.message(NODE, Some(&secret), "report", sign(key, text)).refused(422, "signature_invalid");
        }
        home.message("node_keyless", None, "report", sign(&own, &text)).refused(422, "signature_invalid");
        home.message(NODE, Some(&secret), "report", sign(&own, &text)).expect(200);
        assert_eq!(signer(), json!(STANDARD.encode(own.verifying_key().to_bytes())));
        // A later report without a signature takes its place.
        home.message(NODE, Some(&secret), "report", report.clone()).expect(200);
        assert_eq!(signer(), Value::Null);
    });
}

#[test]
fn what_is_no_public_key_is_refused() {
    both(|hub| {
        for bad in ["", "zz", "00", &"00".repeat(32), &"ff".repeat(33), &"x".repeat(5000)] {
            hub.message(NODE, "hello", json!({"public_key": bad})).refused(400, "validation_error");
        }
        let odd =
            json!({"public_key": public(&key(1)), "public_key_signatures": {"current": "00", "next": "00"}});
        hub.message(NODE, "hello", odd).refused(400, "validation_error");
    });
}

#[test]
fn the_hub_attests_who_a_node_is() {
    both(|hub| {
        let named = json!({"name": "Ada", "public_key": public(&key(1))});
        hub.from(HOME).hello(NODE, None, named).expect(200);
        let path = format!("/a2a/identity/{NODE}");
        let identity = hub.get(&path).expect(200);
        let members =
            ["node_id", "name", "claimed", "owner_level", "bound", "public_key", "reputation_score"];
        for member in members.iter().chain(&["created_at", "totals"]) {
            assert!(identity.get(*member).is_some(), "{member} in {identity}");
        }
        assert_eq!(identity["name"], "Ada (e1f2)");
        let attested = hub.get(&format!("{path}/attestation")).expect(200);
        let text = attested["signed_text"].as_str().unwrap();
        let bytes = |name: &str| STANDARD.decode(attested[name].as_str().unwrap()).unwrap();
        let signer = VerifyingKey::from_bytes(&bytes("hub_public_key").try_into().unwrap()).unwrap();
        let signature = Signature::from_slice(&bytes("signature")).unwrap();
        signer.verify_strict(text.as_bytes(), &signature).unwrap();
        let signed: Value = serde_json::from_str(text).unwrap();
        for (name, value) in identity.as_object().unwrap() {
            assert_eq!(&signed[name], value, "{name}");
            assert_eq!(&attested[name], value, "{name}");
        }
        assert_eq!(signed["hub_node_id"], attested["hub_node_id"]);
        hub.get("/a2a/identity/node_unknown").refused(404, "node_not_found");
        hub.get("/a2a/identity/node_unknown/attestation").refused(404, "node_not_found");
    });
}
