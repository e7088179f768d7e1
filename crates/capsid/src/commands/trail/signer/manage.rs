//! What root does with a service that is installed.

use super::root::{SignerUserArgs, require_root, service_owner, start_service, stop_service, trusted_user};
use crate::output::{self, GOOD, NAME, paint};
use capsid_model::{Clock, Code, Problem, Result, SystemClock, json};
use capsid_seal::keys::own::random_seed;
use capsid_signer::client::SignerClient;
use capsid_signer::layout::SignerLayout;
use capsid_signer::rules::signer_chain::SignerChain;
use capsid_signer::state_files;
use capsid_signer::trust_root::SignerTrust;
use clap::Args;
use std::path::PathBuf;

/// Root: allow a new history of one session. The old one stays in the heads, and `verify` names it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo capsid trail signer restart-chain claude-code/5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01 --user ada")]
pub(super) struct SignerRestartArgs {
    /// The session: tool/session, or `meta` for the meta-chain.
    #[arg(value_name = "TOOL/SESSION")]
    chain: String,
    #[command(flatten)]
    user: SignerUserArgs,
}

/// A folder for a copy of the state.
#[derive(Debug, Args)]
pub(super) struct SignerFolderArgs {
    /// The folder. Whoever can read it can sign in the user's name.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    user: SignerUserArgs,
}

pub(super) fn restart_chain(arguments: &SignerRestartArgs, layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "restart-chain")?;
    let trust = trusted_user(&arguments.user, layout)?;
    let name = match arguments.chain.as_str() {
        "meta" => SignerChain::new("meta", "meta"),
        name => name.split_once('/').and_then(|(tool, session)| SignerChain::new(tool, session)),
    };
    let chain = name.ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{}` is not the name of a session.", arguments.chain))
            .fix("Write it as TOOL/SESSION.")
    })?;
    SignerClient::connect(&trust.socket)?.restart_chain(trust.user, &chain)?;
    if output::is_json() {
        output::document(&json!({"ok": true, "chain": arguments.chain}));
    } else {
        output::line(format_args!("{} may begin anew; `verify` names it", paint(NAME, &arguments.chain)));
    }
    Ok(0)
}

pub(super) fn rotate(arguments: &SignerUserArgs, layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "rotate")?;
    let mut trust = trusted_user(arguments, layout)?;
    let epochs = SignerClient::connect(&trust.socket)?.rotate(trust.user)?;
    trust.set_epochs(epochs);
    trust.save(&layout.trust)?;
    print_key(&trust, "signs from now on")
}

pub(super) fn backup(arguments: &SignerFolderArgs, layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "backup")?;
    let trust = trusted_user(&arguments.user, layout)?;
    state_files::backup(&layout.state, trust.user, &arguments.folder)?;
    if output::is_json() {
        output::document(&json!({"ok": true, "user": trust.user, "path": arguments.folder}));
    } else {
        let folder = arguments.folder.display();
        output::line(format_args!(
            "{} key and journal of user {} to {folder}",
            paint(GOOD, "copied"),
            trust.user
        ));
        output::talk("Whoever can read the copy can sign in the user's name.");
    }
    Ok(0)
}

pub(super) fn restore(arguments: &SignerFolderArgs, layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "restore")?;
    let mut trust = trusted_user(&arguments.user, layout)?;
    let copied = state_files::read_epochs(&arguments.folder, trust.user)?;
    if copied.last().map(|epoch| &epoch.key) != trust.epochs.last().map(|epoch| &epoch.key) {
        let message = "The copy is older than the key that signs now.";
        return Err(Problem::new(Code::SignerRefused, message)
            .fix("Restore a newer copy. If there is none, begin with a new key: `signer reset`."));
    }
    stop_service(layout)?;
    let owner = service_owner(layout)?;
    let restored = state_files::restore(&layout.state, trust.user, &arguments.folder, owner);
    start_service(layout)?;
    trust.set_epochs(restored?);
    trust.save(&layout.trust)?;
    print_key(&trust, "signs again; the user runs `capsid trail signer flush` to send what was signed since")
}

pub(super) fn reset(arguments: &SignerUserArgs, layout: &SignerLayout) -> Result<u8> {
    require_root(layout, "reset")?;
    let mut trust = trusted_user(arguments, layout)?;
    stop_service(layout)?;
    let owner = service_owner(layout)?;
    let seed = random_seed()?;
    let reset = state_files::reset(&layout.state, trust.user, owner, &seed, SystemClock.now());
    start_service(layout)?;
    trust.set_epochs(reset?);
    trust.save(&layout.trust)?;
    print_key(&trust, "signs from now on; the user runs `capsid trail signer adopt` again")
}

fn print_key(trust: &SignerTrust, what: &str) -> Result<u8> {
    let key = trust.current_key()?;
    if output::is_json() {
        output::document(
            &json!({"ok": true, "user": trust.user, "public_key": key.hex(), "fingerprint": key.fingerprint()}),
        );
    } else {
        output::line(format_args!("{} {what}", paint(NAME, key.hex())));
    }
    Ok(0)
}
