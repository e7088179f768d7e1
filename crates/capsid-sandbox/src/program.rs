//! Where a program is, and which folders it needs to run.

use capsid_model::{Code, Problem, Result};
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Folders of the system that every sandbox can read.
pub const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"];

/// A program that was found.
#[derive(Debug)]
pub struct ResolvedProgram {
    /// Its path, as the search found it.
    pub path: PathBuf,
    /// What it needs to read outside the system's folders.
    pub needs: Vec<PathBuf>,
    /// Variables without which it would not find those.
    pub env: Vec<(&'static str, OsString)>,
}

impl ResolvedProgram {
    /// Finds a program by name on the PATH, or by path from `root`.
    pub fn find(name: &str, root: &Path) -> Result<Self> {
        let path = if name.contains('/') {
            Some(root.join(name)).filter(|path| is_executable(path))
        } else {
            search(name, root)
        };
        let path = path.ok_or_else(|| not_found(name, "it is not on the PATH"))?;
        let mut program = Self { needs: needs(&path, root), path, env: Vec::new() };
        program.add_cargo_home();
        Ok(program)
    }

    /// Programs of rustup find toolchains and packages by two folders of the user. The one with the credentials is
    /// never shown as a whole.
    fn add_cargo_home(&mut self) {
        let Some(home) = std::env::home_dir() else {
            return;
        };
        let folder =
            |variable, usual| std::env::var_os(variable).map_or_else(|| home.join(usual), PathBuf::from);
        let cargo = folder("CARGO_HOME", ".cargo");
        if self.path.parent() != Some(&cargo.join("bin")) {
            return;
        }
        let rustup = folder("RUSTUP_HOME", ".rustup");
        self.needs.extend([cargo.join("registry"), cargo.join("git"), rustup.clone()]);
        self.env.push(("CARGO_HOME", cargo.into()));
        self.env.push(("RUSTUP_HOME", rustup.into()));
    }
}

/// The problem of a program that cannot be started.
pub fn not_found(name: &str, why: impl std::fmt::Display) -> Problem {
    Problem::new(Code::ProgramNotFound, format!("`{name}` could not be started: {why}."))
        .fix(format!("Install `{name}` and make sure it is on the PATH."))
}

/// Looks along the PATH, but never into the repository or a folder that other users can write: what lies there must not
/// stand in for programs of the system.
pub fn search(name: &str, root: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !folder.starts_with(root) && is_ours(folder))
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
}

/// Whether only this user and the superuser decide what is in a folder. Groups of the superuser's folders, such as
/// Debian's `staff`, are the superuser's choice.
fn is_ours(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(folder).is_ok_and(|meta| {
        let group_writes = meta.mode() & 0o020 != 0 && meta.uid() != 0;
        let own_group = meta.gid() == rustix::process::getegid().as_raw();
        (meta.uid() == own || meta.uid() == 0) && meta.mode() & 0o002 == 0 && (!group_writes || own_group)
    })
}

pub fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The program's own folder and its libraries, both where it was found and where its links lead.
///
/// Only `bin` folders are shown whole, with the library folders beside them: a program that lies anywhere else, in a
/// home folder for example, brings nothing but itself.
fn needs(path: &Path, root: &Path) -> Vec<PathBuf> {
    let mut needs = Vec::new();
    for path in [Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten() {
        let known = |place: &Path| path.starts_with(place);
        if known(root) || SYSTEM.iter().any(|place| known(Path::new(place))) {
            continue;
        }
        match path.parent().filter(|folder| folder.ends_with("bin")) {
            None => needs.push(path),
            Some(bin) => {
                needs.push(bin.to_owned());
                let beside = ["lib", "lib64", "libexec", "pyvenv.cfg"];
                needs.extend(beside.map(|name| bin.with_file_name(name)));
            }
        }
    }
    needs.retain(|path| path.exists());
    needs.sort();
    needs.dedup();
    needs
}
