//! A settings file of another tool: read with care, always replaced as one file.

use super::disk_file::{invalid, is_executable, make_executable, read_text, refuse_if_changed};
use super::draft::SettingsDraft;
use capsid_disk::files;
use capsid_model::{Problem, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The most links that lead from one to the next.
const MAX_LINKS: usize = 40;

const BOM: char = '\u{feff}';

/// A settings file as it was found.
#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Where the tool looks for it.
    pub path: PathBuf,
    /// The real path behind symbolic links. The links stay.
    target: PathBuf,
    /// What it held; nothing when there is none.
    original: Option<String>,
    /// Where it is written first, when it is not written at once.
    draft: Option<SettingsDraft>,
}

impl SettingsFile {
    /// Reads a file as it is on the disk, or as a draft has it.
    pub fn read(path: PathBuf, draft: Option<&SettingsDraft>) -> Result<Self> {
        let target = behind_links(&path)?;
        let original = match draft {
            Some(draft) => draft.text(&path, &target)?,
            None => read_text(&target)?,
        };
        Ok(Self { path, target, original, draft: draft.cloned() })
    }

    pub fn target(&self) -> &Path {
        &self.target
    }

    /// A file that is in memory only.
    #[cfg(test)]
    pub fn of_text(text: &str) -> Self {
        Self { path: PathBuf::new(), target: PathBuf::new(), original: Some(text.to_owned()), draft: None }
    }

    pub fn exists(&self) -> bool {
        self.original.is_some()
    }

    /// The text without a byte order mark.
    pub fn text(&self) -> &str {
        let text = self.original.as_deref().unwrap_or_default();
        text.strip_prefix(BOM).unwrap_or(text)
    }

    /// Replaces [`Self::text`]; the byte order mark stays. Returns whether anything changed.
    pub fn write(&self, text: &str) -> Result<bool> {
        let original = self.original.as_deref().unwrap_or_default();
        if self.exists() && text == self.text() {
            return Ok(false);
        }
        let mark = if original.starts_with(BOM) { "\u{feff}" } else { "" };
        let with_mark = format!("{mark}{text}");
        match &self.draft {
            Some(draft) => draft.put(&self.target, Some(with_mark)),
            None => {
                self.refuse_if_changed()?;
                files::replace(&self.target, with_mark.as_bytes())?;
            }
        }
        Ok(true)
    }

    /// Removes the file; a link to it stays.
    pub fn remove(&self) -> Result<()> {
        if let Some(draft) = &self.draft {
            draft.put(&self.target, None);
            return Ok(());
        }
        self.refuse_if_changed()?;
        files::remove(&self.target)
    }

    /// The tool, or its user, may have written meanwhile, and what they wrote must not be lost.
    fn refuse_if_changed(&self) -> Result<()> {
        refuse_if_changed(&self.path, &self.target, self.original.as_deref())
    }

    /// Why the file cannot be edited.
    pub fn invalid(&self, reason: &str) -> Problem {
        invalid(&self.path, reason)
    }

    pub fn is_executable(&self) -> bool {
        is_executable(&self.target)
    }

    pub fn make_executable(&self) -> Result<()> {
        match &self.draft {
            Some(draft) => draft.make_executable(&self.target),
            None => make_executable(&self.target)?,
        }
        Ok(())
    }
}

/// Follows links to the file itself, which need not exist yet.
fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(invalid(path, "its links lead nowhere"))
}
