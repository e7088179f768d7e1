//! `capsid trail signer install` and `uninstall`.

use super::passwordless_root;
use super::root::{
    SignerUserArgs, find_account, has_systemd, is_root, require_root, service_owner, stop_service, systemctl,
    unknown_user, wanted_user,
};
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_disk::files;
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, json};
use capsid_sandbox::run_system_tool;
use capsid_seal::keys::own::random_seed;
use capsid_signer::account::UserAccount;
use capsid_signer::home_sealer::this_user;
use capsid_signer::layout::SignerLayout;
use capsid_signer::state_files::{create_user, list_users, user_folder, write_last_heads};
use capsid_signer::trust_root::{SignerTrust, set_mode};
use capsid_signer::units::{ACCOUNT, SERVICE_UNIT, SOCKET_UNIT, service_unit, socket_unit};
use capsid_signer::user_signer::HEADS_FILE;
use clap::Args;
use std::path::{Path, PathBuf};

/// Root: set the service up for a user, once. Later it installs a newer program.
///
/// Copies this program to /usr/local/lib/capsid, makes the account `capsid-signer`, a key that only that account can
/// read, and the units of systemd; writes the public key to /etc/capsid/signer.d; starts the service. Says whether the
/// user can become root without a password, because then the service protects nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo capsid trail signer install                 for the user who called sudo
  sudo capsid trail signer install --user ada
  sudo capsid trail --home /home/ada/.agent-capsule signer install --user ada")]
pub(super) struct SignerInstallArgs {
    #[command(flatten)]
    user: SignerUserArgs,
}

/// The user, and the home whose chains are signed.
struct SignedUser {
    user: u32,
    name: Option<String>,
    home: PathBuf,
}

pub(super) fn install(
    arguments: &SignerInstallArgs,
    layout: &SignerLayout,
    named_home: Option<&PathBuf>,
) -> Result<u8> {
    require_root(layout, "install")?;
    let user = find_user(&arguments.user, layout, named_home)?;
    install_program(layout)?;
    if layout.test_folder.is_none() {
        make_account()?;
    }
    let owner = service_owner(layout)?;
    let epochs = create_user(&layout.state, user.user, owner, &random_seed()?, SystemClock.now())?;
    let known = SignerTrust::load(&layout.trust, user.user)?;
    let mut trust = SignerTrust {
        version: 1,
        user: user.user,
        home: user.home.clone(),
        socket: layout.socket.clone(),
        heads: user_folder(&layout.state, user.user).join(HEADS_FILE),
        is_active: true,
        epochs: known.map(|known| known.epochs).unwrap_or_default(),
    };
    trust.set_epochs(epochs);
    trust.save(&layout.trust)?;
    write_units(layout)?;
    let is_started = has_systemd(layout);
    if is_started {
        systemctl(&["daemon-reload"])?;
        systemctl(&["enable", SOCKET_UNIT, SERVICE_UNIT])?;
        systemctl(&["start", SOCKET_UNIT])?;
        systemctl(&["restart", SERVICE_UNIT])?;
    }
    report(layout, &user, &trust, is_started)
}

fn report(layout: &SignerLayout, user: &SignedUser, trust: &SignerTrust, is_started: bool) -> Result<u8> {
    let key = trust.current_key()?;
    let ways = user.name.as_deref().map(|name| passwordless_root(Some(name))).unwrap_or_default();
    if output::is_json() {
        output::document(&json!({
            "user": user.user, "home": trust.home, "public_key": key.hex(), "fingerprint": key.fingerprint(),
            "program": layout.program, "trust_root": SignerTrust::path(&layout.trust, user.user),
            "started": is_started, "passwordless_root": ways,
        }));
        return Ok(0);
    }
    let home = trust.home.to_string_lossy().into_owned();
    output::line(format_args!("{} the signing service for user {}", paint(GOOD, "installed"), user.user));
    output::line(format_args!("home         {}", inert_line(&home)));
    output::line(format_args!("public key   {}", paint(NAME, key.hex())));
    output::line(format_args!("fingerprint  {}", key.fingerprint()));
    output::line(format_args!("verify with  {} trail verify", layout.program.display()));
    if !is_started {
        output::talk(format_args!(
            "There is no systemd here. Keep this running as the account {ACCOUNT}: `{} {}`.",
            layout.program.display(),
            layout.serve_words()
        ));
    }
    output::talk("Next, as that user: `capsid trail signer adopt` hands the chains that exist over.");
    for way in &ways {
        output::talk(format_args!(
            "{} this user becomes root by {way}. An agent with the account can do so too, and then the service protects nothing.",
            paint(WARN, "warning:")
        ));
    }
    Ok(0)
}

fn find_user(
    arguments: &SignerUserArgs,
    layout: &SignerLayout,
    named_home: Option<&PathBuf>,
) -> Result<SignedUser> {
    let is_test = layout.test_folder.is_some();
    let wanted = match wanted_user(arguments) {
        Some(wanted) => wanted,
        None if is_test => this_user().to_string(),
        None => {
            return Err(Problem::new(
                Code::UsageError,
                "The command does not say whose trail is to be signed.",
            )
            .fix("Name the user: --user NAME."));
        }
    };
    let account = find_account(&wanted)?;
    let user = match &account {
        Some(account) => account.user,
        None if is_test => wanted.parse().map_err(|_| unknown_user(&wanted))?,
        None => return Err(unknown_user(&wanted)),
    };
    if user == 0 && !is_test {
        return Err(Problem::new(
            Code::InputInvalid,
            "Root can read every key, so no service protects its trail.",
        )
        .fix("Run the agent as a user who is not root, and name that user: --user NAME."));
    }
    let home = match (named_home, &account) {
        (Some(home), _) => std::path::absolute(home).map_err(|error| Problem::io("find", home, &error))?,
        (None, Some(account)) => usual_home(account),
        (None, None) => {
            return Err(Problem::new(Code::UsageError, format!("The user id {user} has no home folder."))
                .fix("Name the trail's folder: `capsid trail --home DIR signer install`."));
        }
    };
    Ok(SignedUser { user, name: account.map(|account| account.name), home })
}

/// Where the user's trail is, unless a variable of the user's says otherwise.
fn usual_home(account: &UserAccount) -> PathBuf {
    let existing = account.home.join(".agent-capsule");
    match existing.is_dir() {
        true => existing,
        false => account.home.join(".local/share/capsid/trail"),
    }
}

/// Copies the program that runs: its path may lead to another file by now.
fn install_program(layout: &SignerLayout) -> Result<()> {
    let running = Path::new("/proc/self/exe");
    let is_installed =
        |path: &Path| path.canonicalize().ok().is_some_and(|real| Some(real) == running.canonicalize().ok());
    if is_installed(&layout.program) {
        return Ok(());
    }
    let folder = files::parent_folder(&layout.program);
    files::create_folder(folder)?;
    if is_root() {
        set_mode(folder, 0o755)?;
    }
    let fail = |error: std::io::Error| Problem::io("copy the program to", &layout.program, &error);
    let mut program = std::fs::File::open(running).map_err(fail)?;
    files::replace_with(&layout.program, |out| std::io::copy(&mut program, out).map(drop).map_err(fail))?;
    set_mode(&layout.program, 0o755)
}

fn make_account() -> Result<()> {
    if find_account(ACCOUNT)?.is_some() {
        return Ok(());
    }
    let made = run_system_tool(
        "useradd",
        &[
            "--system",
            "--user-group",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/usr/sbin/nologin",
            ACCOUNT,
        ],
    )?;
    match find_account(ACCOUNT)? {
        Some(_) => Ok(()),
        None => {
            let message = format!("The account `{ACCOUNT}` could not be made: {}.", made.stderr.trim());
            Err(Problem::new(Code::SignerRefused, message)
                .fix(format!("Make the system account `{ACCOUNT}` by hand, then run the command again.")))
        }
    }
}

/// Written also where systemd does not run: the machine may be an image that is built.
fn write_units(layout: &SignerLayout) -> Result<()> {
    for (name, text) in [(SERVICE_UNIT, service_unit(layout)), (SOCKET_UNIT, socket_unit(layout))] {
        let path = layout.units.join(name);
        files::replace(&path, text.as_bytes())?;
        set_mode(&path, 0o644)?;
    }
    Ok(())
}

pub(super) fn uninstall(layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "uninstall")?;
    if has_systemd(layout) && layout.units.join(SERVICE_UNIT).exists() {
        systemctl(&["disable", SOCKET_UNIT, SERVICE_UNIT])?;
        stop_service(layout)?;
    }
    let owner = service_owner(layout)?;
    let mut users = Vec::new();
    for user in list_users(&layout.state) {
        // The heads are all that is left to ask.
        write_last_heads(&layout.state, user, owner, &SystemClock)?;
        if let Some(trust) = SignerTrust::load(&layout.trust, user)? {
            SignerTrust { is_active: false, ..trust }.save(&layout.trust)?;
            users.push(user);
        }
    }
    for name in [SERVICE_UNIT, SOCKET_UNIT] {
        files::remove(&layout.units.join(name))?;
    }
    if has_systemd(layout) {
        systemctl(&["daemon-reload"])?;
    }
    if output::is_json() {
        output::document(&json!({"ok": true, "users": users}));
    } else {
        output::line(format_args!("{} the signing service", paint(GOOD, "stopped")));
        output::talk(format_args!(
            "State and public keys stay in {} and {}, so what was signed verifies. New records are signed by the home's own key.",
            layout.state.display(),
            layout.trust.display()
        ));
    }
    Ok(0)
}
