//! What is known of the session and the turn when an action happens.

use crate::Authority;
use crate::shape::plain;
use capsid_model::exact::{ExactFields, ExactJson};

/// Approval policies under which a person or a rule decides.
const ASKED: [&str; 5] = ["untrusted", "on-request", "on-write", "always", "unless-trusted"];
/// What a turn records apart from its model and policies, and the name it gets.
const EXTRAS: [(&str, &str); 4] = [
    ("effort", "reasoning_effort"),
    ("summary", "reasoning_summary"),
    ("timezone", "timezone"),
    ("workspace_roots", "workspace_roots"),
];
/// Messages in the user's name that only set the stage.
const SET_UP: [&str; 5] = [
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
];

/// The session, the turn and the prompt.
#[derive(Debug, Default)]
pub(super) struct CodexContext {
    /// The session of this rollout; a fork repeats the heads of its ancestors too.
    pub(super) session: Option<String>,
    pub(super) base: ExactFields,
    pub(super) model: String,
    approval: ExactJson,
    sandbox: ExactJson,
    extras: ExactFields,
    pub(super) prompt: String,
    pub(super) forked_from: String,
}

impl CodexContext {
    /// Takes the session's head in. False if it is that of another session.
    pub(super) fn session(&mut self, payload: &ExactJson) -> bool {
        let id = payload.text("id").unwrap_or_default();
        if self.session.as_ref().is_some_and(|own| own != id) {
            return false;
        }
        self.session = Some(id.to_owned());
        self.forked_from = payload.text("forked_from_id").unwrap_or_default().to_owned();
        let git = payload.get("git").unwrap_or(&ExactJson::Null);
        let mut base = ExactFields::new();
        for name in ["cwd", "cli_version", "originator", "model_provider", "forked_from_id"] {
            base.insert(name.to_owned(), or_empty(payload.get(name)));
        }
        let pairs =
            [("git_sha", "commit_hash"), ("git_branch", "branch"), ("git_origin_url", "repository_url")];
        for (name, inner) in pairs {
            let field = payload.get(name).filter(|value| value.is_truthy()).or(git.get(inner));
            base.insert(name.to_owned(), or_empty(field));
        }
        self.base = base;
        true
    }

    /// Takes the head of a turn in.
    pub(super) fn turn(&mut self, payload: &ExactJson) {
        let truthy = |name: &str| payload.get(name).filter(|value| value.is_truthy());
        if let Some(model) = truthy("model") {
            self.model = plain(model);
        }
        if let Some(approval) = truthy("approval_policy") {
            self.approval = approval.clone();
        }
        if let Some(sandbox) = truthy("sandbox_policy") {
            self.sandbox = sandbox.clone();
        }
        for (name, extra) in EXTRAS {
            if let Some(value) = truthy(name) {
                self.extras.insert(extra.to_owned(), value.clone());
            }
        }
    }

    /// Takes a message of the user in. False if it only sets the stage.
    pub(super) fn ask(&mut self, text: &str) -> bool {
        let has_request =
            !text.trim().is_empty() && !SET_UP.iter().any(|start| text.trim_start().starts_with(start));
        if has_request {
            self.prompt = text.to_owned();
        }
        has_request
    }

    pub(super) fn environment(&self) -> ExactFields {
        let mut environment = self.base.clone();
        environment.insert("model".to_owned(), self.model.as_str().into());
        environment.insert("approval_policy".to_owned(), or_empty(Some(&self.approval)));
        environment.insert("sandbox_policy".to_owned(), or_empty(Some(&self.sandbox)));
        environment.extend(self.extras.clone());
        environment
    }

    /// Who approved a call.
    pub(super) fn authority(&self) -> Authority {
        let policy = plain(&self.approval);
        let kind = if ASKED.contains(&policy.as_str()) { "policy" } else { "autonomous" };
        let policy_reference =
            if policy.is_empty() { String::new() } else { format!("approval_policy={policy}") };
        Authority { kind, policy_reference }
    }
}

fn or_empty(value: Option<&ExactJson>) -> ExactJson {
    value.filter(|value| !value.is_null()).cloned().unwrap_or_else(|| "".into())
}
