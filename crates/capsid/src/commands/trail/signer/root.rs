//! What the commands of root share: who is asking, for which user, and the account of the service.

use crate::commands::variable;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::run_system_tool;
use capsid_signer::account::UserAccount;
use capsid_signer::home_sealer::this_user;
use capsid_signer::layout::SignerLayout;
use capsid_signer::state_files::{FileOwner, list_users};
use capsid_signer::trust_root::SignerTrust;
use capsid_signer::units::{ACCOUNT, SERVICE_UNIT, SOCKET_UNIT};
use clap::Args;
use std::path::Path;

/// Whose service it is.
#[derive(Debug, Args)]
pub(super) struct SignerUserArgs {
    /// The user, by name or number; without it the one who called sudo, or the only one there is.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
}

pub(super) fn is_root() -> bool {
    this_user() == 0
}

/// In a test's folder everybody may.
pub(super) fn require_root(layout: &SignerLayout, command: &str) -> Result<()> {
    if is_root() || layout.test_folder.is_some() {
        return Ok(());
    }
    Err(Problem::new(Code::PermissionDenied, format!("Only root may run `signer {command}`."))
        .fix(format!("Run `sudo capsid trail signer {command}`.")))
}

/// The account of a user, by name or number.
pub(super) fn find_account(wanted: &str) -> Result<Option<UserAccount>> {
    let passwd = capsid_disk::files::read_optional(Path::new("/etc/passwd"))?.unwrap_or_default();
    if let Some(account) = UserAccount::find(&passwd, wanted) {
        return Ok(Some(account));
    }
    // Accounts of a directory service. Where the tool is missing there are none.
    let listed = run_system_tool("getent", &["passwd", wanted]).map(|output| output.stdout);
    Ok(UserAccount::find(&listed.unwrap_or_default(), wanted))
}

/// The name or number that was given, else the one who called sudo.
pub(super) fn wanted_user(arguments: &SignerUserArgs) -> Option<String> {
    arguments.user.clone().or_else(|| variable("SUDO_UID")).filter(|user| user != "0")
}

/// The user whose service is meant. It was installed before.
pub(super) fn trusted_user(arguments: &SignerUserArgs, layout: &SignerLayout) -> Result<SignerTrust> {
    let user = match wanted_user(arguments) {
        Some(wanted) => match find_account(&wanted)? {
            Some(account) => Some(account.user),
            None => Some(wanted.parse().map_err(|_| unknown_user(&wanted))?),
        },
        None => match list_users(&layout.state)[..] {
            [only] => Some(only),
            _ => None,
        },
    };
    let user = user.ok_or_else(|| {
        Problem::new(Code::UsageError, "The command does not say whose service is meant.")
            .fix("Name the user: --user NAME.")
    })?;
    SignerTrust::load(&layout.trust, user)?.ok_or_else(|| not_installed(user))
}

pub(super) fn not_installed(user: u32) -> Problem {
    Problem::new(Code::SignerRefused, format!("The signing service is not set up for the user id {user}."))
        .fix("Run `sudo capsid trail signer install`.")
}

pub(super) fn unknown_user(name: &str) -> Problem {
    Problem::new(Code::InputInvalid, format!("There is no user `{name}`."))
        .fix("Name the user whose trail is to be signed: --user NAME.")
}

/// The account of the service; none where a test runs everything as one user.
pub(super) fn service_owner(layout: &SignerLayout) -> Result<Option<FileOwner>> {
    if let Some(folder) = &layout.test_folder {
        // A test that has another user for the service gives it the folder of the state.
        return folder_owner(&folder.join("state"));
    }
    let account = find_account(ACCOUNT)?;
    Ok(account.map(|account| FileOwner { user: account.user, group: account.group }))
}

fn folder_owner(folder: &Path) -> Result<Option<FileOwner>> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(folder) {
        Ok(meta) => Ok(Some(FileOwner { user: meta.uid(), group: meta.gid() })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::io("read", folder, &error)),
    }
}

/// Whether systemd runs this machine, and the command is not a test's.
pub(super) fn has_systemd(layout: &SignerLayout) -> bool {
    layout.test_folder.is_none() && Path::new("/run/systemd/system").is_dir()
}

/// Runs `systemctl`, and fails where it does.
pub(super) fn systemctl(arguments: &[&str]) -> Result<()> {
    let output = run_system_tool("systemctl", arguments)?;
    if output.status == 0 {
        return Ok(());
    }
    let message = format!("`systemctl {}` failed: {}.", arguments.join(" "), output.stderr.trim());
    Err(Problem::new(Code::SignerUnreachable, message).fix("`journalctl -u capsid-signer` says more."))
}

/// Stops the service where systemd runs it; elsewhere the lock of the state says when it still runs.
pub(super) fn stop_service(layout: &SignerLayout) -> Result<()> {
    if !has_systemd(layout) || !layout.units.join(SERVICE_UNIT).exists() {
        return Ok(());
    }
    systemctl(&["stop", SOCKET_UNIT, SERVICE_UNIT])
}

/// Starts it again.
pub(super) fn start_service(layout: &SignerLayout) -> Result<()> {
    if !has_systemd(layout) || !layout.units.join(SERVICE_UNIT).exists() {
        return Ok(());
    }
    systemctl(&["start", SOCKET_UNIT, SERVICE_UNIT])
}
