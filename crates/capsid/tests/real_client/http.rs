//! As much of an HTTP client as the stories need: one request, one answer, no compression, no pieces.

use std::io::{Read, Write};
use std::net::TcpStream;

/// Posts a JSON text to `http://host:port` and gives the body of a good answer.
#[track_caller]
pub fn post(origin: &str, path: &str, bearer: Option<&str>, body: &str) -> String {
    ask("POST", origin, path, bearer, body)
}

/// Gets what is at a path.
#[track_caller]
pub fn get(origin: &str, path: &str) -> String {
    get_as(origin, path, None)
}

/// The same for somebody who shows a token.
#[track_caller]
pub fn get_as(origin: &str, path: &str, bearer: Option<&str>) -> String {
    ask("GET", origin, path, bearer, "")
}

#[track_caller]
fn ask(method: &str, origin: &str, path: &str, bearer: Option<&str>, body: &str) -> String {
    let address = origin.strip_prefix("http://").unwrap();
    let authorization = bearer.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n{authorization}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.split(' ').nth(1).is_some_and(|status| status.starts_with('2')),
        "{method} {path}: {answer}"
    );
    body.to_owned()
}
