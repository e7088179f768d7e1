//! Guessers, and input that fits nothing.

use super::test_accounts::{ELSEWHERE, HOME, PASSWORD, TestAccounts};
use capsid_store::accounts;
use futures_util::future::join_all;
use serde_json::json;

const MINUTE: i64 = 60_000;

#[tokio::test]
async fn an_unknown_account_and_a_wrong_password_get_the_same_answer() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    let wrong = desk.login("ann@example.org", "wrong horse", HOME).await;
    let unknown = desk.login("eve@example.org", "wrong horse", HOME).await;
    assert_eq!((wrong.status, &wrong.text), (unknown.status, &unknown.text));
    wrong.refused(401, "invalid_credentials");
}

#[tokio::test]
async fn a_guesser_is_stopped_and_the_owner_is_not() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    for _ in 0..5 {
        desk.login("ann@example.org", "wrong horse", ELSEWHERE).await.refused(401, "invalid_credentials");
    }
    let got = desk.login("ann@example.org", PASSWORD, ELSEWHERE).await;
    assert_eq!(got.headers["retry-after"], "900");
    assert_eq!(got.refused(429, "too_many_attempts")["retry_after_ms"], 15 * MINUTE);
    desk.login("ann@example.org", PASSWORD, HOME).await.expect(200);
    desk.wait(15 * MINUTE - 1);
    desk.login("ann@example.org", PASSWORD, ELSEWHERE).await.refused(429, "too_many_attempts");
    desk.wait(1);
    desk.login("ann@example.org", PASSWORD, ELSEWHERE).await.expect(200);
}

#[tokio::test]
async fn guesses_made_at_once_are_no_more_than_guesses_in_a_row() {
    for desk in TestAccounts::both() {
        desk.account("ann@example.org").await;
        let guesses = (0..12).map(|_| desk.login("ann@example.org", "wrong horse", ELSEWHERE));
        let got = join_all(guesses).await;
        assert_eq!(got.iter().filter(|got| got.status == 401).count(), 5);
        assert_eq!(got.iter().filter(|got| got.status == 429).count(), 7);
    }
}

#[tokio::test]
async fn a_login_that_succeeds_forgets_the_failures_before_it() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    for _ in 0..3 {
        for _ in 0..4 {
            desk.login("ann@example.org", "wrong horse", HOME).await.refused(401, "invalid_credentials");
        }
        desk.login("ann@example.org", PASSWORD, HOME).await.expect(200);
    }
}

#[tokio::test]
async fn one_address_cannot_try_many_accounts() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    for number in 0..20 {
        let got = desk.login(&format!("user{number}@example.org"), "wrong horse", ELSEWHERE).await;
        got.refused(401, "invalid_credentials");
    }
    let got = desk.login("ann@example.org", PASSWORD, ELSEWHERE).await;
    assert!(got.headers.contains_key("retry-after"));
    got.refused(429, "too_many_attempts");
    desk.login("ann@example.org", PASSWORD, HOME).await.expect(200);
}

#[tokio::test]
async fn right_logins_are_not_counted_against_their_address() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    for _ in 0..25 {
        desk.login("ann@example.org", PASSWORD, HOME).await.expect(200);
    }
}

#[tokio::test]
async fn wrong_tokens_are_counted_and_right_ones_pass_all_the_same() {
    let desk = TestAccounts::new();
    let token = desk.account("ann@example.org").await;
    let wrong = [format!("sess_{}", "0".repeat(64)), format!("ek_{}", "0".repeat(48)), "sess_".to_owned()];
    for wrong in wrong.iter().cycle().take(20) {
        let got = desk.get("/account/me").from(ELSEWHERE).token(wrong).send().await;
        got.refused(401, "unauthorized");
    }
    let got = desk.get("/account/me").from(ELSEWHERE).token(&wrong[0]).send().await;
    assert!(got.headers.contains_key("retry-after"));
    got.refused(429, "too_many_attempts");
    desk.get("/account/me").from(ELSEWHERE).token(&token).send().await.expect(200);
    desk.get("/account/me").token(&wrong[0]).send().await.refused(401, "unauthorized");
    // Who shows nothing has guessed nothing.
    for _ in 0..25 {
        desk.get("/account/me").from("203.0.113.1").send().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_whole_network_of_ipv6_addresses_counts_as_one() {
    let desk = TestAccounts::new();
    let wrong = format!("sess_{}", "0".repeat(64));
    let addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:1"];
    for from in addresses.iter().cycle().take(20) {
        desk.get("/account/me").from(from).token(&wrong).send().await.refused(401, "unauthorized");
    }
    let got = desk.get("/account/me").from("2001:db8::77").token(&wrong).send().await;
    got.refused(429, "too_many_attempts");
    let got = desk.get("/account/me").from("2001:db8:0:1::1").token(&wrong).send().await;
    got.refused(401, "unauthorized");
}

#[tokio::test]
async fn tokens_passwords_and_secrets_are_not_in_the_database() {
    let desk = TestAccounts::new();
    let (token, first_secret) = desk.owner_of("node_ann", "ann@example.org").await;
    let made = desk.new_key(&token).await.expect(201);
    let reset = desk.post("/account/agents/node_ann/reset-secret").token(&token).send().await.expect(200);
    desk.login("ann@example.org", "wrong horse", HOME).await.refused(401, "invalid_credentials");
    let shown = [made["api_key"].as_str().unwrap(), reset["node_secret"].as_str().unwrap()];
    let texts = [&token, shown[0], shown[1], &first_secret, PASSWORD, "wrong horse"];
    let TestAccounts { folder, hub, router, .. } = desk;
    drop((hub, router));
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        looked_at += content.len();
        for text in texts {
            let digits = text.trim_start_matches("sess_").trim_start_matches("ek_").as_bytes();
            assert!(!content.windows(digits.len()).any(|part| part == digits), "{text} is in a file");
        }
    }
    assert!(looked_at > 10_000, "the database was looked at");
}

#[tokio::test]
async fn bad_input_in_every_field_is_told_and_changes_nothing() {
    let desk = TestAccounts::new();
    let token = desk.account("ann@example.org").await;
    let bad = [
        json!(null),
        json!(7),
        json!(1e300),
        json!(true),
        json!([]),
        json!({}),
        json!(""),
        json!("a".repeat(300)),
        json!("\u{7}"),
        json!("\u{202e}"),
    ];
    let calls = [
        ("/auth/register", json!({"email": "new@example.org", "password": PASSWORD})),
        ("/auth/login", json!({"email": "new@example.org", "password": PASSWORD})),
        ("/account/password", json!({"current_password": PASSWORD, "new_password": PASSWORD})),
        ("/account/api-keys", json!({"name": "laptop"})),
    ];
    for (path, whole) in &calls {
        let optional = *path == "/account/api-keys";
        for name in whole.as_object().unwrap().keys() {
            for value in bad.iter().filter(|value| !optional || !(value.is_null() || *value == "")) {
                let mut body = whole.clone();
                body[name] = value.clone();
                let told =
                    desk.post(*path).token(&token).json(&body).send().await.refused(400, "validation_error");
                assert_eq!(told["details"][0]["path"], **name, "{path} {value}");
            }
            if !optional {
                let mut body = whole.clone();
                body.as_object_mut().unwrap().shift_remove(name);
                let got = desk.post(*path).token(&token).json(&body).send().await;
                assert_eq!(got.refused(400, "validation_error")["details"][0]["received"], "missing");
            }
        }
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(40), "]".repeat(40));
        for text in [
            "",
            "{",
            "[]x",
            "{\"email\":1,\"email\":2}",
            "\"\\ud800\"",
            "{\"email\":1e400}",
            "{\"email\":\"\\u0000\"}",
            &deep,
        ] {
            let got = desk.post(*path).token(&token).text(text).send().await;
            got.refused(400, "invalid_protocol_message");
        }
        let got = desk.post(*path).token(&token).text(vec![b'"', 0xff, b'"']).send().await;
        got.refused(400, "invalid_protocol_message");
        let got = desk.post(*path).token(&token).text(vec![b' '; 1_100_000]).send().await;
        got.refused(413, "payload_too_large");
        for text in ["[]", "7", "null", "\"x\""] {
            desk.post(*path).token(&token).text(text).send().await.refused(400, "validation_error");
        }
    }
    let users = desk.hub.store.read(|tx| accounts::list(tx, "", 10)).await.unwrap();
    assert_eq!(users.len(), 1);
    let listed = desk.get("/account/api-keys").token(&token).send().await.expect(200);
    assert_eq!(listed["api_keys"], json!([]));
}

#[tokio::test]
async fn tricks_in_a_path_find_nothing() {
    let desk = TestAccounts::new();
    let token = desk.account("ann@example.org").await;
    for path in ["/claim/%ff", "/account/agents/%ff/reset-secret"] {
        desk.post(path).token(&token).send().await.refused(400, "validation_error");
    }
    desk.ask("DELETE", "/account/api-keys/%ff").token(&token).send().await.refused(400, "validation_error");
    for code in ["x", "..%2f..%2fetc", "AAAA-AAAAA", "%E2%80%AE", &"A".repeat(5000)] {
        desk.get(format!("/claim/{code}")).send().await.refused(404, "not_found");
    }
    for node in ["..%2f..", "%E2%80%AE", &"n".repeat(5000)] {
        let path = format!("/account/agents/{node}/reset-secret");
        desk.post(path).token(&token).send().await.refused(404, "node_not_found");
    }
    desk.ask("DELETE", "/account/api-keys/%00").token(&token).send().await.refused(400, "validation_error");
}

#[tokio::test]
async fn odd_authorization_headers_are_no_credentials() {
    let desk = TestAccounts::new();
    for header in ["Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer oauth-token", "sess_0", "Bearer \u{e9}"]
    {
        let got = desk.get("/account/me").header("authorization", header).send().await;
        got.refused(401, "unauthorized");
    }
}
