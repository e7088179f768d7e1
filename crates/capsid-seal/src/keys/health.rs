//! Is everything with the keys as it should be?

use super::keyring::{self, KeyStatus};
use super::{file, known, pinned};
use crate::sign::PublicKey;
use capsid_model::{Code, Problem, Result};
use std::path::Path;

/// All problems with the keys of a home; empty if there are none. Reads only.
pub fn check(home: &Path) -> Vec<Problem> {
    let mut findings = Vec::new();
    let own = own_key(home, &mut findings);
    check_keyring(home, own.as_ref(), &mut findings);
    check_retired(home, &mut findings);
    for map in [known::load(home), pinned::load(home)] {
        match map {
            Ok(map) => findings.extend(map.refused.into_iter().map(refused_entry)),
            Err(problem) => findings.push(problem),
        }
    }
    #[cfg(feature = "pq")]
    findings.extend(crate::pq::check(home));
    findings
}

fn refused_entry(message: String) -> Problem {
    Problem::new(Code::KeyInvalid, message).fix("Repair or remove the entry.")
}

fn own_key(home: &Path, findings: &mut Vec<Problem>) -> Option<PublicKey> {
    let path = file::path(home);
    match file::require(&path) {
        Ok(key) => {
            findings.extend(loose(&path).err());
            Some(key.public())
        }
        Err(problem) => {
            findings.push(problem);
            None
        }
    }
}

fn loose(path: &Path) -> Result<()> {
    if !file::is_loose(path)? {
        return Ok(());
    }
    let message = format!("`{}` can be read or changed by others than its owner.", path.display());
    Err(Problem::new(Code::KeyInvalid, message).fix(format!("Run `chmod 600 {}`.", path.display())))
}

fn check_keyring(home: &Path, own: Option<&PublicKey>, findings: &mut Vec<Problem>) {
    let keyring = match keyring::load(home) {
        Ok(Some(keyring)) => keyring,
        Ok(None) => return,
        Err(problem) => return findings.push(problem),
    };
    findings.extend(keyring.epochs.iter().filter_map(|epoch| epoch.key().err()));
    let mut active = keyring.epochs.iter().filter(|epoch| epoch.status == KeyStatus::Active);
    let matches = active.any(|epoch| epoch.key().is_ok_and(|key| Some(&key) == own));
    if let (Some(own), false) = (own, matches) {
        let message =
            format!("No active epoch of `keyring.json` is that of the key `{}`.", own.fingerprint());
        findings.push(
            Problem::new(Code::KeyInvalid, message).fix(
                "If a rotation was cut short, `capsid key rotate` sets it right; else put the file back.",
            ),
        );
    }
}

/// A retired key is useful only if it is the one that its name states.
fn check_retired(home: &Path, findings: &mut Vec<Problem>) {
    let Ok(entries) = std::fs::read_dir(home) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(fingerprint) = name.strip_prefix("key.retired-") else { continue };
        match file::require(&path) {
            Ok(key) if key.public().fingerprint() == fingerprint => findings.extend(loose(&path).err()),
            Ok(_) => findings.push(
                Problem::new(
                    Code::KeyInvalid,
                    format!("`{}` holds another key than its name says.", path.display()),
                )
                .fix("Put the file back from a copy."),
            ),
            Err(problem) => findings.push(problem),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_finds_each_fault_and_makes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(check(home)[0].code, Code::KeyMissing);
        assert_eq!(fs::read_dir(home).unwrap().count(), 0);
        file::load_or_create(&file::path(home), &[1; 32]).unwrap();
        assert!(check(home).is_empty());
        fs::write(known::path(home), "[]").unwrap();
        fs::write(pinned::path(home), r#"{"a": "b"}"#).unwrap();
        fs::write(keyring::path(home), r#"{"version": 1, "active_epoch": 0, "epochs": []}"#).unwrap();
        fs::write(home.join("key.retired-0011223344556677"), [1; 32]).unwrap();
        assert_eq!(check(home).len(), 4, "{:?}", check(home));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_a_finding() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = file::path(home.path());
        file::load_or_create(&path, &[1; 32]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let findings = check(home.path());
        assert!(findings[0].message.contains("read or changed by others"), "{findings:?}");
        fs::write(&path, [1; 31]).unwrap();
        assert_eq!(check(home.path())[0].code, Code::KeyInvalid);
    }
}
