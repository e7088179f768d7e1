//! `capsid trail signer serve`: the service itself.

use super::root::is_root;
use capsid_model::{Code, Problem, Result, SystemClock};
use capsid_signer::layout::SignerLayout;
use capsid_signer::service::SignerService;
use clap::Args;

/// Run the service. systemd does this; by hand it needs the account `capsid-signer`.
///
/// The socket comes from systemd as the standard input. Without one it is made at `/run/capsid-signer/sock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  systemctl status capsid-signer
  sudo install -d -o capsid-signer /run/capsid-signer && sudo setpriv --reuid=capsid-signer --regid=capsid-signer \\
    --clear-groups /usr/local/lib/capsid/capsid trail signer serve      where there is no systemd")]
pub(super) struct SignerServeArgs {}

pub(super) fn run(_arguments: &SignerServeArgs, layout: &SignerLayout) -> Result<u8> {
    if is_root() && layout.test_folder.is_none() {
        return Err(Problem::new(Code::UsageError, "The signing service does not run as root.")
            .fix("Start it with `systemctl start capsid-signer`, or as the account `capsid-signer`."));
    }
    let listener = match SignerService::inherit_listener()? {
        Some(listener) => listener,
        None => SignerService::listen(&layout.socket)?,
    };
    SignerService::new(&layout.state, Box::new(SystemClock)).run(&listener);
    Ok(0)
}
