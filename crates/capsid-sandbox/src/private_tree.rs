//! Whether a private view of a repository can be made here.

use crate::launched::{LaunchedProgram, deadline};
use crate::layers::remove_layer;
use crate::mount_table::mounts_below;
use crate::program::ResolvedProgram;
use crate::{
    ConfinedTree, Confinement, Isolation, PrivateTree, ProcessLimits, SandboxIds, ValidationProfile,
    WriteLayer, plans,
};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Why no private view can be made: the step, the error and, where it is known, the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewUnavailable {
    /// The step that failed, such as `overlay`.
    pub step: String,
    /// The error, such as `EINVAL`.
    pub error: String,
    /// What usually causes it, or what was seen.
    pub cause: String,
}

impl std::fmt::Display for ViewUnavailable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: `{}`, {}", self.step, self.error, self.cause)
    }
}

impl std::error::Error for ViewUnavailable {}

/// Tries once, with the real root: namespaces, id maps, an overlay, `/proc`, and a program that does nothing. The write
/// layer is made in a folder of its own in `scratch` and removed again.
pub fn probe_private_tree(root: &Path, scratch: &Path) -> Result<SandboxIds, ViewUnavailable> {
    let unavailable = |step: &str, error: &std::io::Error| describe(root, step, error, "");
    let layer = tempfile::Builder::new()
        .prefix("probe-")
        .tempdir_in(scratch)
        .map_err(|error| unavailable("write layer", &error))?;
    let tree = PrivateTree {
        root: root.canonicalize().map_err(|error| unavailable("root", &error))?,
        layers: Vec::new(),
        writes: WriteLayer::Folder(layer.path().to_owned()),
        git_dir: None,
    };
    let confinement = Confinement {
        tree: ConfinedTree::Private(tree),
        profile: ValidationProfile::Validation,
        extra_read: Vec::new(),
        network: false,
    };
    let program = ResolvedProgram::find("true", root).map_err(|problem| ViewUnavailable {
        step: "program".to_owned(),
        error: "ENOENT".to_owned(),
        cause: problem.message,
    })?;
    let limits = ProcessLimits { timeout: Duration::from_secs(20), ..ProcessLimits::default() };
    let plan =
        plans::validation(Isolation::Namespaces, &program, &[], &confinement, Path::new("/tmp"), &limits);
    let mut running =
        LaunchedProgram::start(&plan, Stdio::null()).map_err(|error| unavailable("launcher", &error))?;
    let in_time = running.wait_until(deadline(limits.timeout));
    let outcome = running.finish().map_err(|error| unavailable("launcher", &error))?;
    remove_layer(layer.path());
    if let Some(failure) = outcome.refused {
        let error = std::io::Error::from_raw_os_error(failure.errno);
        return Err(describe(root, &failure.step, &error, &failure.detail));
    }
    if let Some(error) = outcome.not_started {
        return Err(unavailable("start", &error));
    }
    match outcome.end {
        Ok(0) => Ok(outcome.ids),
        end => Err(ViewUnavailable {
            step: "start".to_owned(),
            error: if in_time { format!("{end:?}") } else { "ETIMEDOUT".to_owned() },
            cause: "a program that does nothing did not succeed".to_owned(),
        }),
    }
}

fn describe(root: &Path, step: &str, error: &std::io::Error, detail: &str) -> ViewUnavailable {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let below = mounts_below(root);
    let cause = match (step, errno) {
        ("overlay", Some(Errno::INVAL)) if !below.is_empty() => {
            let name = below[0].strip_prefix(root).unwrap_or(&below[0]).display().to_string();
            format!("there is a mount below the root (`{name}`)")
        }
        ("overlay", Some(Errno::INVAL)) => {
            "the write layer is on a file system that cannot hold one, such as an overlay".to_owned()
        }
        ("proc", Some(Errno::PERM)) => "a part of `/proc` is hidden, as in a container".to_owned(),
        ("unshare", Some(Errno::NOSPC)) => {
            "user namespaces are switched off (`user.max_user_namespaces`)".to_owned()
        }
        (_, Some(Errno::PERM)) => "the system does not allow it, as in a container or by AppArmor".to_owned(),
        _ => error.to_string(),
    };
    let cause = if detail.is_empty() { cause } else { format!("{cause} ({detail})") };
    let error = errno.map_or_else(|| error.kind().to_string(), errno_name);
    ViewUnavailable { step: step.to_owned(), error, cause }
}

/// The kernel's name of the errors that are known to come.
fn errno_name(errno: rustix::io::Errno) -> String {
    use rustix::io::Errno;
    let name = match errno {
        Errno::PERM => "EPERM",
        Errno::INVAL => "EINVAL",
        Errno::NOSPC => "ENOSPC",
        Errno::ACCESS => "EACCES",
        Errno::NOENT => "ENOENT",
        Errno::NOSYS => "ENOSYS",
        Errno::NODEV => "ENODEV",
        Errno::OVERFLOW => "EOVERFLOW",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::STALE => "ESTALE",
        Errno::LOOP => "ELOOP",
        Errno::BUSY => "EBUSY",
        other => return format!("error {}", other.raw_os_error()),
    };
    name.to_owned()
}
