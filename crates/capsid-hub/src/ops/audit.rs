//! `GET /admin/audit`: who changed what, for an admin.

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::assets::list::ListPosition;
use capsid_store::audit::{self, AuditFilter, AuditRow};
use serde::Deserialize;
use serde_json::{Value, json};

const LIST: &str = "audit";

/// Which changes.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListAuditParams {
    /// How many: 1 to 100, usually 50.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before. A page may be empty and still have one: the audit is searched piece by piece.
    cursor: Option<String>,
    /// Only changes of this asset, node, account, task or bounty.
    subject: Option<String>,
    /// Only changes by `node:…`, `user:…`, `operator` or `hub`.
    actor: Option<String>,
    /// Only changes of this kind, such as `promote` or `ban`.
    action: Option<String>,
}

impl ListAuditParams {
    fn filter(&self) -> ApiResult<AuditFilter> {
        let word = |value: &Option<String>, path: &str| {
            let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
            validate::text_or(value, path, 200)?;
            Ok::<_, ApiError>(value.map(str::to_owned))
        };
        Ok(AuditFilter {
            subject: word(&self.subject, "subject")?,
            actor: word(&self.actor, "actor")?,
            action: word(&self.action, "action")?,
        })
    }
}

/// Lists changes of state, by whom and why, newest first; only for admins.
#[utoipa::path(get, path = "/admin/audit", tag = "admin", params(ListAuditParams),
    responses((status = 200, body = crate::http::openapi::admin::AuditPage),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListAuditParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (now, limit) = (hub.now(), query::limit(asked.limit.as_deref(), 50, 100));
    let (entries, next) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            require_admin(tx, &credentials, now)?;
            let before = cursor::read(LIST, asked.cursor.as_deref())?.seq;
            Ok(audit::list(tx, &asked.filter()?, before, limit)?)
        })
        .await?;
    let rows: Vec<Value> = entries.iter().map(row).collect();
    let next = next.map(|seq| cursor::write(LIST, ListPosition { key: seq, seq }));
    Ok(JsonReply::json(&json!({ "entries": rows, "next_cursor": next })))
}

fn row(listed: &AuditRow) -> Value {
    let entry = &listed.entry;
    json!({
        "at": Time(entry.at).iso(), "actor": entry.actor, "action": entry.action,
        "subject_kind": listed.kind, "subject": listed.subject, "before": entry.before, "after": entry.after,
        "reason": entry.reason,
    })
}
