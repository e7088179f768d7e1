//! Which tasks a node took.

use super::list::{DEFAULT_LIMIT, MAX_LIMIT, node_or};
use super::view::OwnTaskView;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::ApiResult;
use crate::http::{cursor, query, traced_id};
use crate::state::SharedHub;
use capsid_store::work::tasks::list as task_list;
use capsid_store::work::tasks::list::TakenTaskRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whose tasks are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListOwnTasksParams {
    /// The node.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl ListOwnTasksParams {
    /// The named node for the log.
    pub fn traced_node(&self) -> Option<&str> {
        self.node_id.as_deref().map(traced_id)
    }
}

/// A page of the tasks that a node took.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MyTasks)]
pub struct ListOwnTasksResponse {
    tasks: Vec<OwnTaskView>,
    count: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists the tasks that a node took and did not release: those it works on first, then the newest.
#[tracing::instrument(skip_all, fields(node.id = params.traced_node()))]
pub async fn list_own_tasks(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOwnTasksParams,
) -> ApiResult<ListOwnTasksResponse> {
    let (taken, next_cursor) = load_taken_page(hub, credentials, params, "tasks.my").await?;
    let now = hub.now();
    let tasks: Vec<_> = taken.iter().map(|taken| OwnTaskView::from_row(taken, now)).collect();
    Ok(ListOwnTasksResponse {
        count: tasks.len() as i64,
        tasks,
        has_more: next_cursor.is_some(),
        next_cursor,
    })
}

/// A page of what a node took, and the cursor of the next one. `list` names the list. Without a node there is nothing.
pub async fn load_taken_page(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOwnTasksParams,
    list: &str,
) -> ApiResult<(Vec<TakenTaskRow>, Option<String>)> {
    hub.limit_reads(credentials).await?;
    let limit = query::limit(params.limit.as_deref(), DEFAULT_LIMIT, MAX_LIMIT);
    let after = cursor::read(list, params.cursor.as_deref())?;
    let Some(node_id) = node_or(params.node_id.as_deref())? else { return Ok((Vec::new(), None)) };
    let id = node_id.clone();
    let mut taken = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, node| match node {
            Some(_) => Ok(task_list::list_taken_by(tx, &id, after, limit + 1)?),
            None => Ok(Vec::new()),
        })
        .await?;
    let has_more = taken.len() as i64 > limit;
    taken.truncate(limit as usize);
    let last = taken.last().filter(|_| has_more);
    let next = last.map(|last| cursor::write(list, last.position));
    Ok((taken, next))
}
