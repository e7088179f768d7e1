//! Which means this machine has to confine a program, found out by trying.

use crate::{Confinement, ProcessLimits, ValidationProfile, run_validation_at};
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

const FIX: &str = "Allow unprivileged user namespaces, or use a kernel with Landlock (5.13 or newer); to go without, set \
                   `sandbox = \"off\"` under `[validation]` in `capsid.toml`.";

/// How a program was kept apart from the rest of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// It sees no other file, process, key or network.
    Namespaces,
    /// It may touch no other file, use no network and signal no other process.
    Landlock,
    /// Nothing but resource limits and a clean environment.
    None,
}

impl Isolation {
    /// The word that goes into reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

/// Whether a sandbox must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IsolationPolicy {
    /// Use the best sandbox this machine has, and refuse to run without one.
    #[default]
    Require,
    /// Run without a sandbox; the report says so.
    Off,
}

/// As whom a confined program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxIds {
    /// As the ordinary user who started it.
    User,
    /// Started by root, and nobody that the machine knows. With namespaces it is root for itself.
    MappedRoot,
    /// As the superuser without capabilities.
    Root,
}

impl SandboxIds {
    /// The word that goes into records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::MappedRoot => "mapped_root",
            Self::Root => "root",
        }
    }

    /// The attribute by which a write layer says that a folder hides the one below.
    pub fn opaque_attribute(self) -> &'static str {
        match self {
            Self::User => "user.overlay.opaque",
            Self::MappedRoot | Self::Root => "trusted.overlay.opaque",
        }
    }
}

/// What came of trying one kind of sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxProbe {
    /// The kind.
    pub isolation: Isolation,
    /// Whether a program really ran in it.
    pub works: bool,
    /// What was seen.
    pub detail: String,
}

impl SandboxProbe {
    /// Runs a program that does nothing.
    fn try_out(isolation: Isolation) -> Self {
        let outcome = run_true(isolation, ValidationProfile::Validation);
        Self { isolation, works: outcome.is_ok(), detail: outcome.unwrap_or_else(|why| why) }
    }
}

fn run_true(isolation: Isolation, profile: ValidationProfile) -> std::result::Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let argv = ["true".to_owned()];
    let confinement = Confinement { profile, ..Confinement::to(folder.path()) };
    match run_validation_at(isolation, &argv, &confinement, &ProcessLimits::default()) {
        Ok(finished) if finished.end.ok() => Ok(describe(isolation, finished.ids)),
        Ok(finished) => {
            Err(format!("a program in it ended with {:?}: {}", finished.end, finished.stderr.trim()))
        }
        Err(problem) => Err(problem.message.trim_end_matches('.').to_owned()),
    }
}

fn describe(isolation: Isolation, ids: SandboxIds) -> String {
    // Landlock has no right for them; whoever owns no file cannot change them.
    let open = ids != SandboxIds::MappedRoot;
    let ids = match ids {
        SandboxIds::User => format!("as uid {}", rustix::process::geteuid().as_raw()),
        SandboxIds::MappedRoot => "root is mapped to an id that nobody has".to_owned(),
        SandboxIds::Root => "as root without capabilities".to_owned(),
    };
    match isolation {
        Isolation::Namespaces => format!("private files, processes, network, keys; seccomp; {ids}"),
        Isolation::Landlock if open => {
            format!(
                "no other files, no network; modes and times of your files are not protected; seccomp; {ids}"
            )
        }
        Isolation::Landlock => format!("no other files, no network; seccomp; {ids}"),
        Isolation::None => "nothing is confined".to_owned(),
    }
}

/// Tries every kind of sandbox by starting a program in it, the best first.
pub fn probe() -> Vec<SandboxProbe> {
    [Isolation::Namespaces, Isolation::Landlock].map(SandboxProbe::try_out).to_vec()
}

/// The best kind among those that work, or a problem that says why none does.
pub fn best_of(probes: &[SandboxProbe]) -> Result<Isolation> {
    if let Some(probe) = probes.iter().find(|probe| probe.works) {
        return Ok(probe.isolation);
    }
    let reasons: Vec<String> =
        probes.iter().map(|probe| format!("{}: {}", probe.isolation.as_str(), probe.detail)).collect();
    Err(Problem::new(Code::SandboxUnavailable, format!("No sandbox works here ({}).", reasons.join("; ")))
        .fix(FIX))
}

/// The problem of one kind of sandbox that could not be set up.
pub(crate) fn unavailable(isolation: Isolation, why: impl std::fmt::Display) -> Problem {
    let message = format!("`{}` could not be set up: {why}.", isolation.as_str());
    Problem::new(Code::SandboxUnavailable, message).fix(FIX)
}

/// The best kind on this machine; found out once, and Landlock is not tried where namespaces work.
pub fn best_isolation() -> Result<Isolation> {
    static TRIED: OnceLock<Vec<SandboxProbe>> = OnceLock::new();
    best_of(TRIED.get_or_init(|| {
        let first = SandboxProbe::try_out(Isolation::Namespaces);
        if first.works { vec![first] } else { vec![first, SandboxProbe::try_out(Isolation::Landlock)] }
    }))
}

/// Refuses where a stranger's command cannot be confined: that takes namespaces, and mapped ids as root.
pub fn require_untrusted_sandbox() -> Result<()> {
    let outcome = run_true(Isolation::Namespaces, ValidationProfile::Untrusted);
    outcome.map(drop).map_err(|why| unavailable(Isolation::Namespaces, why))
}

/// Whether this program runs in a sandbox that another one of it has made.
pub fn inside_sandbox() -> bool {
    std::env::var_os(crate::environment::MARK).is_some_and(|value| value == "1")
}
