//! Cases that a moderator looks at: assets with warnings, new publishers, disputed bounties and reports that disagree. Each decision is audited, and
//! whoever it concerns may appeal once.

pub mod arbitration;
pub mod rescan;

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::row::{column_enums, row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::text_enum;
use capsid_model::time::Time;

/// What a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CaseKind {
    /// An asset whose texts deserve a warning.
    Warning,
    /// A node that published for the first time.
    Publisher,
    /// A bounty whose rejection is disputed.
    Dispute,
    /// A candidate on which reports that count disagree.
    Disagreement,
}

text_enum!(CaseKind {
    Warning = "warning",
    Publisher = "publisher",
    Dispute = "dispute",
    Disagreement = "disagreement",
});

column_enums!(CaseKind);

row! {
    /// A case.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ModerationCaseRow {
        pub seq: i64 = "seq",
        pub kind: CaseKind = "kind",
        /// The asset, node or bounty.
        pub subject: String = "subject",
        /// The node whose work it is about.
        pub node_id: String = "node_id",
        pub reason: String = "reason",
        pub opened_at: i64 = "opened_at",
        /// open or decided.
        pub state: String = "state",
        pub decision: Option<String> = "decision",
        pub decided_by: Option<String> = "decided_by",
        pub decided_at: Option<i64> = "decided_at",
        pub decision_reason: Option<String> = "decision_reason",
        /// When and why it was appealed against.
        pub appealed_at: Option<i64> = "appealed_at",
        pub appeal: Option<String> = "appeal",
    }
}

impl ModerationCaseRow {
    /// Whether it waits for a decision.
    pub fn is_open(&self) -> bool {
        self.state == "open"
    }
}

/// Opens a case; one that is there stays as it is.
pub fn open_case(
    tx: &mut dyn Tx,
    kind: CaseKind,
    subject: &str,
    node_id: &str,
    reason: &str,
    now: Time,
) -> Result<()> {
    tx.run(
        "INSERT INTO moderation_cases (kind, subject, node_id, reason, opened_at, state)
         VALUES ($1, $2, $3, $4, $5, 'open') ON CONFLICT DO NOTHING",
        params![kind.as_str(), subject, node_id, reason, now],
    )?;
    Ok(())
}

/// Asks an arbiter about a candidate on which reports disagree. A case that was decided before the asset was demoted is about
/// other reports, and is opened again.
pub fn ask_arbiter(tx: &mut dyn Tx, asset: &AssetRow, now: Time) -> Result<()> {
    let subject = asset.asset_id.to_string();
    open_case(tx, CaseKind::Disagreement, &subject, &asset.node_id, "Reports on it disagree.", now)?;
    tx.run(
        "UPDATE moderation_cases SET state = 'open', opened_at = $3, decision = NULL, decided_by = NULL,
            decided_at = NULL, decision_reason = NULL, appealed_at = NULL, appeal = NULL
         WHERE kind = 'disagreement' AND subject = $1 AND state = 'decided'
            AND decided_at <= (SELECT a.demoted_at FROM assets a WHERE a.asset_id = $2)",
        params![&subject, &asset.asset_id, now],
    )?;
    Ok(())
}

/// Closes the case about a disagreement, if it is open: an arbiter has decided.
pub fn close_disagreement(
    tx: &mut dyn Tx,
    id: &AssetId,
    passed: bool,
    arbiter: &str,
    now: Time,
) -> Result<()> {
    let case = lock_subject(tx, CaseKind::Disagreement, &id.to_string())?;
    let Some(case) = case.filter(ModerationCaseRow::is_open) else { return Ok(()) };
    let decision = if passed { "approve" } else { "reject" };
    decide(tx, &case, decision, arbiter, Some("An arbiter decided on the asset."), now)
}

/// Finds a case and keeps others from deciding it meanwhile.
pub fn lock(tx: &mut dyn Tx, seq: i64) -> Result<Option<ModerationCaseRow>> {
    tx.query_first(
        select!(ModerationCaseRow, "FROM moderation_cases WHERE seq = $1 FOR UPDATE"),
        params![seq],
    )
}

/// Finds the case about something, and keeps others from deciding it meanwhile.
pub fn lock_subject(tx: &mut dyn Tx, kind: CaseKind, subject: &str) -> Result<Option<ModerationCaseRow>> {
    tx.query_first(
        select!(ModerationCaseRow, "FROM moderation_cases WHERE kind = $1 AND subject = $2 FOR UPDATE"),
        params![kind.as_str(), subject],
    )
}

/// The cases in a state after a place, the oldest first.
pub fn list(tx: &mut dyn Tx, state: &str, after: i64, limit: i64) -> Result<Vec<ModerationCaseRow>> {
    tx.query_all(
        select!(
            ModerationCaseRow,
            "FROM moderation_cases WHERE state = $1 AND seq > $2 ORDER BY seq LIMIT $3"
        ),
        params![state, after, limit],
    )
}

/// Decides an open case.
pub fn decide(
    tx: &mut dyn Tx,
    case: &ModerationCaseRow,
    decision: &str,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    tx.run(
        "UPDATE moderation_cases SET state = 'decided', decision = $2, decided_by = $3, decided_at = $4,
            decision_reason = $5 WHERE seq = $1",
        params![case.seq, decision, actor, now, reason],
    )?;
    audit_case(tx, case, actor, "decide", Some(decision), reason, now)
}

/// Reopens a case that was decided, once. False when it is open, or was appealed against before.
pub fn appeal(
    tx: &mut dyn Tx,
    case: &ModerationCaseRow,
    actor: &str,
    reason: &str,
    now: Time,
) -> Result<bool> {
    if case.is_open() || case.appealed_at.is_some() {
        return Ok(false);
    }
    tx.run(
        "UPDATE moderation_cases SET state = 'open', appealed_at = $2, appeal = $3 WHERE seq = $1",
        params![case.seq, now, reason],
    )?;
    audit_case(tx, case, actor, "appeal", Some("open"), Some(reason), now)?;
    Ok(true)
}

fn audit_case(
    tx: &mut dyn Tx,
    case: &ModerationCaseRow,
    actor: &str,
    action: &str,
    after: Option<&str>,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    let subject = format!("{}:{}", case.kind.as_str(), case.subject);
    let before = case.decision.as_deref().unwrap_or("open");
    let change =
        AuditChange { kind: "moderation", subject: &subject, action, before: Some(before), after, reason };
    audit::add(tx, actor, change, now)
}
