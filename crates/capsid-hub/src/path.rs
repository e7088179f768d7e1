//! What stands in a path.

use crate::error::{ApiError, Result};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

/// The one variable part of a path, such as an id. Percent signs are already decoded.
#[derive(Debug, Clone)]
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) => Ok(Self(text)),
            Err(_) => Err(ApiError::field("path", "percent-encoded UTF-8", "something else")),
        }
    }
}
