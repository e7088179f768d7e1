//! Requests through a proxy: used for the outside world, and never for this machine.

use crate::common::{Hands, Server, json_reply};
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Code, json};
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::time::Duration;

fn node(home: &std::path::Path, url: &str, proxy: &Server, exceptions: &str) -> NodeClient {
    let proxy = format!("http://me:hunter2@{}", proxy.address);
    let env = |name: &str| match name {
        "HTTP_PROXY" => Some(proxy.clone()),
        "NO_PROXY" => Some(exceptions.to_owned()),
        "CAPSID_HUB_ALLOW_INSECURE" => Some("1".to_owned()),
        _ => None,
    };
    let mut settings = ClientConfig::resolve(Some(url), &env).unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
    (settings.timeout, settings.retries) = (Duration::from_secs(2), 0);
    NodeClient::new(&settings, Identity::open(home, &|_| None).unwrap(), Arc::new(Hands::new())).unwrap()
}

/// A proxy that accepts every request, and is the other end itself.
fn proxy() -> Server {
    Server::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n");
        let mut line = String::new();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            line.clear();
        }
        let _ = stream.write_all(json_reply(200, &json!({"through": "the proxy"})).as_bytes());
    })
}

#[test]
fn a_hub_elsewhere_is_reached_through_the_proxy() {
    let (home, proxy) = (tempfile::tempdir().unwrap(), proxy());
    let node = node(home.path(), "http://hub.invalid:4000", &proxy, "");
    assert_eq!(node.get("/a2a/stats", &[]).unwrap()["through"], "the proxy");
    let seen = &proxy.seen()[0];
    assert_eq!(seen.line, "CONNECT hub.invalid:4000 HTTP/1.1");
    assert!(seen.head.to_ascii_lowercase().contains("proxy-authorization: basic"), "{}", seen.head);
}

#[test]
fn this_machine_and_the_exceptions_are_reached_directly() {
    let (home, proxy) = (tempfile::tempdir().unwrap(), proxy());
    let hub = Server::saying(json_reply(200, &json!({"through": "nothing"})));
    let local = node(home.path(), &hub.url(), &proxy, "");
    assert_eq!(local.get("/", &[]).unwrap()["through"], "nothing");
    let excepted = node(home.path(), "http://hub.invalid:4000", &proxy, ".invalid");
    assert_eq!(excepted.get("/", &[]).unwrap_err().code, Code::HubUnreachable);
    assert!(proxy.seen().is_empty());
}

#[test]
fn a_proxy_that_refuses_is_told_without_its_password() {
    let home = tempfile::tempdir().unwrap();
    let proxy = Server::saying("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    let node = node(home.path(), "http://hub.invalid:4000", &proxy, "");
    let problem = node.post("/task/claim", &json!({})).unwrap_err();
    assert_eq!(problem.code, Code::HubUnreachable, "{problem:?}");
    assert!(
        !format!("{problem:?}").contains("hunter2") && !problem.message.contains('\u{1b}'),
        "{problem:?}"
    );
}
