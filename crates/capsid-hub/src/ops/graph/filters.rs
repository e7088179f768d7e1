//! What of the graph is asked for.

use crate::error::{ApiError, ApiResult};
use crate::http::object_reader::ObjectReader;
use crate::http::validate;
use crate::http::validate::CATEGORIES;
use capsid_rules::graph::kind;
use capsid_rules::graph::names::normal;
use capsid_rules::lifecycle::AssetType;
use capsid_store::assets::environments;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{Entity, Relation};
use capsid_store::search::SearchHit;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The members of `filters`.
const KNOWN: [&str; 7] =
    ["types", "entity_types", "relation_types", "category", "since", "until", "environment"];
/// The most kinds that are asked for, and the longest name of one.
const MAX_KINDS: usize = 20;
const MAX_KIND_LEN: usize = 64;
/// The longest name of an environment.
const MAX_ENVIRONMENT_LEN: usize = 200;

/// What is asked for; of everything that is empty or missing, all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphFilters {
    pub kinds: Vec<String>,
    pub relations: Vec<String>,
    /// Assets of this kind of change.
    pub category: Option<String>,
    /// Assets and relations from this moment on.
    pub since: Option<i64>,
    /// Assets and relations before this moment.
    pub until: Option<i64>,
    /// Assets that are known to work there.
    pub environment: Option<String>,
}

impl GraphFilters {
    /// Reads `filters` of a body.
    pub fn read(filters: &Map<String, Value>) -> ApiResult<Self> {
        if let Some(name) = filters.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            return Err(validate::unknown_member(&format!("filters.{name}"), &KNOWN));
        }
        let fields = ObjectReader::new(filters, "filters");
        let mut kinds = fields.texts("types", MAX_KINDS, MAX_KIND_LEN)?;
        kinds.extend(fields.texts("entity_types", MAX_KINDS, MAX_KIND_LEN)?);
        let relations = fields.texts("relation_types", MAX_KINDS, MAX_KIND_LEN)?;
        let text = |name: &str, most: usize| fields.text(name, 1, most).map(|text| text.map(str::to_owned));
        let moment = |name: &str| match filters.get(name).and_then(Value::as_i64) {
            Some(at) => Ok(Some(at)),
            None => validate::moment(fields.text(name, 0, 40)?, &format!("filters.{name}")),
        };
        let filters = Self {
            kinds: kinds.into_iter().map(kind_named).collect(),
            relations: relations.into_iter().map(|kind| kind.trim().to_lowercase()).collect(),
            category: text("category", MAX_KIND_LEN)?,
            since: moment("since")?,
            until: moment("until")?,
            environment: text("environment", MAX_ENVIRONMENT_LEN)?.as_deref().map(normal),
        };
        validate::word_or(filters.category.as_deref(), "filters.category", &CATEGORIES)?;
        Ok(filters)
    }

    /// Reads the words of a query: kinds with commas between them, and the rest as it is.
    pub fn from_query(
        kinds: Option<&str>,
        category: Option<&str>,
        (since, until): (Option<&str>, Option<&str>),
        environment: Option<&str>,
    ) -> ApiResult<Self> {
        let [category, environment] =
            [category, environment].map(|text| text.map(str::trim).filter(|text| !text.is_empty()));
        let kinds: Vec<String> = listed(kinds).map(kind_named).collect();
        if kinds.len() > MAX_KINDS || kinds.iter().any(|kind| kind.chars().count() > MAX_KIND_LEN) {
            let expected = format!("at most {MAX_KINDS} kinds of at most {MAX_KIND_LEN} characters");
            return Err(ApiError::field("kinds", expected, "more"));
        }
        validate::word_or(category, "category", &CATEGORIES)?;
        validate::name_or(environment, "environment", MAX_ENVIRONMENT_LEN)?;
        Ok(Self {
            kinds,
            relations: Vec::new(),
            category: category.map(str::to_owned),
            since: validate::moment(since, "since")?,
            until: validate::moment(until, "until")?,
            environment: environment.map(normal),
        })
    }

    /// Whether a thing is of a kind that is asked for.
    pub fn accepts(&self, entity: &Entity) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&entity.kind)
    }

    /// The same for assets of a type.
    pub fn accepts_type(&self, asset_type: AssetType) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|of| of == kind::kind_of_asset(asset_type))
    }

    /// Whether a relation is asked for. What the hub counts was said at no particular moment, so a time leaves it out.
    pub fn follows(&self, relation: &Relation) -> bool {
        let in_time = match relation.said_at {
            Some(at) => {
                self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
            }
            None => self.since.is_none() && self.until.is_none(),
        };
        in_time && (self.relations.is_empty() || self.relations.contains(&relation.kind))
    }

    /// Whether it asks for some assets and not for others.
    pub fn narrows_assets(&self) -> bool {
        self.category.is_some() || self.since.is_some() || self.until.is_some() || self.environment.is_some()
    }

    /// Leaves out assets that are not asked for.
    pub fn retain_assets(&self, tx: &mut dyn Tx, things: &mut Vec<Entity>) -> ApiResult<()> {
        if !self.narrows_assets() {
            return Ok(());
        }
        let ids: Vec<AssetId> = things
            .iter()
            .filter(|entity| kind::is_asset(&entity.kind))
            .filter_map(|entity| AssetId::parse(&entity.key))
            .collect();
        let mut listed = list::by_id(tx, &ids)?;
        self.retain_listed(tx, &mut listed)?;
        let kept: HashSet<String> = listed.iter().map(|listed| listed.asset.asset_id.to_string()).collect();
        things.retain(|entity| !kind::is_asset(&entity.kind) || kept.contains(&entity.key));
        Ok(())
    }

    /// The same for assets themselves.
    pub fn retain_listed(&self, tx: &mut dyn Tx, listed: &mut Vec<ListedAsset>) -> ApiResult<()> {
        listed.retain(|listed| self.accepts_asset(listed));
        let Some(environment) = &self.environment else { return Ok(()) };
        let seqs: Vec<i64> = listed.iter().map(|listed| listed.asset.seq).collect();
        let working = environments::working_in(tx, &seqs, environment)?;
        listed.retain(|listed| working.contains(&listed.asset.seq));
        Ok(())
    }

    /// The same for what was found by its words.
    pub fn retain_hits(&self, tx: &mut dyn Tx, hits: &mut Vec<SearchHit>) -> ApiResult<()> {
        let mut listed: Vec<ListedAsset> = hits.iter().map(|hit| hit.listed.clone()).collect();
        self.retain_listed(tx, &mut listed)?;
        let kept: HashSet<i64> = listed.iter().map(|listed| listed.asset.seq).collect();
        hits.retain(|hit| kept.contains(&hit.listed.asset.seq));
        Ok(())
    }

    /// Whether an asset is asked for, but for where it works.
    fn accepts_asset(&self, listed: &ListedAsset) -> bool {
        let (asset, at) = (&listed.asset, listed.asset.created_at);
        self.accepts_type(asset.asset_type)
            && (self.category.is_none() || self.category == asset.traits.category)
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
    }

    /// The types of assets that are asked for by their kinds.
    pub fn types(&self) -> Vec<AssetType> {
        let named = |of: &AssetType| self.kinds.iter().any(|kind| kind == kind::kind_of_asset(*of));
        AssetType::ALL.into_iter().filter(named).collect()
    }

    /// Whether assets are asked for at all, and if of one type only, of which.
    pub fn assets(&self) -> (bool, Option<AssetType>) {
        match self.types().as_slice() {
            _ if self.kinds.is_empty() => (true, None),
            [] => (false, None),
            [one] => (true, Some(*one)),
            _ => (true, None),
        }
    }
}

/// Words with commas between them.
pub fn listed(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The kind that a word names; types of assets may be written as elsewhere.
pub fn kind_named(word: &str) -> String {
    AssetType::parse(word.trim())
        .map_or_else(|| word.trim().to_lowercase(), |of| kind::kind_of_asset(of).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(filters: &Value) -> ApiResult<GraphFilters> {
        GraphFilters::read(filters.as_object().unwrap())
    }

    fn relation(kind: &str, said_at: Option<i64>) -> Relation {
        Relation {
            source: 1,
            kind: kind.to_owned(),
            target: 2,
            said_by: "hub".to_owned(),
            said_at,
            asset_id: None,
            confidence: 1.0,
            claims: 1,
            is_told: false,
        }
    }

    #[test]
    fn an_unknown_filter_is_refused_with_those_that_there_are() {
        let error = read(&json!({"kind": ["gene"]})).unwrap_err();
        assert_eq!(error.details[0].path, "filters.kind");
        assert!(KNOWN.iter().all(|name| error.problem.contains(name)), "{}", error.problem);
        assert!(read(&json!({"category": "sorcery"})).is_err());
        assert!(read(&json!({"types": "gene"})).is_err());
        assert!(read(&json!({"since": "yesterday"})).is_err());
        assert_eq!(read(&json!({})).unwrap(), GraphFilters::default());
    }

    #[test]
    fn kinds_and_types_of_assets_are_the_same() {
        let filters =
            read(&json!({"types": ["EvolutionEvent", " Signal "], "entity_types": ["gene"]})).unwrap();
        assert_eq!(filters.kinds, ["event", "signal", "gene"]);
        assert_eq!(filters.assets(), (true, None));
        assert_eq!(read(&json!({"types": ["Capsule"]})).unwrap().assets(), (true, Some(AssetType::Capsule)));
        assert_eq!(read(&json!({"types": ["signal"]})).unwrap().assets(), (false, None));
        let of_query =
            GraphFilters::from_query(Some("Gene, ,signal"), None, (None, None), Some(" ")).unwrap();
        assert_eq!(of_query.kinds, ["gene", "signal"]);
        assert_eq!(of_query.environment, None);
    }

    #[test]
    fn relations_are_followed_by_kind_and_time() {
        let day = read(&json!({"since": "1970-01-02", "until": "1970-01-03"})).unwrap();
        let at = |ms: i64| day.follows(&relation("triggers", Some(ms)));
        assert_eq!(
            [at(86_399_999), at(86_400_000), at(172_799_999), at(172_800_000)],
            [false, true, true, false]
        );
        assert!(!day.follows(&relation("co_occurs", None)));
        assert_eq!(read(&json!({"since": 86_400_000, "until": "172800000"})).unwrap(), day);
        let kinds = read(&json!({"relation_types": ["Triggers"]})).unwrap();
        assert!(kinds.follows(&relation("triggers", None)) && !kinds.follows(&relation("solved_by", None)));
    }
}
