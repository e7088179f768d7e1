//! Claim codes and the claim page.

use crate::DAY;
use crate::desk::{Desk, ELSEWHERE, HOME, PASSWORD};
use futures_util::future::join;

#[tokio::test]
async fn a_claim_code_works_once_and_for_a_day() {
    for desk in Desk::both() {
        let (ann, eve) = (desk.account("ann@example.org").await, desk.account("eve@example.org").await);
        let code = desk.code_of("node_a").await;
        desk.post(format!("/claim/{code}")).send().await.refused(401, "unauthorized");
        desk.post(format!("/claim/{code}")).token("sess_0").send().await.refused(401, "unauthorized");
        let typed = code.replace('-', "").to_lowercase();
        desk.post(format!("/claim/{typed}")).token(&ann).send().await.expect(200);
        for token in [&ann, &eve] {
            desk.post(format!("/claim/{code}")).token(token).send().await.refused(409, "already_claimed");
        }
        assert_eq!(desk.get(format!("/claim/{code}")).send().await.expect(200)["status"], "claimed");

        let code = desk.code_of("node_b").await;
        desk.wait(DAY - 1);
        desk.get(format!("/claim/{code}")).send().await.expect(200);
        desk.wait(1);
        desk.get(format!("/claim/{code}")).send().await.refused(410, "claim_code_expired");
        desk.post(format!("/claim/{code}")).token(&ann).send().await.refused(410, "claim_code_expired");
        let next = desk.code_of("node_b").await;
        assert_ne!(code, next);
        desk.post(format!("/claim/{next}")).token(&ann).send().await.expect(200);
    }
}

#[tokio::test]
async fn two_who_claim_at_once_do_not_both_get_the_node() {
    for desk in Desk::both() {
        let (ann, eve) = (desk.account("ann@example.org").await, desk.account("eve@example.org").await);
        let code = desk.code_of("node_a").await;
        let claim = |token: &str| desk.post(format!("/claim/{code}")).token(token).send();
        let (one, other) = join(claim(&ann), claim(&eve)).await;
        let mut got = [one.status, other.status];
        got.sort_unstable();
        assert_eq!(got, [200, 409]);
    }
}

#[tokio::test]
async fn a_stranger_is_not_shown_the_claim_code_of_a_bound_node() {
    let desk = Desk::new();
    let met = desk.hello("node_a", None).await;
    let right = met["node_secret"].as_str().unwrap();
    desk.hello("node_a", Some(right)).await;
    let stranger = desk.hello("node_a", None).await;
    assert!(stranger.get("claim_code").is_none() && stranger.get("claim_url").is_none(), "{stranger}");
    assert_eq!(desk.hello("node_a", Some(right)).await["claim_code"], met["claim_code"]);
}

#[tokio::test]
async fn claim_codes_cannot_be_guessed_in_bulk() {
    let desk = Desk::new();
    let code = desk.code_of("node_a").await;
    for number in 0..20 {
        let guess = desk.get(format!("/claim/AAAA-{number:04}")).from(ELSEWHERE).send().await;
        guess.refused(404, "not_found");
    }
    desk.get(format!("/claim/{code}")).from(ELSEWHERE).send().await.refused(429, "too_many_attempts");
    for _ in 0..30 {
        desk.get(format!("/claim/{code}")).send().await.expect(200);
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_that_can_load_and_run_nothing() {
    let desk = Desk::new();
    let code = desk.code_of("node_<img-src=x-onerror=alert(1)>\"'&").await;
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = desk.get(format!("/claim/{code}")).header("accept", html).send().await;
    assert_eq!(page.status, 200);
    assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
    assert!(page.text.contains("node_&lt;img-src=x-onerror=alert(1)&gt;&quot;&#39;&amp;"), "{}", page.text);
    assert!(!page.text.contains("<img") && !page.text.contains("<script"));
    assert!(page.text.contains(&format!("action=\"/claim/{code}\"")));
    let page = desk.get("/claim/AAAA-AAAA").header("accept", html).send().await;
    assert_eq!(page.status, 404);
    assert!(page.text.starts_with("<!doctype html>"));
}

#[tokio::test]
async fn the_form_makes_an_account_or_logs_in_and_claims() {
    let desk = Desk::new();
    let (first, second) = (desk.code_of("node_a").await, desk.code_of("node_b").await);
    let path = format!("/claim/{first}");
    for (form, status) in [
        ("", 400),
        ("email=ann%40example.org", 400),
        ("email=ann%40example.org&password=correct+horse&action=delete", 400),
        ("email=ann&password=correct+horse&action=register", 400),
        ("email=ann%40example.org&password=short&action=register", 400),
        ("email=ann%40example.org&email=b%40c.d&password=correct+horse&action=register", 400),
        ("email=ann%40example.org&password=correct+horse&action=login", 401),
        ("%ff=%ff&&&=", 400),
    ] {
        let page = desk.post(&path).form(form).send().await;
        assert_eq!(page.status, status, "{form}: {}", page.text);
        assert!(page.text.contains("role=\"alert\"") && page.text.contains("<form"), "{form}");
        assert!(!page.text.contains("horse"), "a password is not repeated");
    }
    let register = "email=Ann%40example.org&password=correct+horse&action=register";
    let page = desk.post(&path).form(register).send().await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("now belongs to <code>ann@example.org</code>"), "{}", page.text);
    let login = "email=ann%40example.org&password=correct+horse&action=login";
    let page = desk.post(format!("/claim/{second}")).form(login).send().await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(desk.post(&path).form(login).send().await.status, 409);
    let token = desk.login("ann@example.org", PASSWORD, HOME).await.expect(200)["token"].clone();
    let agents = desk.get("/account/agents").token(token.as_str().unwrap()).send().await.expect(200);
    assert_eq!(agents["count"], 2);
}
