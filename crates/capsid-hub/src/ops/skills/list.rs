//! The skills that there are.

use super::publish::is_plain;
use super::view::SkillView;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::{query, validate};
use crate::state::Hub;
use capsid_store::skills::{self, SkillFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which skills are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSkillsParams {
    /// Only those of this node.
    node_id: Option<String>,
    /// Only those whose id, name, description or tags hold this text.
    q: Option<String>,
    /// How many; 20 where it is missing, 200 at most.
    limit: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of skills in the order of their ids.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillPage)]
pub struct ListSkillsResponse {
    skills: Vec<SkillView>,
    #[schema(value_type = i64)]
    count: usize,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists skills in the order of their ids.
#[tracing::instrument(skip_all)]
pub async fn list_skills(hub: &Hub, query: ListSkillsParams) -> ApiResult<ListSkillsResponse> {
    let most = query::limit(query.limit.as_deref(), 20, 200);
    validate::text_or(query.q.as_deref(), "q", 200)?;
    query.node_id.as_deref().map_or(Ok(()), |id| check_node_id(id, "node_id"))?;
    let after = query.cursor.filter(|cursor| !cursor.is_empty());
    if after.as_deref().is_some_and(|cursor| !is_plain(cursor)) {
        return Err(ApiError::new(
            HubCode::InvalidCursor,
            "`cursor` was not given out by this hub.",
            "Send the `next_cursor` of the page before.",
        ));
    }
    let after = after.unwrap_or_default();
    let text = query.q.map(|q| q.trim().to_lowercase()).filter(|q| !q.is_empty());
    let filter = SkillFilter { node_id: query.node_id, text };
    let mut found = hub
        .store
        .read_replica::<_, ApiError, _>(move |tx| Ok(skills::list(tx, &filter, &after, most + 1)?))
        .await?;
    let more = found.len() as i64 > most;
    found.truncate(most as usize);
    let next = found.last().filter(|_| more).map(|skill| skill.skill_id.clone());
    Ok(ListSkillsResponse {
        count: found.len(),
        skills: found.into_iter().map(SkillView::from_row).collect::<ApiResult<_>>()?,
        has_more: more,
        next_cursor: next,
    })
}
