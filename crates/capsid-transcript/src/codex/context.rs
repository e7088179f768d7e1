//! What is known of the session and the turn when an action happens.

use crate::Authority;
use crate::shape::plain;
use capsid_model::exact::{ExactFields, ExactJson};

/// Approval policies under which nobody is asked.
const ALONE: [&str; 4] = ["never", "on-failure", "full-auto", "auto"];
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
    /// When the line was written that is read now.
    time: ExactJson,
    /// Images of the last message of the user, for the action that follows.
    pub(super) images: usize,
    /// The number of that line.
    pub(super) line: u64,
}

impl CodexContext {
    /// A line begins.
    pub(super) fn at(&mut self, document: &ExactJson, line: u64) {
        self.line = line;
        self.time = document.get("timestamp").filter(|time| time.is_truthy()).cloned().unwrap_or_default();
    }

    /// When the present line was written.
    pub(super) fn time(&self) -> &str {
        self.time.as_str().unwrap_or_default()
    }

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
        if let Some(cwd) = truthy("cwd") {
            self.base.insert("cwd".to_owned(), cwd.clone());
        }
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

    /// Whether a message in the user's name only sets the stage.
    pub(super) fn is_set_up(&self, text: &str) -> bool {
        SET_UP.iter().any(|start| text.trim_start().starts_with(start))
    }

    /// What is known of the session, and when the present line was written.
    pub(super) fn of_session(&self) -> ExactFields {
        let mut environment = self.base.clone();
        if !self.time.is_null() {
            environment.insert("timestamp".to_owned(), self.time.clone());
        }
        environment
    }

    pub(super) fn environment(&self) -> ExactFields {
        let mut environment = self.base.clone();
        environment.insert("model".to_owned(), self.model.as_str().into());
        environment.insert("approval_policy".to_owned(), or_empty(Some(&self.approval)));
        environment.insert("sandbox_policy".to_owned(), or_empty(Some(&self.sandbox)));
        environment.extend(self.extras.clone());
        if !self.time.is_null() {
            environment.insert("timestamp".to_owned(), self.time.clone());
        }
        environment
    }

    /// Who approved a call: a person who refused it was asked, and so was one for rights beyond the sandbox.
    pub(super) fn authority_of_call(
        &self,
        arguments: &ExactJson,
        is_asked: bool,
        has_output: bool,
        rejected: bool,
    ) -> Authority {
        let Authority { policy_reference, .. } = self.authority();
        let is_escalated = arguments.get("with_escalated_permissions").is_some_and(ExactJson::is_truthy)
            || arguments.text("sandbox_permissions") == Some("require_escalated");
        match (rejected, is_asked) {
            (true, _) => Authority::escalated(policy_reference, "rejected"),
            // It ran after a person was asked.
            (false, true) if has_output => Authority::approved(policy_reference),
            (false, true) => Authority::escalated(policy_reference, "unknown"),
            (false, false) if is_escalated => Authority::escalated(policy_reference, "escalated permissions"),
            (false, false) => self.authority(),
        }
    }

    /// Who approves under the policies of the turn.
    fn authority(&self) -> Authority {
        let policy = plain(&self.approval);
        let plain = policy.trim().to_lowercase().replace(['_', ' '], "-");
        let reference = format!("approval_policy={policy}");
        match self.approval {
            _ if plain.is_empty() => Authority::default(),
            // An object, or a word that is not known, is a rule as well.
            ExactJson::String(_) if ALONE.contains(&plain.as_str()) => {
                Authority { policy_reference: reference, ..Authority::default() }
            }
            _ => Authority::policy(reference),
        }
    }
}

fn or_empty(value: Option<&ExactJson>) -> ExactJson {
    value.filter(|value| !value.is_null()).cloned().unwrap_or_else(|| "".into())
}
