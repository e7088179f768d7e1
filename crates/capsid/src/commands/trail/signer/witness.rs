//! The signing service as a witness of a home that is verified.

use super::layout;
use crate::output::{self, DIM, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::keys::KeySet;
use capsid_seal::{PublicKey, TrailHome};
use capsid_signer::head_witness::HeadWitness;
use capsid_signer::home_evidence;
use capsid_signer::home_sealer::this_user;
use capsid_signer::trust_root::SignerTrust;

/// Asks the service that signs a home, whoever verifies it; nothing where root set none up.
pub(in crate::commands::trail) fn ask_witness(home: &TrailHome) -> Result<Option<HeadWitness>> {
    home_evidence::ask_witness(&layout().trust, home.root())
}

/// Refuses a home that only the environment names, where root says that another one is signed: an agent controls the
/// environment.
pub(in crate::commands::trail) fn require_signed_home(home: &TrailHome) -> Result<()> {
    let trust = SignerTrust::load(&layout().trust, this_user())?.filter(|trust| trust.is_active);
    let Some(trust) = trust.filter(|trust| !trust.is_home(home.root())) else { return Ok(()) };
    let (signed, named) = (trust.home.display(), home.root().display());
    Err(Problem::new(
        Code::SignerRefused,
        format!("The signing service signs `{signed}`, and this trail is in `{named}`."),
    )
    .fix(format!("Name what you mean: `capsid trail --home {signed} verify`.")))
}

/// Adds the keys of the service to those of a home. What cannot be used is named.
pub(in crate::commands) fn add_keys_of_service(keys: &mut KeySet, home: &TrailHome) {
    home_evidence::add_keys_of_home(keys, &layout().trust, home.root());
}

/// The key that signs a home now, where the service has it.
pub(in crate::commands::trail) fn key_of_service(home: &TrailHome) -> Result<Option<PublicKey>> {
    active_service(home)?.map(|trust| trust.current_key()).transpose()
}

/// The service that signs a home now.
pub(in crate::commands) fn active_service(home: &TrailHome) -> Result<Option<SignerTrust>> {
    Ok(SignerTrust::find_by_home(&layout().trust, home.root())?.filter(|trust| trust.is_active))
}

/// What the verdict says of the service.
pub(in crate::commands::trail) fn witness_json(witness: &HeadWitness) -> Value {
    let restarted: Vec<Value> = witness
        .restarted()
        .iter()
        .map(|one| json!({"chain": one.chain, "count": one.count, "head": one.head}))
        .collect();
    json!({
        "user": witness.trust.user,
        "public_key": witness.trust.current_key().ok().map(|key| key.hex()),
        "active": witness.trust.is_active,
        "answered": witness.has_answered(),
        "chains": witness.chains(),
        "restarted": restarted,
        "test_folder": layout().test_folder,
    })
}

/// The same for a person.
pub(in crate::commands::trail) fn print_witness(witness: &HeadWitness) {
    let how = match witness.has_answered() {
        true => "the service answered",
        false => "the service did not answer; its heads file was read if there is one",
    };
    output::talk(format_args!(
        "{} {} head(s) of user {}: {how}",
        paint(DIM, "signing service:"),
        witness.chains(),
        witness.trust.user
    ));
    for one in witness.restarted() {
        output::line(format_args!(
            "{} root allowed a new history of {}; the one before had {} records (head {})",
            paint(WARN, "note:"),
            inert_line(&one.chain),
            one.count,
            &one.head[..16]
        ));
    }
    if let Some(folder) = layout().test_folder {
        output::line(format_args!(
            "{} the root of trust is that of a test: {}",
            paint(WARN, "note:"),
            inert_line(&folder.to_string_lossy())
        ));
    }
}
