//! The one error type: a stable code, a sentence, and a fix.

use serde_json::{Value, json};
use std::fmt;

/// What every fallible function of the workspace returns.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// Something went wrong, told so that a person and a program can both act on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable, documented in `docs/reference/errors.md`, the same in every interface.
    pub code: Code,
    /// One sentence that names the thing it is about.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// The code that a hub gave, where a hub refused.
    pub hub_code: Option<String>,
    /// The HTTP status that a hub answered with, where it answered.
    pub hub_status: Option<u16>,
    /// How long a hub asks to wait, where it does.
    pub retry_after: Option<std::time::Duration>,
}

impl Problem {
    /// A problem with its usual fix.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fix: None, hub_code: None, hub_status: None, retry_after: None }
    }

    /// Keeps the code that a hub gave.
    #[must_use]
    pub fn hub_code(mut self, code: impl Into<String>) -> Self {
        self.hub_code = Some(code.into());
        self
    }

    /// Keeps the status that a hub answered with.
    #[must_use]
    pub fn hub_status(mut self, status: u16) -> Self {
        self.hub_status = Some(status);
        self
    }

    /// Keeps how long a hub asks to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<std::time::Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// What a program is told of it.
    pub fn to_json(&self) -> Value {
        let mut told = json!({"code": self.code.as_str(), "message": self.message, "fix": self.fix});
        if let Some(code) = &self.hub_code {
            told["hub_code"] = code.as_str().into();
        }
        told
    }

    /// An input/output error of the file at `path`, with the code that fits its kind.
    pub fn io(action: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let (code, fix) = match error.kind() {
            Kind::NotFound => (Code::FileNotFound, "Check the path."),
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                (Code::PermissionDenied, "Give this user access to the path, or choose another one.")
            }
            Kind::StorageFull | Kind::QuotaExceeded => (
                Code::DiskFull,
                "Free some space and run the command again; nothing that was written before is lost.",
            ),
            _ => (Code::IoError, "Look at the path and the system log, then run the command again."),
        };
        Self::new(code, format!("Could not {action} `{}`: {error}.", path.display())).fix(fix)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Problem {}

macro_rules! codes {
    ($($variant:ident, $text:literal, $exit:literal, $meaning:literal;)*) => {
        /// Every error code, in the order of `docs/reference/errors.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All codes, for the documentation and its test.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as it is printed and sent.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }

            /// The process exit status: 1 the thing asked failed, 2 usage or input, 70 internal.
            pub fn exit_status(self) -> u8 {
                match self { $(Code::$variant => $exit,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    UsageError, "usage_error", 2, "The command line does not say what to do.";
    InputInvalid, "input_invalid", 2, "A value given on the command line or in a file has the wrong form.";
    JsonInvalid, "json_invalid", 2, "A text that should be JSON is not.";
    JsonTooDeep, "json_too_deep", 2, "A JSON document is nested deeper than the reader allows.";
    ConfigInvalid, "config_invalid", 2, "`capsid.toml` or a setting from the environment cannot be used.";
    FileNotFound, "file_not_found", 2, "A file or folder that was named does not exist.";
    PermissionDenied, "permission_denied", 2, "The system does not allow this user to read or write a path.";
    DiskFull, "disk_full", 2, "The disk or the quota is full; nothing that was written before is lost.";
    IoError, "io_error", 2, "The system failed to read or write a path.";
    NotAGitRepository, "not_a_git_repository", 2, "The engine works inside a git repository only.";
    GitFailed, "git_failed", 2, "A git command that the engine needs failed.";
    NotInitialised, "not_initialised", 2, "This repository has no asset store yet.";
    StoreLocked, "store_locked", 1, "Another process holds the store or the loop for longer than we wait.";
    StoreDamaged, "store_damaged", 1, "A file of the store cannot be read as what it should be; it was left as it is.";
    MemoryUnavailable, "memory_unavailable", 2, "The memory graph cannot be read or written, so no cycle may run.";
    AssetIdMismatch, "asset_id_mismatch", 1, "An asset's stored id is not the hash of its content.";
    AssetIdMissing, "asset_id_missing", 1, "An asset carries no id to verify.";
    SchemaViolation, "schema_violation", 1, "A field of an asset breaks the schema.";
    GeneExists, "gene_exists", 1, "A gene with the same id is in the store already.";
    NotFound, "not_found", 1, "No record has the id that was asked for.";
    ChangeRefused, "change_refused", 1, "A thing is not in a state in which this can be done to it.";
    NoProblemFound, "no_problem_found", 1, "A log that was named shows no problem, so no cycle ran.";
    AlreadyResolved, "already_resolved", 1, "The command that should show the problem passes, so no cycle ran.";
    SetupBroken, "setup_broken", 1, "The command that should show the problem fails for a reason of the machine.";
    NothingPending, "nothing_pending", 1, "There is no run that waits to be solidified or reviewed.";
    RunPending, "run_pending", 1, "An earlier run still waits to be solidified or rejected.";
    BudgetUsedUp, "budget_used_up", 1, "The daily budget of the loop for agent calls is used up.";
    RunBusy, "run_busy", 1, "An agent is working on the run.";
    ViewUnavailable, "view_unavailable", 1, "A private view of the repository cannot be created here.";
    ApplyConflict, "apply_conflict", 1, "A proven change conflicts with edits made during the run, so nothing was applied.";
    ReviewRequired, "review_required", 1, "A proven change touches files that run by themselves, so it waits for a review.";
    InsideSandbox, "inside_sandbox", 1, "The command was called inside the private view of a run, where nothing is recorded.";
    CommandRefused, "command_refused", 1, "A validation command does not pass the gate and was not run.";
    SandboxUnavailable, "sandbox_unavailable", 1, "No sandbox works on this machine and policy does not allow to go without.";
    ProgramNotFound, "program_not_found", 1, "A program that should be run is not installed.";
    AgentNotFound, "agent_not_found", 2, "The command for the agent names no program, so no run was begun.";
    AgentFailed, "agent_failed", 1, "The agent's command could not be started, failed or ran out of time.";
    CycleFailed, "cycle_failed", 1, "The cycle ran, was recorded, and did not succeed.";
    CommitRefused, "commit_refused", 1, "The cycle's files could not be committed apart from the user's own edits.";
    RollbackIncomplete, "rollback_incomplete", 1, "Some files changed after the cycle and were left as they are.";
    DistillRefused, "distill_refused", 1, "The answer holds no gene that can be taken.";
    ArchiveInvalid, "archive_invalid", 1, "An archive is damaged, incomplete or unsafe to unpack.";
    ChainBroken, "chain_broken", 1, "A sealed chain does not verify; the message names the first bad record.";
    ChainNotOwn, "chain_not_own", 1, "A chain holds records of somebody else, so nothing is added to it.";
    ChainUnreadable, "chain_unreadable", 2, "A path holds no chain that can be read.";
    SealRefused, "seal_refused", 2, "A record holds something that cannot be sealed.";
    SessionInvalid, "session_invalid", 2, "A session's name cannot be a file name.";
    TranscriptUnreadable, "transcript_unreadable", 2, "A transcript cannot be read as what its tool writes.";
    KeyMissing, "key_missing", 2, "There is no key to sign or to verify with.";
    KeyInvalid, "key_invalid", 2, "A key or a file of keys has the wrong form.";
    HookFileInvalid, "hook_file_invalid", 2, "A tool's settings file cannot be edited safely; it was left as it is.";
    DisclosureMismatch, "disclosure_mismatch", 1, "A value is not the one that was redacted before sealing.";
    SignerFork, "signer_fork", 1, "The signing service refuses a second history of a session.";
    SignerMalformed, "signer_malformed", 2, "The signing service was sent something that is not a record.";
    SignerBusy, "signer_busy", 1, "A limit of the signing service is used up; the records stay pending.";
    SignerRefused, "signer_refused", 1, "The signing service does not do what it was asked for by this user, or not any more.";
    SignerDamaged, "signer_damaged", 1, "The files of the signing service cannot be used, so nothing is signed.";
    SignerUnreachable, "signer_unreachable", 1, "The signing service does not answer; new records stay pending.";
    StoreBusy, "store_busy", 1, "The database has more work than it can do just now.";
    StoreUnreachable, "store_unreachable", 1, "The database server cannot be reached.";
    StoreTooNew, "store_too_new", 2, "The database was made by a newer program.";
    StoreTooOld, "store_too_old", 2, "The database still has to be migrated.";
    AddressInUse, "address_in_use", 2, "Another program already listens on the address.";
    NoHub, "no_hub", 2, "No hub is configured, and none is used unless one is named.";
    HubUrlInvalid, "hub_url_invalid", 2, "The address of the hub cannot be used.";
    HubUnreachable, "hub_unreachable", 1, "The hub could not be reached, or did not answer in time.";
    HubAnswerInvalid, "hub_answer_invalid", 1, "What the hub answered is not what the protocol allows; nothing of it was used.";
    HubRefused, "hub_refused", 1, "The hub refused; `hub_code` holds its own code.";
    HubBusy, "hub_busy", 1, "The hub asks to wait; the message says how long.";
    ReceiverUnreachable, "receiver_unreachable", 1, "The receiver of traces cannot be reached.";
    ReceiverRefused, "receiver_refused", 1, "The receiver of traces did not take what was sent to it.";
    NodeSecretRefused, "node_secret_refused", 1, "The hub does not take this node's secret.";
    IdentityInvalid, "identity_invalid", 2, "The files that hold this node's identity cannot be used.";
    NotEligible, "not_eligible", 1, "An asset does not meet what has to hold before it is shared.";
    ConfirmationRequired, "confirmation_required", 1, "A foreign asset brings commands that nobody here has agreed to yet.";
    NotValidated, "not_validated", 1, "A foreign asset was not validated here, so it is not taken in.";
    BudgetSpent, "budget_spent", 1, "The day's budget for work on tasks is used up.";
    PagesMissing, "pages_missing", 2, "The program was built without its web pages.";
    Interrupted, "interrupted", 1, "A signal asked the program to stop; it stopped between two steps.";
    Internal, "internal", 70, "A bug in this program.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
