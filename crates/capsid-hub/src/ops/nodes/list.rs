//! Who is on this hub.

use super::view::NodeView;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor;
use crate::http::query;
use crate::ops::assets::list::cut;
use crate::ops::assets::view::page_response;
use crate::state::SharedHub;
use capsid_store::nodes::list as node_list;
use capsid_store::nodes::list::{NodePosition, NodeSort};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which nodes, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListNodesParams {
    /// reputation (the default), newest or published.
    sort: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

fn sort(text: Option<&str>) -> ApiResult<(NodeSort, &'static str)> {
    match text.map(str::trim).unwrap_or_default() {
        "" | "reputation" => Ok((NodeSort::Reputation, "nodes.reputation")),
        "newest" => Ok((NodeSort::Newest, "nodes.newest")),
        "published" => Ok((NodeSort::Published, "nodes.published")),
        _ => Err(ApiError::field("sort", "reputation, newest or published", "another word")),
    }
}

fn position(name: &str, cursor: Option<&str>) -> ApiResult<Option<NodePosition>> {
    let Some([key, node_id]) = cursor::read_parts(name, cursor)? else { return Ok(None) };
    let key = key.parse::<f64>().ok().filter(|key| key.is_finite());
    // A cursor that somebody made up is refused like any other.
    let key =
        key.ok_or_else(|| ApiError::new(HubCode::InvalidCursor, "The cursor is broken.", "Begin again."))?;
    if node_id.contains('\0') {
        return Err(ApiError::new(HubCode::InvalidCursor, "The cursor is broken.", "Begin again."));
    }
    Ok(Some(NodePosition { key, node_id }))
}

page_response! {
    /// A page of nodes.
    NodePageResponse as NodePage { nodes: NodeView as NodeView }
}

/// Lists nodes.
#[tracing::instrument(skip_all)]
pub async fn list_nodes(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListNodesParams,
) -> ApiResult<NodePageResponse> {
    hub.limit_reads(credentials).await?;
    let (sort, name) = sort(params.sort.as_deref())?;
    let after = position(name, params.cursor.as_deref())?;
    let (limit, now) = (query::limit(params.limit.as_deref(), 20, 100) as usize, hub.now());
    let (mut found, total) = hub
        .store
        .read_replica::<_, ApiError, _>(move |tx| {
            let found = node_list::list(tx, sort, after.as_ref(), limit + 1)?;
            Ok((found, node_list::total(tx)?))
        })
        .await?;
    let next = cut(&mut found, limit, |last| {
        let position = sort.position(last);
        cursor::write_parts(&[name, &position.key.to_string(), &position.node_id])
    });
    let rows = found.into_iter().map(|node| NodeView::new(node, now));
    Ok(NodePageResponse::new(rows.collect(), total, next))
}
