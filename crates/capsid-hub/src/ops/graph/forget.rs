//! Taking back what one told the graph.

use super::items::{self, IngestCountView, find_author, parse_known, refused, sender};
use super::price::admit_free;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::object_reader::kind_of;
use crate::state::SharedHub;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, ForgetOutcome, ForgetSelection};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What may stand in a body.
const OF_BODIES: [&str; 7] =
    ["everything", "entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];

/// What was taken back.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphForgotten)]
pub struct ForgetGraphResponse {
    forgotten: IngestCountView,
    /// How much was named that the sender had not told.
    #[schema(value_type = i64)]
    not_told: usize,
}

/// Takes back what whoever asks has told the knowledge graph: everything, or the things and relations that are named.
/// The body is read member by member, so that every member that means nothing is named.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn forget_graph(
    hub: &SharedHub,
    credentials: Credentials,
    body: Map<String, Value>,
) -> ApiResult<ForgetGraphResponse> {
    let sender = sender(credentials, &body)?;
    tracing::Span::current().record("node.id", sender.node_id.as_deref());
    let which = read(body)?;
    admit_free(hub, &sender, GraphUseKind::Ingest).await?;
    hub.index.wait_for_write().await?;
    let context = hub.context();
    let gone = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let asker = find_author(tx, &context, &sender, false)?;
            match graph::forget_statements(tx, &asker.name, &which, context.now)? {
                ForgetOutcome::Done(gone) => Ok(gone),
                ForgetOutcome::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(ForgetGraphResponse {
        forgotten: IngestCountView { entities: gone.entities, relations: gone.relations },
        not_told: gone.not_told,
    })
}

/// What is to be forgotten. Everything is only ever meant where nothing is named.
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
    use serde_json::json;

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
