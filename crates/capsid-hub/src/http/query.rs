//! Reading the path and the query of an address. What is wrong with it is told as JSON, like everything else.

use crate::error::{ApiError, ApiResult};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The query as a type.
#[derive(Debug, Clone)]
pub struct QueryParams<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        if !is_utf8(parts.uri.query().unwrap_or_default()) {
            return Err(ApiError::field("query", "UTF-8, percent-encoded", "something else"));
        }
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let (expected, received) = plain(&rejection.body_text());
                Err(ApiError::field("query", expected, received))
            }
        }
    }
}

/// What is wrong with a query, from the sentence of its reader.
fn plain(sentence: &str) -> (String, String) {
    let name = |before: &str| sentence.split_once(before)?.1.split_once('`').map(|(name, _)| name);
    match (name("duplicate field `"), name("missing field `")) {
        (Some(name), _) => ("each name once".to_owned(), format!("`{name}` more than once")),
        (_, Some(name)) => (format!("a query with `{name}`"), "without it".to_owned()),
        _ => ("names with values that fit".to_owned(), "something else".to_owned()),
    }
}

/// Whether a query is UTF-8 once it is decoded. The reader would put marks in place of what is not, and two ids that
/// differ could become one.
fn is_utf8(query: &str) -> bool {
    let mut bytes = Vec::with_capacity(query.len());
    let mut rest = query.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|pair| std::str::from_utf8(pair).ok());
        match code.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::str::from_utf8(&bytes).is_ok()
}

/// A limit as clients send it: `usual` where it is missing or no number, and never more than `most`.
pub fn limit(asked: Option<&str>, usual: i64, most: i64) -> i64 {
    asked.and_then(|text| text.trim().parse::<i64>().ok()).filter(|n| *n >= 1).unwrap_or(usual).min(most)
}

/// The one part of a path that stands for an id, decoded.
#[derive(Debug, Clone)]
pub struct PathId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiError::field("path", "an id in UTF-8, percent-encoded", "something else")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_utf8_or_refused() {
        for good in ["", "a=b", "a=%C3%A9", "a=100%", "a=%zz", "a=%2", "a=+"] {
            assert!(is_utf8(good), "{good}");
        }
        for bad in ["a=%ff", "%C3=x", "a=%C3b", "a=%ED%A0%80"] {
            assert!(!is_utf8(bad), "{bad}");
        }
    }

    #[test]
    fn a_wrong_query_is_told_in_plain_words() {
        let twice = plain("Failed to deserialize query string: duplicate field `limit`");
        assert_eq!((&*twice.0, &*twice.1), ("each name once", "`limit` more than once"));
        assert!(!plain("Failed to deserialize query string: limit: invalid digit").1.contains("Failed"));
    }

    #[test]
    fn a_limit_is_a_number_within_bounds() {
        for (asked, taken) in [
            (None, 20),
            (Some("5"), 5),
            (Some("x"), 20),
            (Some("0"), 20),
            (Some("1e9"), 20),
            (Some("999"), 100),
        ] {
            assert_eq!(limit(asked, 20, 100), taken, "{asked:?}");
        }
    }
}
