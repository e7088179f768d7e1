//! What root does with the files of the service while it is stopped.

use crate::journal::SignerJournal;
use crate::rules::entry::EpochReason;
use crate::rules::signer_state::SignerState;
use crate::user_signer::{
    HEADS_FILE, JOURNAL_FILE, KEY_FILE, NEXT_KEY_FILE, UserSigner, epoch_event, list_epochs, lock_folder,
    refuse_link,
};
use crate::wire::TrustedEpoch;
use capsid_disk::files;
use capsid_model::{Clock, Code, Problem, Result, Time};
use capsid_seal::SigningKey;
use std::path::{Path, PathBuf};

/// The owner of the files: the account of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    pub user: u32,
    pub group: u32,
}

/// The folder of a user.
pub fn user_folder(state: &Path, user: u32) -> PathBuf {
    state.join(user.to_string())
}

/// The users that have a folder.
pub fn list_users(state: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let mut users: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    users.sort_unstable();
    users
}

/// Makes a user's folder with a key and the first entry of the journal, unless it is there; the keys over time.
pub fn create_user(
    state: &Path,
    user: u32,
    owner: Option<FileOwner>,
    seed: &[u8; 32],
    now: Time,
) -> Result<Vec<TrustedEpoch>> {
    let folder = user_folder(state, user);
    if folder.join(JOURNAL_FILE).exists() {
        return read_epochs(state, user);
    }
    make_folder(state, owner)?;
    make_folder(&folder, owner)?;
    let _lock = lock_folder(&folder)?;
    // A key without a journal was never used.
    files::replace_secret(&folder.join(KEY_FILE), seed)?;
    let epochs = append_epoch(&folder, EpochReason::Created, seed, now)?;
    own_files(&folder, owner)?;
    Ok(epochs)
}

/// The keys over time, as the journal has them.
pub fn read_epochs(state: &Path, user: u32) -> Result<Vec<TrustedEpoch>> {
    let journal = user_folder(state, user).join(JOURNAL_FILE);
    Ok(list_epochs(&SignerJournal::load(&journal)?))
}

/// Writes the heads once more, before the service is gone for good.
pub fn write_last_heads(state: &Path, user: u32, owner: Option<FileOwner>, clock: &dyn Clock) -> Result<()> {
    let folder = user_folder(state, user);
    if !folder.join(JOURNAL_FILE).exists() {
        return Ok(());
    }
    for name in [KEY_FILE, NEXT_KEY_FILE, JOURNAL_FILE, HEADS_FILE] {
        refuse_link(&folder.join(name))?;
    }
    let signer = UserSigner::open(&folder, user, clock)?;
    signer.write_heads(clock).map_err(|refusal| refusal.to_problem())?;
    drop(signer);
    own_files(&folder, owner)
}

/// Copies key and journal of a user. The service may run: a journal only grows.
pub fn backup(state: &Path, user: u32, to: &Path) -> Result<()> {
    let folder = user_folder(state, user);
    let copy = user_folder(to, user);
    files::create_private_folder(&copy)?;
    for name in [KEY_FILE, JOURNAL_FILE] {
        refuse_link(&folder.join(name))?;
        let bytes = require_bytes(&folder.join(name))?;
        files::replace_secret(&copy.join(name), &bytes)?;
    }
    SignerJournal::load(&copy.join(JOURNAL_FILE)).map(drop)
}

/// Puts a copy back. Records that were signed after it are learned again by `flush`.
pub fn restore(state: &Path, user: u32, from: &Path, owner: Option<FileOwner>) -> Result<Vec<TrustedEpoch>> {
    let (folder, copy) = (user_folder(state, user), user_folder(from, user));
    let (key, journal) = (require_bytes(&copy.join(KEY_FILE))?, require_bytes(&copy.join(JOURNAL_FILE))?);
    SignerJournal::load(&copy.join(JOURNAL_FILE))?;
    make_folder(state, owner)?;
    make_folder(&folder, owner)?;
    let _lock = lock_folder(&folder)?;
    files::remove(&folder.join(HEADS_FILE))?;
    files::remove(&folder.join(NEXT_KEY_FILE))?;
    files::replace_secret(&folder.join(JOURNAL_FILE), &journal)?;
    files::replace_secret(&folder.join(KEY_FILE), &key)?;
    own_files(&folder, owner)?;
    read_epochs(state, user)
}

/// Begins a new key where the old one is lost. Chains that the journal knows stay at their counts; a journal that
/// cannot be read is moved aside.
pub fn reset(
    state: &Path,
    user: u32,
    owner: Option<FileOwner>,
    seed: &[u8; 32],
    now: Time,
) -> Result<Vec<TrustedEpoch>> {
    let folder = user_folder(state, user);
    make_folder(state, owner)?;
    make_folder(&folder, owner)?;
    let _lock = lock_folder(&folder)?;
    let journal = folder.join(JOURNAL_FILE);
    refuse_link(&journal)?;
    let known = SignerJournal::load(&journal).unwrap_or_default();
    if known.epochs().is_empty() && journal.exists() {
        let aside = folder.join(format!("journal.damaged-{}", now.0));
        std::fs::rename(&journal, &aside).map_err(|error| Problem::io("rename", &journal, &error))?;
        files::remove(&folder.join(HEADS_FILE))?;
    }
    let reason = if known.epochs().is_empty() { EpochReason::Created } else { EpochReason::Reset };
    files::remove(&folder.join(NEXT_KEY_FILE))?;
    files::replace_secret(&folder.join(NEXT_KEY_FILE), seed)?;
    let epochs = append_epoch(&folder, reason, seed, now)?;
    files::replace_secret(&folder.join(KEY_FILE), seed)?;
    files::remove(&folder.join(NEXT_KEY_FILE))?;
    own_files(&folder, owner)?;
    Ok(epochs)
}

fn append_epoch(folder: &Path, reason: EpochReason, seed: &[u8; 32], now: Time) -> Result<Vec<TrustedEpoch>> {
    let (mut journal, mut state): (_, SignerState) = SignerJournal::open(&folder.join(JOURNAL_FILE))?;
    let event = epoch_event(reason, &SigningKey::from_seed(seed).public(), [0; 64])?;
    for (entry, bytes, hash) in state.chain_entries(vec![event], now.0) {
        state.apply(&entry, hash, journal.length()).map_err(|why| Problem::new(Code::SignerDamaged, why))?;
        journal.append(&bytes).map_err(|failure| failure.problem)?;
    }
    let synced = journal.handle()?.sync_all();
    synced.map_err(|error| Problem::io("sync", &folder.join(JOURNAL_FILE), &error))?;
    Ok(list_epochs(&state))
}

fn require_bytes(path: &Path) -> Result<Vec<u8>> {
    files::read_bytes(path)?.ok_or_else(|| {
        Problem::new(Code::FileNotFound, format!("`{}` does not exist.", path.display()))
            .fix("Name a folder that `signer backup` wrote, and the user whose it is.")
    })
}

/// Everybody may pass through, to the heads; nobody may list it.
fn make_folder(folder: &Path, owner: Option<FileOwner>) -> Result<()> {
    files::create_folder(folder)?;
    if std::fs::symlink_metadata(folder).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Problem::new(Code::SignerDamaged, format!("`{}` is not a folder.", folder.display())));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711))
            .map_err(|error| Problem::io("change", folder, &error))?;
    }
    change_owner(folder, owner)
}

fn own_files(folder: &Path, owner: Option<FileOwner>) -> Result<()> {
    let names = [KEY_FILE, NEXT_KEY_FILE, JOURNAL_FILE, HEADS_FILE, "lock"];
    names
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| std::fs::symlink_metadata(path).is_ok())
        .try_for_each(|path| refuse_link(&path).and_then(|()| change_owner(&path, owner)))
}

#[cfg(unix)]
fn change_owner(path: &Path, owner: Option<FileOwner>) -> Result<()> {
    let Some(FileOwner { user, group }) = owner else { return Ok(()) };
    std::os::unix::fs::lchown(path, Some(user), Some(group))
        .map_err(|error| Problem::io("change", path, &error))
}

#[cfg(not(unix))]
fn change_owner(_path: &Path, _owner: Option<FileOwner>) -> Result<()> {
    Ok(())
}
