//! Which requests a hub lets in: web pages of other sites change nothing, and programs work as ever.

use crate::common::{Bundle, TestHub, TestResponse, both, on_sqlite, on_sqlite_with, send};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use capsid_rules::identity::addresses::AddressRange;
use capsid_rules::rate_limit::RateLimit;
use serde_json::json;
use std::net::SocketAddr;

/// A request with these headers and nothing else.
fn send_with(hub: &TestHub, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TestResponse {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::from(body.to_owned())).unwrap();
    let peer: SocketAddr = "127.0.0.1:50000".parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    hub.runtime.block_on(send(hub.router(), request))
}

const HOST: (&str, &str) = ("host", "127.0.0.1:4000");
const OWN: (&str, &str) = ("origin", "http://127.0.0.1:4000");
const EVIL: (&str, &str) = ("origin", "http://evil.test");
const JSON: (&str, &str) = ("content-type", "application/json");
const PLAIN: (&str, &str) = ("content-type", "text/plain;charset=UTF-8");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn a_text_plain_request_from_any_web_page_publishes_nothing() {
    both(|hub| {
        hub.register("node_a");
        let body = hub.envelope("node_a", "publish", Bundle::new(1).payload()).to_string();
        let before = hub.dump();
        let rebound = ("host", "evil.test:4000");
        for (headers, status, code) in [
            (vec![HOST, EVIL, PLAIN], 403, "origin_not_allowed"),
            (vec![HOST, EVIL, JSON], 403, "origin_not_allowed"),
            (vec![HOST, EVIL, FORM], 403, "origin_not_allowed"),
            (vec![HOST, EVIL], 403, "origin_not_allowed"),
            (vec![HOST, ("origin", "null"), PLAIN], 403, "origin_not_allowed"),
            (vec![HOST, ("origin", "http://127.0.0.1:3000"), JSON], 403, "origin_not_allowed"),
            (vec![HOST, OWN, EVIL, JSON], 403, "origin_not_allowed"),
            (vec![HOST, ("sec-fetch-site", "cross-site"), JSON], 403, "origin_not_allowed"),
            (vec![HOST, ("sec-fetch-site", "same-site"), JSON], 403, "origin_not_allowed"),
            (vec![HOST, OWN, PLAIN], 415, "unsupported_media_type"),
            (vec![HOST, PLAIN], 415, "unsupported_media_type"),
            (vec![HOST, ("referer", "http://evil.test/"), FORM], 415, "unsupported_media_type"),
            (vec![HOST, ("cookie", "a=b")], 415, "unsupported_media_type"),
            (vec![rebound, JSON], 421, "host_not_allowed"),
            (vec![rebound, ("origin", "http://evil.test:4000"), JSON], 421, "host_not_allowed"),
            (vec![HOST, rebound, JSON], 421, "host_not_allowed"),
        ] {
            let answer = send_with(hub, "POST", "/a2a/publish", &headers, &body);
            answer.refused(status, code);
            assert!(!answer.headers.contains_key("access-control-allow-origin"), "{answer}");
        }
        // Reading is kept from them too, whatever the method.
        for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
            let answer = send_with(hub, method, "/a2a/stats", &[HOST, EVIL], "");
            assert_eq!(answer.status, 403, "{answer}");
        }
        send_with(hub, "GET", "/a2a/stats", &[rebound], "").refused(421, "host_not_allowed");
        assert_eq!(hub.dump(), before, "something was changed");
        let text = hub.get("/metrics").text;
        for rule in ["host", "origin", "fetch_site", "content_type"] {
            assert!(text.contains(&format!(r#"refusals_by_rule_total{{rule="{rule}"}}"#)), "{rule}: {text}");
        }
    });
}

#[test]
fn programs_and_the_pages_of_the_hub_work_as_ever() {
    on_sqlite(|hub| {
        let kinds: [&[(&str, &str)]; 7] = [
            // Clients of Node, and its fetch.
            &[HOST, JSON, ("sec-fetch-mode", "cors")],
            &[HOST, ("content-type", "application/json; charset=utf-8")],
            &[HOST, ("content-type", "application/vnd.gep+json")],
            // curl -d, and a client that says nothing of its body.
            &[HOST, FORM],
            &[HOST],
            // Pages of the hub, also through a proxy with TLS.
            &[HOST, OWN, JSON, ("sec-fetch-site", "same-origin")],
            &[("host", "hub.test"), ("origin", "http://hub.test"), JSON],
        ];
        for (n, headers) in kinds.iter().enumerate() {
            let node = format!("node_{n}");
            let body = hub.envelope(&node, "publish", Bundle::new(n as u64).payload()).to_string();
            send_with(hub, "POST", "/a2a/publish", headers, &body).expect(200);
        }
        for host in ["localhost:4000", "[::1]:4000", "app.localhost", "hub.test", "192.168.1.7"] {
            assert_eq!(send_with(hub, "GET", "/", &[("host", host)], "").status, 200, "{host}");
        }
        // A monitor calls by whatever name it has.
        send_with(hub, "GET", "/health", &[("host", "evil.test"), EVIL], "").expect(200);
    });
}

#[test]
fn a_listed_site_may_call_the_hub_and_read_its_responses() {
    on_sqlite_with(
        |config| {
            config.admission.allowed_hosts = vec!["hub.lab".to_owned()];
            config.admission.allowed_origins = vec!["https://app.example.org".to_owned()];
        },
        |hub| {
            let (app, lab) = (("origin", "https://app.example.org"), ("host", "hub.lab:4000"));
            let asks = ("access-control-request-method", "POST");
            let preflight = send_with(hub, "OPTIONS", "/a2a/publish", &[lab, app, asks], "");
            assert_eq!((preflight.status, preflight.text.as_str()), (204, ""));
            assert_eq!(preflight.headers["access-control-allow-origin"], "https://app.example.org");
            assert_eq!(preflight.headers["access-control-max-age"], "600");
            let allowed = preflight.headers["access-control-allow-headers"].to_str().unwrap();
            assert!(allowed.contains("authorization") && allowed.contains("content-type"), "{allowed}");
            let headers = [lab, app, ("sec-fetch-site", "cross-site"), JSON];
            let body = hub.envelope("node_a", "hello", json!({})).to_string();
            let answer = send_with(hub, "POST", "/a2a/hello", &headers, &body);
            answer.expect(200);
            assert_eq!(answer.headers["access-control-allow-origin"], "https://app.example.org");
            assert_eq!(answer.headers["vary"], "origin");
            assert!(!answer.headers.contains_key("access-control-allow-credentials"));
            // What is refused is refused in words that the page can read.
            let refused = send_with(hub, "POST", "/a2a/hello", &headers, "{}");
            assert_eq!(refused.headers["access-control-allow-origin"], "https://app.example.org");
            send_with(hub, "OPTIONS", "/a2a/publish", &[lab, EVIL, asks], "")
                .refused(403, "origin_not_allowed");
        },
    );
}

#[test]
fn a_forged_forwarding_header_changes_nothing() {
    let once = RateLimit { count: 1, window_ms: 3_600_000 };
    let hello = |hub: &TestHub, forwarded: &str| {
        let body = hub.envelope("node_a", "hello", json!({})).to_string();
        send_with(hub, "POST", "/a2a/hello", &[HOST, JSON, ("x-forwarded-for", forwarded)], &body)
    };
    on_sqlite_with(
        |config| config.limits.hello = once,
        |hub| {
            hello(hub, "198.51.100.1").expect(200);
            hello(hub, "198.51.100.2").refused(429, "hello_rate_limit");
        },
    );
    on_sqlite_with(
        |config| {
            config.limits.hello = once;
            config.admission.trusted_proxies = vec![AddressRange::parse("127.0.0.0/8").unwrap()];
        },
        |hub| {
            hello(hub, "198.51.100.1").expect(200);
            hello(hub, "203.0.113.2").expect(200);
            hello(hub, "8.8.8.8, 203.0.113.2, 127.0.0.9").refused(429, "hello_rate_limit");
        },
    );
}
