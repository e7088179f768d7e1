//! `POST /a2a/fetch`: assets as they were published, by id, by signals, or the best there are.

use crate::auth::account;
use crate::auth::credentials::{Credentials, OperationContext, authenticate_reader};
use crate::auth::idempotency;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonText;
use crate::http::{query, validate};
use crate::ops::assets::purchase;
use crate::ops::assets::view;
use crate::ops::tasks;
use crate::ops::tasks::ask;
use crate::ops::tasks::ask::FetchAnswers;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::accounts::UserRow;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list as asset_list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition, ListedAsset};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::assignments;
use capsid_store::evaluation::assignments::Assignment;
use capsid_store::evaluation::stakes;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::registry::purchases::PurchaseItem;
use capsid_store::search::{self, SignalSearch};
use capsid_store::work::tasks::access;
use capsid_store::work::tasks::access::ResultReader;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;

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
struct FetchRequest {
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
    questions: Option<Vec<Value>>,
}

/// Gives promoted assets as they were published, byte for byte.
///
/// `payload.asset_ids` or `content_hash` names them; `signals` searches; otherwise the best are given. With
/// `search_only` there are rows without bodies, which cost nothing and count nothing.
#[utoipa::path(post, path = "/a2a/fetch", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn fetch(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let envelope = idempotency::parse_envelope(&hub, &text, &["fetch"])?;
    hub.limit_reads(&credentials).await?;
    let order = order(&envelope.payload()?)?;
    let sender = envelope.sender_id.clone();
    let credentials = credentials.or_secret(envelope.node_secret.as_deref());
    let (rules, wanted, work) = (hub.rules(), order.clone(), hub.config.work.clone());
    let (asker, by) = (credentials.clone(), credentials.clone());
    let mut found = hub
        .authenticate_reader(&envelope.sender_id, &credentials, move |tx, node| {
            let user = account::find_caller_or_none(tx, &by, rules.now)?;
            let asking = AssetReader { node, user: user.as_ref() };
            let mut found = find_assets(tx, &rules, &sender, asking, &wanted)?;
            if wanted.tasks {
                found.tasks = tasks::list::for_fetch(tx, node, &work, rules.now)?;
            }
            if !wanted.search_only {
                let assets = found.assets.iter().map(|(listed, _)| listed);
                found.due = purchase::unpaid_items(tx, &rules, &sender, asking, assets)?;
            }
            Ok(found)
        })
        .await?;
    if !found.due.is_empty() {
        let wares = std::mem::take(&mut found.due);
        let (charged, left) = purchase::buy(&hub, &envelope.sender_id, &credentials, wares).await?;
        (found.charged, found.balance) = (charged, Some(left));
    }
    if found.is_validator {
        found.validation_tasks = validation_tasks(&hub, &envelope.sender_id, credentials).await?;
    }
    if let Some(questions) = &order.questions {
        let (sender, message) = (&envelope.sender_id, &envelope.message_id);
        found.answers = ask::ask_questions(&hub, sender, &asker, message, questions).await?;
        found.balance = found.answers.left.or(found.balance);
    }
    if !order.search_only {
        let ids: Vec<AssetId> = found.assets.iter().map(|(listed, _)| listed.asset.asset_id).collect();
        hub.usage.fetched(&hub, &envelope.sender_id, &ids);
    }
    Ok(JsonReply::ok(hub.answer("fetch").text(&found.payload(&order))))
}

fn order(asked: &FetchRequest) -> ApiResult<FetchPlan> {
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
        wanted: parse_target(asked)?,
        asset_type,
        limit: query::limit(asked.limit.as_ref().map(Value::to_string).as_deref(), DEFAULT, MAX) as usize,
        search_only: on(asked.search_only),
        tasks: on(asked.include_tasks) || on(asked.tasks_only),
        validation_tasks: on(asked.validation_only) || on(asked.include_tasks),
        questions: asked.questions.clone(),
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
        let ids = ids.iter().enumerate().map(|(n, id)| asset_id(id, &format!("payload.asset_ids[{n}]")));
        return Ok(FetchTarget::Ids(ids.collect::<ApiResult<_>>()?));
    }
    if let Some(id) = asked.content_hash.as_deref().filter(|id| !id.is_empty()) {
        return Ok(FetchTarget::Ids(vec![asset_id(id, "payload.content_hash")?]));
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

/// An asset id, or which field holds none.
pub fn asset_id(text: &str, path: &str) -> ApiResult<AssetId> {
    AssetId::parse(text).ok_or_else(|| {
        ApiError::field(path, "`sha256:` and 64 lower-case hexadecimal digits", "another text")
    })
}

/// What was found.
struct FetchOutcome {
    /// Assets, each with what it is told as: its body or its row.
    assets: Vec<(ListedAsset, String)>,
    /// Asked for by id and not to be had.
    missing: Vec<AssetId>,
    /// Whether the node asks for assets to validate, and has a stake.
    is_validator: bool,
    validation_tasks: Vec<Assignment>,
    /// Tasks that the node may take, and those it took.
    tasks: Vec<Value>,
    balance: Option<i64>,
    /// What became of the questions.
    answers: FetchAnswers,
    /// What has to be paid for.
    due: Vec<PurchaseItem>,
    /// What was paid, in milli-credits.
    charged: i64,
}

fn find_assets(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    sender: &str,
    asking: AssetReader<'_>,
    order: &FetchPlan,
) -> ApiResult<FetchOutcome> {
    let node = asking.node;
    let assets = match &order.wanted {
        FetchTarget::Ids(ids) => {
            let mut known = asset_list::by_id(tx, ids)?;
            retain_readable(tx, rules, asking, &mut known)?;
            load_bodies(tx, known, order)?
        }
        FetchTarget::LocalId(local_id) => {
            // Only a node that is known has assets of its own.
            let by = node.map_or("", |node| node.node_id.as_str());
            let known = asset_list::by_local_id(tx, by, local_id, order.limit)?;
            load_bodies(tx, known, order)?
        }
        FetchTarget::Signals(signals) => by_signals(tx, signals, order)?,
        FetchTarget::Best => {
            let filter = AssetFilter {
                types: order.asset_type.into_iter().collect(),
                ..AssetFilter::with_status(AssetStatus::Promoted)
            };
            let known = asset_list::list(tx, &filter, AssetSort::Ranked, ListPosition::START, order.limit)?;
            load_bodies(tx, known, order)?
        }
        FetchTarget::Nothing => Vec::new(),
    };
    let missing = match &order.wanted {
        FetchTarget::Ids(ids) => {
            let had = |id: &AssetId| assets.iter().any(|(listed, _)| listed.asset.asset_id == *id);
            ids.iter().filter(|id| !had(id)).copied().collect()
        }
        _ => Vec::new(),
    };
    let is_validator = order.validation_tasks
        && node.is_some()
        && stakes::get(tx, sender)?.is_some_and(|stake| stake.is_active());
    let balance = node.map(|_| ledger::balance(tx, &ledger::node_account(sender))).transpose()?;
    let (validation_tasks, tasks, due) = (Vec::new(), Vec::new(), Vec::new());
    let answers = FetchAnswers::default();
    Ok(FetchOutcome {
        assets,
        missing,
        is_validator,
        validation_tasks,
        tasks,
        balance,
        answers,
        due,
        charged: 0,
    })
}

/// What a validator is asked to look at. One that has little to do gets more, so this may write.
async fn validation_tasks(
    hub: &SharedHub,
    sender: &str,
    credentials: Credentials,
) -> ApiResult<Vec<Assignment>> {
    let (rules, terms, sender) = (hub.rules(), hub.assignment_terms(), sender.to_owned());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_reader(tx, &rules, &sender, &credentials)?;
            Ok(node
                .map(|node| assignments::poll(tx, &node, &terms, rules.now))
                .transpose()?
                .unwrap_or_default())
        })
        .await
}

fn by_signals(
    tx: &mut dyn Tx,
    signals: &[String],
    order: &FetchPlan,
) -> ApiResult<Vec<(ListedAsset, String)>> {
    let query =
        SignalSearch { asset_type: order.asset_type, ..SignalSearch::signals(signals.to_vec(), order.limit) };
    let hits = search::find(tx, &query)?;
    if !order.search_only {
        return load_bodies(tx, hits.into_iter().map(|hit| hit.listed).collect(), order);
    }
    Ok(hits
        .into_iter()
        .map(|hit| {
            let row = hit_row(&hit, signals.len());
            (hit.listed, row)
        })
        .collect())
}

/// The row of an asset that a search found.
pub fn hit_row(hit: &search::SearchHit, asked: usize) -> String {
    view::row_with(&hit.listed, &hit_members(hit, asked))
}

/// What a search adds to the row of an asset, as members without braces.
pub fn hit_members(hit: &search::SearchHit, asked: usize) -> String {
    let matched = serde_json::to_string(&hit.matched_signals).unwrap_or_else(|_| "[]".to_owned());
    let score = match asked.min(search::MAX_SIGNALS) {
        0 => 1.0,
        asked => hit.half_points as f64 / (2 * asked) as f64,
    };
    format!("\"matched_signals\":{matched},\"match_score\":{}", view::number(score))
}

/// Adds to each asset what it is told as.
fn load_bodies(
    tx: &mut dyn Tx,
    mut known: Vec<ListedAsset>,
    order: &FetchPlan,
) -> ApiResult<Vec<(ListedAsset, String)>> {
    known.retain(|listed| order.asset_type.is_none_or(|kind| listed.asset.asset_type == kind));
    if order.search_only {
        return Ok(known
            .into_iter()
            .map(|listed| {
                let row = view::row(&listed);
                (listed, row)
            })
            .collect());
    }
    let seqs: Vec<i64> = known.iter().map(|listed| listed.asset.seq).collect();
    let mut bodies: HashMap<i64, String> = asset_list::bodies(tx, &seqs)?;
    Ok(known
        .into_iter()
        .filter_map(|listed| bodies.remove(&listed.asset.seq).map(|body| (listed, body)))
        .collect())
}

/// Leaves out what whoever asks may not have: others' assets that are not given out, unless they are to be validated by
/// the node or were handed in to it.
fn retain_readable(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    asking: AssetReader<'_>,
    assets: &mut Vec<ListedAsset>,
) -> ApiResult<()> {
    let mut visible = Vec::with_capacity(assets.len());
    for listed in assets.drain(..) {
        if may_have(tx, rules, asking, &listed)? {
            visible.push(listed);
        }
    }
    *assets = visible;
    Ok(())
}

/// Who asks for an asset: a node, an account, or both.
#[derive(Debug, Clone, Copy)]
pub struct AssetReader<'a> {
    /// The node, if the hub knows it.
    pub node: Option<&'a NodeRow>,
    /// The account whose token or key the request shows.
    pub user: Option<&'a UserRow>,
}

impl AssetReader<'_> {
    /// Whether the asset was handed in to whoever asks, or to be merged by them.
    pub fn was_handed(&self, tx: &mut dyn Tx, asset: &AssetId) -> ApiResult<bool> {
        let reader = ResultReader {
            node_id: self.node.map(|node| node.node_id.as_str()),
            user_id: self.user.map(|user| user.user_id.as_str()),
        };
        Ok(access::may_read(tx, reader, asset)?)
    }
}

/// Whether somebody may have an asset's body.
pub fn may_have(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    asking: AssetReader<'_>,
    listed: &ListedAsset,
) -> ApiResult<bool> {
    let asset = &listed.asset;
    if asset.status.is_distributed() {
        return Ok(true);
    }
    if asset.status == AssetStatus::Candidate && asking.was_handed(tx, &asset.asset_id)? {
        return Ok(true);
    }
    let Some(node) = asking.node else { return Ok(false) };
    if owns(tx, node, &asset.node_id)? {
        return Ok(true);
    }
    Ok(asset.status == AssetStatus::Candidate
        && asset_list::is_assigned(tx, &node.node_id, &asset.asset_id, rules.now)?)
}

/// Whether a node published something, or another node of its owner did.
pub fn owns(tx: &mut dyn Tx, node: &NodeRow, publisher: &str) -> ApiResult<bool> {
    if node.node_id == publisher {
        return Ok(true);
    }
    if node.owner.is_none() {
        return Ok(false);
    }
    Ok(nodes::get(tx, publisher)?.is_some_and(|publisher| publisher.owner == node.owner))
}

impl FetchOutcome {
    /// The payload as text. Whole assets are put in as they were published, with nothing added.
    fn payload(&self, order: &FetchPlan) -> String {
        let told: Vec<&str> = self.assets.iter().map(|(_, told)| told.as_str()).collect();
        let results = told.join(",");
        let mut text = String::with_capacity(2 * results.len() + 1024 * self.assets.len() + 256);
        let mut put = |key: &str, value: &str| {
            let start = if text.is_empty() { '{' } else { ',' };
            let _to_a_string = write!(text, "{start}\"{key}\":{value}");
        };
        put("results", &format!("[{results}]"));
        put("assets", &format!("[{results}]"));
        put("count", &self.assets.len().to_string());
        if !order.search_only {
            let meta = |(listed, _): &(ListedAsset, String)| {
                format!("\"{}\":{}", listed.asset.asset_id, view::meta(listed))
            };
            put("meta", &format!("{{{}}}", self.assets.iter().map(meta).collect::<Vec<_>>().join(",")));
        }
        if !self.missing.is_empty() {
            put("missing", &serde_json::to_string(&self.missing).unwrap_or_default());
        }
        if order.tasks {
            put("tasks", &serde_json::to_string(&self.tasks).unwrap_or_default());
        }
        if order.validation_tasks {
            put("validation_tasks", &serde_json::to_string(&self.validation_tasks).unwrap_or_default());
        }
        if order.questions.is_some() {
            put("questions_created", &serde_json::to_string(&self.answers.questions).unwrap_or_default());
        }
        put("relevant_lessons", "[]");
        put(
            "credits_charged",
            &serde_json::to_string(&credits::to_decimal(self.charged)).unwrap_or_default(),
        );
        if let Some(balance) = self.balance {
            put("credit_balance", &serde_json::to_string(&credits::to_decimal(balance)).unwrap_or_default());
        }
        text.push('}');
        text
    }
}

impl crate::state::Hub {
    /// Takes one read of an address.
    pub async fn limit_reads(&self, credentials: &Credentials) -> ApiResult<()> {
        let (limit, now) = (self.config.limits.read, self.now());
        self.reads.check(&self.store, HubCode::RateLimited, "read", &credentials.address, limit, now).await
    }
}
