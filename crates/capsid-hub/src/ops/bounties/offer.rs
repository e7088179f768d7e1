//! What somebody asks others to do, and what they put aside for it: bounties, questions and orders alike.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::object_reader::kind_of;
use crate::http::validate;
use crate::state::Hub;
use capsid_model::hash::sha256_hex;
use capsid_model::text::is_invisible;
use capsid_model::time::Time;
use capsid_rules::credits::{self, GrantedUse};
use capsid_rules::work::tasks::{RewardRequirement, min_reputation};
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties;
use capsid_store::work::bounties::{BountyRow, ExistingBounty, NewBounty, OfferOutcome};
use capsid_store::work::tasks::{NewTask, cleanup};
use serde::Serialize;
use serde_json::{Value, json};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// How long others have where nothing is said.
const DEFAULT_MS: i64 = 7 * DAY_MS;
/// How long they have at least.
const SHORTEST_MS: i64 = 10 * MINUTE_MS;
/// And at most.
const MAX_MS: i64 = 90 * DAY_MS;
/// The shortest title.
const TITLE_LEAST: usize = 5;
/// The longest title.
pub const TITLE_MOST: usize = 300;
/// The longest text of what is to be done.
pub const BODY_MOST: usize = 8_000;
/// The most signals.
const MAX_SIGNALS: usize = 50;
/// The longest signal.
const SIGNAL_MOST: usize = 200;
/// The most model names.
const MAX_MODELS: usize = 50;
/// The longest name that whoever asks gives it.
const REFERENCE_MOST: usize = 200;

/// Signals as clients send them.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = Signals)]
pub enum SignalsInput {
    /// With commas between.
    Text(String),
    /// One by one.
    List(Vec<String>),
}

/// A moment as clients send it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = Moment)]
pub enum TimeInput {
    /// ISO 8601.
    Text(String),
    /// Milliseconds since 1970.
    Number(i64),
}

/// What is asked. Its parts are checked.
#[derive(Debug, Clone, Default)]
pub struct OfferRequest {
    pub title: String,
    /// What is to be done.
    pub body: String,
    /// What it is about, with commas between.
    pub signals: String,
    pub amount: i64,
    /// The reputation that is asked for.
    pub min_reputation: f64,
    /// The tier of model that is asked for.
    pub min_model_tier: Option<i64>,
    /// Models that may do it, as a JSON list.
    pub allowed_models: Option<String>,
    /// Until when it may be done, in milliseconds; not yet compared with the clock.
    pub expires_at: Option<i64>,
}

impl OfferRequest {
    /// The hash by which the same wish is known again.
    fn hash(&self, source: &str, listing: Option<&str>) -> String {
        let all = json!([
            source,
            listing,
            self.title,
            self.body,
            self.signals,
            self.amount,
            self.min_reputation,
            self.min_model_tier,
            self.allowed_models,
            self.expires_at
        ]);
        sha256_hex(all.to_string().as_bytes())
    }

    fn end(&self, now: Time) -> ApiResult<i64> {
        let Some(end) = self.expires_at else { return Ok(now.0 + DEFAULT_MS) };
        if (SHORTEST_MS..=MAX_MS).contains(&end.saturating_sub(now.0)) {
            return Ok(end);
        }
        Err(ApiError::field("expires_at", "a time 10 minutes to 90 days ahead", "another time"))
    }
}

/// A title of one line.
pub fn title(value: Option<&str>) -> ApiResult<String> {
    let title = value.ok_or_else(|| ApiError::field("title", "a title", "missing"))?.trim();
    validate::name(title, "title", TITLE_MOST)?;
    long_enough(title, "title")?;
    Ok(title.to_owned())
}

/// The title and the text of a question: the title is its beginning, in one line.
pub fn question(value: Option<&str>, path: &str, body: Option<&str>) -> ApiResult<(String, String)> {
    let asked = value.ok_or_else(|| ApiError::field(path, "a question", "missing"))?.trim();
    validate::text(asked, path, BODY_MOST)?;
    validate::text_or(body, "body", BODY_MOST)?;
    let plain: String = asked.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !is_invisible(*c)).collect();
    long_enough(&line, path)?;
    let title: String = line.chars().take(TITLE_MOST).collect();
    // What the title leaves out is told in the text.
    let told = if title == asked { "" } else { asked };
    Ok((title, body.unwrap_or(told).to_owned()))
}

fn long_enough(text: &str, path: &str) -> ApiResult<()> {
    let size = text.chars().count();
    if size >= TITLE_LEAST {
        return Ok(());
    }
    Err(ApiError::field(path, format!("a text of at least {TITLE_LEAST} characters"), format!("{size}")))
}

/// Signals as one text: they may be sent as one, or one by one.
pub fn signals(value: Option<&Value>, path: &str) -> ApiResult<String> {
    let expected = "a text with commas, or an array of strings";
    let all: Vec<&str> = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(n, item)| {
                item.as_str()
                    .ok_or_else(|| ApiError::field(format!("{path}[{n}]"), "a string", kind_of(item)))
            })
            .collect::<ApiResult<_>>()?,
        Some(other) => return Err(ApiError::field(path, expected, kind_of(other))),
    };
    let each: Vec<&str> =
        all.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|text| !text.is_empty()).collect();
    if each.len() > MAX_SIGNALS {
        let received = format!("{} signals", each.len());
        return Err(ApiError::field(path, format!("at most {MAX_SIGNALS} signals"), received));
    }
    for signal in &each {
        validate::text(signal, path, SIGNAL_MOST)?;
    }
    Ok(each.join(","))
}

/// An amount in milli-credits; 0 where there is none.
pub fn amount(value: Option<f64>, path: &str) -> ApiResult<i64> {
    let Some(asked) = value else { return Ok(0) };
    credits::from_shown(asked)
        .filter(|amount| *amount >= 0)
        .ok_or_else(|| ApiError::field(path, "credits from 0 up, exact to a thousandth", asked.to_string()))
}

/// A moment in milliseconds.
pub fn moment(value: Option<&Value>, path: &str) -> ApiResult<Option<i64>> {
    let found = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => Time::parse(text).map(|time| time.0),
        Some(Value::Number(number)) => number.as_i64(),
        Some(_) => None,
    };
    found.map(Some).ok_or_else(|| {
        ApiError::field(path, "an ISO 8601 time, or milliseconds since 1970", value.map_or("", kind_of))
    })
}

/// The models that may do it, as a JSON list.
pub fn models(names: Option<&[String]>) -> ApiResult<Option<String>> {
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(None) };
    validate::list(names, "allowed_models", MAX_MODELS, 200)?;
    Ok(serde_json::to_string(names).ok())
}

/// A name that whoever asks gives it, so that asking again changes nothing.
pub fn reference(value: Option<&str>) -> ApiResult<Option<OfferReference>> {
    validate::name_or(value, "reference", REFERENCE_MOST)?;
    Ok(value.map(|text| OfferReference { kind: "reference", text: text.to_owned() }))
}

/// What a wish is known by, when it is sent again.
#[derive(Debug, Clone)]
pub struct OfferReference {
    kind: &'static str,
    text: String,
}

impl OfferReference {
    /// The place of a question in a message.
    pub fn for_question(message_id: &str, at: usize) -> Self {
        Self { kind: "message", text: format!("{at}:{message_id}") }
    }

    /// What the ids of a bounty and its task end with.
    fn tail(&self, creator: &str) -> String {
        let all = json!([self.kind, creator, self.text]).to_string();
        sha256_hex(all.as_bytes()).chars().take(32).collect()
    }
}

/// A wish on its way into the store.
#[derive(Debug, Clone)]
pub struct OfferDraft {
    wish: OfferRequest,
    source: &'static str,
    name: Option<OfferReference>,
    listing: Option<OrderedService>,
    /// What the ids end with where the wish has no name.
    chance: String,
    high_value: i64,
    gates: Vec<RewardRequirement>,
    /// What granted credits can be used for.
    granted: GrantedUse,
}

/// The service that is ordered, and who is to do it.
#[derive(Debug, Clone)]
pub struct OrderedService {
    pub listing_id: String,
    pub node_id: String,
    /// What it costs, in milli-credits.
    pub price: i64,
}

/// A bounty that is there.
#[derive(Debug, Clone)]
pub struct PlacedBounty {
    pub bounty: BountyRow,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// The answer to an offer, and whether it made something new.
#[derive(Debug)]
pub struct Placed<T> {
    pub is_new: bool,
    pub response: T,
}

/// The id of the question that a bounty is on.
pub fn question_id(bounty_id: &str) -> String {
    format!("question_{}", bounty_id.strip_prefix("bounty_").unwrap_or(bounty_id))
}

impl Hub {
    /// Makes a draft of a wish. `source` is bounty, question or service.
    pub fn draft(
        &self,
        wish: OfferRequest,
        source: &'static str,
        name: Option<OfferReference>,
    ) -> OfferDraft {
        OfferDraft {
            wish,
            source,
            name,
            listing: None,
            chance: format!("{}_{}", self.now().0, self.random.hex(8)),
            high_value: self.config.work.high_value,
            gates: self.config.work.gates.clone(),
            granted: self.config.credits.granted,
        }
    }
}

impl OfferDraft {
    /// The same as an order of a service.
    #[must_use]
    pub fn ordering(mut self, listing: OrderedService) -> Self {
        self.listing = Some(listing);
        self
    }

    /// What is held in escrow: what was asked for, or what the service costs now.
    pub fn amount(&self) -> i64 {
        self.listing.as_ref().map_or(self.wish.amount, |listing| listing.price)
    }

    /// Offers what is asked; `creator` pays, and is locked. What was offered before under the same name is given again.
    pub fn place(&self, tx: &mut dyn Tx, creator: &str, now: Time) -> ApiResult<PlacedBounty> {
        let tail = self.name.as_ref().map_or_else(|| self.chance.clone(), |name| name.tail(creator));
        let (bounty_id, listing_id) =
            (format!("bounty_{tail}"), self.listing.as_ref().map(|it| it.listing_id.clone()));
        let request = self.name.as_ref().map(|_| self.wish.hash(self.source, listing_id.as_deref()));
        match bounties::earlier(tx, &bounty_id, request.as_deref())? {
            ExistingBounty::Nothing => {}
            ExistingBounty::Same(bounty) => return Ok(PlacedBounty { bounty: *bounty, is_new: false }),
            ExistingBounty::Other => return Err(reference_used_error()),
        }
        if cleanup::has_too_many_open(tx, creator)? {
            return Err(too_many_open());
        }
        let (wish, amount) = (&self.wish, self.amount());
        let task = NewTask {
            task_id: format!("task_{tail}"),
            asker: creator.to_owned(),
            title: wish.title.clone(),
            body: wish.body.clone(),
            signals: wish.signals.clone(),
            amount,
            // Whoever orders a service has chosen who is to do it.
            min_reputation: match self.listing {
                Some(_) => wish.min_reputation,
                None => min_reputation(wish.min_reputation, amount, &self.gates, None),
            },
            min_model_tier: wish.min_model_tier,
            allowed_models: wish.allowed_models.clone(),
            reserved_for: self.listing.as_ref().map(|listing| listing.node_id.clone()),
            expires_at: wish.end(now)?,
            ..NewTask::default()
        };
        let (source, high_value) = (self.source, self.high_value);
        let funds = self.granted.source();
        let new = NewBounty { bounty_id, source, listing_id, task, request, high_value, funds };
        match bounties::offer(tx, &new, now)? {
            OfferOutcome::Done(bounty) => Ok(PlacedBounty { bounty: *bounty, is_new: true }),
            OfferOutcome::Insufficient { have } => Err(insufficient(amount, have, self.granted)),
        }
    }
}

fn too_many_open() -> ApiError {
    ApiError::new(
        HubCode::TooManyOpenTasks,
        format!("Whoever asks may have {} tasks open or claimed at a time.", cleanup::MAX_OPEN),
        "Cancel some with POST /bounty/<bounty_id>/cancel, or wait until some are done or over.",
    )
}

fn reference_used_error() -> ApiError {
    ApiError::new(
        HubCode::AlreadyExists,
        "This `reference` was used before for something else.",
        "Give each thing that you ask for a `reference` of its own; the same one means the same thing.",
    )
}

fn insufficient(need: i64, have: i64, granted: GrantedUse) -> ApiError {
    let message = match granted {
        GrantedUse::Any => "It takes more credits than there are",
        GrantedUse::Fees => "A bounty takes earned credits, and there are fewer",
    };
    ApiError::new(
        HubCode::InsufficientCredits,
        format!("{message}: need {}, have {}.", credits::text(need), credits::text(have)),
        "Offer less, or earn credits first.",
    )
    .with("required", credits::to_decimal(need))
    .with("available", credits::to_decimal(have))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_one_text_however_they_are_sent() {
        for (sent, kept) in [
            (json!("a, b ,,c"), "a,b,c"),
            (json!(["a", " b,c "]), "a,b,c"),
            (json!([]), ""),
            (json!(null), ""),
        ] {
            assert_eq!(signals(Some(&sent), "signals").unwrap(), kept);
        }
        for bad in [json!(5), json!([5]), json!({}), json!(vec!["x"; 51]), json!(["x".repeat(201)])] {
            assert!(signals(Some(&bad), "signals").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_question_becomes_a_title_and_a_text() {
        let (title, body) = question(Some(" Why\ndoes it\u{202e} fail? "), "question", None).unwrap();
        assert_eq!((title.as_str(), body.as_str()), ("Why does it fail?", "Why\ndoes it\u{202e} fail?"));
        let (title, body) = question(Some("Why does it fail?"), "question", None).unwrap();
        assert_eq!((title.as_str(), body.as_str()), ("Why does it fail?", ""));
        let long = "é".repeat(400);
        let (title, body) = question(Some(&long), "question", None).unwrap();
        assert_eq!((title.chars().count(), body), (300, long));
        for bad in [None, Some(""), Some("four"), Some("\u{200b}\u{200b}\u{200b}\u{200b}\u{200b}")] {
            assert!(question(bad, "question", None).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_amount_is_exact_to_the_milli_credit() {
        assert_eq!(amount(Some(0.001), "amount").unwrap(), 1);
        assert_eq!(amount(None, "amount").unwrap(), 0);
        for bad in [-0.001, 0.0005, 1e300, f64::NAN] {
            assert!(amount(Some(bad), "amount").is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_wish_is_known_by_depends_on_all_of_it() {
        let name = OfferReference { kind: "reference", text: "r".to_owned() };
        assert_ne!(name.tail("user:a"), name.tail("user:b"));
        assert_ne!(name.tail("node:a"), OfferReference::for_question("r", 0).tail("node:a"));
        let wish = OfferRequest { title: "One thing".to_owned(), ..OfferRequest::default() };
        let other = OfferRequest { amount: 1, ..wish.clone() };
        assert_ne!(wish.hash("bounty", None), other.hash("bounty", None));
        assert_ne!(wish.hash("service", Some("a")), wish.hash("service", Some("b")));
    }
}
