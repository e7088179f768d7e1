//! `publish`: everything that sends something to a hub or takes something in. It shows what it would do unless it is
//! confirmed twice.

use super::field;
use crate::arguments::{ToolArguments, required, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_client::NodeClient;
use capsid_client::node::encoded;
use capsid_engine::exchange::publish::publish;
use capsid_engine::exchange::{companions, outgoing, promote, stage};
use capsid_model::redact::{RedactProfile, redact_value};
use capsid_model::{Code, Object, Problem, Result, Value, json};

/// What can be done.
pub const ACTIONS: [&str; 16] = [
    "bundle",
    "hello",
    "heartbeat",
    "fetch",
    "promote",
    "report",
    "revoke",
    "decide",
    "vote",
    "claim",
    "release",
    "complete",
    "propose",
    "ask",
    "bounty",
    "skill",
];

/// What each action takes, for `help`.
pub const EXPLAINED: &str = "\
bundle     id of a local capsule; without one, every capsule is listed with whether it may be shared and why not
hello      registers this node; gives the address where a person claims it
heartbeat  params: anything the hub should know
fetch      id of an asset: fetched (this may cost credits), its id checked, staged; never run before it is promoted;
           params.trial true takes a candidate on trial
promote    id of a staged asset: validated in the sandbox here, then taken in
report     id of an asset, params.report: how its validation went here; read_proof is added
revoke     id of an own asset, params.reason
decide     id of an asset, params.decision (accept, reject, quarantine), params.reason
vote       id of an asset, params.vote (up, down)
claim, release, complete   id of a task; complete: params.asset_id of what solves it
propose    id of a task, params.subtasks: how it could be divided
ask        params.question, params.amount
bounty     params: title, description, amount
skill      params: skill_id, content, category, tags, changelog";

/// A call that is ready to be made.
pub(crate) struct PublishDraft {
    /// The kind of a protocol message, or the path of a plain call.
    pub target: PublishTarget,
    pub body: Value,
}

/// Where a draft goes.
pub(crate) enum PublishTarget {
    Message(&'static str),
    Path(String),
}

impl PublishDraft {
    /// A message; what leaves is redacted here.
    pub fn message(kind: &'static str, body: Value) -> Self {
        Self::new(PublishTarget::Message(kind), body)
    }

    /// A plain call; what leaves is redacted here.
    pub fn call(path: impl Into<String>, body: Value) -> Self {
        Self::new(PublishTarget::Path(path.into()), body)
    }

    fn new(target: PublishTarget, mut body: Value) -> Self {
        if let Value::Object(members) = &mut body {
            members.retain(|_, value| !value.is_null());
        }
        redact_value(&mut body, RedactProfile::Publish);
        Self { target, body }
    }

    /// What would be sent.
    pub fn preview(&self) -> Value {
        let path = match &self.target {
            PublishTarget::Message(kind) => format!("/a2a/{kind}"),
            PublishTarget::Path(path) => path.clone(),
        };
        json!({"method": "POST", "path": path, "body": self.body})
    }

    /// Sends it.
    pub fn send(self, node: &NodeClient) -> Result<Value> {
        match self.target {
            PublishTarget::Message(kind) => Ok(node.message(kind, self.body)?.into()),
            PublishTarget::Path(path) => node.post(&path, &self.body),
        }
    }
}

/// Does it, or shows what it would do.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let action = arguments.word("action", &ACTIONS)?;
    let id = arguments.name("id")?;
    let params = arguments.object("params")?.cloned().unwrap_or_default();
    let agreed = agreed(arguments)?;
    match action {
        "bundle" => bundle(server, job, id, agreed),
        "fetch" => {
            let is_trial = params.get("trial").and_then(Value::as_bool).unwrap_or_default();
            fetch(server, job, required(id, "id")?, is_trial, agreed)
        }
        "promote" => accepted_json(server, job, required(id, "id")?, agreed),
        "hello" if agreed => {
            job.step("greeting the hub")?;
            let greeting = server.node()?.hello(params)?;
            Ok(
                json!({"ok": true, "claim_url": greeting.claim_url, "claim_code": greeting.claim_code, "hub": greeting.payload}),
            )
        }
        _ => {
            let node = server.node()?;
            let draft = draft(&node, action, id, params)?;
            if !agreed {
                return Ok(preview(&node, &draft));
            }
            job.step("asking the hub")?;
            Ok(json!({"ok": true, "answer": send(&node, action, draft)?}))
        }
    }
}

/// Whether the owner agreed; an incomplete confirmation is refused, so that nothing is sent by mistake.
fn agreed(arguments: &ToolArguments) -> Result<bool> {
    let (dry_run, confirm) = (arguments.choice("dry_run")?, arguments.flag("confirm")?);
    match (dry_run.unwrap_or(true), confirm) {
        (true, _) => Ok(false),
        (false, true) => Ok(true),
        (false, false) => Err(Problem::new(Code::InputInvalid, "Nothing was sent: `confirm` is missing.")
            .fix(
                "Show the owner what the dry run printed; once they agree, call again with `confirm` true.",
            )),
    }
}

pub(crate) fn preview(node: &NodeClient, draft: &PublishDraft) -> Value {
    json!({"dry_run": true, "hub": node.hub_url(), "would_send": draft.preview()})
}

fn draft(node: &NodeClient, action: &str, id: Option<&str>, params: Object) -> Result<PublishDraft> {
    let member = |name: &str| params.get(name).cloned().unwrap_or_default();
    let mut body = params.clone();
    body.insert("node_id".to_owned(), node.id().into());
    let needed = |name: &str| required(params.get(name).cloned(), &format!("params.{name}"));
    let about_task = |more: &str, value: Value| -> Result<Value> {
        Ok(json!({"task_id": required(id, "id")?, "node_id": node.id(), more: value}))
    };
    Ok(match action {
        "hello" => PublishDraft::message("hello", params.into()),
        "heartbeat" => PublishDraft::call("/a2a/heartbeat", body.into()),
        "report" => PublishDraft::message(
            "report",
            json!({"target_asset_id": required(id, "id")?, "validation_report": required(params.get("report").cloned(), "params.report")?}),
        ),
        "revoke" => PublishDraft::message(
            "revoke",
            json!({"target_asset_id": required(id, "id")?, "reason": member("reason")}),
        ),
        "decide" => PublishDraft::message(
            "decision",
            json!({"target_asset_id": required(id, "id")?, "decision": required(params.get("decision").cloned(), "params.decision")?, "reason": member("reason")}),
        ),
        "vote" => {
            body.insert("sender_id".to_owned(), node.id().into());
            body.shift_remove("node_id");
            PublishDraft::call(format!("/a2a/assets/{}/vote", encoded(required(id, "id")?)), body.into())
        }
        "claim" => PublishDraft::call(
            "/a2a/task/claim",
            about_task("commitment_deadline", member("commitment_deadline"))?,
        ),
        "release" => PublishDraft::call(
            "/a2a/task/release",
            json!({"task_id": required(id, "id")?, "node_id": node.id()}),
        ),
        "complete" => PublishDraft::call("/a2a/task/complete", about_task("asset_id", needed("asset_id")?)?),
        "propose" => PublishDraft::call(
            "/a2a/task/propose-decomposition",
            about_task("subtasks", needed("subtasks")?)?,
        ),
        "ask" => PublishDraft::call("/a2a/ask", body.into()),
        "bounty" => PublishDraft::call("/bounty/create", body.into()),
        "skill" => PublishDraft::call("/a2a/skill/store/publish", body.into()),
        other => return Err(wrong("action", &format!("one of {}", ACTIONS.join(", ")), other)),
    })
}

/// Sends what was shown, by the client's own calls where it has one: they know what may be repeated, and when to greet.
fn send(node: &NodeClient, action: &str, draft: PublishDraft) -> Result<Value> {
    let body = &draft.body;
    let word = |name: &str| body.get(name).and_then(Value::as_str);
    let text = |name: &str| word(name).unwrap_or_default();
    let asset = text("target_asset_id");
    match action {
        "heartbeat" => Ok(node.heartbeat(body.as_object().cloned().unwrap_or_default())?.into()),
        "decide" => Ok(node.decide(asset, text("decision"), word("reason"))?.into()),
        "report" => Ok(node.report_tried(asset, &body["validation_report"])?.into()),
        "revoke" => Ok(node.revoke(asset, word("reason"))?.into()),
        "claim" => node.task_claim(text("task_id"), word("commitment_deadline")),
        "release" => node.task_release(text("task_id")),
        "complete" => node.task_complete(text("task_id"), text("asset_id")),
        "propose" => node.propose(text("task_id"), &body["subtasks"]),
        _ => draft.send(node),
    }
}

/// A capsule with its gene and event, or everything that could be sent.
fn bundle(server: &ServerContext, job: &ToolContext, id: Option<&str>, agreed: bool) -> Result<Value> {
    let workspace = server.store()?;
    let Some(id) = id else {
        job.step("looking at what may be shared")?;
        let offers: Vec<Value> = outgoing::offers(&workspace)?
            .iter()
            .map(|offer| {
                json!({
                    "id": field(&offer.capsule, "id"), "summary": field(&offer.capsule, "summary"),
                    "eligible": offer.eligibility.eligible, "reasons": offer.eligibility.reasons,
                    "streak": offer.eligibility.streak, "published_as": offer.published_as,
                })
            })
            .collect();
        return Ok(json!({"dry_run": true, "offers": offers}));
    };
    job.step("preparing the bundle")?;
    // What may not be sent yet can still be looked at.
    let sent = outgoing::outgoing(&workspace, id, !agreed)?;
    if !agreed {
        return Ok(json!({"dry_run": true, "would_send": sent.assets, "notes": sent.notes}));
    }
    let node = server.node()?;
    job.step("publishing")?;
    let accepted = publish(&workspace, &node, &sent)?;
    let mut value = json!({"ok": true, "notes": sent.notes});
    // It is published; a note that could not be stored is only reported.
    if let Some(problem) = &accepted.unnoted {
        value["note_problem"] = problem.to_json();
    }
    value["answer"] = accepted.answer.into();
    Ok(value)
}

fn fetch(server: &ServerContext, job: &ToolContext, id: &str, is_trial: bool, agreed: bool) -> Result<Value> {
    let (workspace, node) = (server.store()?, server.node()?);
    if !agreed {
        let mut payload = json!({"asset_ids": [id]});
        if is_trial {
            payload["trial"] = true.into();
        }
        return Ok(preview(&node, &PublishDraft::message("fetch", payload)));
    }
    job.step("fetching")?;
    let mut fetched = if is_trial { node.fetch_trial(&[id])? } else { node.fetch(&[id])? };
    companions::add_gene_companions(&workspace, &node, &mut fetched)?;
    job.step("staging")?;
    let staged = stage::stage_fetched(&workspace, &fetched, node.hub_url())?;
    let refused: Vec<Value> = fetched.refused.iter().chain(&staged.refused).map(Problem::to_json).collect();
    Ok(json!({
        "ok": refused.is_empty() && !fetched.assets.is_empty(),
        "staged": staged.accepted, "known": staged.known, "refused": refused,
        "next": "Call publish with action promote to validate it here and take it in.",
    }))
}

fn accepted_json(server: &ServerContext, job: &ToolContext, id: &str, agreed: bool) -> Result<Value> {
    let workspace = server.store()?;
    if !agreed {
        let staged = stage::staged(&workspace)?;
        let came_as = |asset: &Object| {
            asset.get("a2a").and_then(|a2a| a2a.get("received_asset_id")).and_then(Value::as_str) == Some(id)
        };
        let is_it =
            |asset: &&Object| field(asset, "id") == id || field(asset, "asset_id") == id || came_as(asset);
        let asset = staged.iter().find(is_it);
        let asset = asset.ok_or_else(|| {
            Problem::new(Code::NotFound, format!("Nothing is staged as `{id}`.")).fix("Fetch it first.")
        })?;
        return Ok(json!({"dry_run": true, "would_validate_and_take_in": asset}));
    }
    job.step("validating it here")?;
    let request = promote::PromoteRequest { id: id.to_owned(), ..promote::PromoteRequest::default() };
    let promoted = promote::promote(&workspace, &request)?;
    Ok(json!({"ok": true, "asset": promoted.asset, "gene": promoted.gene, "report": promoted.report}))
}
