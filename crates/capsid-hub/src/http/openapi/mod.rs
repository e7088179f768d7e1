//! The shapes that the description of the hub names.

use crate::error::ErrorCorrection;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, path::PathItem};

/// The description, shared by the routes that show it or a part of it.
#[derive(Debug, Clone)]
pub struct OpenApiDocument(pub Arc<Value>);

/// A body for each path that takes one. They can be sent as they are.
const EXAMPLES: &str = include_str!("examples.json");

/// Adds what the routes do not say themselves: a name for each operation, an example of each body, how a request shows who sends it, and that any
/// of them may be refused.
pub fn complete(document: &mut OpenApi) {
    let refusal = refusal();
    for (path, item) in &mut document.paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            operation.operation_id = Some(name(method, path));
            operation.responses.responses.entry("4XX".to_owned()).or_insert_with(|| refusal.clone().into());
        }
    }
    let examples: Map<String, Value> = serde_json::from_str(EXAMPLES).unwrap_or_default();
    for (path, item) in &mut document.paths.paths {
        // Some calls are served at the top and again under `/a2a`.
        let at_the_top = path.strip_prefix("/a2a").and_then(|path| examples.get(path));
        if let Some(example) = examples.get(path).or(at_the_top) {
            show(item, example);
        }
    }
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme("bearer", bearer);
    // Most calls are open to everybody; a node's secret, a session token or an API key opens the rest.
    let nobody = SecurityRequirement::default();
    document.security = Some(vec![nobody, SecurityRequirement::new("bearer", [""; 0])]);
}

/// A name for an operation that no other has. One function may serve two paths, and two functions have the same name.
fn name(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(method.to_owned(), |name, word| format!("{name}_{word}"))
}

/// What every operation may answer.
fn refusal() -> Response {
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().content("application/json", problem).build()
}

fn show(item: &mut PathItem, example: &Value) {
    for operation in [&mut item.post, &mut item.put].into_iter().flatten() {
        let content = match &mut operation.request_body {
            Some(RefOr::T(body)) => body.content.get_mut("application/json"),
            _ => None,
        };
        if let Some(RefOr::T(content)) = content {
            content.example = Some(example.clone());
        }
    }
}

/// A message in its envelope.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub struct A2aMessage {
    /// Always `gep-a2a`.
    #[schema(example = "gep-a2a")]
    pub protocol: String,
    /// `1.0.0`.
    #[schema(example = "1.0.0")]
    pub protocol_version: String,
    /// The type of this endpoint.
    #[schema(example = "hello")]
    pub message_type: String,
    /// Chosen by the sender.
    #[schema(example = "msg_1736934600_a1b2c3d4", max_length = 200)]
    pub message_id: String,
    /// The node that speaks.
    #[schema(example = "node_e5f6a7b8c9d0e1f2", max_length = 128)]
    pub sender_id: String,
    /// When, ISO 8601.
    #[schema(example = "2025-01-15T08:30:00Z")]
    pub timestamp: String,
    /// What it says.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
    pub payload: serde_json::Value,
}

/// What a refusal looks like.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ErrorBody {
    /// The stable code.
    #[schema(example = "validation_error")]
    pub error: String,
    /// What is wrong and what to do.
    pub correction: ErrorCorrection,
}
