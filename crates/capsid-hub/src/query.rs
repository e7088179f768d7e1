//! Reading the query of an address. What is wrong with it is told as JSON, like everything else.

use crate::error::{ApiError, Result};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The query as a type.
#[derive(Debug, Clone)]
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let received = capsid_model::text::cut(&rejection.body_text(), 200).to_owned();
                Err(ApiError::field("query", "each name once and with a value that fits", received))
            }
        }
    }
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

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiError::field("path", "an id in UTF-8, percent-encoded", "something else")),
        }
    }
}
