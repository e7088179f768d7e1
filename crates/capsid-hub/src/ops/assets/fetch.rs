//! Assets as they were published, by id, by signals, or the best there are.

use super::own_work::find_with_own;
use super::parse_asset_id;
use super::purchase;
use super::trial::{
    OfferedCandidateView, TrialView, offer_candidates, open_trials, require_trial_access, retain_triable,
};
use super::view::{AssetState, AssetView, FoundAssetView};
use super::visibility::{AssetReader, retain_readable};
use crate::auth::account;
use crate::auth::message::Message;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::A2aResponse;
use crate::http::json::stored_json;
use crate::http::{query, validate};
use crate::ops::tasks;
use crate::ops::tasks::ask;
use crate::ops::tasks::ask::QuestionView;
use crate::ops::tasks::view::TaskView;
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list as asset_list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::assignments;
use capsid_store::evaluation::assignments::Assignment;
use capsid_store::evaluation::owners::audits;
use capsid_store::evaluation::stakes;
use capsid_store::ledger;
use capsid_store::nodes::NodeRow;
use capsid_store::registry::purchases::PurchaseItem;
use capsid_store::search::SignalSearch;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// How many assets a fetch gives when it does not say.
const DEFAULT: i64 = 20;
/// How many it gives at most.
const MAX: i64 = 100;
/// The most signals of a fetch.
const MAX_SIGNALS: usize = 50;
/// The most questions of a fetch.
const MAX_QUESTIONS: usize = 5;

/// What a fetch may ask for.
#[derive(Debug, Default, Deserialize)]
pub struct FetchRequest {
    asset_type: Option<String>,
    local_id: Option<String>,
    content_hash: Option<String>,
    asset_ids: Option<Vec<String>>,
    signals: Option<Vec<String>>,
    search_only: Option<bool>,
    include_tasks: Option<bool>,
    tasks_only: Option<bool>,
    validation_only: Option<bool>,
    questions: Option<Vec<Value>>,
    trial: Option<bool>,
    limit: Option<Value>,
}

/// What a fetch looks for.
#[derive(Debug, Clone)]
enum FetchTarget {
    Ids(Vec<AssetId>),
    LocalId(String),
    Signals(Vec<String>),
    Best,
    Nothing,
}

/// A fetch that was read.
#[derive(Debug, Clone)]
struct FetchPlan {
    wanted: FetchTarget,
    asset_type: Option<AssetType>,
    limit: usize,
    /// Rows instead of whole assets.
    search_only: bool,
    tasks: bool,
    validation_tasks: bool,
    /// Nothing else: so asks whoever validates. Other nodes ask for tasks of every kind.
    validation_only: bool,
    /// Candidates too, to be tried.
    trial: bool,
    questions: Option<Vec<Value>>,
}

/// What a fetch gives.
#[derive(Debug, Serialize, ToSchema)]
pub struct FetchResponse {
    /// Whole assets as they were published, or rows with `search_only`.
    #[schema(value_type = Vec<BTreeMap<String, Value>>)]
    results: Vec<FetchedAsset>,
    /// The same as `results`.
    #[schema(value_type = Vec<BTreeMap<String, Value>>)]
    assets: Vec<FetchedAsset>,
    count: i64,
    /// How each asset stands, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = BTreeMap<String, AssetState>, required = false)]
    meta: Option<AssetStates>,
    /// Asked for by id and not to be had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    missing: Vec<AssetId>,
    /// The tickets of what was taken on trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<TrialView>, required = false)]
    trials: Option<Vec<TrialView>>,
    /// Candidates of others that match, with `search_only` and `trial`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<OfferedCandidateView>, required = false)]
    candidates: Option<Vec<OfferedCandidateView>>,
    /// Tasks that the node may take, and those it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<TaskView>, required = false)]
    tasks: Option<Vec<TaskView>>,
    /// What a validator is asked to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<AssignmentView>, required = false)]
    validation_tasks: Option<Vec<AssignmentView>>,
    /// What became of the questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<QuestionView>, required = false)]
    questions_created: Option<Vec<QuestionView>>,
    /// Always empty: this hub keeps no lessons.
    relevant_lessons: Vec<String>,
    #[schema(value_type = f64)]
    credits_charged: Number,
    /// What the node has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    credit_balance: Option<Number>,
}

/// An asset as a fetch gives it.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum FetchedAsset {
    /// The whole asset as it was published, with nothing added.
    Body(Box<RawValue>),
    Row(AssetView),
    Found(FoundAssetView),
}

/// How assets stand, by their ids.
#[derive(Debug)]
struct AssetStates(Vec<(AssetId, AssetState)>);

impl Serialize for AssetStates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, state)| (id, state)))
    }
}

/// What a validator is asked to do.
#[derive(Debug, Serialize, ToSchema)]
pub struct AssignmentView {
    task_id: String,
    /// To be sent back with the report.
    nonce: String,
    #[schema(value_type = String)]
    target_asset_id: AssetId,
    /// What is to be run.
    validation_commands: Vec<String>,
}

impl From<Assignment> for AssignmentView {
    fn from(assigned: Assignment) -> Self {
        Self {
            task_id: assigned.task_id,
            nonce: assigned.nonce,
            target_asset_id: assigned.target_asset_id,
            validation_commands: assigned.validation_commands,
        }
    }
}

/// Gives promoted assets as they were published, byte for byte.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn fetch(hub: &SharedHub, message: &Message<'_>) -> ApiResult<A2aResponse<FetchResponse>> {
    hub.limit_reads(&message.header).await?;
    let plan = plan(message.payload()?)?;
    let sender = &message.sender;
    let mut found = find_and_price(hub, sender, &plan).await?;
    if !found.due.is_empty() {
        let wares = std::mem::take(&mut found.due);
        let paid = purchase::buy_assets(hub, sender, wares).await?;
        (found.charged, found.balance) = (paid.charged, Some(paid.balance));
    }
    if found.is_validator {
        found.validation_tasks = poll_assignments(hub, sender).await?;
    }
    if let Some(questions) = &plan.questions {
        let message_id = &message.envelope.message_id;
        let answers = ask::ask_questions(hub, sender, message_id, questions).await?;
        found.balance = answers.left.or(found.balance);
        found.questions = answers.questions;
    }
    let ids: Vec<AssetId> = found.assets.iter().map(|(listed, _)| listed.asset.asset_id).collect();
    match (plan.search_only, plan.trial) {
        (true, _) => {}
        // A trial is no use yet.
        (false, true) => found.trials = Some(open_trials(hub, sender, ids).await?),
        (false, false) => hub.usage.fetched(sender.id(), &ids),
    }
    Ok(hub.answer("fetch").wrap(found.into_response(&plan)))
}

fn plan(asked: FetchRequest) -> ApiResult<FetchPlan> {
    let on = |flag: Option<bool>| flag == Some(true);
    let asset_type = match asked.asset_type.as_deref() {
        None | Some("") => None,
        Some(word) => Some(AssetType::parse(word).ok_or_else(|| {
            ApiError::field(
                "payload.asset_type",
                "`Gene`, `Capsule`, `EvolutionEvent` or null",
                "another word",
            )
        })?),
    };
    let questions = asked.questions.as_deref().unwrap_or_default();
    if questions.len() > MAX_QUESTIONS {
        let received = format!("{} questions", questions.len());
        return Err(ApiError::field("payload.questions", format!("at most {MAX_QUESTIONS}"), received));
    }
    Ok(FetchPlan {
        wanted: parse_target(&asked)?,
        asset_type,
        limit: query::limit(asked.limit.as_ref().map(Value::to_string).as_deref(), DEFAULT, MAX) as usize,
        search_only: on(asked.search_only),
        tasks: on(asked.include_tasks) || on(asked.tasks_only),
        validation_tasks: on(asked.validation_only) || on(asked.include_tasks),
        validation_only: on(asked.validation_only),
        trial: on(asked.trial),
        questions: asked.questions,
    })
}

fn parse_target(asked: &FetchRequest) -> ApiResult<FetchTarget> {
    if asked.tasks_only == Some(true) || asked.validation_only == Some(true) {
        return Ok(FetchTarget::Nothing);
    }
    if let Some(ids) = &asked.asset_ids {
        if ids.len() as i64 > MAX {
            let received = format!("{} ids", ids.len());
            return Err(ApiError::field("payload.asset_ids", format!("at most {MAX} ids"), received));
        }
        let ids =
            ids.iter().enumerate().map(|(n, id)| parse_asset_id(id, &format!("payload.asset_ids[{n}]")));
        return Ok(FetchTarget::Ids(ids.collect::<ApiResult<_>>()?));
    }
    if let Some(id) = asked.content_hash.as_deref().filter(|id| !id.is_empty()) {
        return Ok(FetchTarget::Ids(vec![parse_asset_id(id, "payload.content_hash")?]));
    }
    if let Some(local_id) = asked.local_id.as_deref().filter(|id| !id.is_empty()) {
        validate::text(local_id, "payload.local_id", 200)?;
        return Ok(FetchTarget::LocalId(local_id.to_owned()));
    }
    match asked.signals.as_deref() {
        None | Some([]) => Ok(FetchTarget::Best),
        Some(signals) if signals.len() > MAX_SIGNALS => {
            let received = format!("{} signals", signals.len());
            Err(ApiError::field("payload.signals", format!("at most {MAX_SIGNALS} signals"), received))
        }
        Some(signals) => Ok(FetchTarget::Signals(signals.to_vec())),
    }
}

/// What was found, and what came of it.
#[derive(Debug, Default)]
struct FetchOutcome {
    assets: Vec<(ListedAsset, FetchedAsset)>,
    /// Which of them are candidates of the owner of whoever asks.
    own: HashSet<AssetId>,
    trials: Option<Vec<TrialView>>,
    candidates: Option<Vec<OfferedCandidateView>>,
    /// Asked for by id and not to be had.
    missing: Vec<AssetId>,
    /// Whether the node asks for assets to validate, and may.
    is_validator: bool,
    validation_tasks: Vec<AssignmentView>,
    tasks: Vec<TaskView>,
    balance: Option<i64>,
    questions: Vec<QuestionView>,
    /// What has to be paid for.
    due: Vec<PurchaseItem>,
    /// What was paid, in milli-credits.
    charged: i64,
}

impl FetchOutcome {
    fn into_response(self, plan: &FetchPlan) -> FetchResponse {
        let state = |(listed, _): &(ListedAsset, FetchedAsset)| {
            let id = listed.asset.asset_id;
            let mut state = AssetState::new(listed);
            state.own = self.own.contains(&id);
            (id, state)
        };
        let meta = (!plan.search_only).then(|| AssetStates(self.assets.iter().map(state).collect()));
        let assets: Vec<FetchedAsset> = self.assets.into_iter().map(|(_, asset)| asset).collect();
        FetchResponse {
            count: assets.len() as i64,
            results: assets.clone(),
            assets,
            meta,
            missing: self.missing,
            trials: self.trials,
            candidates: self.candidates,
            tasks: plan.tasks.then_some(self.tasks),
            validation_tasks: plan.validation_tasks.then_some(self.validation_tasks),
            questions_created: plan.questions.is_some().then_some(self.questions),
            relevant_lessons: Vec::new(),
            credits_charged: credits::to_decimal(self.charged),
            credit_balance: self.balance.map(credits::to_decimal),
        }
    }
}

/// Finds the assets and the tasks that a plan names, and what of them has to be paid for.
async fn find_and_price(hub: &SharedHub, sender: &Sender, plan: &FetchPlan) -> ApiResult<FetchOutcome> {
    if matches!(plan.wanted, FetchTarget::Signals(_)) {
        hub.index.wait_for_search().await?;
    }
    let (context, plan) = (hub.context(), plan.clone());
    let by = sender.clone();
    let find = move |tx: &mut dyn Tx, node: Option<&NodeRow>| {
        let user = account::find_caller_or_none(tx, by.credentials(), context.now)?;
        let asking = AssetReader { node, user: user.as_ref() };
        let mut found = find_assets(tx, &context, by.id(), asking, &plan)?;
        if plan.tasks {
            found.tasks = tasks::list::for_fetch(tx, node, &context.config.work, context.now)?;
        }
        if !plan.search_only {
            let assets = found.assets.iter().map(|(listed, _)| listed);
            found.due = purchase::unpaid_items(tx, &context, by.id(), asking, assets)?;
        }
        Ok(found)
    };
    sender.read(hub, find).await
}

fn find_assets(
    tx: &mut dyn Tx,
    context: &OperationContext,
    sender: &str,
    asking: AssetReader<'_>,
    plan: &FetchPlan,
) -> ApiResult<FetchOutcome> {
    let node = asking.node;
    let (mut own, mut candidates) = (HashSet::new(), None);
    let assets = match &plan.wanted {
        FetchTarget::Ids(ids) => {
            let mut known = asset_list::by_id(tx, ids)?;
            if plan.trial {
                require_trial_access(tx, context, node)?;
                retain_triable(tx, context, asking, &mut known)?;
            } else {
                retain_readable(tx, context, asking, &mut known)?;
            }
            let mut found = load_bodies(tx, context, known, plan)?;
            if let Some(node) = node.filter(|_| !plan.trial) {
                found.extend(load_audits(tx, context, node, ids, plan)?);
            }
            found
        }
        FetchTarget::LocalId(local_id) => {
            // Only a node that is known has assets of its own.
            let by = node.map_or("", |node| node.node_id.as_str());
            let known = asset_list::by_local_id(tx, by, local_id, plan.limit)?;
            load_bodies(tx, context, known, plan)?
        }
        FetchTarget::Signals(signals) => {
            if let Some(node) = node
                && may_offer(tx, context, node, plan)
            {
                candidates = Some(offer_candidates(tx, context, node, signals, plan.limit)?);
            }
            by_signals(tx, context, node, signals, plan, &mut own)?
        }
        FetchTarget::Best => {
            let filter = AssetFilter {
                types: plan.asset_type.into_iter().collect(),
                ..AssetFilter::with_status(AssetStatus::Promoted)
            };
            let known = asset_list::list(tx, &filter, AssetSort::Ranked, ListPosition::START, plan.limit)?;
            load_bodies(tx, context, known, plan)?
        }
        FetchTarget::Nothing => Vec::new(),
    };
    let missing = match &plan.wanted {
        FetchTarget::Ids(ids) => {
            let had = |id: &AssetId| assets.iter().any(|(listed, _)| listed.asset.asset_id == *id);
            ids.iter().filter(|id| !had(id)).copied().collect()
        }
        _ => Vec::new(),
    };
    // Without a stake an account may ask for audits, where the hub makes them.
    let may_ask = plan.validation_only
        && node.is_some_and(|node| context.config.promotion.audit_share > 0.0 && node.owner.is_some());
    let is_validator = may_ask
        || (plan.validation_tasks
            && node.is_some()
            && stakes::get(tx, sender)?.is_some_and(|stake| stake.is_active()));
    let balance = node.map(|_| ledger::balance(tx, &ledger::node_account(sender))).transpose()?;
    Ok(FetchOutcome { assets, own, candidates, missing, is_validator, balance, ..FetchOutcome::default() })
}

/// Whether a search offers candidates: only to a node that asks for them and may try them.
fn may_offer(tx: &mut dyn Tx, context: &OperationContext, node: &NodeRow, plan: &FetchPlan) -> bool {
    plan.trial && plan.search_only && require_trial_access(tx, context, Some(node)).is_ok()
}

/// What a validator is asked to look at. One that has little to do gets more, so this may write.
async fn poll_assignments(hub: &SharedHub, sender: &Sender) -> ApiResult<Vec<AssignmentView>> {
    let (context, terms, sender) = (hub.context(), hub.assignment_terms(), sender.clone());
    let assigned = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.find(tx, &context)?;
            let assigned = node.map(|node| assignments::poll(tx, &node, &terms, context.now)).transpose()?;
            Ok(assigned.unwrap_or_default())
        })
        .await?;
    Ok(assigned.into_iter().map(AssignmentView::from).collect())
}

fn by_signals(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: Option<&NodeRow>,
    signals: &[String],
    plan: &FetchPlan,
    own: &mut HashSet<AssetId>,
) -> ApiResult<Vec<(ListedAsset, FetchedAsset)>> {
    let query =
        SignalSearch { asset_type: plan.asset_type, ..SignalSearch::signals(signals.to_vec(), plan.limit) };
    let hits = find_with_own(tx, node, &query)?;
    own.extend(hits.iter().filter(|found| found.is_own).map(|found| found.hit.listed.asset.asset_id));
    let hits = hits.into_iter();
    if !plan.search_only {
        return load_bodies(tx, context, hits.map(|found| found.hit.listed).collect(), plan);
    }
    Ok(hits
        .map(|found| {
            let mut row = FoundAssetView::new(&found.hit, signals.len(), &context.config);
            row.asset.state.own = found.is_own;
            (found.hit.listed, FetchedAsset::Found(row))
        })
        .collect())
}

/// Audits that the node is asked about, as the candidates that they look like.
fn load_audits(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    ids: &[AssetId],
    plan: &FetchPlan,
) -> ApiResult<Vec<(ListedAsset, FetchedAsset)>> {
    let mut found = Vec::new();
    for id in ids {
        let Some(body) = audits::body_for(tx, &node.node_id, id, context.now)? else { continue };
        let Some(listed) = audits::show(tx, id)? else { continue };
        if plan.asset_type.is_some_and(|kind| listed.asset.asset_type != kind) {
            continue;
        }
        let asset = match plan.search_only {
            true => FetchedAsset::Row(AssetView::ranked(&listed, &context.config)),
            false => FetchedAsset::Body(stored_json(body)?),
        };
        found.push((listed, asset));
    }
    Ok(found)
}

/// Adds to each asset what it is given as.
fn load_bodies(
    tx: &mut dyn Tx,
    context: &OperationContext,
    mut known: Vec<ListedAsset>,
    plan: &FetchPlan,
) -> ApiResult<Vec<(ListedAsset, FetchedAsset)>> {
    known.retain(|listed| plan.asset_type.is_none_or(|kind| listed.asset.asset_type == kind));
    if plan.search_only {
        return Ok(known
            .into_iter()
            .map(|listed| {
                let row = FetchedAsset::Row(AssetView::ranked(&listed, &context.config));
                (listed, row)
            })
            .collect());
    }
    let seqs: Vec<i64> = known.iter().map(|listed| listed.asset.seq).collect();
    let mut bodies: HashMap<i64, String> = asset_list::bodies(tx, &seqs)?;
    let with_bodies =
        known.into_iter().filter_map(|listed| bodies.remove(&listed.asset.seq).map(|body| (listed, body)));
    with_bodies.map(|(listed, body)| Ok((listed, FetchedAsset::Body(stored_json(body)?)))).collect()
}
