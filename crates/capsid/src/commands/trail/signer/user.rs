//! What the user does with the service: hand the home over, see how things are, sign what waits.

use super::passwordless_root;
use super::root::not_installed;
use crate::output::{self, BAD, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::TrailHome;
use capsid_signer::adoption::adopt_home;
use capsid_signer::client::SignerClient;
use capsid_signer::flush::{flush_home, list_pending};
use capsid_signer::home_sealer::{service_of_home, this_user};
use capsid_signer::layout::SignerLayout;
use capsid_signer::rules::rate_limit::{BURST, RECORDS_PER_SECOND};
use capsid_signer::rules::{MAX_CHAINS, MAX_CONNECTIONS};
use capsid_signer::trust_root::SignerTrust;

/// The service that signs this home for this user.
fn service_of(home: &TrailHome, layout: &SignerLayout) -> Result<SignerTrust> {
    if let Some(trust) = service_of_home(&layout.trust, home.root())? {
        return Ok(trust);
    }
    Err(match SignerTrust::load(&layout.trust, this_user())? {
        None => not_installed(this_user()),
        Some(trust) if !trust.is_active => {
            Problem::new(Code::SignerRefused, "The signing service was uninstalled.")
                .fix("Run `sudo capsid trail signer install` to use it again.")
        }
        Some(trust) => {
            let message = format!(
                "The signing service signs `{}`, not `{}`.",
                trust.home.display(),
                home.root().display()
            );
            Problem::new(Code::SignerRefused, message)
                .fix("Name that home with --home, or run `sudo capsid trail --home DIR signer install`.")
        }
    })
}

pub(super) fn adopt(home: &TrailHome, layout: &SignerLayout) -> Result<u8> {
    let trust = service_of(home, layout)?;
    let heads = adopt_home(home, &trust)?;
    let records: u64 = heads.iter().map(|head| head.count).sum();
    if output::is_json() {
        output::document(&json!({"ok": true, "chains": heads.len(), "records": records}));
    } else {
        output::line(format_args!(
            "{} {} chain(s), {records} record(s): the service goes on from here",
            paint(GOOD, "handed over"),
            heads.len()
        ));
        output::talk("What was rewritten before this moment is not found.");
    }
    Ok(0)
}

pub(super) fn status(home: &TrailHome, layout: &SignerLayout) -> Result<u8> {
    let trust = service_of(home, layout)?;
    let key = trust.current_key()?;
    let pending = list_pending(home)?;
    let waiting: u64 = pending.iter().map(|(_, _, count)| count).sum();
    let asked = SignerClient::connect(&trust.socket).and_then(|mut client| client.status());
    let ways = passwordless_root(None);
    if output::is_json() {
        let status = asked.as_ref().ok();
        let problem = asked.as_ref().err();
        output::document(&json!({
            "ok": asked.is_ok(), "user": trust.user, "home": trust.home, "public_key": key.hex(),
            "fingerprint": key.fingerprint(), "epochs": trust.epochs.len(), "pending": waiting,
            "chains": status.map(|status| status.chains), "records": status.map(|status| status.records),
            "entries": status.map(|status| status.entries),
            "adopt_open": status.map(|status| status.is_adopt_open),
            "limits": {"records_per_second": RECORDS_PER_SECOND, "burst": BURST, "connections": MAX_CONNECTIONS, "chains": MAX_CHAINS},
            "passwordless_root": ways,
            "error": problem.map(|problem| json!({"code": problem.code.as_str(), "message": problem.message})),
            "test_folder": layout.test_folder,
        }));
        return Ok(u8::from(asked.is_err()));
    }
    output::line(format_args!("public key   {}", paint(NAME, key.hex())));
    output::line(format_args!("home         {}", inert_line(&trust.home.to_string_lossy())));
    match &asked {
        Ok(status) => {
            output::line(format_args!(
                "signed       {} record(s) of {} chain(s)",
                status.records, status.chains
            ));
            if status.is_adopt_open {
                output::line("adoption     open until the first signature: `capsid trail signer adopt`");
            }
        }
        Err(problem) => output::complain(problem),
    }
    output::line(format_args!("waiting      {waiting} record(s)"));
    output::line(format_args!(
        "limits       {RECORDS_PER_SECOND} records a second, {BURST} at once, {MAX_CONNECTIONS} connections, {MAX_CHAINS} chains"
    ));
    for way in &ways {
        output::line(format_args!(
            "{} you become root by {way}, so the service protects nothing",
            paint(WARN, "warning:")
        ));
    }
    if let Some(folder) = &layout.test_folder {
        output::line(format_args!("{} the service of a test in {}", paint(WARN, "note:"), folder.display()));
    }
    Ok(u8::from(asked.is_err()))
}

pub(super) fn flush(home: &TrailHome, layout: &SignerLayout) -> Result<u8> {
    let trust = service_of(home, layout)?;
    let outcome = flush_home(home, &trust)?;
    let is_done = outcome.waiting == 0 && outcome.failed.is_empty();
    if output::is_json() {
        let failed: Vec<_> = outcome
            .failed
            .iter()
            .map(|(chain, problem)| json!({"chain": chain, "code": problem.code.as_str(), "message": problem.message}))
            .collect();
        output::document(&json!({
            "ok": is_done, "signed": outcome.signed, "pending": outcome.waiting, "caught_up": outcome.caught_up, "failed": failed,
        }));
        return Ok(u8::from(!is_done));
    }
    for (chain, problem) in &outcome.failed {
        output::talk(format_args!("{} {}", paint(BAD, "not signed:"), inert_line(chain)));
        output::complain(problem);
    }
    if outcome.caught_up > 0 {
        output::line(format_args!("{} record(s) are known to the service again", outcome.caught_up));
    }
    output::line(format_args!(
        "{} {} record(s), {} wait",
        paint(GOOD, "signed"),
        outcome.signed,
        outcome.waiting
    ));
    Ok(u8::from(!is_done))
}
