//! Claim codes.

use super::DAY;
use super::test_accounts::{ELSEWHERE, TestAccounts};
use futures_util::future::join;

#[tokio::test]
async fn a_claim_code_works_once_and_for_a_day() {
    let desk = TestAccounts::new();
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

#[tokio::test]
async fn two_who_claim_at_once_do_not_both_get_the_node() {
    for desk in TestAccounts::both() {
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
    let desk = TestAccounts::new();
    let met = desk.hello("node_a", None).await;
    let right = met["node_secret"].as_str().unwrap();
    desk.hello("node_a", Some(right)).await;
    let stranger = desk.hello("node_a", None).await;
    assert!(stranger.get("claim_code").is_none() && stranger.get("claim_url").is_none(), "{stranger}");
    assert_eq!(desk.hello("node_a", Some(right)).await["claim_code"], met["claim_code"]);
}

#[tokio::test]
async fn claim_codes_cannot_be_guessed_in_bulk() {
    let desk = TestAccounts::new();
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
async fn a_browser_gets_the_page_whatever_the_code_is_and_spends_no_guess() {
    let desk = TestAccounts::new();
    let code = desk.code_of("node_<img-src=x-onerror=alert(1)>\"'&").await;
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = desk.get(format!("/claim/{code}")).header("accept", html).send().await;
    assert_eq!(page.status, 200);
    assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
    assert!(!page.text.contains("onerror"), "the page holds nothing of the node; it asks for it");
    for number in 0..30 {
        let other = desk.get(format!("/claim/AAAA-{number:04}")).header("accept", html).send().await;
        assert_eq!((other.status, &other.text), (200, &page.text));
    }
    desk.get(format!("/claim/{code}")).send().await.expect(200);
}

#[tokio::test]
async fn a_form_of_another_site_claims_nothing() {
    let desk = TestAccounts::new();
    desk.account("ann@example.org").await;
    let path = format!("/claim/{}", desk.code_of("node_a").await);
    let form = "email=ann%40example.org&password=correct+horse&action=login";
    desk.post(&path).form(form).send().await.refused(401, "unauthorized");
    assert_eq!(desk.get(&path).send().await.expect(200)["status"], "pending");
}
