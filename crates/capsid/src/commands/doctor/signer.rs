//! The signing service, where root set it up for this user.

use super::DoctorFinding;
use crate::commands::trail::signer::{layout, passwordless_root};
use crate::commands::variable;
use capsid_seal::TrailHome;
use capsid_signer::client::SignerClient;
use capsid_signer::flush::list_pending;
use capsid_signer::home_sealer::this_user;
use capsid_signer::trust_root::SignerTrust;

/// Nothing where there is no service.
pub(super) fn findings() -> Vec<DoctorFinding> {
    let trust = match SignerTrust::load(&layout().trust, this_user()) {
        Ok(Some(trust)) if trust.is_active => trust,
        Ok(_) => return Vec::new(),
        Err(problem) => return vec![DoctorFinding::wrong("signer", &problem)],
    };
    let mut findings =
        vec![match SignerClient::connect(&trust.socket).and_then(|mut client| client.status()) {
            Ok(status) => {
                let detail = format!("{} record(s) of {} chain(s) signed", status.records, status.chains);
                DoctorFinding::fine("signer", detail)
            }
            Err(problem) => DoctorFinding::wrong("signer", &problem),
        }];
    findings.extend(passwordless_root(None).into_iter().map(|way| {
        let detail =
            format!("this user becomes root by {way}, so an agent can too and the service protects nothing");
        DoctorFinding::warning("signer", detail, "Take the right away, or run agents as another user.")
    }));
    if let Some(finding) = waiting() {
        findings.push(finding);
    }
    let home = TrailHome::find(None, &variable);
    if let Some(home) = home.ok().filter(|home| !trust.holds(home.root())) {
        let detail =
            format!("it signs {}, and this trail is in {}", trust.home.display(), home.root().display());
        findings.push(DoctorFinding::warning(
            "signer",
            detail,
            "Use that home, or run `sudo capsid trail --home DIR signer install`.",
        ));
    }
    findings
}

fn waiting() -> Option<DoctorFinding> {
    let home = TrailHome::find(None, &variable).ok()?;
    let waiting: u64 = list_pending(&home).ok()?.iter().map(|(_, _, count)| count).sum();
    (waiting > 0).then(|| {
        let detail = format!("{waiting} record(s) wait for a signature");
        DoctorFinding::warning("signer", detail, "capsid trail signer flush")
    })
}
