//! `GET /a2a/assets` and `GET /a2a/assets/ranked`.

use super::{asset_type, page, status, word};
use crate::auth::access::Credentials;
use crate::error::{ApiError, Result};
use crate::http::checks::CATEGORIES;
use crate::http::envelope::Reply;
use crate::http::query;
use crate::http::query::Params;
use crate::http::{checks, cursor};
use crate::ops::assets::row;
use crate::ops::assets::row::Fields;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::evaluation::proof::Proof;
use capsid_rules::lifecycle::Status;
use capsid_store::assets::listing;
use capsid_store::assets::listing::{Filter, Listed, Position, Sort};
use capsid_store::db::tx::Tx;
use serde::Deserialize;
use utoipa::IntoParams;

/// How far a list can be skipped; a cursor goes on from anywhere.
const MOST_SKIPPED: i64 = 1000;
/// The longest signal that is asked for.
const LONGEST_SIGNAL: usize = 500;

/// Which assets.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// candidate, promoted (the default), rejected, quarantined, revoked, stale or archived.
    status: Option<String>,
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// The same as `type`.
    asset_type: Option<String>,
    /// Only what this node published.
    source_node_id: Option<String>,
    /// The same as `source_node_id`.
    node_id: Option<String>,
    /// Only assets of this chain.
    chain_id: Option<String>,
    /// repair, optimize, innovate, explore or regulatory.
    category: Option<String>,
    /// Only assets whose validation proves so much: absent, vacuous or real.
    label: Option<String>,
    /// Only assets that name this signal, whatever its case.
    signal: Option<String>,
}

/// How many, and from where on.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// newest (the default), ranked or most_used.
    sort: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// How many to skip, where there is no cursor.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 1000)]
    offset: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

fn sort(text: Option<&str>) -> Result<(Sort, &'static str)> {
    let parse = |word: &str| match word {
        "newest" => Some((Sort::Newest, "assets.newest")),
        "ranked" => Some((Sort::Ranked, "assets.ranked")),
        "most_used" => Some((Sort::MostUsed, "assets.most_used")),
        _ => None,
    };
    Ok(word("sort", text, parse, "newest, ranked or most_used")?.unwrap_or((Sort::Newest, "assets.newest")))
}

impl Which {
    /// The filter that it stands for.
    pub fn filter(&self) -> Result<Filter> {
        let node = self.source_node_id.as_ref().or(self.node_id.as_ref()).filter(|id| !id.is_empty());
        checks::name_or(node.map(String::as_str), "source_node_id", 128)?;
        let chain = self.chain_id.as_ref().filter(|id| !id.is_empty());
        checks::text_or(chain.map(String::as_str), "chain_id", 200)?;
        let signal = self.signal.as_deref().map(str::trim).filter(|signal| !signal.is_empty());
        checks::text_or(signal, "signal", LONGEST_SIGNAL)?;
        let known =
            |word: &str| CATEGORIES.iter().find(|known| **known == word).map(|word| (*word).to_owned());
        Ok(Filter {
            types: asset_type(self.kind.as_deref().or(self.asset_type.as_deref()))?.into_iter().collect(),
            node_id: node.cloned(),
            chain_id: chain.cloned(),
            category: word("category", self.category.as_deref(), known, &CATEGORIES.join(", "))?,
            label: word("label", self.label.as_deref(), Proof::parse, "absent, vacuous or real")?,
            signal: signal.map(str::to_owned),
            ..Filter::of(status(self.status.as_deref())?.unwrap_or(Status::Promoted))
        })
    }
}

impl Asked {
    fn offset(&self) -> Result<usize> {
        let asked = self.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
        match asked {
            ..0 => Ok(0),
            0..=MOST_SKIPPED => Ok(asked as usize),
            _ => {
                let expected = format!("at most {MOST_SKIPPED}; use `cursor` to go further");
                Err(ApiError::field("offset", expected, asked.to_string()))
            }
        }
    }
}

/// Lists assets, promoted ones unless another status is asked for.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets", tag = "assets", params(Which, Asked),
    responses((status = 200, body = crate::http::openapi::assets::AssetPage), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn list(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(which): Params<Which>,
    Params(asked): Params<Asked>,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let (filter, fields) = (which.filter()?, Fields::parse(asked.fields.as_deref()));
    let (sort, name) = sort(asked.sort.as_deref())?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let after = cursor::read(name, asked.cursor.as_deref())?;
    let skip = if after == Position::START { asked.offset()? } else { 0 };
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let found = listing::list(tx, &filter, sort, after, skip + limit + 1)?;
            Ok((found, listing::total(tx, &filter)?))
        })
        .await?;
    found.drain(..skip.min(found.len()));
    let next = cut(&mut found, limit, |last| cursor::write(name, sort.position(&last.asset)));
    let rows: Vec<String> = found.iter().map(|listed| fields.of(row::row(listed))).collect();
    Ok(Reply::ok(page("assets", &rows, Some(total), next)))
}

/// Cuts a list that was read one longer than asked for, and tells where it goes on.
pub(super) fn cut<T>(found: &mut Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Option<String> {
    let more = found.len() > limit;
    found.truncate(limit);
    found.last().filter(|_| more).map(cursor)
}

/// Which of the best, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Best {
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only these members of each row, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

const FEATURED: &str = "ranked.featured";
const NORMAL: &str = "ranked.normal";

/// The best promoted assets: those that the operator features first, then by score.
///
/// `fields=asset_id,summary` leaves out all other members of a row.
#[utoipa::path(get, path = "/a2a/assets/ranked", tag = "assets", params(Best),
    responses((status = 200, body = crate::http::openapi::assets::AssetPage), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn ranked(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(asked): Params<Best>,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let types = asset_type(asked.kind.as_deref())?.into_iter().collect();
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let fields = Fields::parse(asked.fields.as_deref());
    let text = asked.cursor.as_deref();
    // A cursor belongs to one of the two parts of the list.
    let (featured, normal) = match cursor::read(FEATURED, text) {
        Ok(after) => (Some(after), Position::START),
        Err(_) => (None, cursor::read(NORMAL, text)?),
    };
    let filter = Filter { types, ..Filter::of(Status::Promoted) };
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let mut found = Vec::new();
            if let Some(after) = featured {
                found = tier(tx, &filter, "featured", after, limit + 1)?;
            }
            let room = limit + 1 - found.len().min(limit + 1);
            if room > 0 {
                found.extend(tier(tx, &filter, "normal", normal, room)?);
            }
            Ok((found, listing::total(tx, &filter)?))
        })
        .await?;
    let next = cut(&mut found, limit, |last| {
        let part = if last.asset.trust_tier == "featured" { FEATURED } else { NORMAL };
        cursor::write(part, Sort::Ranked.position(&last.asset))
    });
    let rows: Vec<String> = found.iter().map(|listed| fields.of(row::row(listed))).collect();
    Ok(Reply::ok(page("assets", &rows, Some(total), next)))
}

fn tier(
    tx: &mut dyn Tx,
    filter: &Filter,
    tier: &'static str,
    after: Position,
    limit: usize,
) -> Result<Vec<Listed>> {
    let filter = Filter { tier: Some(tier), ..filter.clone() };
    Ok(listing::list(tx, &filter, Sort::Ranked, after, limit)?)
}
