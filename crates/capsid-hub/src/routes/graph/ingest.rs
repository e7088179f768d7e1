//! `POST /kg/ingest`: telling the graph something. All of it is taken, or nothing.

use super::price::{Strangers, Ticket, admit};
use super::who::{Asker, Sender};
use crate::access::{Credentials, Rules, act_as, spend_as};
use crate::accounts::require_user;
use crate::checks;
use crate::envelope::Reply;
use crate::error::{ApiError, Detail, HubCode, Result};
use crate::fields::Fields;
use crate::json::JsonBody;
use crate::routes::graph_advice;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::credits;
use capsid_rules::graph::told::{self, Refusal, Told};
use capsid_store::graph::{self, Ingest, Ingested, MOST_TOLD};
use capsid_store::graph_use::What;
use capsid_store::tx::Tx;
use serde_json::{Map, Value, json};

/// What may stand in a body, in a thing and in a relation. Whatever else is there was meant to say something, and is not
/// passed over.
const OF_BODIES: [&str; 6] =
    ["entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];
const OF_ENTITIES: [&str; 4] = ["name", "entity_type", "properties", "confidence"];
const OF_RELATIONS: [&str; 7] =
    ["source_name", "source_type", "target_name", "target_type", "type", "properties", "confidence"];
/// The longest id and secret.
const LONGEST: usize = 200;

/// Tells the knowledge graph things and how they hang together.
///
/// At most 1,000 of both in one call; all of them are taken, or none. Telling the same again changes nothing. What is told
/// is marked with who told it. An event of a memory graph, `{"kind", "event"}`, is kept for who tells it alone.
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = crate::openapi::graph::GraphTelling,
    responses((status = 200, body = crate::openapi::graph::GraphTaken), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn ingest(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Reply> {
    if graph_advice::is_event(&body) {
        return graph_advice::keep(&hub, credentials, &body).await;
    }
    let fields = Fields::new(&body, "");
    let [sender_id, node_id, secret] =
        ["sender_id", "node_id", "node_secret"].map(|name| fields.text(name, 1, LONGEST));
    let sender = Sender::of(credentials, sender_id?, node_id?, secret?)?;
    let told = read(body)?;
    let ticket = admit(&hub, &sender, What::Ingest, Strangers::Refused).await?;
    let (rules, charged) = (hub.rules(), ticket.price);
    let taken = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let asker = teller(tx, &rules, &sender, &ticket)?;
            match graph::ingest(tx, &asker.name, &told, MOST_TOLD, rules.now)? {
                Ingest::Done(taken) => ticket.pay_in(tx, &asker, rules.now).map(|()| taken),
                Ingest::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(Reply::json(&answer(taken, charged)))
}

fn answer(taken: Ingested, charged: i64) -> Value {
    json!({
        "ingested": { "entities": taken.entities, "relations": taken.relations },
        "added": taken.added, "changed": taken.changed, "unchanged": taken.unchanged,
        "credits_charged": credits::shown(charged),
    })
}

/// Who tells, once more, where it is written: much may have happened since the call was let in.
fn teller(tx: &mut dyn Tx, rules: &Rules, sender: &Sender, ticket: &Ticket) -> Result<Asker> {
    let credentials = &sender.credentials;
    match &sender.node_id {
        None => require_user(tx, credentials, rules.now).map(|user| Asker::user(&user)),
        Some(id) => {
            let speak = if ticket.price > 0 { spend_as } else { act_as };
            let node = speak(tx, rules, id, credentials)?;
            Asker::node(tx, &node)
        }
    }
}

/// Reads and checks all items.
fn read(mut body: Map<String, Value>) -> Result<Told> {
    known("", &body, &OF_BODIES)?;
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
        for (at, item) in items.enumerate().take(told::MOST_ITEMS) {
            if let Some(item) = item.as_object() {
                known(&format!("{list}[{at}]"), item, names)?;
            }
        }
    }
    told::read(&body).map_err(|refusals| refused(&refusals))
}

/// Refuses a member that means nothing here.
fn known(path: &str, object: &Map<String, Value>, names: &[&str]) -> Result<()> {
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            Err(checks::unknown_member(&path, names))
        }
    }
}

/// The refusal of items: the first in words, all of them in `details`.
fn refused(refusals: &[Refusal]) -> ApiError {
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

fn detail(refusal: &Refusal) -> Detail {
    let shown = crate::error::shown;
    let (path, problem) = (shown(&refusal.field), refusal.problem.clone());
    Detail { message: format!("`{path}`: {problem}"), path, expected: refusal.fix.clone(), received: problem }
}
