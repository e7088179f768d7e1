//! Who changed what, for an admin.

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::query;
use crate::http::validate;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::assets::list::ListPosition;
use capsid_store::audit::{self, AuditFilter, AuditRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// A page of the audit, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditPage)]
pub struct ListAuditResponse {
    entries: Vec<AuditEntryView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A change that somebody made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditEntryView {
    at: String,
    /// `node:…`, `user:…`, `operator` or `hub`.
    actor: String,
    action: String,
    /// asset, node, user, task or bounty.
    subject_kind: String,
    subject: String,
    #[schema(required)]
    before: Option<String>,
    #[schema(required)]
    after: Option<String>,
    #[schema(required)]
    reason: Option<String>,
}

impl From<AuditRow> for AuditEntryView {
    fn from(row: AuditRow) -> Self {
        Self {
            at: Time(row.entry.at).iso(),
            actor: row.entry.actor,
            action: row.entry.action,
            subject_kind: row.kind,
            subject: row.subject,
            before: row.entry.before,
            after: row.entry.after,
            reason: row.entry.reason,
        }
    }
}

/// Lists changes of state, by whom and why, newest first; only for admins.
#[tracing::instrument(skip_all)]
pub async fn list_audit(
    hub: &SharedHub,
    credentials: Credentials,
    asked: ListAuditParams,
) -> ApiResult<ListAuditResponse> {
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
    Ok(ListAuditResponse {
        entries: entries.into_iter().map(AuditEntryView::from).collect(),
        next_cursor: next.map(|seq| cursor::write(LIST, ListPosition { key: seq, seq })),
    })
}
