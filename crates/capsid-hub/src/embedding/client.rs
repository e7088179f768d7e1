//! Asking the endpoint. Whatever it answers is looked at before it is believed: nothing that could be
//! compared wrongly gets past here.

use crate::config::SearchConfig;
use crate::outbound::endpoint::EmbeddingEndpoint;
use crate::outbound::resolve::Resolver;
use crate::outbound::{AGENT, OutboundResponse, TrustRoots};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use capsid_rules::meaning::vectors;
use capsid_rules::meaning::vectors::MAX_DIMS;
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How many bytes a number of an answer may take, spaces around it included.
const BYTES_OF_NUMBER: usize = 32;
/// How many bytes an answer may have beside its numbers.
const BYTES_AROUND: usize = 64 * 1024;
/// The longest that an endpoint can ask to be left alone.
const MAX_PAUSE_MS: i64 = 600_000;

/// Why there is no embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingError {
    /// Nobody is there, by a short code: no text was sent.
    Unreachable(&'static str),
    /// Somebody is there, who hung up.
    HungUp,
    Timeout,
    /// The key is wrong, or lacking.
    Denied,
    /// The key is not for this, or a guard in front of the endpoint does not like the text.
    Forbidden,
    /// There is no such address or model.
    NotFound,
    /// It was asked too often, and wants to be left alone for so many milliseconds.
    Busy(Option<i64>),
    /// It is not there for anybody, and wants to be left alone for so many milliseconds.
    Away(Option<i64>),
    /// It does not take what it was sent.
    Refused,
    Failing,
    /// It wants to be asked elsewhere.
    Redirect,
    /// Its answer cannot be used, by a short code.
    Unusable(&'static str),
}

impl EmbeddingError {
    /// A short code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable(code) | Self::Unusable(code) => code,
            Self::HungUp => "no_answer",
            Self::Timeout => "timeout",
            Self::Denied | Self::Forbidden => "key_refused",
            Self::NotFound => "not_found",
            Self::Busy(_) => "rate_limited",
            Self::Refused => "text_refused",
            Self::Failing | Self::Away(_) => "endpoint_failing",
            Self::Redirect => "redirect_not_followed",
        }
    }

    /// Whether another text might well have fared better. Everything else is an outage.
    pub fn may_lie_in_the_text(self) -> bool {
        matches!(self, Self::HungUp | Self::Forbidden | Self::Refused | Self::Failing | Self::Unusable(_))
    }

    /// Whether it came of asking, and not too often. Even what looks like an outage may be a single text that
    /// the endpoint takes too long for, which shows when that text is asked alone.
    pub fn is_request_fault(self) -> bool {
        !matches!(self, Self::Unreachable(_) | Self::Busy(_))
    }

    /// How long the endpoint wants to be left alone, where it says so.
    pub fn pause_told(self) -> Option<i64> {
        match self {
            Self::Busy(told) | Self::Away(told) => told,
            _ => None,
        }
    }

    fn from_status(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        Some(match status.as_u16() {
            200 => return None,
            401 => Self::Denied,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            429 => Self::Busy(pause(headers)),
            300..400 => Self::Redirect,
            400..500 => Self::Refused,
            503 | 504 => Self::Away(pause(headers)),
            500..600 => Self::Failing,
            _ => Self::Unusable("odd_status"),
        })
    }
}

/// How long an endpoint wants to be left alone, within bounds.
fn pause(headers: &HeaderMap) -> Option<i64> {
    let seconds: i64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.saturating_mul(1000).clamp(0, MAX_PAUSE_MS))
}

/// Asks one endpoint for the embeddings of one model.
pub struct EmbeddingClient {
    endpoint: EmbeddingEndpoint,
    model: String,
    authorization: Option<HeaderValue>,
    resolver: Arc<dyn Resolver>,
    trust: TrustRoots,
}

impl EmbeddingClient {
    /// A client as the settings say; nothing where there is no endpoint.
    pub fn new(settings: &SearchConfig, resolver: Arc<dyn Resolver>) -> Option<Self> {
        let key = &settings.embeddings_key.0;
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {key}")).ok().filter(|_| !key.is_empty());
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Some(Self {
            endpoint: EmbeddingEndpoint::parse(settings.embeddings_url.as_deref()?)?,
            model: settings.embeddings_model.clone(),
            authorization,
            resolver,
            trust: TrustRoots::default(),
        })
    }

    /// The embeddings of texts, each of length 1 and of so many numbers; of whatever number they are, and all
    /// of the same, where `dims` is 0.
    pub async fn embed(
        &self,
        texts: &[&str],
        dims: usize,
        patience: Duration,
    ) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let answer = timeout(patience, self.request_embeddings(texts, dims))
            .await
            .map_err(|_| EmbeddingError::Timeout)??;
        if let Some(fault) = EmbeddingError::from_status(answer.status, &answer.headers) {
            return Err(fault);
        }
        let body = answer.body.map_err(EmbeddingError::Unusable)?;
        read(&body, texts.len(), dims)
    }

    async fn request_embeddings(
        &self,
        texts: &[&str],
        dims: usize,
    ) -> Result<OutboundResponse, EmbeddingError> {
        let request = self.request(texts).ok_or(EmbeddingError::Unreachable("unusable_request"))?;
        let numbers = if dims == 0 { MAX_DIMS } else { dims };
        let most = BYTES_AROUND + texts.len() * numbers * BYTES_OF_NUMBER;
        let stream = self.endpoint.connect(&*self.resolver).await.map_err(EmbeddingError::Unreachable)?;
        let tls_name = self.endpoint.https.then_some(self.endpoint.host.as_str());
        self.trust.exchange(stream, tls_name, request, most).await.map_err(|code| match code {
            "no_answer" => EmbeddingError::HungUp,
            code => EmbeddingError::Unreachable(code),
        })
    }

    fn request(&self, texts: &[&str]) -> Option<Request<Full<Bytes>>> {
        let asked = EmbeddingRequest { model: &self.model, input: texts, encoding_format: "float" };
        let mut request = Request::new(Full::new(Bytes::from(serde_json::to_vec(&asked).ok()?)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint.path.parse().ok()?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.endpoint.authority.parse().ok()?);
        headers.insert(header::USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        if let Some(authorization) = &self.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        Some(request)
    }
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: usize,
    /// What is no number in JSON comes as null.
    embedding: Vec<Option<f64>>,
}

/// Reads an answer, in the order of the texts.
fn read(body: &[u8], count: usize, dims: usize) -> Result<Vec<Vec<f32>>, EmbeddingError> {
    let told: EmbeddingResponse =
        serde_json::from_slice(body).map_err(|_| EmbeddingError::Unusable("unreadable_answer"))?;
    if told.data.len() != count {
        return Err(EmbeddingError::Unusable("wrong_count"));
    }
    let dims = match told.data.first() {
        Some(first) if dims == 0 => first.embedding.len(),
        _ => dims,
    };
    let mut found: Vec<Option<Vec<f32>>> = vec![None; count];
    for item in told.data {
        if item.embedding.len() != dims || !(1..=MAX_DIMS).contains(&dims) {
            return Err(EmbeddingError::Unusable("wrong_dimensions"));
        }
        let place = found.get_mut(item.index).filter(|place| place.is_none());
        let place = place.ok_or(EmbeddingError::Unusable("wrong_indexes"))?;
        let numbers: Option<Vec<f32>> = item.embedding.into_iter().map(|x| Some(x? as f32)).collect();
        *place = numbers.and_then(|numbers| vectors::unit(&numbers));
        if place.is_none() {
            return Err(EmbeddingError::Unusable("unusable_numbers"));
        }
    }
    // So many of them, each at a place of its own, leave no place empty.
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, count: usize, dims: usize) -> Result<Vec<Vec<f32>>, &'static str> {
        read(text.as_bytes(), count, dims).map_err(EmbeddingError::as_str)
    }

    #[test]
    fn embeddings_come_in_the_order_of_the_texts() {
        let text = r#"{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{}}"#;
        assert_eq!(told(text, 2, 0), Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
        assert_eq!(told(text, 2, 2), Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
        assert_eq!(told(text, 2, 3), Err("wrong_dimensions"));
        assert_eq!(told(text, 1, 2), Err("wrong_count"));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for (text, code) in [
            (r#"{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}"#, "wrong_indexes"),
            (r#"{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}"#, "wrong_indexes"),
            (r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}"#, "wrong_dimensions"),
            (r#"{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}"#, "wrong_dimensions"),
            (r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0,0]}]}"#, "unusable_numbers"),
            (
                r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,null]}]}"#,
                "unusable_numbers",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,1e300]}]}"#,
                "unusable_numbers",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,1e999]}]}"#,
                "unreadable_answer",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,NaN]}]}"#,
                "unreadable_answer",
            ),
            (r#"{"data":[{"index":0,"embedding":[1,2]},{"embedding":[1,2]}]}"#, "unreadable_answer"),
            (
                r#"{"data":[{"index":-1,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}"#,
                "unreadable_answer",
            ),
            (
                r#"{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":[1,2]}]}"#,
                "unreadable_answer",
            ),
            (r#"{"data":{}}"#, "unreadable_answer"),
            ("<html>", "unreadable_answer"),
            ("", "unreadable_answer"),
        ] {
            assert_eq!(told(text, 2, 0), Err(code), "{text}");
        }
    }

    #[test]
    fn a_status_tells_what_is_wrong() {
        let mut headers = HeaderMap::new();
        let code = |status: u16, headers: &HeaderMap| {
            EmbeddingError::from_status(StatusCode::from_u16(status).unwrap(), headers)
        };
        for (status, fault) in [
            (200, None),
            (204, Some(EmbeddingError::Unusable("odd_status"))),
            (302, Some(EmbeddingError::Redirect)),
            (400, Some(EmbeddingError::Refused)),
            (401, Some(EmbeddingError::Denied)),
            (403, Some(EmbeddingError::Forbidden)),
            (404, Some(EmbeddingError::NotFound)),
            (413, Some(EmbeddingError::Refused)),
            (429, Some(EmbeddingError::Busy(None))),
            (500, Some(EmbeddingError::Failing)),
            (502, Some(EmbeddingError::Failing)),
            (503, Some(EmbeddingError::Away(None))),
            (504, Some(EmbeddingError::Away(None))),
        ] {
            assert_eq!(code(status, &headers), fault, "{status}");
        }
        for (told, pause) in [
            ("7", Some(7_000)),
            ("999999999999", Some(MAX_PAUSE_MS)),
            ("-5", Some(0)),
            ("soon", None),
            ("99999999999999999999", None),
        ] {
            headers.insert(header::RETRY_AFTER, told.parse().unwrap());
            assert_eq!(code(429, &headers), Some(EmbeddingError::Busy(pause)), "{told}");
        }
    }
}
