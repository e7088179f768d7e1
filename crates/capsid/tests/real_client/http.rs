//! As much of an HTTP client as the story needs: one request, one answer, no compression, no pieces.

use std::io::{Read, Write};
use std::net::TcpStream;

/// Posts a JSON text to `http://host:port` and gives the body of a good answer.
#[track_caller]
pub fn post(origin: &str, path: &str, bearer: Option<&str>, body: &str) -> String {
    let address = origin.strip_prefix("http://").unwrap();
    let authorization = bearer.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n{authorization}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.split(' ').nth(1) == Some("200"), "POST {path}: {answer}");
    body.to_owned()
}
