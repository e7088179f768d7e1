//! The pages over HTTP: compressed at build time, cached by the browser as long as they are valid.

use crate::pages::{self, PageHost};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use rust_embed::EmbeddedFile;

/// The compressed forms of a file, in order of preference, with their file extension.
const FORMS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// The response to a browser that requests `path`: a file, a page, or the page for an unknown address.
pub fn answer(host: PageHost, path: &str, headers: &HeaderMap) -> Response {
    match file(path, headers) {
        Some(response) => response,
        None if pages::is_page(host, path) => shell(host, StatusCode::OK),
        None => shell(host, StatusCode::NOT_FOUND),
    }
}

/// A file, if `path` names one.
pub fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = pages::file(path)?;
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let packed = FORMS
        .iter()
        .filter(|(name, _)| accepts(accepted, name))
        .find_map(|(name, ending)| Some((*name, pages::packed(path, ending)?)));
    let tag = tag(&plain, packed.as_ref().map_or("", |(name, _)| name));
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|known| names(known.as_bytes(), &tag));
    let mut response = Response::new(if is_known { Body::empty() } else { body(plain, packed.as_ref()) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(&pages::stored_path(path)?)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_headers(path)));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(pages::file_policy(path)));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if let Some((name, _)) = packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    Some(response)
}

/// Whether a list such as `"a", W/"b"` has a tag.
fn names(list: &[u8], tag: &str) -> bool {
    let tags = list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    tags.map(|each| each.strip_prefix(b"W/").unwrap_or(each))
        .any(|each| each == tag.as_bytes() || each == b"*")
}

fn body(plain: EmbeddedFile, packed: Option<&(&'static str, EmbeddedFile)>) -> Body {
    match packed {
        Some((_, file)) => Body::from(file.data.clone().into_owned()),
        None => Body::from(plain.data.into_owned()),
    }
}

/// Whether a list such as `gzip, br;q=0.5` has a name, and not with a weight of nothing.
fn accepts(list: &str, name: &str) -> bool {
    list.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        words.next().is_some_and(|word| word.eq_ignore_ascii_case(name))
            && !words.any(|word| word.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)))
    })
}

/// Each form has a tag of its own, for its bytes are others.
fn tag(file: &EmbeddedFile, form: &str) -> String {
    let hash = file.metadata.sha256_hash();
    format!("\"{}{form}\"", capsid_model::hash::hex(&hash[..12]))
}

/// Files with a hash in their name never change. Others are revalidated each time.
fn cache_headers(path: &str) -> &'static str {
    if path.starts_with("/_app/immutable/") { "public, max-age=31536000, immutable" } else { "no-cache" }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        "png" => "image/png",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The shell with its policy. It is never cached: the next version of the program may have another.
pub fn shell(host: PageHost, status: StatusCode) -> Response {
    let mut response = Response::new(Body::from(pages::shell(host).into_owned()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept"),
        (header::CONTENT_SECURITY_POLICY, pages::policy()),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_sent_to_who_takes_it() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("GZIP;q=0.5", "gzip"));
        assert!(!accepts("br;q=0, gzip", "br"));
        assert!(!accepts("", "br"));
    }

    #[test]
    fn a_known_tag_is_found_in_a_list() {
        for list in ["\"a\"", "\"b\", \"a\"", "W/\"a\"", "*"] {
            assert!(names(list.as_bytes(), "\"a\""), "{list}");
        }
        assert!(!names(b"\"ab\", a", "\"a\""));
    }

    #[test]
    fn what_has_no_page_is_told_with_a_page() {
        let known = answer(PageHost::Hub, "/browse", &HeaderMap::new());
        let unknown = answer(PageHost::Hub, "/nothing/here", &HeaderMap::new());
        assert_eq!((known.status(), unknown.status()), (StatusCode::OK, StatusCode::NOT_FOUND));
        for response in [known, unknown] {
            assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
            assert!(response.headers().contains_key(header::CONTENT_SECURITY_POLICY));
        }
    }

    #[test]
    fn a_script_that_runs_as_a_worker_may_read_from_here() {
        let response = file("/theme.js", &HeaderMap::new()).expect("the pages are built: run `make web`");
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap_or_default();
        assert!(policy.contains("connect-src 'self'"), "{policy}");
    }
}
