//! Cutting a claimed task into parts, which other nodes take.

use super::swarm::part_of_whole;
use super::view::TaskView;
use super::{missing_ids, not_found};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::{traced_id, validate};
use crate::ops::assets::view::rounded;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{BODY_MOST, SignalsInput, TITLE_MOST};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::work::swarm::{AggregatorFallback, AggregatorTerms, FEWEST, MAX, ProposalError, weights};
use capsid_store::db::tx::Tx;
use capsid_store::work::swarm;
use capsid_store::work::swarm::{ProposeOutcome, SubtaskProposal};
use capsid_store::work::tasks;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The parts that a node proposes.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Proposal)]
pub struct ProposeSubtasksRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// Two to ten parts, whose weights together are at most 0.85.
    subtasks: Option<Vec<SubtaskInput>>,
}

/// One part.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Subtask)]
pub struct SubtaskInput {
    /// What it is called.
    #[schema(value_type = String, min_length = 1, max_length = 300)]
    title: Option<Value>,
    /// Its weight, above 0 and at most 1.
    #[schema(value_type = f64)]
    weight: Option<Value>,
    /// What it is about; what the whole is about where it is missing.
    #[schema(value_type = Option<SignalsInput>)]
    signals: Option<Value>,
    /// What is to be done.
    #[schema(max_length = 8000)]
    body: Option<String>,
}

sender_fields!(ProposeSubtasksRequest);

/// A task that was cut into parts.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProposeSubtasksResponse {
    status: &'static str,
    auto_approved: bool,
    parent_task_id: String,
    subtasks: Vec<TaskView>,
    total_weight: f64,
    /// What may keep the task from coming to its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<ProposalWarning>,
}

/// What the node that proposes parts should know.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalWarning {
    /// `no_eligible_aggregator`.
    code: &'static str,
    text: String,
    /// The reputation it takes to merge the results.
    required_reputation: f64,
    /// The best that a node has which could.
    best_reputation: f64,
}

impl ProposalWarning {
    /// Nobody could merge the results as things stand.
    fn no_eligible_aggregator(terms: &AggregatorTerms, required: f64, best: f64) -> Self {
        let then = match terms.fallback {
            AggregatorFallback::Proposer => "If that stays so, you merge the results yourself.",
            AggregatorFallback::Nobody => "If that stays so, the task ends without a result.",
        };
        Self {
            code: "no_eligible_aggregator",
            text: format!(
                "Merging the results takes a reputation of {}, and the best node has {}. {then}",
                rounded(required),
                rounded(best)
            ),
            required_reputation: rounded(required),
            best_reputation: rounded(best),
        }
    }
}

impl ProposeSubtasksRequest {
    fn ids(&self) -> ApiResult<(String, String)> {
        let filled = |id: &Option<String>| id.clone().filter(|id| !id.is_empty());
        let (Some(task_id), Some(node_id)) =
            (filled(&self.task_id), filled(&self.node_id).or(filled(&self.sender_id)))
        else {
            return Err(missing_ids());
        };
        check_node_id(&node_id, "node_id")?;
        Ok((task_id, node_id))
    }

    fn parts(&self) -> ApiResult<Vec<SubtaskProposal>> {
        let wanted = self.subtasks.as_deref().unwrap_or_default();
        if !(FEWEST..=MAX).contains(&wanted.len()) {
            return Err(bad_proposal(ProposalError::Count, wanted.len()));
        }
        let numbers: Vec<f64> = wanted
            .iter()
            .enumerate()
            .map(|(at, part)| part.weight.as_ref().and_then(Value::as_f64).ok_or_else(|| no_weight(at)))
            .collect::<ApiResult<_>>()?;
        let weights = weights(&numbers).map_err(|bad| bad_proposal(bad, wanted.len()))?;
        wanted.iter().zip(weights).enumerate().map(|(at, (part, weight))| part.read(at, weight)).collect()
    }
}

impl SubtaskInput {
    fn read(&self, at: usize, weight: i64) -> ApiResult<SubtaskProposal> {
        let path = |name: &str| format!("subtasks[{at}].{name}");
        let title = self.title.as_ref().and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if title.is_empty() || validate::name(title, &path("title"), TITLE_MOST).is_err() {
            return Err(invalid(at, "title", "a line of 1 to 300 characters"));
        }
        validate::text_or(self.body.as_deref(), &path("body"), BODY_MOST)?;
        Ok(SubtaskProposal {
            title: title.to_owned(),
            body: self.body.clone().unwrap_or_default(),
            signals: offer::signals(self.signals.as_ref(), &path("signals"))?,
            weight,
        })
    }
}

fn invalid(at: usize, name: &str, expected: &str) -> ApiError {
    ApiError::new(
        HubCode::InvalidSubtask,
        format!("`subtasks[{at}].{name}` is not {expected}."),
        format!("Send {expected} in `{name}` of each part."),
    )
    .with("subtask", at)
}

fn no_weight(at: usize) -> ApiError {
    invalid(at, "weight", "a number above 0 and at most 1")
}

fn bad_proposal(bad: ProposalError, count: usize) -> ApiError {
    match bad {
        ProposalError::Count => ApiError::new(
            HubCode::InvalidSubtaskCount,
            format!("A task is cut into {FEWEST} to {MAX} parts, not into {count}."),
            format!("Send {FEWEST} to {MAX} parts in `subtasks`."),
        ),
        ProposalError::Weight(at) => no_weight(at),
        ProposalError::TooHeavy => ApiError::new(
            HubCode::WeightExceedsLimit,
            "The weights of all parts together are above 0.85.",
            "Make them lighter: the other 0.15 are for who proposes the parts and who merges the results.",
        ),
    }
}

/// Cuts a task that the node has claimed into parts. It needs no approval.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.task_id.as_deref().map(traced_id)))]
pub async fn propose_subtasks(
    hub: &SharedHub,
    credentials: Credentials,
    request: &ProposeSubtasksRequest,
) -> ApiResult<ProposeSubtasksResponse> {
    let ((task_id, node_id), parts) = (request.ids()?, request.parts());
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let response = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            // A task that is not there is reported even to a node that has not said hello.
            if tasks::get(tx, &task_id)?.is_none() {
                return Err(not_found(&task_id));
            }
            let node = sender.lock(tx, &context)?;
            let proposed = match &parts {
                Ok(parts) => swarm::propose(tx, &node, &task_id, parts, context.now)?,
                // What is wrong with the task comes before what is wrong with the parts.
                Err(wrong) => match swarm::may_propose(tx, &node, &task_id, context.now)? {
                    Ok(_) => return Err(wrong.clone()),
                    Err(refused) => refused,
                },
            };
            let warnings = match &proposed {
                ProposeOutcome::Done(_) => warnings(tx, &context, &task_id)?,
                _ => Vec::new(),
            };
            to_response(&task_id, proposed, warnings, context.now)
        })
        .await?;
    hub.events.notify();
    Ok(response)
}

fn warnings(tx: &mut dyn Tx, context: &OperationContext, task_id: &str) -> ApiResult<Vec<ProposalWarning>> {
    let Some(whole) = tasks::get(tx, task_id)? else { return Ok(Vec::new()) };
    let terms = &context.config.work.aggregator;
    let (required, best) =
        (terms.required(whole.min_reputation), swarm::best_reputation(tx, &whole, context.now)?);
    let warning = (best < required).then(|| ProposalWarning::no_eligible_aggregator(terms, required, best));
    Ok(warning.into_iter().collect())
}

fn to_response(
    task_id: &str,
    proposed: ProposeOutcome,
    warnings: Vec<ProposalWarning>,
    now: Time,
) -> ApiResult<ProposeSubtasksResponse> {
    Err(match proposed {
        ProposeOutcome::Done(parts) => {
            let total: i64 = parts.iter().filter_map(|part| part.weight).sum();
            return Ok(ProposeSubtasksResponse {
                status: "decomposed",
                auto_approved: true,
                parent_task_id: task_id.to_owned(),
                subtasks: TaskView::from_rows(&parts, now),
                total_weight: part_of_whole(total),
                warnings,
            });
        }
        ProposeOutcome::NotFound => not_found(task_id),
        ProposeOutcome::NotClaimed(task) => ApiError::new(
            HubCode::TaskNotClaimed,
            format!("The task is {}, not claimed.", task.status.as_str()),
            "Take it first with POST /task/claim; only a task that you work on can be cut into parts.",
        )
        .with("task_status", task.status.as_str()),
        ProposeOutcome::NotClaimer(task) => ApiError::new(
            HubCode::NotTaskClaimer,
            "Another node works on the task.",
            "Only the node that took a task cuts it into parts.",
        )
        .with("claimed_by", task.claimed_by),
        ProposeOutcome::IsPart => ApiError::new(
            HubCode::CannotDecomposeSubtask,
            "The task is a part of another one already.",
            "Complete it as it is; only whole tasks are cut into parts.",
        ),
        ProposeOutcome::Again(parts) => ApiError::new(
            HubCode::AlreadyDecomposed,
            "The task has been cut into parts already.",
            "Look at the parts with GET /task/swarm/{task_id}.",
        )
        .with("subtasks", json!(TaskView::from_rows(&parts, now))),
    })
}
