//! `capsid key show`: the key that seals, and every other key that is known here.

use crate::commands::trail::signer::{active_service, add_keys_of_service};
use crate::output::{self, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use capsid_seal::keys::{self, KeySet, file};
use capsid_seal::meta::{RotationRecord, rotations};
use capsid_seal::{PublicKey, TrailHome};
use std::path::PathBuf;

/// The keys of a home.
struct KeyReport {
    /// The key that seals now.
    own: Option<PublicKey>,
    /// Where its private half is; none where the signing service has it.
    path: Option<PathBuf>,
    /// Whether the signing service has it.
    is_service: bool,
    /// All keys, those of the service among them.
    set: KeySet,
    rotations: Vec<RotationRecord>,
}

pub(super) fn run(home: &TrailHome, as_json: bool) -> Result<u8> {
    let service = active_service(home)?.map(|trust| trust.current_key()).transpose()?;
    let mut set = keys::load_home(home.root());
    add_keys_of_service(&mut set, home);
    let report = KeyReport::new(home, service, set)?;
    match as_json {
        true => output::document(&report.to_json()),
        false => report.print(),
    }
    Ok(0)
}

impl KeyReport {
    /// `service` is the key of the signing service, where that seals. The home's own key then seals nothing.
    fn new(home: &TrailHome, service: Option<PublicKey>, set: KeySet) -> Result<Self> {
        let own = match service {
            Some(key) => Some(key),
            None => file::load(&home.key())?.map(|key| key.public()),
        };
        if own.is_none() && set.iter().next().is_none() {
            file::require(&home.key())?;
        }
        let path = own.filter(|_| service.is_none()).map(|_| home.key());
        Ok(Self { own, path, is_service: service.is_some(), set, rotations: rotations(home.root())? })
    }

    fn to_json(&self) -> Value {
        let others: Vec<Value> = self
            .others()
            .map(|(key, origin)| {
                json!({"public_key": key.hex(), "fingerprint": key.fingerprint(), "origin": origin})
            })
            .collect();
        json!({
            "public_key": self.own.map(|key| key.hex()), "fingerprint": self.own.map(|key| key.fingerprint()),
            "path": self.path, "signing_service": self.is_service, "others": others, "refused": self.set.refused,
            "rotations": self.rotations.iter().map(rotation).collect::<Vec<_>>(),
        })
    }

    fn print(&self) {
        match self.own {
            Some(key) => {
                output::line(format_args!("public key   {}", paint(NAME, key.hex())));
                output::line(format_args!("fingerprint  {}", key.fingerprint()));
            }
            None => output::talk("There is no key of your own yet; sealing makes one."),
        }
        match &self.path {
            Some(path) => output::line(format_args!("private key  {}", inert_line(&path.to_string_lossy()))),
            None if self.is_service => output::line("private key  the signing service has it"),
            None => {}
        }
        for (key, origin) in self.others() {
            output::line(format_args!("{origin:<11}  {}", key.hex()));
        }
        for why in &self.set.refused {
            output::talk(format_args!("{} {}", paint(WARN, "refused:"), inert_line(why)));
        }
    }

    fn others(&self) -> impl Iterator<Item = (PublicKey, &'static str)> {
        let others = self.set.iter().filter(|trusted| Some(trusted.key) != self.own);
        others.map(|trusted| (trusted.key, trusted.origin.as_str()))
    }
}

/// A rotation in a form that whoever pinned the old key can check.
fn rotation(rotation: &RotationRecord) -> Value {
    let RotationRecord { old, new, record } = rotation;
    let seal = &record.seal;
    json!({
        "old_public_key": old.hex(), "new_public_key": new.hex(),
        "record": {
            "canonical": record.canonical, "hash": seal.hash, "signature": seal.signature,
            "signed_by": seal.signed_by, "signed_at": seal.signed_at,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_seal::SigningKey;
    use capsid_seal::keys::KeyOrigin;

    #[test]
    fn key_show_names_the_key_of_the_signing_service_as_the_one_that_seals() {
        let folder = tempfile::tempdir().unwrap();
        let home = TrailHome::at(folder.path());
        file::load_or_create(&home.key(), &[1; 32]).unwrap();
        let before = SigningKey::from_seed(&[1; 32]).public();
        let service = SigningKey::from_seed(&[2; 32]).public();
        let own = KeyReport::new(&home, None, keys::load_home(home.root())).unwrap().to_json();
        assert_eq!((&own["public_key"], &own["signing_service"]), (&json!(before.hex()), &json!(false)));
        assert_eq!(own["path"], json!(home.key()));
        let mut set = keys::load_home(home.root());
        set.retire_own(1);
        set.add(service, KeyOrigin::Own);
        let signed = KeyReport::new(&home, Some(service), set).unwrap().to_json();
        assert_eq!((&signed["public_key"], &signed["path"]), (&json!(service.hex()), &Value::Null));
        assert_eq!(signed["signing_service"], true);
        assert_eq!(
            signed["others"][0],
            json!({"public_key": before.hex(), "fingerprint": before.fingerprint(), "origin": "retired"})
        );
    }
}
