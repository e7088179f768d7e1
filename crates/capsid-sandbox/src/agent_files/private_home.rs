//! The home of an agent where there are no namespaces: the settings of agents are copied to it, and the rest is linked.
//!
//! Nothing can be laid over the real home there, and an agent that cannot write to its settings does not start. Rules of
//! Landlock apply to what a link leads to, so links give no rights.

use super::file_stamps::FileStamps;
use super::home_copy::{CopyBudget, MAX_HOME_FILE, MAX_SETTINGS_FILE, link, make_folder};
use super::profile::{AgentProfile, SHARED_IN_HOME, WRITTEN_IN_HOME, real_paths};
use crate::layers::remove_layer;
use crate::ownership::give_to_sandbox;
use capsid_model::{Problem, Result};
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The cache of a package manager, which is copied after the settings because it is large.
const COPIED_LAST: &str = ".npm";

/// Parts of the system that a link in the home does not open. What everybody may read there is shown anyway, and the
/// superuser may read more.
const NOT_BY_LINK: &[&str] = &["/boot", "/dev", "/etc", "/opt", "/proc", "/sys", "/var"];

/// A home of an agent's own. It is removed when it is dropped.
#[derive(Debug)]
pub struct PrivateHome {
    pub path: PathBuf,
    /// What of the real home may be read, by its real names.
    pub readable: BTreeSet<PathBuf>,
    real: PathBuf,
    /// Real folders that were copied, and their names in this home.
    copied: Vec<(PathBuf, PathBuf)>,
    laid_down: FileStamps,
}

impl Drop for PrivateHome {
    fn drop(&mut self) {
        remove_layer(&self.path);
    }
}

impl PrivateHome {
    /// Makes it, and gives it to whom the agent runs as.
    pub fn lay_down(profile: &AgentProfile) -> Result<Self> {
        let path = profile.layers.join("home");
        remove_layer(&path);
        make_folder(&path)?;
        let home = Self {
            path,
            readable: BTreeSet::new(),
            real: profile.home.clone(),
            copied: Vec::new(),
            laid_down: FileStamps::default(),
        };
        let mut layout = HomeLayout::new(profile, home);
        // Whoever has no home has the root here.
        if profile.home != Path::new("/") {
            layout.lay_folder(&profile.home, Path::new(""))?;
            layout.copy_settings()?;
            let named = profile.show.iter().chain(&profile.sockets).chain(&profile.kept_writes);
            for path in real_paths(&named.cloned().collect::<Vec<_>>()) {
                layout.link_named(&path)?;
            }
        }
        let mut home = layout.home;
        give_to_sandbox(&home.path)?;
        home.laid_down = FileStamps::record(&home.path);
        Ok(home)
    }

    /// Where a path of the real home is in this one, relative to it.
    pub fn find(&self, real: &Path) -> Option<PathBuf> {
        let inside_copy = self
            .copied
            .iter()
            .filter_map(|(folder, inside)| Some(join(inside, real.strip_prefix(folder).ok()?)))
            .next();
        inside_copy.or_else(|| real.strip_prefix(&self.real).ok().map(Path::to_owned))
    }

    /// The value of a variable of the agent: folders of base directories and of settings are in this home.
    pub fn map_variable(&self, name: &str, value: &Path) -> Option<PathBuf> {
        if !value.is_absolute() {
            return None;
        }
        let real = value.canonicalize().unwrap_or_else(|_| value.to_owned());
        let is_moved =
            name.starts_with("XDG_") || self.copied.iter().any(|(folder, _)| real.starts_with(folder));
        self.find(&real).filter(|_| is_moved).map(|inside| join(&self.path, &inside))
    }

    /// What the agent changed in it.
    pub fn find_changes(&self) -> HomeChanges<'_> {
        HomeChanges { home: self, now: FileStamps::record(&self.path) }
    }
}

/// The difference to what was laid down.
pub struct HomeChanges<'a> {
    home: &'a PrivateHome,
    now: FileStamps,
}

impl HomeChanges<'_> {
    pub fn is_changed(&self, inside: &Path) -> bool {
        self.now.is_changed(&self.home.laid_down, inside)
    }

    /// New, changed and removed files, by their names in the home.
    pub fn files(&self) -> Vec<&Path> {
        self.now.changed_since(&self.home.laid_down)
    }
}

/// Decides what is copied, linked and left out.
struct HomeLayout {
    home: PrivateHome,
    hidden: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    /// Names in the home of folders that are copied, and of those whose entries are linked one by one.
    settings: BTreeSet<PathBuf>,
    shared: BTreeSet<PathBuf>,
    to_copy: VecDeque<SettingsFolder>,
    budget: CopyBudget,
}

/// A folder of an agent's settings that is to be copied.
struct SettingsFolder {
    real: PathBuf,
    inside: PathBuf,
    /// The name of the outermost one.
    root: PathBuf,
}

impl HomeLayout {
    fn new(profile: &AgentProfile, home: PrivateHome) -> Self {
        let in_home = |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            real.strip_prefix(&profile.home)
                .ok()
                .filter(|inside| *inside != Path::new(""))
                .map(Path::to_owned)
        };
        let mut settings: BTreeSet<PathBuf> = WRITTEN_IN_HOME.iter().map(PathBuf::from).collect();
        let mut shared: BTreeSet<PathBuf> = SHARED_IN_HOME.iter().map(PathBuf::from).collect();
        // Variables may name other folders than the usual ones.
        settings.extend(profile.copied_back.iter().filter_map(|login| in_home(login.parent()?)));
        let variables = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
        let named = variables.iter().filter_map(std::env::var_os).map(PathBuf::from);
        shared.extend(named.filter(|path| path.is_absolute()).filter_map(|path| in_home(&path)));
        settings.retain(|inside| !shared.contains(inside));
        let above = settings.iter().chain(&shared).flat_map(|inside| inside.ancestors().skip(1));
        shared.extend(above.map(Path::to_owned).collect::<Vec<_>>());
        Self {
            home,
            hidden: profile
                .hidden_paths()
                .into_iter()
                .chain(real_paths(std::slice::from_ref(&profile.layers)))
                .collect(),
            kept: real_paths(&profile.kept_writes),
            settings,
            shared,
            to_copy: VecDeque::new(),
            budget: CopyBudget::default(),
        }
    }

    fn is_hidden(&self, real: &Path) -> bool {
        self.hidden.iter().any(|hidden| real.starts_with(hidden))
    }

    fn is_kept(&self, real: &Path) -> bool {
        self.kept.iter().any(|kept| real.starts_with(kept))
    }

    fn has_hidden_below(&self, real: &Path) -> bool {
        self.hidden.iter().any(|hidden| hidden.starts_with(real))
    }

    /// Lets the agent read something, unless a part of it is hidden; whether it may.
    fn allow_reading(&mut self, real: &Path) -> bool {
        let mut system = NOT_BY_LINK.iter().map(Path::new);
        let is_system = !real.starts_with(&self.home.real)
            && system.any(|part| real.starts_with(part) || part.starts_with(real));
        let is_allowed = !is_system && !self.is_hidden(real) && !self.has_hidden_below(real);
        if is_allowed && !real.ancestors().any(|folder| self.home.readable.contains(folder)) {
            self.home.readable.insert(real.to_owned());
        }
        is_allowed
    }

    /// Lays down the entries of a folder that is the home itself, shared by programs, or has something hidden in it.
    fn lay_folder(&mut self, real: &Path, inside: &Path) -> Result<()> {
        make_folder(&join(&self.home.path, inside))?;
        for entry in self.budget.read_folder(real).unwrap_or_default() {
            self.lay_entry(&entry.path(), inside.join(entry.file_name()))?;
        }
        Ok(())
    }

    fn lay_entry(&mut self, path: &Path, inside: PathBuf) -> Result<()> {
        let to = self.home.path.join(&inside);
        // A link to nothing stays one.
        let Ok(real) = path.canonicalize() else { return link(path, &to) };
        let Ok(meta) = fs::metadata(&real) else { return Ok(()) };
        if self.is_hidden(&real) {
            return Ok(());
        }
        let is_link = real != path;
        if meta.is_dir() && !self.is_kept(&real) {
            if self.settings.contains(&inside) {
                self.allow_reading(&real);
                self.home.copied.push((real.clone(), inside.clone()));
                self.to_copy.push_back(SettingsFolder { real, root: inside.clone(), inside });
                return Ok(());
            }
            if self.shared.contains(&inside) || (!is_link && self.has_hidden_below(&real)) {
                self.allow_reading(&real);
                return self.lay_folder(&real, &inside);
            }
        }
        let is_of_home = inside.parent() == Some(Path::new(""));
        if self.allow_reading(&real) && meta.is_file() && is_of_home && !self.is_kept(&real) {
            return self.budget.copy_or_link(&real, &to, MAX_HOME_FILE);
        }
        link(path, &to)
    }

    /// Copies the folders of settings, what is near their top first.
    fn copy_settings(&mut self) -> Result<()> {
        let all = std::mem::take(&mut self.to_copy);
        let is_last = |folder: &SettingsFolder| folder.root == Path::new(COPIED_LAST);
        let (last, first): (VecDeque<_>, VecDeque<_>) = all.into_iter().partition(is_last);
        for group in [first, last] {
            self.to_copy = group;
            while let Some(folder) = self.to_copy.pop_front() {
                self.copy_folder(&folder)?;
            }
        }
        Ok(())
    }

    fn copy_folder(&mut self, folder: &SettingsFolder) -> Result<()> {
        let to = self.home.path.join(&folder.inside);
        let Some(entries) = self.budget.read_folder(&folder.real) else {
            return link(&folder.real, &to);
        };
        make_folder(&to)?;
        for entry in entries {
            let (path, inside) = (entry.path(), folder.inside.join(entry.file_name()));
            let to = self.home.path.join(&inside);
            let Ok(kind) = entry.file_type() else { continue };
            if self.is_hidden(&path) {
                continue;
            }
            if kind.is_symlink() {
                self.copy_link(folder, &path, &to)?;
            } else if self.is_kept(&path) {
                link(&path, &to)?;
            } else if kind.is_dir() {
                self.to_copy.push_back(SettingsFolder { real: path, inside, root: folder.root.clone() });
            } else if kind.is_file() {
                self.budget.copy_or_link(&path, &to, MAX_SETTINGS_FILE)?;
            }
        }
        Ok(())
    }

    /// A link inside of the settings stays. One that leads out of them to a file becomes a copy of it, as its owner who
    /// keeps settings elsewhere expects.
    fn copy_link(&mut self, folder: &SettingsFolder, path: &Path, to: &Path) -> Result<()> {
        let text = fs::read_link(path).map_err(|error| Problem::io("read", path, &error))?;
        let inside = folder.inside.strip_prefix(&folder.root).unwrap_or(Path::new(""));
        if stays_below(inside, &text) {
            return link(&text, to);
        }
        let Ok(real) = path.canonicalize() else { return link(path, to) };
        if self.allow_reading(&real) && real.is_file() && !self.is_kept(&real) {
            return self.budget.copy_or_link(&real, to, MAX_SETTINGS_FILE);
        }
        link(path, to)
    }

    /// Links a path that was named in the settings, where it is not reached through another link already.
    fn link_named(&mut self, real: &Path) -> Result<()> {
        let Some(inside) = self.home.find(real).filter(|inside| *inside != Path::new("")) else {
            return Ok(());
        };
        let to = self.home.path.join(&inside);
        let folders: Vec<&Path> = inside.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            let folder = join(&self.home.path, folder);
            match fs::symlink_metadata(&folder) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Ok(()),
                Err(_) => make_folder(&folder)?,
            }
        }
        if fs::symlink_metadata(&to).is_ok() { Ok(()) } else { link(real, &to) }
    }
}

/// Joins without a slash at the end.
fn join(folder: &Path, inside: &Path) -> PathBuf {
    if inside == Path::new("") { folder.to_owned() } else { folder.join(inside) }
}

/// Whether a relative link in a folder leads to something below the root that the folder is in.
fn stays_below(folder: &Path, target: &Path) -> bool {
    let mut depth = folder.components().count();
    for part in target.components() {
        depth = match part {
            Component::Normal(_) => depth + 1,
            Component::CurDir => depth,
            Component::ParentDir if depth > 0 => depth - 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        };
    }
    true
}
