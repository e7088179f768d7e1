//! An asset as lists show it: what never changes, which is stored as text, and what does.

use crate::config::{HubConfig, RowValues};
use crate::error::{ApiError, ApiResult};
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ConsensusTally, ConsensusVerdict};
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::evaluation::trust_policy::TrustPolicy;
use capsid_rules::evaluation::trust_summary::{TrustFacts, TrustSummary, summarize_trust};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::AssetRow;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list::ListedAsset;
use capsid_store::search::{self, SearchHit};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// An asset in a list.
#[derive(Debug, Clone, Serialize)]
pub struct AssetView {
    /// What never changes, as JSON members without braces. They are written as they are stored.
    #[serde(flatten, serialize_with = "write_card")]
    card: String,
    #[serde(flatten)]
    pub state: AssetState,
}

impl AssetView {
    pub fn new(listed: &ListedAsset) -> Self {
        let asset = &listed.asset;
        // No text of what nobody has looked through is shown.
        let card = if asset.is_scanned() { asset.card.clone() } else { bare_card(asset) };
        Self { card, state: AssetState::new(listed) }
    }

    /// The row of an asset in a search or a ranking. Where the operator wants that, it tells what the publisher declares
    /// only as far as others bear it out: clients decide by these values what they reuse.
    pub fn ranked(listed: &ListedAsset, config: &HubConfig) -> Self {
        let row = Self::new(listed);
        match config.ranking.row_values {
            RowValues::Declared => row,
            RowValues::Adjusted => adjusted(row, listed, &config.trust()),
        }
    }
}

/// The card of an asset without anything that its publisher wrote.
fn bare_card(asset: &AssetRow) -> String {
    let kind = asset.asset_type.as_str();
    format!(r#""asset_id":"{}","asset_type":"{kind}","type":"{kind}""#, asset.asset_id)
}

/// A row with confidence, streak and reputation as far as others bear them out, and the publisher's values beside them.
fn adjusted(mut row: AssetView, listed: &ListedAsset, trust: &TrustPolicy) -> AssetView {
    let (asset, traits) = (&listed.asset, &listed.asset.traits);
    let declared = DeclaredValues {
        confidence: traits.confidence,
        success_streak: traits.success_streak,
        reputation_score: row.state.reputation_score,
    };
    let belief = asset.belief.unwrap_or(trust.belief.floor);
    let confidence = rounded_or_zero(belief * traits.confidence);
    let streak = traits.success_streak.min(asset.successes).max(1);
    let level = listed.owner_level.and_then(OwnerLevel::from_number).unwrap_or_default();
    let level = level.max(trust.owners.least_level);
    row.card =
        with_members(&row.card, &[("confidence", confidence.into()), ("success_streak", streak.into())]);
    row.state.reputation_score = rounded_or_zero(trust.owners.capped_reputation(listed.reputation, level));
    row.state.declared = Some(declared);
    row
}

/// A card with other values for some of its members. One that cannot be read stays as it is.
fn with_members(card: &str, values: &[(&str, Value)]) -> String {
    let whole = format!("{{{card}}}");
    let Ok(CardMembers(members)) = serde_json::from_str(&whole) else { return card.to_owned() };
    let member = |(name, value): (String, &RawValue)| {
        let value = values
            .iter()
            .find(|(replaced, _)| *replaced == name)
            .map_or_else(|| value.get().to_owned(), |(_, value)| value.to_string());
        format!("{}:{value}", Value::from(name))
    };
    members.into_iter().map(member).collect::<Vec<_>>().join(",")
}

/// What a publisher declares, beside values that are adjusted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeclaredValues {
    confidence: f64,
    success_streak: i64,
    reputation_score: f64,
}

/// The description names all members of a row in one place, whichever part they come from.
impl PartialSchema for AssetView {
    fn schema() -> RefOr<Schema> {
        let (RefOr::T(Schema::Object(mut row)), RefOr::T(Schema::Object(state))) =
            (AssetCard::schema(), AssetState::schema())
        else {
            return AssetCard::schema();
        };
        row.description = Some("An asset in a list. With `fields` only some members are there.".to_owned());
        row.required.extend(state.required);
        row.properties.extend(state.properties);
        RefOr::T(Schema::Object(row))
    }
}

impl ToSchema for AssetView {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AssetRow")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        AssetCard::schemas(schemas);
        AssetState::schemas(schemas);
    }
}

fn write_card<S: Serializer>(card: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = format!("{{{card}}}");
    let CardMembers(members) = serde_json::from_str(&whole).map_err(serde::ser::Error::custom)?;
    serializer.collect_map(members)
}

/// The members of a card, each with its value as it is stored.
struct CardMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for CardMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = CardMembers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the members of a card")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(CardMembers(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// What changes of an asset.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AssetState {
    bundle_id: String,
    status: AssetStatus,
    trust_tier: String,
    /// 0 to 100; ranks and promotes.
    gdi_score: f64,
    gdi_mean: f64,
    gdi_intrinsic: f64,
    gdi_usage: f64,
    gdi_social: f64,
    gdi_freshness: f64,
    call_count: i64,
    reuse_count: i64,
    view_count: i64,
    upvotes: i64,
    downvotes: i64,
    /// Who published it.
    source_node_id: String,
    /// The publisher's reputation, 0 to 100.
    reputation_score: f64,
    #[schema(required)]
    chain_id: Option<String>,
    has_evolution_event: bool,
    validation_label: ProofLevel,
    validation_summary: ValidationSummary,
    created_at: String,
    #[schema(required)]
    promoted_at: Option<String>,
    last_activity_at: String,
    /// Why it is held back or warned of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    safety: Option<String>,
    /// Whether it is a candidate of the owner of whoever asks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub own: bool,
    /// An asset that it is much like.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    similar_to: Option<AssetId>,
    /// Why it can be trusted, in one line.
    trust: TrustSummary,
    /// Whether it is from before reports were graded, and waits for its evaluation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    unproven: bool,
    /// The publisher's own values, where the row tells them only as far as others bear them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = DeclaredValues, required = false)]
    declared: Option<DeclaredValues>,
}

impl AssetState {
    pub fn new(listed: &ListedAsset) -> Self {
        let asset = &listed.asset;
        Self {
            bundle_id: asset.bundle_id.clone(),
            status: asset.status,
            trust_tier: asset.trust_tier.clone(),
            gdi_score: rounded_or_zero(asset.gdi as f64 / 100.0),
            gdi_mean: rounded_or_zero(asset.gdi_mean),
            gdi_intrinsic: rounded_or_zero(asset.gdi_intrinsic),
            gdi_usage: rounded_or_zero(asset.gdi_usage),
            gdi_social: rounded_or_zero(asset.gdi_social),
            gdi_freshness: rounded_or_zero(asset.gdi_freshness),
            call_count: asset.call_count,
            reuse_count: asset.reuse_count,
            view_count: asset.view_count,
            upvotes: asset.upvotes,
            downvotes: asset.downvotes,
            source_node_id: asset.node_id.clone(),
            reputation_score: rounded_or_zero(listed.reputation),
            chain_id: asset.traits.chain_id.clone(),
            has_evolution_event: asset.traits.has_event,
            validation_label: asset.traits.proof,
            validation_summary: ValidationSummary::new(listed),
            created_at: Time(asset.created_at).iso(),
            promoted_at: asset.promoted_at.map(|at| Time(at).iso()),
            last_activity_at: Time(asset.last_activity_at).iso(),
            safety: asset.safety.clone(),
            own: false,
            similar_to: asset.similar_to,
            trust: asset.trust.clone().map_or_else(|| untested(asset), |trust| trust.0),
            unproven: asset.is_unproven,
            declared: None,
        }
    }
}

/// What the validation of an asset shows.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct ValidationSummary {
    #[serde(rename = "validationQuality")]
    quality: ValidationQuality,
    /// How many reports that count say that it works.
    passes: i64,
    /// How many say that it does not.
    fails: i64,
    /// The best of what those rest on that say it works: fetched, used, applied, assigned, reproduced or hub.
    #[schema(value_type = Option<String>, required)]
    grade: Option<&'static str>,
}

/// How far a validation can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ValidationQuality {
    /// It can fail, and somebody else saw it pass.
    Real,
    /// It cannot fail, or nobody else tried it.
    Suspicious,
    /// There is none.
    Empty,
}

impl ValidationSummary {
    fn new(listed: &ListedAsset) -> Self {
        let quality = match listed.asset.traits.proof {
            ProofLevel::Absent => ValidationQuality::Empty,
            ProofLevel::Real if listed.passes > 0 => ValidationQuality::Real,
            _ => ValidationQuality::Suspicious,
        };
        let grade = listed.grade().map(EvidenceGrade::as_str);
        Self { quality, passes: listed.passes, fails: listed.fails, grade }
    }
}

/// The line of an asset that nobody else reported on.
fn untested(asset: &AssetRow) -> TrustSummary {
    let (validation, is_unproven) = (asset.traits.proof, asset.is_unproven);
    summarize_trust(&TrustFacts { validation, is_unproven, ..TrustFacts::default() })
}

/// What a card holds. It is stored as text when an asset is published, and only described here.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "The card is written as it is stored.")]
struct AssetCard {
    asset_id: String,
    asset_type: AssetType,
    /// The same as `asset_type`.
    r#type: AssetType,
    /// The id that its publisher uses.
    #[schema(required)]
    local_id: Option<String>,
    summary: String,
    /// What it answers to, as its publisher wrote it: usually a list of texts.
    signals: Value,
    #[schema(required = false)]
    schema_version: Option<String>,
    #[schema(required = false)]
    model_name: Option<String>,
    /// What follows is as its publisher wrote it, and not checked for every type of asset.
    #[schema(required = false)]
    category: Value,
    #[schema(required = false)]
    intent: Value,
    #[schema(required = false)]
    trigger: Value,
    #[schema(required = false)]
    signals_match: Value,
    #[schema(required = false)]
    confidence: Value,
    #[schema(required = false)]
    success_streak: Value,
    #[schema(required = false)]
    blast_radius: Value,
    #[schema(required = false)]
    outcome: Value,
    #[schema(required = false)]
    gene: Value,
    #[schema(required = false)]
    capsule_id: Value,
    #[schema(required = false)]
    genes_used: Value,
    #[schema(required = false)]
    mutations_tried: Value,
    #[schema(required = false)]
    total_cycles: Value,
    #[schema(required = false)]
    source_type: Value,
    #[schema(required = false)]
    reused_asset_id: Value,
    #[schema(required = false)]
    parent: Value,
    #[schema(required = false)]
    lineage: Value,
    /// What its publisher calls it.
    #[schema(required = false)]
    title: Option<String>,
    /// The problem that its publisher solved with it.
    #[schema(required = false)]
    problem_text: Option<String>,
    /// The publisher's own proof: `none`, `passes`, `fail_to_pass` or `fail_to_pass_reverts`.
    #[schema(required = false)]
    proof_grade: Option<String>,
}

/// A row, or only some of its members.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Selected<T> {
    Whole(T),
    /// The whole row, as it is written.
    Written(Box<RawValue>),
    Members(Map<String, Value>),
}

/// Only some members of a row: those that `fields` names, and always the id.
#[derive(Debug, Clone, Default)]
pub struct FieldSelection(Vec<String>);

impl FieldSelection {
    /// Reads a list such as `asset_id,summary`.
    pub fn parse(text: Option<&str>) -> Self {
        let names = text.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
        Self(names.map(str::to_owned).collect())
    }

    /// Whether whole rows are asked for.
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves out what was not asked for.
    pub fn select<T: Serialize>(&self, row: T) -> ApiResult<Selected<T>> {
        if self.0.is_empty() {
            return Ok(Selected::Whole(row));
        }
        match serde_json::to_value(&row).map_err(ApiError::not_serializable)? {
            Value::Object(mut members) => {
                members.retain(|key, _| key == "asset_id" || self.0.iter().any(|name| name == key));
                Ok(Selected::Members(members))
            }
            _ => Ok(Selected::Whole(row)),
        }
    }
}

/// Defines a page of a list: the rows, how many there are, and where to go on.
macro_rules! page_response {
    ($(#[$about:meta])* $name:ident as $schema:ident { $list:ident: $row:ty as $described:ty } $(with $lag:ident)?) => {
        $(#[$about])*
        #[derive(Debug, serde::Serialize, utoipa::ToSchema)]
        #[schema(as = $schema)]
        pub struct $name {
            #[schema(value_type = Vec<$described>)]
            $list: Vec<$row>,
            count: i64,
            total: i64,
            /// There are at least `total`.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            #[schema(required = false)]
            total_is_lower_bound: bool,
            has_more: bool,
            #[schema(required)]
            next_cursor: Option<String>,
            $(
                /// How many of the newest changes the search does not hold yet; absent where it holds all.
                #[serde(skip_serializing_if = "Option::is_none")]
                $lag: Option<i64>,
            )?
        }

        impl $name {
            /// A page with the number of all rows, and whether there may be more of them.
            pub fn new($list: Vec<$row>, (total, is_lower_bound): (i64, bool), next: Option<String>) -> Self {
                Self {
                    count: $list.len() as i64,
                    $list,
                    total,
                    total_is_lower_bound: is_lower_bound,
                    has_more: next.is_some(),
                    next_cursor: next,
                    $($lag: None,)?
                }
            }

            $(
                /// Tells how much the search may lack.
                pub fn behind(mut self, lag: i64) -> Self {
                    self.$lag = Some(lag).filter(|lag| *lag > 0);
                    self
                }
            )?
        }
    };
}
pub(crate) use page_response;

page_response! {
    /// A page of assets.
    AssetPageResponse as AssetPage { assets: Selected<AssetView> as AssetView } with index_lag
}

/// An asset that was searched for.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = FoundAsset)]
pub struct FoundAssetView {
    #[serde(flatten)]
    pub asset: AssetView,
    pub matched_signals: Vec<String>,
    /// 0 to 1.
    pub match_score: f64,
}

impl FoundAssetView {
    /// The row of an asset that was found by so many signals.
    pub fn new(hit: &SearchHit, signals: usize, config: &HubConfig) -> Self {
        let score = match signals.min(search::MAX_SIGNALS) {
            0 => 1.0,
            signals => hit.half_points as f64 / (2 * signals) as f64,
        };
        Self {
            asset: AssetView::ranked(&hit.listed, config),
            matched_signals: hit.matched_signals.clone(),
            match_score: rounded_or_zero(score),
        }
    }

    /// The same as its serialisation, made by copying the card.
    pub fn write(&self) -> serde_json::Result<Box<RawValue>> {
        let state = serde_json::to_string(&self.asset.state)?;
        let signals = serde_json::to_string(&self.matched_signals)?;
        let score = serde_json::to_string(&self.match_score)?;
        let members = state.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let card = &self.asset.card;
        RawValue::from_string(format!(
            r#"{{{card},{members},"matched_signals":{signals},"match_score":{score}}}"#
        ))
    }
}

/// What reports and decisions say together: how many, and how much they weigh.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct ConsensusView {
    passes: i64,
    fails: i64,
    total: i64,
    weight: ConsensusWeight,
    verdict: ConsensusVerdict,
}

/// How much the reports weigh.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = ValidationWeight)]
pub struct ConsensusWeight {
    pub passes: f64,
    pub fails: f64,
}

impl From<&ConsensusTally> for ConsensusView {
    fn from(tally: &ConsensusTally) -> Self {
        Self {
            passes: tally.passed as i64,
            fails: tally.failed() as i64,
            total: tally.counted as i64,
            weight: ConsensusWeight { passes: tally.passes, fails: tally.fails },
            verdict: tally.verdict,
        }
    }
}

/// A number as people read it: with four decimals. One that is too large to have any stays as it is.
pub fn rounded(value: f64) -> f64 {
    let scaled = value * 10_000.0;
    if scaled.is_finite() { scaled.round() / 10_000.0 } else { value }
}

/// The same; what is no number is zero.
pub fn rounded_or_zero(value: f64) -> f64 {
    Some(rounded(value)).filter(|value| value.is_finite()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_four_decimals() {
        assert_eq!(rounded_or_zero(0.123_456_789), 0.1235);
        assert_eq!(rounded_or_zero(f64::NAN), 0.0);
        assert_eq!(rounded(-f64::MAX), -f64::MAX);
    }

    #[test]
    fn a_card_is_written_as_it_is_stored() {
        let write = |card: &str| {
            let mut text = Vec::new();
            write_card(card, &mut serde_json::Serializer::new(&mut text)).map(|()| String::from_utf8(text))
        };
        let card = r#""asset_id":"sha256:1","confidence":1.50,"signals":["\u00e9"],"outcome":{"score":1e0}"#;
        assert_eq!(write(card).unwrap().unwrap(), format!("{{{card}}}"));
        assert!(write(r#""asset_id":"#).is_err());
    }
}
