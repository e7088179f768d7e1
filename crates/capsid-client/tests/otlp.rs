//! Traces that are sent to a receiver: compressed, with the headers, and again when it is busy.

use crate::common::{Server, http, json_reply};
use capsid_client::otlp::OtlpReceiver;
use capsid_model::{Code, json};
use std::io::Write;

const REQUEST: &str = r#"{"resourceSpans":[]}"#;

fn receiver(server: &Server) -> OtlpReceiver {
    OtlpReceiver::new(&server.url(), &["X-Tenant: ada".to_owned()], &|_| None).unwrap()
}

#[test]
fn a_request_is_compressed_and_made_again_when_the_receiver_is_busy() {
    let server = Server::start(|number, _, stream| {
        let answer = match number {
            0 => http(429, "retry-after: 0\r\n", ""),
            1 => http(503, "retry-after: 0\r\n", "busy"),
            _ => json_reply(200, &json!({"partialSuccess": {"rejectedSpans": "2"}})),
        };
        let _ = stream.write_all(answer.as_bytes());
    });
    assert_eq!(receiver(&server).send(REQUEST).unwrap(), 2);
    let seen = server.seen();
    assert_eq!(seen.len(), 3, "two were refused for now");
    for request in seen {
        assert_eq!(request.line, "POST /v1/traces HTTP/1.1");
        assert_eq!(request.body, json!({"resourceSpans": []}), "it was decompressed by the server");
        let head = request.head.to_ascii_lowercase();
        for header in ["content-encoding: gzip", "content-type: application/json", "x-tenant: ada"] {
            assert!(head.contains(header), "{header}: {head}");
        }
    }
}

#[test]
fn a_request_that_is_refused_for_good_is_not_made_again() {
    let server = Server::saying(http(400, "", "no such field"));
    let problem = receiver(&server).send(REQUEST).unwrap_err();
    assert_eq!(problem.code, Code::ReceiverRefused);
    assert!(problem.message.contains("400: no such field"), "{}", problem.message);
    assert_eq!(server.seen().len(), 1);
    let moved = Server::saying(http(302, "location: http://elsewhere.example/\r\n", ""));
    assert_eq!(receiver(&moved).send(REQUEST).unwrap_err().code, Code::ReceiverRefused);
}

#[test]
fn a_receiver_that_stays_busy_or_is_away_is_given_up() {
    let server = Server::saying(http(503, "retry-after: 0\r\n", ""));
    assert_eq!(receiver(&server).send(REQUEST).unwrap_err().code, Code::ReceiverRefused);
    assert_eq!(server.seen().len(), 5);
    let away = OtlpReceiver::new("http://127.0.0.1:1", &[], &|_| None).unwrap();
    assert_eq!(away.send(REQUEST).unwrap_err().code, Code::ReceiverUnreachable);
}
