//! What admins look at.

use super::describe::told;

told! {
    /// A page of the audit, newest first.
    AuditPage {
        entries: Vec<AuditEntry>,
        next_cursor: Option<String>,
    }

    /// A change that somebody made.
    AuditEntry {
        at: String,
        /// `node:…`, `user:…`, `operator` or `hub`.
        actor: String,
        action: String,
        /// asset, node, user, task or bounty.
        subject_kind: String,
        subject: String,
        before: Option<String>,
        after: Option<String>,
        reason: Option<String>,
    }
}
