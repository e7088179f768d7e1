//! What `capsid doctor` looks at for the node: who it is, who else could read its secret, its hub, and whether it could
//! validate for others.

use super::DoctorFinding;
use crate::commands::node::HubConnectionArgs;
use crate::commands::{home_folder, variable};
use capsid_client::Identity;
use capsid_client::http::{HttpCall, HttpClient};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value};
use std::path::Path;
use std::time::Duration;

/// How long the hub may take to answer: a doctor does not wait.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything about the node. `can_validate` says whether a sandbox works here.
pub(super) fn findings(folder: &Path, can_validate: bool) -> Vec<DoctorFinding> {
    let mut findings = match home_folder() {
        Ok(home) => identity(&home.join(".evomap"), &home),
        Err(problem) => vec![DoctorFinding::wrong("node", &problem)],
    };
    findings.push(hub(folder));
    findings.push(match can_validate {
        true => DoctorFinding::fine("validator", "a sandbox works, so this machine can validate for others"),
        false => DoctorFinding::warning(
            "validator",
            "no sandbox works, so nothing of others is run here",
            "Allow user namespaces to validate what others publish; everything else works without.",
        ),
    });
    findings
}

/// Who this node is. Looking does not make one.
fn identity(folder: &Path, home: &Path) -> Vec<DoctorFinding> {
    if !folder.join("node_id").is_file() && variable("A2A_NODE_ID").is_none() {
        return vec![DoctorFinding::fine("node", "none yet; `capsid node hello` makes one")];
    }
    let opened = match Identity::open(home, &variable) {
        Ok(identity) => DoctorFinding::fine("node", format!("{} in {}", identity.node_id, folder.display())),
        Err(problem) => DoctorFinding::wrong("node", &problem),
    };
    std::iter::once(opened).chain(too_open(folder)).collect()
}

/// Files with secrets that others on this machine could read.
#[cfg(unix)]
fn too_open(folder: &Path) -> Vec<DoctorFinding> {
    use std::os::unix::fs::PermissionsExt;
    let is_secret =
        |name: &str| matches!(name, "node_secret" | "hubs.json") || name.starts_with("webhook_secret");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let secrets = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_secret));
    secrets
        .filter_map(|entry| {
            let mode = entry.metadata().ok()?.permissions().mode() & 0o777;
            let path = entry.path();
            (mode & 0o077 != 0).then(|| {
                let what =
                    format!("`{}` can be read by others on this machine (mode {mode:o}).", path.display());
                let fix = format!("chmod 600 '{}'", path.display());
                DoctorFinding::wrong("node", &Problem::new(Code::IdentityInvalid, what).fix(fix))
            })
        })
        .collect()
}

#[cfg(not(unix))]
fn too_open(_folder: &Path) -> Vec<DoctorFinding> {
    Vec::new()
}

/// The hub, called once where one is configured.
fn hub(folder: &Path) -> DoctorFinding {
    let settings = match HubConnectionArgs::default().quick_settings(folder, PATIENCE) {
        Ok(settings) => settings,
        Err(problem) if problem.code == Code::NoHub => {
            return DoctorFinding::fine("hub", "none is configured, so nothing leaves this machine");
        }
        Err(problem) => return DoctorFinding::wrong("hub", &problem),
    };
    match read_health(&settings) {
        Ok(health) if health.get("status").and_then(Value::as_str) == Some("ok") => {
            let version = health.get("version").and_then(Value::as_str).unwrap_or("unknown");
            DoctorFinding::fine(
                "hub",
                format!("{} is well, version {}", settings.url, inert_line(cut(version, 40))),
            )
        }
        Ok(_) => DoctorFinding::warning(
            "hub",
            format!("{} answers, and says that it is not well", settings.url),
            "Its operator sees more in the hub's log; work on this machine goes on without it.",
        ),
        // A hub that is away is no fault of this machine.
        Err(problem) => DoctorFinding::warning(
            "hub",
            problem.message,
            problem.fix.as_deref().unwrap_or("Try again later."),
        ),
    }
}

pub(in crate::commands) fn read_health(settings: &capsid_client::ClientConfig) -> Result<Value> {
    let call = HttpCall { method: "GET", path: "/health", body: None, bearer: None, secret_version: None };
    Ok(HttpClient::new(settings)?.call(call)?.body)
}
