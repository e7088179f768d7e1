//! A lost secret.

use super::*;
use crate::common::both;
use serde_json::json;

fn hello(rotate: bool) -> Value {
    json!({"rotate_secret": rotate, "env_fingerprint": {"device_id": "device-1"}})
}

#[test]
fn a_lost_secret_is_replaced_after_a_day_in_which_nobody_used_it() {
    both(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let lost = secret_in(&home.hello(NODE, None, hello(false)).expect(200));
        home.heartbeat(NODE, Some(&lost)).expect(200);
        hub.clock.advance(23 * HOUR);
        home.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
        let asked = "SELECT COUNT(*) FROM nodes WHERE recovery_at IS NOT NULL";
        let told = "SELECT COUNT(*) FROM events WHERE kind = 'secret_recovery_requested'";
        assert_eq!((count(hub, asked), count(hub, told)), (1, 1));
        hub.clock.advance(HOUR - 1);
        home.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
        assert_eq!(count(hub, told), 1, "the node is told once");
        hub.clock.advance(1);
        elsewhere.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
        let other = json!({"rotate_secret": true, "env_fingerprint": {"device_id": "device-2"}});
        home.hello(NODE, None, other).refused(401, "node_secret_required");
        let found = secret_in(&home.hello(NODE, None, hello(true)).expect(200));
        home.heartbeat(NODE, Some(&lost)).refused(403, "node_secret_invalid");
        home.heartbeat(NODE, Some(&found)).expect(200);
        assert_eq!(count(hub, "SELECT COUNT(*) FROM audit WHERE action = 'recover_secret'"), 1);
    });
}

#[test]
fn a_call_with_the_secret_cancels_a_recovery() {
    for read in [false, true] {
        both(|hub| {
            let home = hub.from(HOME);
            let secret = secret_in(&home.hello(NODE, None, hello(false)).expect(200));
            home.heartbeat(NODE, Some(&secret)).expect(200);
            hub.clock.advance(23 * HOUR);
            home.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
            match read {
                true => home.get(&format!("/a2a/mailbox/status?node_id={NODE}"), Some(&secret)).expect(200),
                false => home.heartbeat(NODE, Some(&secret)).expect(200),
            };
            assert_eq!(count(hub, "SELECT COUNT(*) FROM nodes WHERE recovery_at IS NOT NULL"), 0);
            hub.clock.advance(23 * HOUR);
            home.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
            home.heartbeat(NODE, Some(&secret)).expect(200);
        });
    }
}

#[test]
fn a_public_hub_never_replaces_a_lost_secret_by_itself() {
    with_public_identity(|hub| {
        let home = hub.from(HOME);
        let secret = secret_in(&home.hello(NODE, None, hello(false)).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        hub.clock.advance(1000 * HOUR);
        home.hello(NODE, None, hello(true)).refused(401, "node_secret_required");
        assert_eq!(count(hub, "SELECT COUNT(*) FROM nodes WHERE recovery_at IS NOT NULL"), 0);
    });
}
