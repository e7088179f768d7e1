//! Who is answered.

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

/// Whether a request is addressed to this machine. A web site can give its own name the address 127.0.0.1, and its
/// pages then count as the same origin; but the browser still sends the name in the `Host` header.
pub(super) fn is_meant_for_us(headers: &HeaderMap, port: u16) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|name| host.as_bytes().eq_ignore_ascii_case(format!("{name}:{port}").as_bytes()))
}

/// Whether a request has the key. The comparison takes constant time, so it does not reveal how much of a key was right.
pub(super) fn has_key(headers: &HeaderMap, key: &str) -> bool {
    let presented =
        headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    presented.is_some_and(|presented| presented.ct_eq(key.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn with(name: &header::HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn only_this_machine_with_this_port_is_the_host() {
        for host in ["127.0.0.1:4840", "localhost:4840", "LOCALHOST:4840", "[::1]:4840"] {
            assert!(is_meant_for_us(&with(&header::HOST, &[host]), 4840), "{host}");
        }
        for host in [
            "evil.example:4840",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost.evil.example:4840",
            "",
            "127.0.0.1:48400",
        ] {
            assert!(!is_meant_for_us(&with(&header::HOST, &[host]), 4840), "{host}");
        }
        assert!(!is_meant_for_us(&HeaderMap::new(), 4840));
        assert!(!is_meant_for_us(&with(&header::HOST, &["127.0.0.1:4840", "evil.example:4840"]), 4840));
    }

    #[test]
    fn only_the_whole_key_opens() {
        assert!(has_key(&with(&header::AUTHORIZATION, &["Bearer abc"]), "abc"));
        for wrong in ["Bearer ab", "Bearer abcd", "Bearer ", "abc", "Basic abc", ""] {
            assert!(!has_key(&with(&header::AUTHORIZATION, &[wrong]), "abc"), "{wrong}");
        }
        assert!(!has_key(&HeaderMap::new(), "abc"));
    }
}
