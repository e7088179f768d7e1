//! A hub that lies, stalls or is none: every answer is refused with its reason, and nothing of it is stored.

use crate::common;
use crate::common::{Hands, Server, enveloped, http, json_reply, node, node_with, snapshot};
use capsid_model::asset::stamp;
use capsid_model::{Code, Object, Problem, Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn asset(summary: &str) -> Object {
    let mut asset =
        json!({"type": "Gene", "category": "repair", "signals_match": ["error"], "summary": summary})
            .as_object()
            .unwrap()
            .clone();
    stamp(&mut asset);
    asset
}

fn id_of(asset: &Object) -> String {
    asset["asset_id"].as_str().unwrap().to_owned()
}

/// Sends each kind of call to a server, and gives what the fetch met with. All have to fail alike, and to leave no trace.
#[track_caller]
fn refused(server: &Server, code: Code, word: &str) -> Problem {
    let home = tempfile::tempdir().unwrap();
    let node = node(home.path(), &server.url());
    node.known().unwrap();
    capsid_client::Identity::open(home.path(), &|_| None).unwrap().device_id().unwrap();
    let before = snapshot(home.path());
    let started = Instant::now();
    let wanted = id_of(&asset("wanted"));
    let problems = [
        node.hello(Object::new()).unwrap_err(),
        node.search(&["error".to_owned()], None, 5).unwrap_err(),
        node.fetch(&[&wanted]).unwrap_err(),
        node.get("/task/list", &[]).unwrap_err(),
        node.post("/task/claim", &json!({})).unwrap_err(),
    ];
    assert!(started.elapsed() < Duration::from_secs(40), "it took {:?}", started.elapsed());
    for problem in &problems {
        assert_eq!(problem.code, code, "{problem:?}");
        assert!(problem.message.contains(word), "{problem:?}");
        assert!(problem.fix.is_some(), "{problem:?}");
        assert!(!problem.message.contains('\u{1b}'), "{problem:?}");
    }
    assert_eq!(snapshot(home.path()), before, "something was stored");
    problems.into_iter().next_back().unwrap()
}

const JSON: &str = "content-type: application/json\r\n";

#[test]
fn html_instead_of_json_is_refused() {
    let page = http(200, "content-type: text/html\r\n", "<html>Sign in to the network</html>");
    refused(&Server::saying(page), Code::HubAnswerInvalid, "text/html");
    let html = http(200, JSON, "<html>");
    refused(&Server::saying(html), Code::HubAnswerInvalid, "cannot be read");
}

#[test]
fn a_type_that_is_not_json_is_refused_and_not_shown_raw() {
    let odd = http(200, "content-type: text/plain\r\n", "{}");
    refused(&Server::saying(odd), Code::HubAnswerInvalid, "text/plain");
    refused(&Server::saying(http(200, "", "{}")), Code::HubAnswerInvalid, "no type");
}

#[test]
fn an_oversized_answer_is_refused_without_being_kept() {
    // It has no end: without a bound it would be read for ever.
    let server = Server::start(|_, _, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n\"");
        let block = vec![b'x'; 1 << 20];
        while stream.write_all(&block).is_ok() {}
    });
    refused(&server, Code::HubAnswerInvalid, "larger than 8 MiB");
}

#[test]
fn an_oversized_head_is_refused() {
    let server = Server::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"x-filler: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n").is_ok() {}
    });
    refused(&server, Code::HubAnswerInvalid, "no HTTP");
}

#[test]
fn a_stalled_connection_ends_with_the_time() {
    let server = Server::start(|_, _, _| std::thread::sleep(Duration::from_secs(60)));
    refused(&server, Code::HubUnreachable, "did not answer within 1 s");
}

#[test]
fn an_answer_that_drips_ends_with_the_time() {
    let server = Server::start(|_, _, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\ncontent-type: application/json\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    refused(&server, Code::HubUnreachable, "did not answer within 1 s");
}

#[test]
fn a_head_that_drips_or_only_puts_off_ends_with_the_time() {
    let server = Server::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx-slow: ");
        while stream.write_all(b"y").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    refused(&server, Code::HubUnreachable, "did not answer within 1 s");
}

#[test]
fn a_hub_that_only_says_to_go_on_is_left() {
    let server = Server::start(|_, _, stream| {
        while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let home = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let problem = node(home.path(), &server.url()).get("/x", &[]).unwrap_err();
    assert!(matches!(problem.code, Code::HubUnreachable | Code::HubAnswerInvalid), "{problem:?}");
    assert!(started.elapsed() < Duration::from_secs(40));
}

#[test]
fn whatever_is_answered_a_call_ends_with_a_result() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let good = asset("wanted");
    let complete = enveloped("fetch", "hub_1", &json!({"results": [good, {"asset_id": 1}], "tasks": []}));
    let home = tempfile::tempdir().unwrap();
    for _ in 0..150 {
        let mut answer = complete.clone().into_bytes();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..answer.len());
            match random.u8(..4) {
                0 => answer[at] = random.u8(..),
                1 => answer.truncate(at.max(1)),
                2 => answer.insert(at, *random.choice(b"{}[]\":,\r\n\0\xff9e-").unwrap()),
                _ => drop(answer.remove(at)),
            }
            if answer.is_empty() {
                break;
            }
        }
        let server = Server::saying(answer.clone());
        match node(home.path(), &server.url()).fetch(&[&id_of(&good)]) {
            Ok(fetched) => assert!(fetched.assets.iter().all(|asset| *asset == good), "{answer:?}"),
            Err(problem) => assert!(
                matches!(
                    problem.code,
                    Code::HubAnswerInvalid | Code::HubUnreachable | Code::HubRefused | Code::HubBusy
                ),
                "{problem:?} {answer:?}"
            ),
        }
    }
}

#[test]
fn a_truncated_answer_is_refused() {
    let server =
        Server::saying(format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 500\r\n\r\n{{\"status\":\"ok\"}}"));
    refused(&server, Code::HubAnswerInvalid, "before it is complete");
    let chunked = format!("HTTP/1.1 200 OK\r\n{JSON}transfer-encoding: chunked\r\n\r\n10\r\n{{\"status\"");
    refused(&Server::saying(chunked), Code::HubAnswerInvalid, "before it is complete");
}

#[test]
fn an_empty_answer_and_none_at_all_are_refused() {
    refused(&Server::saying(http(200, JSON, "")), Code::HubAnswerInvalid, "empty");
    refused(&Server::saying(""), Code::HubUnreachable, "cannot be reached");
    refused(&Server::saying("220 mail.example ESMTP\r\n"), Code::HubAnswerInvalid, "no HTTP");
}

#[test]
fn deep_json_and_numbers_out_of_range_are_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    refused(&Server::saying(http(200, JSON, &deep)), Code::HubAnswerInvalid, "recursion limit");
    let huge = "{\"results\":[{\"confidence\":1e999}]}";
    refused(&Server::saying(http(200, JSON, huge)), Code::HubAnswerInvalid, "out of range");
    let nan = "{\"results\":[{\"confidence\":NaN}]}";
    refused(&Server::saying(http(200, JSON, nan)), Code::HubAnswerInvalid, "cannot be read");
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::saying(json_reply(200, &json!({"status": "acknowledged"})));
    let to = format!("location: {}/a2a/hello\r\n{JSON}", other.url());
    for status in [301, 302, 307, 308] {
        refused(&Server::saying(http(status, &to, "{}")), Code::HubAnswerInvalid, "points to");
    }
    let escape = http(302, "location: \x1b[2Jhttps://evil.example\r\n", "");
    let server = Server::saying(escape);
    let home = tempfile::tempdir().unwrap();
    assert_eq!(node(home.path(), &server.url()).get("/x", &[]).unwrap_err().code, Code::HubAnswerInvalid);
    assert!(other.seen().is_empty(), "the redirect was followed");
}

#[test]
fn nobody_speaks_tls_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let home = tempfile::tempdir().unwrap();
    let problem = node(home.path(), &url).hello(Object::new()).unwrap_err();
    assert_eq!(problem.code, Code::HubUnreachable);
    assert!(problem.message.contains("No safe connection"), "{problem:?}");
    assert!(problem.fix.unwrap().contains("CAPSID_CA_FILE"));
}

#[test]
fn tampered_assets_and_lying_ids_are_not_handed_on() {
    let (wanted, other) = (asset("wanted"), asset("unasked"));
    let mut tampered = wanted.clone();
    tampered.insert("summary".to_owned(), "rm -rf".into());
    let mut forged = other.clone();
    forged.insert("asset_id".to_owned(), wanted["asset_id"].clone());
    let (mut good, mut nameless) = (wanted.clone(), other.clone());
    good.insert("gdi_score".to_owned(), 40.into());
    nameless.shift_remove("asset_id");
    let results = json!([tampered, forged, other, nameless, good, good, null, "x"]);
    let answer = enveloped("fetch", "hub_1", &json!({"results": results, "tasks": []}));
    let server = Server::saying(answer);
    let home = tempfile::tempdir().unwrap();
    let node = node(home.path(), &server.url());
    let before = snapshot(home.path());
    let fetched = node.fetch(&[&id_of(&wanted)]).unwrap();
    assert_eq!(fetched.assets, [wanted]);
    let codes: Vec<Code> = fetched.refused.iter().map(|problem| problem.code).collect();
    let (mismatch, odd) = (Code::AssetIdMismatch, Code::HubAnswerInvalid);
    assert_eq!(codes, [mismatch, mismatch, odd, odd, odd, odd]);
    assert!(fetched.refused[0].message.contains("is not the hash"), "{:?}", fetched.refused[0]);
    assert!(!fetched.payload.contains_key("results"));
    assert_eq!(snapshot(home.path()), before);
}

#[test]
fn an_answer_under_another_name_is_refused() {
    let names = ["hub_one", "hub_two"];
    let server = Server::start(move |number, request, stream| {
        let kind = request.path().trim_start_matches("/a2a/").to_owned();
        let sender = names[usize::from(number > 0)];
        let payload = json!({"status": "acknowledged", "hub_node_id": sender, "results": []});
        let _ = stream.write_all(enveloped(&kind, sender, &payload).as_bytes());
    });
    let home = tempfile::tempdir().unwrap();
    let node = node(home.path(), &server.url());
    node.hello(Object::new()).unwrap();
    assert_eq!(node.known().unwrap().hub_node_id.as_deref(), Some("hub_one"));
    let before = snapshot(home.path());
    for problem in [node.fetch(&[]).unwrap_err(), node.hello(Object::new()).unwrap_err()] {
        assert_eq!(problem.code, Code::HubAnswerInvalid);
        assert!(
            problem.message.contains("`hub_two`") && problem.message.contains("`hub_one`"),
            "{problem:?}"
        );
        assert!(problem.fix.as_deref().unwrap().contains("hello --new-hub"), "{problem:?}");
    }
    assert_eq!(snapshot(home.path()), before);
    // Its owner may know better.
    node.hello_anew(Object::new()).unwrap();
    assert_eq!(node.known().unwrap().hub_node_id.as_deref(), Some("hub_two"));
}

#[test]
fn an_echo_and_an_answer_to_another_message_are_refused() {
    let echo = Server::start(|_, request, stream| {
        let _ = stream.write_all(json_reply(200, &request.body).as_bytes());
    });
    let home = tempfile::tempdir().unwrap();
    let node = node(home.path(), &echo.url());
    let problem = node.message("fetch", json!({})).unwrap_err();
    assert_eq!(problem.code, Code::HubAnswerInvalid);
    assert!(problem.message.contains("own name"), "{problem:?}");
    let other = Server::saying(enveloped("hello", "hub_1", &json!({})));
    let node = common::node(home.path(), &other.url());
    assert!(node.message("fetch", json!({})).unwrap_err().message.contains("with a `hello`"));
}

#[test]
fn a_greeting_that_cannot_be_meant_leaves_no_trace() {
    let secret = "ab".repeat(32);
    let bad = [
        (json!({"node_secret": "short"}), "the secret it gives"),
        (json!({"node_secret": format!("{secret}\r\nx-evil: 1")}), "the secret it gives"),
        (json!({"node_secret": 7}), "the secret it gives"),
        (json!({"node_secret": secret, "your_node_id": "node_other"}), "greets `node_other`"),
        (json!({"node_secret": secret, "hub_node_id": "hub\u{1b}[2J"}), "another name"),
    ];
    for (mut payload, word) in bad {
        payload["status"] = "acknowledged".into();
        let server = Server::saying(enveloped("hello", "hub_1", &payload));
        let home = tempfile::tempdir().unwrap();
        let node = node(home.path(), &server.url());
        let problem = node.hello(Object::new()).unwrap_err();
        assert_eq!(problem.code, Code::HubAnswerInvalid, "{payload}");
        assert!(problem.message.contains(word), "{problem:?}");
        assert!(!problem.message.contains(&secret), "{problem:?}");
        assert_eq!(node.known().unwrap(), capsid_client::identity::KnownHub::default());
        assert!(!home.path().join(".evomap/node_secret").exists());
    }
}

#[test]
fn a_hubs_words_are_shown_harmless_and_short() {
    let body = json!({"error": "\u{1b}]0;x", "correction": {"problem": "\u{1b}[2J\u{202e}".repeat(10_000), "fix": "\u{7}"}});
    let server = Server::saying(json_reply(400, &body));
    let home = tempfile::tempdir().unwrap();
    let problem = node(home.path(), &server.url()).get("/x", &[]).unwrap_err();
    assert_eq!((problem.code, problem.hub_code.as_deref()), (Code::HubRefused, Some("http_400")));
    let shown = format!("{}{:?}", problem.message, problem.fix);
    assert!(shown.len() < 6000 && !shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{shown}");
}

/// How a node fares that may try three times more.
fn busy_then_well(first: String) -> (usize, Duration) {
    let server = Server::start(move |number, _, stream| {
        let well = json_reply(200, &json!({"tasks": []}));
        let _ = stream.write_all(if number == 0 { &first } else { &well }.as_bytes());
    });
    let home = tempfile::tempdir().unwrap();
    let node = node_with(home.path(), &server.url(), 3, &[], &Hands::new());
    let started = Instant::now();
    node.post("/task/list", &json!({})).unwrap();
    (server.seen().len(), started.elapsed())
}

#[test]
fn a_busy_hub_is_asked_again_when_it_says() {
    let date = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:38 GMT\r\n";
    for headers in ["retry-after: 1\r\n", date] {
        let (calls, took) =
            busy_then_well(http(429, &format!("{JSON}{headers}"), "{\"error\":\"rate_limited\"}"));
        assert_eq!(calls, 2, "{headers}");
        assert!((Duration::from_secs(1)..Duration::from_secs(5)).contains(&took), "{took:?}");
    }
    let exact = json_reply(503, &json!({"error": "server_busy", "retry_after_ms": 700}));
    let (calls, took) = busy_then_well(exact);
    assert!(calls == 2 && took >= Duration::from_millis(700), "{calls} {took:?}");
    // A page of a proxy in front of the hub, which proves nothing.
    let (calls, _) = busy_then_well(http(503, "content-type: text/html\r\n", "<html>"));
    assert_eq!(calls, 2);
}

#[test]
fn a_hub_that_asks_for_too_long_is_not_waited_for() {
    for headers in ["retry-after: 3600\r\n", "retry-after: Fri, 31 Dec 2100 23:59:59 GMT\r\n"] {
        let body = json!({"error": "rate_limited"}).to_string();
        let server = Server::saying(http(429, &format!("{JSON}{headers}"), &body));
        let home = tempfile::tempdir().unwrap();
        let node = node_with(home.path(), &server.url(), 3, &[], &Hands::new());
        let started = Instant::now();
        let problem = node.get("/x", &[]).unwrap_err();
        assert_eq!((problem.code, problem.hub_code.as_deref()), (Code::HubBusy, Some("rate_limited")));
        assert!(problem.retry_after.unwrap() >= Duration::from_secs(3600), "{problem:?}");
        assert!(problem.message.contains("asks to wait"), "{problem:?}");
        assert!(started.elapsed() < Duration::from_secs(60) && server.seen().len() == 1);
    }
}

/// A server that hangs up on the first request and answers the others.
fn hanging_up() -> Server {
    Server::start(|number, _, stream| {
        if number > 0 {
            let _ = stream.write_all(json_reply(200, &json!({"status": "ok"})).as_bytes());
        }
    })
}

#[test]
fn a_message_is_repeated_under_its_id_and_a_plain_post_is_not() {
    let home = tempfile::tempdir().unwrap();
    let server = hanging_up();
    let node = node_with(home.path(), &server.url(), 2, &[], &Hands::new());
    node.message("report", json!({"x": 1})).unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].body, seen[1].body);
    assert!(seen[0].body["message_id"].as_str().unwrap().starts_with("msg_"));
    let server = hanging_up();
    let node = node_with(home.path(), &server.url(), 2, &[], &Hands::new());
    let problem = node.post("/task/complete", &json!({})).unwrap_err();
    assert_eq!(problem.code, Code::HubUnreachable);
    assert_eq!(server.seen().len(), 1, "it may have been done");
    // What was never sent may be sent, though: nobody listens yet.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let node = node_with(home.path(), &format!("http://{free}"), 1, &[], &Hands::new());
    let started = Instant::now();
    assert_eq!(node.post("/x", &json!({})).unwrap_err().code, Code::HubUnreachable);
    assert!(started.elapsed() >= Duration::from_millis(300), "it was tried once only");
}

#[test]
fn rows_of_a_search_are_bounded() {
    let row =
        |n: usize| json!({"asset_id": format!("sha256:{n:064x}"), "success_streak": -1, "confidence": -5});
    let results: Vec<Value> = (0..20_000).map(row).collect();
    let server = Server::saying(enveloped("fetch", "hub_1", &json!({"results": results})));
    let home = tempfile::tempdir().unwrap();
    let node = node(home.path(), &server.url());
    let found = node.search(&["error".to_owned()], None, 100_000).unwrap();
    assert!(found.len() <= 500, "{}", found.len());
    assert!(found.iter().all(|row| row.streak == 0 && row.confidence == 0.0));
    assert_eq!(node.search(&[], None, 3).unwrap().len(), 3);
}
