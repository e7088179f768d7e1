//! `POST /kg/forget`: taking back what one told the graph.

use super::items::{self, find_author, parse_known, refused, sender};
use super::price::admit_free;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::object_reader::kind_of;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, ForgetOutcome, ForgetSelection};
use serde_json::{Map, Value, json};

/// What may stand in a body.
const OF_BODIES: [&str; 7] =
    ["everything", "entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];

/// Takes back what whoever asks has told the knowledge graph: everything, or the things and relations that are named.
///
/// The body of a telling takes back what it told. What others told, and what the hub itself says, stays. Naming what one
/// did not tell is no error; it is counted. Taking back the same again changes nothing, and costs nothing.
#[utoipa::path(post, path = "/kg/forget", tag = "graph", request_body = crate::http::openapi::graph::GraphForgetting,
    responses((status = 200, body = crate::http::openapi::graph::GraphForgotten), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn forget(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> ApiResult<JsonReply> {
    let sender = sender(credentials, &body)?;
    let which = read(body)?;
    admit_free(&hub, &sender, GraphUseKind::Ingest).await?;
    let rules = hub.rules();
    let gone = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let asker = find_author(tx, &rules, &sender, false)?;
            match graph::forget_statements(tx, &asker.name, &which)? {
                ForgetOutcome::Done(gone) => Ok(gone),
                ForgetOutcome::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(JsonReply::json(&json!({
        "forgotten": { "entities": gone.entities, "relations": gone.relations }, "not_told": gone.not_told,
    })))
}

/// What is to be taken back. Everything is only ever meant where nothing is named.
fn read(mut body: Map<String, Value>) -> ApiResult<ForgetSelection> {
    parse_known("", &body, &OF_BODIES)?;
    match body.shift_remove("everything") {
        None | Some(Value::Null | Value::Bool(false)) => items::read(body).map(ForgetSelection::Some),
        Some(Value::Bool(true)) => {
            match ["entities", "relations", "relationships"].iter().find(|name| body.contains_key(**name)) {
                None => Ok(ForgetSelection::Everything),
                Some(name) => Err(ApiError::field(*name, "nothing beside `everything`", "items")),
            }
        }
        Some(other) => Err(ApiError::field("everything", "true or false", kind_of(&other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value)]
    fn reads(body: Value) -> Option<ForgetSelection> {
        read(body.as_object().cloned().unwrap_or_default()).ok()
    }

    #[test]
    fn everything_is_meant_only_where_it_is_said() {
        assert_eq!(
            reads(json!({"everything": true, "sender_id": "node_a"})),
            Some(ForgetSelection::Everything)
        );
        let named = json!([{"name": "x", "entity_type": "tool"}]);
        for body in [
            json!({}),
            json!({"everything": false}),
            json!({"everything": null, "entities": []}),
            json!({"everything": "yes"}),
            json!({"everything": 1}),
            json!({"everything": true, "entities": named}),
            json!({"everything": true, "relations": []}),
            json!({"everything": true, "all": true}),
        ] {
            assert_eq!(reads(body.clone()), None, "{body}");
        }
        assert!(matches!(
            reads(json!({"everything": false, "entities": named})),
            Some(ForgetSelection::Some(_))
        ));
    }
}
