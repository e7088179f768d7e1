//! The pages, beside the calls at the same addresses.

use super::test_accounts::{Got, TestAccounts};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn header<'a>(got: &'a Got, name: &str) -> &'a str {
    got.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[track_caller]
fn assert_is_shell(got: &Got, status: u16) {
    assert_eq!(got.status, status);
    assert!(got.text.contains("/_app/immutable/"), "run `make web` first");
    assert_eq!(header(got, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(got, "cache-control"), "no-cache");
    assert_eq!(header(got, "x-content-type-options"), "nosniff");
    assert_eq!(header(got, "referrer-policy"), "no-referrer");
    let policy = header(got, "content-security-policy");
    for rule in ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains("unsafe-eval"), "{policy}");
    assert!(got.text.contains(r#"<meta name="capsid-place" content="hub" />"#));
}

#[tokio::test]
async fn a_browser_gets_pages_and_a_program_json() {
    let desk = TestAccounts::new();
    for path in
        ["/", "/browse", "/assets/sha256:00", "/account", "/account/agents", "/admin/users", "/claim/A-B"]
    {
        assert_is_shell(&desk.get(path).header("accept", BROWSER).send().await, 200);
        assert_eq!(desk.ask("HEAD", path).header("accept", BROWSER).send().await.status, 200, "{path}");
    }
    assert_eq!(desk.get("/").send().await.expect(200)["guide"], "/skill.md");
    assert_eq!(desk.get("/").header("accept", "*/*").send().await.expect(200)["openapi"], "/openapi.json");
    desk.get("/account/agents")
        .header("accept", "application/json")
        .send()
        .await
        .refused(401, "unauthorized");
    desk.get("/browse").send().await.refused(404, "route_not_found");
    desk.post("/browse").header("accept", BROWSER).send().await.refused(404, "route_not_found");
    assert!(desk.get("/skill.md").header("accept", BROWSER).send().await.text.starts_with('#'));
    desk.get("/a2a/stats").header("accept", BROWSER).send().await.expect(200);
}

#[tokio::test]
async fn who_is_lost_is_told_so_in_their_own_way() {
    let desk = TestAccounts::new();
    for path in ["/nothing/here", "/wp-login.php", "/../Cargo.toml", "/single/explorer.js", "/index.html"] {
        assert_is_shell(&desk.get(path).header("accept", BROWSER).send().await, 404);
        desk.get(path).send().await.refused(404, "route_not_found");
    }
    for path in ["/_app/immutable/nothing.js", "/_app/../index.html", "/_app/"] {
        desk.get(path).header("accept", BROWSER).send().await.refused(404, "route_not_found");
    }
}

#[tokio::test]
async fn a_file_comes_in_the_form_that_is_taken_and_is_kept() {
    let desk = TestAccounts::new();
    let shell = desk.get("/").header("accept", BROWSER).send().await.text;
    let (_, rest) = shell.split_once("\"/_app/immutable/").expect("run `make web` first");
    let path = format!("/_app/immutable/{}", rest.split_once('"').unwrap().0);
    let plain = desk.get(&path).send().await;
    assert_eq!((plain.status, header(&plain, "content-encoding")), (200, ""));
    assert_eq!(header(&plain, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&plain, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header(&plain, "vary"), "accept-encoding");
    assert_eq!(header(&plain, "x-content-type-options"), "nosniff");
    let mut tags = vec![header(&plain, "etag").to_owned()];
    for (accepted, form) in [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip;q=0.5", "gzip")] {
        let packed = desk.get(&path).header("accept-encoding", accepted).send().await;
        assert_eq!(header(&packed, "content-encoding"), form);
        assert_ne!(packed.bytes, plain.bytes);
        let tag = header(&packed, "etag").to_owned();
        let again =
            desk.get(&path).header("accept-encoding", accepted).header("if-none-match", &tag).send().await;
        assert_eq!((again.status, again.bytes.len()), (304, 0));
        tags.push(tag);
    }
    tags.dedup();
    assert_eq!(tags.len(), 3, "each form has its own tag: {tags:?}");
    let other = desk.get(&path).header("if-none-match", "\"other\"").send().await;
    assert_eq!((other.status, other.bytes), (200, plain.bytes));
    assert_eq!(desk.ask("HEAD", &path).send().await.status, 200);
    let icon = desk.get("/favicon.svg").send().await;
    assert_eq!((icon.status, header(&icon, "cache-control")), (200, "no-cache"));
    assert_eq!(header(&icon, "content-type"), "image/svg+xml");
}

#[tokio::test]
async fn pages_are_counted_under_few_names() {
    let desk = TestAccounts::new();
    for number in 0..20 {
        for accept in [BROWSER, "*/*"] {
            desk.get(format!("/made-up-{number}")).header("accept", accept).send().await;
            desk.get(format!("/assets/made-up-{number}")).header("accept", accept).send().await;
        }
    }
    assert!(!desk.hub.telemetry.text().contains("made-up"));
}
