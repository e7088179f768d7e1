//! What somebody would like to have: a page for people, or JSON for programs.

use axum::http::{HeaderMap, header};

/// Whether somebody would rather have HTML than JSON. Who has no wish gets JSON, and so does who shows a token: a browser
/// shows none when it opens an address, and some programs say that they like HTML without meaning it.
pub fn prefers_html(headers: &HeaderMap) -> bool {
    if headers.contains_key(header::AUTHORIZATION) {
        return false;
    }
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    quality(accept, "text/html") > quality(accept, "application/json")
}

/// How welcome a type is, from 0 to 1: what is said of it by name counts before what is said of all.
fn quality(accept: &str, kind: &str) -> f64 {
    let family = kind.split('/').next().unwrap_or_default();
    let said_of = |name: &str| {
        accept.split(',').find_map(|part| {
            let mut words = part.split(';').map(str::trim);
            let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case(name));
            let weight = words.find_map(|word| word.strip_prefix("q=")).and_then(|q| q.parse().ok());
            named.then_some(weight.unwrap_or(1.0))
        })
    };
    said_of(kind).or_else(|| said_of(&format!("{family}/*"))).or_else(|| said_of("*/*")).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::quality;

    #[test]
    fn a_browser_wants_html_and_a_program_json() {
        let html = |accept: &str| quality(accept, "text/html") > quality(accept, "application/json");
        assert!(html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(html("text/*, */*;q=0.1"));
        assert!(!html("*/*"));
        assert!(!html(""));
        assert!(!html("application/json"));
        assert!(!html("application/json, text/html;q=0.5"));
        assert!(!html("text/html;q=0, */*"));
        assert!(!html("text/html;q=nonsense,application/json"));
    }
}
