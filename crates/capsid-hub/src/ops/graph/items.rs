//! Things and relations as a body names them, and who sends it.

use super::caller::{GraphCaller, GraphSender};
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, FieldError, HubCode};
use crate::http::object_reader::ObjectReader;
use crate::http::validate;
use capsid_rules::graph::ingest::{self, IngestBatch, IngestRefusal};
use capsid_store::db::tx::Tx;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What may stand in a thing and in a relation. Whatever else is there was meant to say something, and is not passed over.
const OF_ENTITIES: [&str; 4] = ["name", "entity_type", "properties", "confidence"];
const OF_RELATIONS: [&str; 7] =
    ["source_name", "source_type", "target_name", "target_type", "type", "properties", "confidence"];
/// The longest id and secret.
const MAX_LEN: usize = 200;

/// How much of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IngestCount)]
pub(super) struct IngestCountView {
    #[schema(value_type = i64)]
    pub entities: usize,
    #[schema(value_type = i64)]
    pub relations: usize,
}

/// Who sends a body.
pub fn sender(credentials: Credentials, body: &Map<String, Value>) -> ApiResult<GraphSender> {
    let fields = ObjectReader::new(body, "");
    let [sender_id, node_id, secret] =
        ["sender_id", "node_id", "node_secret"].map(|name| fields.text(name, 1, MAX_LEN));
    GraphSender::from_request(credentials, sender_id?, node_id?, secret?)
}

/// Who sends it, once more, where it is written: much may have happened since the call was let in. `pays` where credits
/// are to be spent.
pub fn find_author(
    tx: &mut dyn Tx,
    context: &OperationContext,
    sender: &GraphSender,
    pays: bool,
) -> ApiResult<GraphCaller> {
    let credentials = &sender.credentials;
    match &sender.node_id {
        None => require_user(tx, credentials, context.now).map(|user| GraphCaller::user(&user)),
        Some(id) => {
            let sender = Sender::new(id, credentials.clone());
            let node = if pays { sender.lock_spender(tx, context)? } else { sender.lock(tx, context)? };
            GraphCaller::node(tx, &node)
        }
    }
}

/// Reads and checks all items.
pub fn read(mut body: Map<String, Value>) -> ApiResult<IngestBatch> {
    if let Some(relations) = body.shift_remove("relationships") {
        if body.contains_key("relations") {
            return Err(ApiError::field(
                "relationships",
                "the same as `relations`, and only one of both",
                "both",
            ));
        }
        body.insert("relations".to_owned(), relations);
    }
    for (list, names) in [("entities", &OF_ENTITIES[..]), ("relations", &OF_RELATIONS)] {
        let items = body.get(list).and_then(Value::as_array).into_iter().flatten();
        for (at, item) in items.enumerate().take(ingest::MAX_ITEMS) {
            if let Some(item) = item.as_object() {
                parse_known(&format!("{list}[{at}]"), item, names)?;
            }
        }
    }
    ingest::read(&body).map_err(|refusals| refused(&refusals))
}

/// Refuses a member that means nothing here.
pub fn parse_known(path: &str, object: &Map<String, Value>, names: &[&str]) -> ApiResult<()> {
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            Err(validate::unknown_member(&path, names))
        }
    }
}

/// The refusal of items: the first in words, all of them in `details`.
pub fn refused(refusals: &[IngestRefusal]) -> ApiError {
    let Some(first) = refusals.first() else {
        return ApiError::field("entities", "things that can be kept", "something else");
    };
    let code = match first.code {
        "confusable_name" => HubCode::ConfusableName,
        "graph_full" => HubCode::StateConflict,
        _ => HubCode::ValidationError,
    };
    let mut error = ApiError::new(code, format!("`{}`: {}", first.field, first.problem), first.fix.clone());
    error.details = refusals.iter().map(detail).collect();
    error.with("reason", first.code)
}

fn detail(refusal: &IngestRefusal) -> FieldError {
    let shown = crate::error::truncate_for_client;
    let (path, problem) = (shown(&refusal.field), refusal.problem.clone());
    FieldError {
        message: format!("`{path}`: {problem}"),
        path,
        expected: refusal.fix.clone(),
        received: problem,
    }
}
