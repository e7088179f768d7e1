//! The server under clients that are slow, loud, many or confused.

use crate::common::running::{Running, read_json};
use axum::Router;
use axum::routing::get;
use capsid_hub::config::{HubConfig, TimeoutsConfig, TlsConfig};
use capsid_testkit::wait;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Ends a test that would hang. It is shorter than an idle connection lives.
const LIMIT: Duration = Duration::from_secs(40);

fn hello() -> String {
    json!({
        "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello",
        "message_id": "msg_1", "sender_id": "node_e5f6a7b8c9d0e1f2", "timestamp": "2025-01-15T08:30:00Z",
        "payload": {},
    })
    .to_string()
}

/// Short deadlines for what a client sends. An idle connection stays, so that nothing else can have closed one.
fn hurried() -> HubConfig {
    let timeouts = TimeoutsConfig {
        head: Duration::from_millis(300),
        body: Duration::from_millis(300),
        request: Duration::from_millis(800),
        ..TimeoutsConfig::default()
    };
    HubConfig { timeouts, ..HubConfig::default() }
}

/// Everything until the other side closes.
async fn read_to_close(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(LIMIT, stream.read_to_end(&mut bytes));
    let _reset = read.await.expect("the connection stays open");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_node_says_hello_over_http() {
    let hub = Running::start(HubConfig::default()).await;
    let (status, body) = hub.post("/a2a/hello", hello()).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["payload"]["status"], "acknowledged");
    assert!(body["claim_url"].as_str().unwrap().starts_with(&hub.base), "{body}");
    hub.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_told_in_json() {
    let hub = Running::start(HubConfig::default()).await;
    for path in ["/nothing", "/a2a/hello", "/a2a/a2a/hello", "/a2a/%ff", "/a2a/hello/"] {
        let (status, body) = hub.get(path).await;
        assert_eq!((status, &body["error"]), (404, &json!("route_not_found")), "{path}");
        assert!(body["correction"]["fix"].is_string());
    }
    for path in ["/%00", "/a2a/help?q=a%00b"] {
        let (status, body) = hub.get(path).await;
        assert_eq!((status, &body["error"]), (400, &json!("validation_error")), "{path}");
    }
    let put = hub.client.put(hub.url("/a2a/hello")).send().await.unwrap();
    assert_eq!(read_json(put).await.0, 404);
    hub.stop().await;
}

#[tokio::test]
async fn answers_carry_a_request_id_and_headers_that_keep_browsers_out() {
    let hub = Running::start(HubConfig::default()).await;
    let send = |id: &'static str| hub.client.get(hub.url("/health")).header("x-request-id", id).send();
    let response = send("trace-1:a.b_c").await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-request-id"), "trace-1:a.b_c");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("cache-control"), "no-store");
    assert!(header("content-security-policy").starts_with("default-src 'none'"));
    for odd in ["a b", "<script>", ""] {
        let response = send(odd).await.unwrap();
        let made = response.headers()["x-request-id"].to_str().unwrap();
        assert!(made.starts_with("req_") && made.len() == 20, "{made}");
    }
    hub.stop().await;
}

#[tokio::test]
async fn bodies_that_are_too_large_or_packed_are_refused() {
    let hub = Running::start(HubConfig::default()).await;
    let (status, body) = hub.post("/a2a/hello", vec![b' '; 1024 * 1024 + 1]).await;
    assert_eq!((status, &body["error"]), (413, &json!("payload_too_large")));
    // One that still sends when it is refused hears why.
    let (status, _) = hub.post("/a2a/hello", vec![b'x'; 7 * 1024 * 1024]).await;
    assert_eq!(status, 413);
    let packed = hub.client.post(hub.url("/a2a/hello")).header("content-encoding", "gzip").body(hello());
    let (status, body) = read_json(packed.send().await.unwrap()).await;
    assert_eq!((status, &body["error"]), (415, &json!("unsupported_encoding")));
    hub.stop().await;
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off() {
    let hub = Running::start(hurried()).await;
    let mut silent = hub.connect().await;
    let mut dripping = hub.connect().await;
    dripping.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-drip: ").await.unwrap();
    let (mut reader, mut writer) = dripping.into_split();
    let drip = tokio::spawn(async move {
        while writer.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    read_to_close(&mut reader).await;
    drip.await.unwrap();
    read_to_close(&mut silent).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_second_head_has_the_same_deadline_and_idle_time_another() {
    let hub = Running::start(hurried()).await;
    let mut stream = hub.connect().await;
    let request = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut buffer = [0; 4096];
    assert!(stream.read(&mut buffer).await.unwrap() > 0);
    // Longer than a head may take. Only time shows that an idle connection is left alone.
    tokio::time::sleep(2 * hub.hub.config.timeouts.head).await;
    stream.write_all(request).await.unwrap();
    assert!(stream.read(&mut buffer).await.unwrap() > 0, "an idle connection was closed too early");
    stream.write_all(b"GET /hea").await.unwrap();
    read_to_close(&mut stream).await;
    hub.stop().await;
    let timeouts = TimeoutsConfig { idle: Duration::from_millis(300), ..TimeoutsConfig::default() };
    let hub = Running::start(HubConfig { timeouts, ..HubConfig::default() }).await;
    let mut idle = hub.connect().await;
    idle.write_all(request).await.unwrap();
    read_to_close(&mut idle).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_body_that_drips_is_refused() {
    let hub = Running::start(hurried()).await;
    let mut stream = hub.connect().await;
    let head = b"POST /a2a/hello HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{";
    stream.write_all(head).await.unwrap();
    let answer = read_to_close(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("request_timeout"), "{answer}");
    hub.stop().await;
}

#[tokio::test]
async fn more_connections_than_there_is_room_for_are_told_so() {
    let hub = Running::start(HubConfig { max_connections: 2, ..HubConfig::default() }).await;
    let (one, two) = (hub.connect().await, hub.connect().await);
    let mut third = hub.connect().await;
    let answer = read_to_close(&mut third).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 5"), "{answer}");
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["error"], "server_busy");
    drop((one, two));
    wait::until_async("there is room after the others left", Duration::from_secs(30), async || {
        hub.client.get(hub.url("/health")).send().await.is_ok_and(|answer| answer.status().as_u16() == 200)
    })
    .await;
    hub.stop().await;
}

#[tokio::test]
async fn bugs_and_delays_are_told_in_json() {
    #[allow(clippy::panic)]
    async fn boom() -> &'static str {
        panic!("secret inside")
    }
    async fn slow() -> &'static str {
        tokio::time::sleep(Duration::from_secs(60)).await;
        "done"
    }
    async fn number(axum::extract::Path(_): axum::extract::Path<u32>) -> &'static str {
        "a number"
    }
    let routes = Router::new()
        .route("/boom", get(boom).post(boom))
        .route("/slow", get(slow))
        .route("/number/{n}", get(number));
    let hub = Running::start_with(hurried(), Some(routes)).await;
    for (status, body) in [hub.get("/boom").await, hub.post("/boom", "").await] {
        assert_eq!((status, &body["error"]), (500, &json!("internal_error")));
        assert!(!body.to_string().contains("secret inside"), "{body}");
    }
    let (status, body) = hub.get("/slow").await;
    assert_eq!((status, &body["error"]), (503, &json!("server_busy")));
    let (status, body) = hub.get("/number/x").await;
    assert_eq!((status, &body["error"]), (400, &json!("validation_error")));
    assert!(hub.hub.telemetry.text().contains("capsid_hub_panics_total 2"));
    hub.stop().await;
}

#[tokio::test]
async fn what_is_under_way_is_finished_before_the_end() {
    let (begun, mut begins) = tokio::sync::mpsc::channel::<()>(1);
    let closing = Arc::new(OnceLock::<tokio::sync::watch::Receiver<bool>>::new());
    let handler = {
        let closing = Arc::clone(&closing);
        move || async move {
            begun.send(()).await.unwrap();
            // It ends after the hub has begun to close.
            closing.get().unwrap().clone().wait_for(|closing| *closing).await.unwrap();
            axum::Json(json!({ "done": true }))
        }
    };
    let routes = Router::new().route("/while", get(handler));
    let hub = Running::start_with(HubConfig::default(), Some(routes)).await;
    closing.set(hub.hub.closing.clone()).unwrap();
    let under_way = tokio::spawn(hub.client.get(hub.url("/while")).send());
    begins.recv().await.unwrap();
    let address = hub.address;
    tokio::time::timeout(LIMIT, hub.stop()).await.expect("the hub ends");
    assert_eq!(read_json(under_way.await.unwrap().unwrap()).await, (200, json!({ "done": true })));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn what_a_client_began_is_done_even_when_it_hangs_up() {
    let (begun, mut begins) = tokio::sync::mpsc::channel::<()>(1);
    let (done, mut ends) = tokio::sync::mpsc::channel::<()>(1);
    let (hang_up, gone) = tokio::sync::mpsc::channel::<()>(1);
    let gone = Arc::new(tokio::sync::Mutex::new(gone));
    let handler = move || async move {
        begun.send(()).await.unwrap();
        // The client is gone before the work is.
        gone.lock().await.recv().await.unwrap();
        done.send(()).await.unwrap();
    };
    let routes = Router::new().route("/work", axum::routing::post(handler));
    let hub = Running::start_with(HubConfig::default(), Some(routes)).await;
    let mut stream = hub.connect().await;
    stream.write_all(b"POST /work HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    begins.recv().await.unwrap();
    drop(stream);
    hang_up.send(()).await.unwrap();
    assert_eq!(tokio::time::timeout(LIMIT, ends.recv()).await, Ok(Some(())));
    hub.stop().await;
}

#[tokio::test]
async fn an_event_stream_does_not_hold_up_the_end() {
    let hub = Running::start(HubConfig::default()).await;
    let stream = hub.client.get(hub.url("/a2a/events/stream?node_id=node_a")).send().await.unwrap();
    assert_eq!(stream.status().as_u16(), 200);
    tokio::time::timeout(LIMIT, hub.stop()).await.expect("the hub ends");
    stream.text().await.unwrap();
}

#[tokio::test]
async fn the_hub_speaks_tls() {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let certificate = folder.join("localhost.crt");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&certificate).unwrap()).unwrap();
    let tls = Some(TlsConfig { certificate, key: folder.join("localhost.key") });
    let hub = Running::start(HubConfig { tls, ..HubConfig::default() }).await;
    assert!(hub.base.starts_with("https://"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, hub.connect().await).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    // Somebody without TLS is not served.
    let mut plain = hub.connect().await;
    plain.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert!(!read_to_close(&mut plain).await.contains("200 OK"));
    hub.stop().await;
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let (certificate, key) = (folder.join("localhost.crt"), folder.join("localhost.key"));
    let problem = |certificate: &Path, key: &Path| {
        let tls = TlsConfig { certificate: certificate.to_owned(), key: key.to_owned() };
        capsid_hub::server::tls::acceptor(&tls).err().map(|problem| problem.code.as_str())
    };
    assert_eq!(problem(&certificate, &key), None);
    assert_eq!(problem(&key, &key), Some("config_invalid"));
    assert_eq!(problem(&certificate, &certificate), Some("config_invalid"));
    assert_eq!(problem(&folder.join("none.crt"), &key), Some("file_not_found"));
}

#[tokio::test]
async fn health_and_metrics_tell_the_truth() {
    let hub = Running::start(HubConfig::default()).await;
    let (status, body) = hub.get("/health").await;
    assert_eq!((status, &body["status"]), (200, &json!("ok")), "{body}");
    assert_eq!(
        body["checks"],
        json!({
            "database": { "kind": "sqlite", "read": "ok", "write": "ok" },
            "schema": "ok", "clock": "ok", "log": "ok", "profile": "ok",
        })
    );
    hub.post("/a2a/hello", "{}").await;
    hub.get("/no/such/node_0123456789abcdef").await;
    let text = hub.client.get(hub.url("/metrics")).send().await.unwrap().text().await.unwrap();
    for line in [
        r#"capsid_hub_requests_total{route="/health",method="GET",status="2xx"} 1"#,
        r#"capsid_hub_requests_total{route="/a2a/hello",method="POST",status="4xx"} 1"#,
        r#"capsid_hub_requests_total{route="none",method="GET",status="4xx"} 1"#,
        r#"capsid_hub_refusals_total{code="invalid_protocol_message"} 1"#,
        "capsid_hub_requests_in_flight 1",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("node_0123"), "{text}");
    // A database with a step that this program does not know.
    hub.hub
        .store
        .write::<_, capsid_model::problem::Problem, _>(|tx| {
            tx.run("INSERT INTO migrations (name, sum, applied_at) VALUES ('29990101-x', '', 0)", &[])
        })
        .await
        .unwrap();
    let (status, body) = hub.get("/health").await;
    assert_eq!((status, &body["checks"]["schema"]), (503, &json!("failing")), "{body}");
    hub.stop().await;
}

#[tokio::test]
async fn every_path_is_described_and_every_description_has_its_path() {
    let source = include_str!("../src/router.rs");
    assert!(!source.contains(".route("), "a path that is added without `routes!` is not in the description");
    let hub = Running::start(HubConfig::default()).await;
    let (_, document) = hub.get("/openapi.json").await;
    assert_eq!(document["servers"][0]["url"], hub.base);
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let real: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "x" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            let answer = hub
                .client
                .request(method.clone(), hub.url(&real))
                .timeout(Duration::from_millis(1500))
                .send()
                .await;
            // A call that waits by its nature is there.
            let Ok(answer) = answer else { continue };
            let text = answer.text().await.unwrap_or_default();
            assert!(!text.contains("route_not_found"), "{method} {path}");
            seen += 1;
        }
    }
    assert!(seen >= 9, "{seen}");
    hub.stop().await;
}

#[tokio::test]
async fn the_reference_names_every_call() {
    let hub = Running::start(HubConfig::default()).await;
    let page = hub.client.get(hub.url("/skill-reference.md")).send().await.unwrap().text().await.unwrap();
    let (_, document) = hub.get("/openapi.json").await;
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!(" {path}\n")), "{path} is not in the reference");
    }
    hub.stop().await;
}

#[tokio::test]
async fn an_agent_can_follow_the_guide_with_curl_alone() {
    let hub = Running::start(HubConfig::default()).await;
    let response = hub.client.get(hub.url("/skill.md")).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/markdown"));
    let page = response.text().await.unwrap();
    assert!(page.len() <= 12_000, "{} bytes", page.len());
    assert!(page.contains(&format!("A2A_HUB_URL={}", hub.base)));
    // Somebody else has asked for something.
    let hello = json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello",
        "message_id": "msg_1", "sender_id": "node_asks", "timestamp": "2026-01-01T00:00:00Z", "payload": {}});
    let (status, _) = hub.post("/a2a/hello", hello.to_string()).await;
    assert_eq!(status, 200);
    let (status, asked) = hub
        .post("/a2a/ask", json!({"node_id": "node_asks", "question": "Why does it wait?"}).to_string())
        .await;
    assert_eq!(status, 200, "{asked}");
    let task = asked["task_id"].as_str().unwrap().to_owned();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.map(|block| format!("{block}\necho\n")).collect();
    let script = script.replace("TASK=TASK_ID", &format!("TASK={task}"));
    let ran = tokio::task::spawn_blocking(move || {
        std::process::Command::new("sh").args(["-euc", &script]).output()
    });
    let ran = ran.await.unwrap().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(!printed.contains("\"error\":"), "{printed}");
    for done in
        ["\"node_secret\":\"", "\"status\":\"accepted\"", "\"why_not_promoted\"", "\"status\":\"completed\""]
    {
        assert!(printed.contains(done), "{done} in {printed}");
    }
    assert_eq!(hub.get("/a2a/stats").await.1["total_all_types"], 3);
    hub.stop().await;
}

#[tokio::test]
async fn topics_help_and_policy_answer_in_json() {
    let hub = Running::start(HubConfig::default()).await;
    let (_, list) = hub.get("/a2a/skill").await;
    for name in list["topics"].as_array().unwrap() {
        let (status, topic) = hub.get(&format!("/a2a/skill?topic={}", name.as_str().unwrap())).await;
        assert!(status == 200 && topic["content"].as_str().unwrap().len() > 100, "{topic}");
    }
    // Every refusal names a page that is there.
    let (_, refusal) = hub.post("/a2a/hello", "{}").await;
    assert_eq!(hub.get(refusal["correction"]["doc"].as_str().unwrap()).await.0, 200);
    let (status, body) = hub.get("/a2a/skill?topic=<b>").await;
    assert_eq!((status, &body["error"]), (404, &json!("not_found")));
    for query in ["/a2a/help", "/a2a/help?q=", "/a2a/help?q=%01%ff", "/a2a/help?x=1"] {
        assert_eq!(hub.get(query).await.0, 200, "{query}");
    }
    let (_, help) = hub.get("/a2a/help?q=hello").await;
    assert!(help["matches"].as_array().unwrap().iter().any(|found| found["path"] == "/a2a/hello"), "{help}");
    let (_, policy) = hub.get("/a2a/policy").await;
    assert_eq!(policy["validation"]["programs"], json!(["node", "npm", "npx"]));
    assert_eq!(policy["identity"]["require_secret"], "tofu");
    assert_eq!(policy["promotion"]["rule"]["require_report"], true);
    assert_eq!(policy["sizes"]["body_bytes"], 1_048_576);
    assert_eq!(hub.get("/a2a/policy/model-tiers").await.1["tiers"], serde_json::json!([]));
    hub.stop().await;
}

#[tokio::test]
async fn a_head_that_cannot_be_read_is_answered_in_json() {
    let hub = Running::start(HubConfig::default()).await;
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    for (head, status, code) in [
        ("no http at all\r\n\r\n".to_owned(), 400, "invalid_protocol_message"),
        ("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n".to_owned(), 400, "invalid_protocol_message"),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(70_000)), 414, "uri_too_long"),
        (format!("GET /health HTTP/1.1\r\n{many}\r\n"), 431, "headers_too_large"),
        (format!("GET /health HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(600_000)), 431, "headers_too_large"),
    ] {
        let mut stream = hub.connect().await;
        // The hub may hang up before it has read all of it.
        let _cut_off = stream.write_all(head.as_bytes()).await;
        let answer = read_to_close(&mut stream).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"], code);
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_not_waited_for() {
    let hub = Running::start(HubConfig::default()).await;
    let mut stream = hub.connect().await;
    let head = "POST /a2a/hello HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = read_to_close(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("payload_too_large"), "{answer}");
    hub.stop().await;
}

#[tokio::test]
async fn one_address_holds_a_quarter_of_the_connections_at_most() {
    let hub = Running::start(HubConfig { max_connections: 80, ..HubConfig::default() }).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = hub.connect().await;
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        held.push(stream);
    }
    let answer = read_to_close(&mut hub.connect().await).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    drop(held);
    wait::until_async("there is room after the others left", LIMIT, async || {
        hub.client.get(hub.url("/health")).send().await.is_ok_and(|answer| answer.status().as_u16() == 200)
    })
    .await;
    hub.stop().await;
}

/// A connection from one of this machine's addresses.
async fn connect_from(hub: &Running, address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{address}:0").parse().unwrap()).unwrap();
    socket.connect(hub.address).await.unwrap()
}

#[tokio::test]
async fn four_addresses_cannot_exhaust_the_connections() {
    let hub = Running::start(HubConfig { max_connections: 80, ..HubConfig::default() }).await;
    let mut held = Vec::new();
    for _ in 0..22 {
        for network in 1..=4 {
            held.push(connect_from(&hub, &format!("127.0.{network}.1")).await);
        }
    }
    let began = tokio::time::Instant::now();
    let mut fifth = connect_from(&hub, "127.0.5.1").await;
    fifth
        .write_all(b"GET /a2a/stats HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let answer = read_to_close(&mut fifth).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let text = hub.hub.telemetry.text();
    assert!(text.contains(r#"capsid_hub_refusals_by_rule_total{rule="connections_reserve"}"#), "{text}");
    drop(held);
    hub.stop().await;
}

#[tokio::test]
async fn connections_that_send_nothing_are_closed_early_once_half_are_used() {
    let hub = Running::start(HubConfig { max_connections: 8, ..HubConfig::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(hub.connect().await);
    }
    // Once the first is closed, fewer than half are used, and the others have their usual time.
    let began = tokio::time::Instant::now();
    read_to_close(&mut silent[0]).await;
    // The usual deadline of a head is ten seconds.
    assert!(began.elapsed() < hub.hub.config.timeouts.head, "{:?}", began.elapsed());
    hub.stop().await;
}

#[tokio::test]
async fn an_event_stream_is_no_idle_connection() {
    let hub = Running::start(HubConfig { max_connections: 4, ..HubConfig::default() }).await;
    let stream = hub.client.get(hub.url("/a2a/events/stream?node_id=node_a")).send().await.unwrap();
    assert_eq!(stream.status().as_u16(), 200);
    // Three more, each of which closes the longest idle one once there is no room.
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(hub.connect().await);
    }
    // Only time shows that a connection is left alone.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    for _ in 0..2 {
        let mut next = hub.connect().await;
        next.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        assert!(read_to_close(&mut next).await.starts_with("HTTP/1.1 200 "));
    }
    let mut stream = stream;
    let alive = tokio::time::timeout(Duration::from_millis(200), stream.chunk()).await;
    assert!(!matches!(alive, Ok(Ok(None) | Err(_))), "the stream was closed: {alive:?}");
    hub.stop().await;
}
