//! Reading what a client sent: JSON that means one thing only, of bounded size and depth.

use crate::error::{ApiError, ApiResult, HubCode, truncate_for_client};
use crate::http::body::BodyTimeout;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use capsid_model::problem::{Code, Problem};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// The largest body of an ordinary call.
pub const BODY_LIMIT: usize = 1024 * 1024;
/// The largest body of a mailbox call.
pub const MAILBOX_LIMIT: usize = 4 * 1024 * 1024;
/// The largest body of a call that tells the knowledge graph something.
pub const GRAPH_LIMIT: usize = 2 * 1024 * 1024;
/// The deepest nesting.
pub const DEPTH_LIMIT: usize = 32;

/// The text of a body: JSON that was checked as a whole, and not yet read as anything.
#[derive(Debug, Clone)]
pub struct JsonText(pub String);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Self> {
        check(receive(request).await?).map(Self)
    }
}

/// The bytes of a body, as many as the call may have.
async fn receive(request: Request) -> ApiResult<Bytes> {
    let limit = match request.uri().path() {
        path if path.starts_with("/a2a/mailbox/") => MAILBOX_LIMIT,
        "/kg/ingest" | "/kg/forget" => GRAPH_LIMIT,
        _ => BODY_LIMIT,
    };
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Err(ApiError::new(
            HubCode::UnsupportedEncoding,
            "The body is compressed.",
            "Send it as plain JSON, without `Content-Encoding`.",
        ));
    }
    // A body that says how long it is need not arrive first.
    if request.body().size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    collect(request.into_body(), limit).await
}

async fn collect(body: Body, limit: usize) -> ApiResult<Bytes> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(error) if BodyTimeout::caused(error.as_ref()) => Err(ApiError::new(
            HubCode::RequestTimeout,
            "The body did not arrive in time.",
            "Send it faster, or less at a time.",
        )),
        Err(_) => Err(not_json("The body did not arrive as a whole.")),
    }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        HubCode::PayloadTooLarge,
        format!("The body is larger than {limit} bytes."),
        "Send less at a time.",
    )
}

/// Checks that bytes are one JSON document in UTF-8, without repeated keys, not too deep.
pub fn check(bytes: impl Into<Vec<u8>>) -> ApiResult<String> {
    let text = String::from_utf8(bytes.into()).map_err(|_| not_json("The body is not UTF-8."))?;
    if text.trim().is_empty() {
        return Err(not_json("The body is empty."));
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    let checked =
        StrictJsonVisitor { depth: DEPTH_LIMIT }.deserialize(&mut reader).and_then(|()| reader.end());
    match checked {
        Ok(()) => Ok(text),
        Err(error) => Err(not_json(format!("The body is not usable JSON: {error}."))),
    }
}

fn not_json(problem: impl Into<String>) -> ApiError {
    ApiError::new(
        HubCode::InvalidProtocolMessage,
        problem,
        "Send one JSON object in UTF-8 as the request's body.",
    )
}

/// Reads JSON as a type. `at` names the place that the text came from, such as `payload`.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str, at: &str) -> ApiResult<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = match (at, error.path().to_string().as_str()) {
            ("", ".") => "body".to_owned(),
            (at, ".") => at.to_owned(),
            ("", path) => path.to_owned(),
            (at, path) => format!("{at}.{path}"),
        };
        wrong_type(path, &error.into_inner().to_string())
    })
}

/// Turns a reader's sentence (`invalid type: sequence, expected a map at line 1 column 5`) into a field's error.
fn wrong_type(path: String, sentence: &str) -> ApiError {
    let sentence = sentence.split(" at line ").next().unwrap_or(sentence);
    if let Some(name) = sentence.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let path = if path == "body" { name.to_owned() } else { format!("{path}.{name}") };
        return ApiError::field(path, "a value", "missing");
    }
    match sentence.split_once(", expected ") {
        Some((received, expected)) => {
            let received =
                received.strip_prefix("invalid type: ").or(received.strip_prefix("invalid value: "));
            ApiError::field(path, plain(expected), plain(received.unwrap_or("something else")))
        }
        None => ApiError::field(path, "a value that fits", plain(sentence)),
    }
}

fn plain(text: &str) -> String {
    match text {
        "sequence" => "an array".to_owned(),
        "a sequence" => "an array".to_owned(),
        "map" | "a map" => "an object".to_owned(),
        "null" => "null".to_owned(),
        text if text.starts_with("struct ") => "an object".to_owned(),
        "a borrowed string" => "a string".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize" | "isize" => {
            "a whole number".to_owned()
        }
        text if text.starts_with("integer `") => text.replacen("integer", "the number", 1),
        text if text.starts_with("floating point `") => text.replacen("floating point", "the number", 1),
        text if text.starts_with("boolean `") => text.replacen("boolean", "the boolean", 1),
        text if text.starts_with("string \"") => "a string".to_owned(),
        text => capsid_model::text::cut(text, 200).to_owned(),
    }
}

/// The body as a type, for calls without an envelope.
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: for<'de> Deserialize<'de>> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let JsonText(text) = JsonText::from_request(request, state).await?;
        read(&text, "").map(Self)
    }
}

/// The same for calls that have nothing to say that must be said: no body, and `null`, count as an empty object.
#[derive(Debug, Clone)]
pub struct OptionalJsonBody<T>(pub T);

impl<S: Send + Sync, T: for<'de> Deserialize<'de> + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Self> {
        let bytes = receive(request).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(T::default()));
        }
        read::<Option<T>>(&check(bytes)?, "").map(|told| Self(told.unwrap_or_default()))
    }
}

/// A raw part of a body, if it is an object.
pub fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// JSON text of the database, to be written into a response as it is.
pub fn stored_json(text: String) -> ApiResult<Box<RawValue>> {
    RawValue::from_string(text).map_err(|error| damaged(&error))
}

/// Reads JSON text of the database.
pub fn read_stored<'a, T: Deserialize<'a>>(text: &'a str) -> ApiResult<T> {
    serde_json::from_str(text).map_err(|error| damaged(&error))
}

fn damaged(error: &serde_json::Error) -> ApiError {
    Problem::new(Code::StoreDamaged, format!("Stored JSON cannot be read: {error}.")).into()
}

/// Walks a whole document and keeps nothing.
#[derive(Clone, Copy)]
struct StrictJsonVisitor {
    depth: usize,
}

impl StrictJsonVisitor {
    fn deeper<E: serde::de::Error>(self) -> ApiResult<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth }),
            None => Err(E::custom(format_args!("it is nested deeper than {DEPTH_LIMIT} levels"))),
        }
    }
}

/// PostgreSQL holds no such text, and no honest one has it.
fn without_nul<E: serde::de::Error>(text: &str) -> ApiResult<(), E> {
    if text.contains('\0') {
        return Err(E::custom("a text in it has the character U+0000"));
    }
    Ok(())
}

impl<'de> DeserializeSeed<'de> for StrictJsonVisitor {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> ApiResult<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictJsonVisitor {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> ApiResult<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> ApiResult<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> ApiResult<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> ApiResult<(), E> {
        Ok(())
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> ApiResult<(), E> {
        without_nul(text)
    }
    fn visit_unit<E>(self) -> ApiResult<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> ApiResult<(), A::Error> {
        let inner = self.deeper()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> ApiResult<(), A::Error> {
        let inner = self.deeper()?;
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<std::borrow::Cow<'de, str>>()? {
            if keys.contains(&key) {
                return Err(serde::de::Error::custom(format_args!(
                    "the key `{}` comes twice",
                    truncate_for_client(&key)
                )));
            }
            without_nul(&key)?;
            keys.insert(key);
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{check, read};

    #[test]
    fn a_document_that_means_two_things_is_refused() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            "{} {}",
            "",
            "  ",
            "{",
            r#"{"a":1e400}"#,
            r#"["\ud800"]"#,
            r#"["a\u0000b"]"#,
            r#"{"\u0000":1}"#,
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        assert!(check(vec![b'"', 0xff, b'"']).is_err());
        assert!(check(r#"{"a":[1,2.5,null,true,"é\ud83d\ude00"]}"#).is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        assert!(check(format!("{}{}", "[".repeat(32), "]".repeat(32))).is_ok());
        assert!(check(format!("{}{}", "[".repeat(33), "]".repeat(33))).is_err());
        assert!(check("[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn a_wrong_type_is_told_with_its_path() {
        #[derive(Debug, serde::Deserialize)]
        struct Inner {
            #[allow(dead_code)]
            n: u32,
        }
        #[derive(Debug, serde::Deserialize)]
        struct Outer {
            #[allow(dead_code)]
            list: Vec<Inner>,
        }
        let error = read::<Outer>(r#"{"list":[{"n":1},{"n":"x"}]}"#, "payload").unwrap_err();
        assert_eq!(error.details[0].path, "payload.list[1].n");
        assert_eq!(
            (&*error.details[0].expected, &*error.details[0].received),
            ("a whole number", "a string")
        );
        let error = read::<f64>("[]", "score").unwrap_err();
        assert_eq!((&*error.details[0].expected, &*error.details[0].received), ("a number", "an array"));
        let error = read::<Outer>(r#"{"list":[{}]}"#, "payload").unwrap_err();
        assert_eq!(error.details[0].path, "payload.list[0].n");
        assert_eq!(error.details[0].received, "missing");
    }
}
