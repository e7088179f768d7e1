//! Permissions of files and folders on the way back.

use super::names::{self, Name};
use super::place;
use super::rollback::{RollbackReport, Undo, because};
use std::collections::BTreeSet;

/// What a folder needs for files to be put into it.
const OPEN: u32 = 0o700;

impl Undo<'_> {
    /// The permissions that a file had.
    pub(super) fn mode(&self, name: &[u8], executable: bool) -> u32 {
        let usual = if executable { 0o755 } else { 0o644 };
        self.before.extras.modes.get(name).copied().unwrap_or(usual)
    }

    /// Puts permissions back that changed while the content did not.
    pub(super) fn restore_modes(&self, done: &[(Name, String)], report: &mut RollbackReport) {
        let done: BTreeSet<&Name> = done.iter().map(|(name, _)| name).collect();
        let (old, new) = (&self.before.extras.modes, &self.rejected.modes);
        let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
        for name in names {
            let changed = old.get(name) != new.get(name) && new.get(name) == self.now.modes.get(name);
            let path = self.at(name);
            if !changed || done.contains(name) || !self.before.files.contains(name) || !self.reachable(name) {
                continue;
            }
            let Some(meta) = path.symlink_metadata().ok().filter(|meta| meta.is_file()) else {
                continue;
            };
            let executable = place::mode(&meta.permissions()) & 0o100 != 0;
            if let Err(error) = place::set_mode(&path, self.mode(name, executable)) {
                report.kept.push(because(&self.show(name), &error));
            }
        }
    }

    /// Folders whose permissions the cycle changed and nobody since, and those it removed, with what they had.
    pub(super) fn changed_folders(&self, report: &mut RollbackReport) -> Vec<(Name, u32)> {
        let above = self.before.files.iter().flat_map(|name| names::folders(name));
        let folders: BTreeSet<&[u8]> = above.chain([&b""[..]]).collect();
        let mut changed = Vec::new();
        for folder in folders {
            let (was, left) = (self.before.extras.folder_mode(folder), self.rejected.folder_mode(folder));
            match self.folder_now(folder) {
                Some(now) if now == was || was == left => continue,
                Some(now) if now != left => report.kept.push(self.show_folder(folder)),
                now => {
                    if now.is_some() && !self.can_look_into(folder) {
                        let reason = "it could not be looked into; what is new in it stays";
                        report.kept.push(because(&self.show_folder(folder), &reason));
                    }
                    changed.push((folder.to_vec(), was));
                }
            }
        }
        changed
    }

    /// Lets files be put into folders that the cycle closed.
    pub(super) fn open_folders(&self, list: &[(Name, u32)]) {
        for (folder, mode) in list.iter().filter(|(folder, _)| self.folder_now(folder).is_some()) {
            // A failure shows when a file is put there.
            let _ = place::set_mode(&self.at(folder), mode | OPEN);
        }
    }

    /// Gives folders the permissions they had, the deepest first.
    pub(super) fn restore_folder_modes(&self, list: &[(Name, u32)], report: &mut RollbackReport) {
        for (folder, mode) in list.iter().rev() {
            if self.folder_now(folder).is_some_and(|now| now != *mode)
                && let Err(error) = place::set_mode(&self.at(folder), *mode)
            {
                report.kept.push(because(&self.show_folder(folder), &error));
            }
        }
    }

    /// The permissions of a real folder.
    fn folder_now(&self, folder: &[u8]) -> Option<u32> {
        let meta = self.at(folder).symlink_metadata().ok()?;
        (self.reachable(folder) && meta.is_dir()).then(|| place::mode(&meta.permissions()))
    }

    /// Whether this user could list a folder and ask about what is in it; the superuser always can.
    fn can_look_into(&self, folder: &[u8]) -> bool {
        let path = self.at(folder);
        path.read_dir().is_ok() && path.join(".").metadata().is_ok()
    }

    fn show_folder(&self, folder: &[u8]) -> String {
        format!("{}/", if folder.is_empty() { self.show(b".") } else { self.show(folder) })
    }
}
