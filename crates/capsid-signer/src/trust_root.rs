//! `/etc/capsid/signer.d`: whose home is signed by the service, and by which keys. Only root writes there.

use crate::wire::TrustedEpoch;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use capsid_seal::PublicKey;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder that verification trusts.
pub const TRUST_FOLDER: &str = "/etc/capsid/signer.d";
/// The folder above it. Whoever writes there decides about the one below.
const CONFIG_FOLDER: &str = "/etc/capsid";
/// The service's socket.
pub const SOCKET: &str = "/run/capsid-signer/sock";
/// The service's own folder.
pub const STATE_FOLDER: &str = "/var/lib/capsid-signer";

/// What is known of a user's service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerTrust {
    pub version: u32,
    pub user: u32,
    /// The home whose chains the service signs.
    pub home: PathBuf,
    pub socket: PathBuf,
    /// The signed heads, for when the service does not answer.
    pub heads: PathBuf,
    /// False after `uninstall`: old records verify, new ones are signed by the home's own key.
    pub is_active: bool,
    pub epochs: Vec<TrustedEpoch>,
}

impl SignerTrust {
    /// The file of a user.
    pub fn path(folder: &Path, user: u32) -> PathBuf {
        folder.join(format!("{user}.json"))
    }

    /// Reads the file of a user; nothing when there is none.
    pub fn load(folder: &Path, user: u32) -> Result<Option<Self>> {
        let path = Self::path(folder, user);
        let Some(text) = files::read_optional(&path)? else { return Ok(None) };
        refuse_writable(files::parent_folder(folder))?;
        refuse_writable(folder)?;
        refuse_writable(&path)?;
        let trust: Self = serde_json::from_str(&text).map_err(|error| invalid(&path, &error.to_string()))?;
        match (trust.version, trust.user == user, trust.keys()?.is_empty()) {
            (1, true, false) => Ok(Some(trust)),
            _ => Err(invalid(&path, "its version, user or keys are not what they should be")),
        }
    }

    /// The service that signs a home; nothing when none does.
    pub fn find_by_home(folder: &Path, home: &Path) -> Result<Option<Self>> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::io("list", folder, &error)),
        };
        let mut users: Vec<u32> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.parse().ok())
            .collect();
        users.sort_unstable();
        for user in users {
            if let Some(trust) = Self::load(folder, user)?.filter(|trust| is_same_path(&trust.home, home)) {
                return Ok(Some(trust));
            }
        }
        Ok(None)
    }

    /// The service that signs what `user` seals in a home now; nothing when the home's own key does.
    pub fn find_active(folder: &Path, user: u32, home: &Path) -> Result<Option<Self>> {
        Ok(Self::load(folder, user)?.filter(|trust| trust.is_active && is_same_path(&trust.home, home)))
    }

    /// Whether a path is the home.
    pub fn is_home(&self, path: &Path) -> bool {
        is_same_path(&self.home, path)
    }

    /// Whether a path is the home, or in it.
    pub fn holds(&self, path: &Path) -> bool {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = |path: &Path| path.canonicalize().ok();
        absolute.starts_with(&self.home)
            || matches!((real(path), real(&self.home)), (Some(path), Some(home)) if path.starts_with(&home))
    }

    /// Writes the file. Everybody may read it, whatever the umask of the one who calls.
    pub fn save(&self, folder: &Path) -> Result<()> {
        make_public_folder(folder)?;
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Problem::new(Code::Internal, format!("The keys cannot be written: {error}.")))?;
        let path = Self::path(folder, self.user);
        files::replace(&path, format!("{text}\n").as_bytes())?;
        set_mode(&path, 0o644)
    }

    /// Puts the keys of the journal in the place of those that are listed. Keys that the journal does not know any more
    /// stay before them, so that what they signed verifies.
    pub fn set_epochs(&mut self, journal: Vec<TrustedEpoch>) {
        self.epochs.retain(|old| !journal.iter().any(|epoch| epoch.key == old.key));
        self.epochs.extend(journal);
    }

    /// All keys of the service, oldest first.
    pub fn keys(&self) -> Result<Vec<PublicKey>> {
        self.epochs.iter().map(|epoch| PublicKey::from_hex(&epoch.key)).collect()
    }

    /// The key that signs now.
    pub fn current_key(&self) -> Result<PublicKey> {
        self.keys()?.pop().ok_or_else(|| Problem::new(Code::KeyMissing, "The signing service has no key."))
    }
}

/// Makes a folder of root that everybody may read, and the one above it.
fn make_public_folder(folder: &Path) -> Result<()> {
    let above = files::parent_folder(folder);
    for missing in [above, folder].into_iter().filter(|folder| !folder.exists()) {
        files::create_folder(missing)?;
        set_mode(missing, 0o755)?;
    }
    Ok(())
}

/// Sets who may do what with a file.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(|error| Problem::io("change", path, &error))
}

/// There is no such thing here.
#[cfg(not(unix))]
pub fn set_mode(_path: &Path, _mode: u32) -> Result<()> {
    Ok(())
}

/// Two spellings of one folder are one home, also where it is gone.
fn is_same_path(left: &Path, right: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |path: &Path| path.canonicalize().ok();
    absolute(left) == absolute(right) || real(left).is_some_and(|left| Some(left) == real(right))
}

/// What others than root may write is no root of trust.
#[cfg(unix)]
fn refuse_writable(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).map_err(|error| Problem::io("read", path, &error))?;
    if !path.starts_with(CONFIG_FOLDER) || (meta.uid() == 0 && meta.mode() & 0o022 == 0) {
        return Ok(());
    }
    Err(invalid(path, "others than root may write it"))
}

#[cfg(not(unix))]
fn refuse_writable(_path: &Path) -> Result<()> {
    Ok(())
}

fn invalid(path: &Path, reason: &str) -> Problem {
    Problem::new(Code::KeyInvalid, format!("`{}` cannot be used: {reason}.", path.display()))
        .fix("Run `sudo capsid trail signer install` again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::entry::EpochReason;
    use capsid_seal::SigningKey;

    fn trust(home: &Path) -> SignerTrust {
        let key = SigningKey::from_seed(&[1; 32]).public().hex();
        SignerTrust {
            version: 1,
            user: 7,
            home: home.to_owned(),
            socket: SOCKET.into(),
            heads: "/x/heads".into(),
            is_active: true,
            epochs: vec![TrustedEpoch {
                key,
                from_entry: 0,
                reason: EpochReason::Created,
                signature: String::new(),
            }],
        }
    }

    #[test]
    fn a_home_is_found_by_each_spelling_and_also_when_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let signer_dir = folder.path().join("signer.d");
        assert_eq!(SignerTrust::find_by_home(&signer_dir, &home).unwrap(), None);
        let trust = trust(&home);
        trust.save(&signer_dir).unwrap();
        let found = |path: &Path| SignerTrust::find_by_home(&signer_dir, path).unwrap();
        assert_eq!(found(&home), Some(trust.clone()));
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, folder.path().join("link")).unwrap();
        assert_eq!(found(&folder.path().join("link")), Some(trust));
        assert_eq!(found(folder.path()), None);
    }

    #[test]
    fn a_file_without_a_key_or_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for change in
            [|trust: &mut SignerTrust| trust.epochs.clear(), |trust: &mut SignerTrust| trust.version = 2]
        {
            let mut trust = trust(folder.path());
            change(&mut trust);
            trust.save(folder.path()).unwrap();
            assert_eq!(SignerTrust::load(folder.path(), 7).unwrap_err().code, Code::KeyInvalid);
        }
    }
}
