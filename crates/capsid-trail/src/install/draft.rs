//! Files as they would be: every edit is made here first, and then all are written, or none.

use super::disk_file::{is_executable, make_executable, read_text, refuse_if_changed};
use capsid_disk::files;
use capsid_model::Result;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEffect {
    Created,
    /// It holds something else now.
    Changed,
    /// It stays as it is.
    Kept,
    /// It was only ours, and goes.
    Removed,
}

impl FileEffect {
    /// One word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Kept => "kept",
            Self::Removed => "removed",
        }
    }
}

/// One file and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// The file, where the tool looks for it.
    pub path: PathBuf,
    pub effect: FileEffect,
}

/// Files that were read, with what they are to hold.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsDraft(Rc<RefCell<BTreeMap<PathBuf, DraftFile>>>);

#[derive(Debug)]
struct DraftFile {
    path: PathBuf,
    original: Option<String>,
    text: Option<String>,
    executable: bool,
}

impl SettingsDraft {
    /// The planned text of a file. The file is read on first use.
    pub fn text(&self, path: &Path, target: &Path) -> Result<Option<String>> {
        if let Some(draft_file) = self.0.borrow().get(target) {
            return Ok(draft_file.text.clone());
        }
        let original = read_text(target)?;
        let draft_file = DraftFile {
            path: path.to_owned(),
            original: original.clone(),
            text: original.clone(),
            executable: false,
        };
        self.0.borrow_mut().insert(target.to_owned(), draft_file);
        Ok(original)
    }

    pub fn put(&self, target: &Path, text: Option<String>) {
        if let Some(draft_file) = self.0.borrow_mut().get_mut(target) {
            draft_file.text = text;
        }
    }

    pub fn make_executable(&self, target: &Path) {
        if let Some(draft_file) = self.0.borrow_mut().get_mut(target) {
            draft_file.executable = true;
        }
    }

    /// What becomes of each file that is there before or after.
    pub fn changes(&self) -> Vec<SettingsChange> {
        let change = |(target, draft_file): (&PathBuf, &DraftFile)| {
            Some(SettingsChange { path: draft_file.path.clone(), effect: draft_file.effect(target)? })
        };
        self.0.borrow().iter().filter_map(change).collect()
    }

    /// Writes what differs. All files are looked at once more before the first is written.
    pub fn write(&self) -> Result<()> {
        let files = self.0.borrow();
        for (target, draft_file) in files.iter() {
            refuse_if_changed(&draft_file.path, target, draft_file.original.as_deref())?;
        }
        for (target, draft_file) in files.iter() {
            match (&draft_file.text, draft_file.effect(target)) {
                (_, None | Some(FileEffect::Kept)) => {}
                (None, _) => files::remove(target)?,
                (Some(text), _) => {
                    if draft_file.original.as_ref() != Some(text) {
                        files::replace(target, text.as_bytes())?;
                    }
                    if draft_file.executable {
                        make_executable(target)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl DraftFile {
    fn effect(&self, target: &Path) -> Option<FileEffect> {
        match (&self.original, &self.text) {
            (None, None) => None,
            (None, Some(_)) => Some(FileEffect::Created),
            (Some(_), None) => Some(FileEffect::Removed),
            (Some(original), Some(text)) if original != text => Some(FileEffect::Changed),
            _ if self.executable && !is_executable(target) => Some(FileEffect::Changed),
            _ => Some(FileEffect::Kept),
        }
    }
}
