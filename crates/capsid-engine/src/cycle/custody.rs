//! The engine's own files while an agent runs: kept in memory, and put back if the agent changed them.
//!
//! An agent that edits its gene, its run or the policy would choose its own judge.

use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Problem, Result};
use std::path::PathBuf;

/// Larger files are not held; their size is compared instead.
const HELD: u64 = 64 * 1024 * 1024;

/// Copies of the engine's files.
pub(super) struct Custody {
    files: Vec<(PathBuf, Kept)>,
    /// Logs that the run read: they may grow while the agent works, but not vanish.
    logs: Vec<(PathBuf, Kept)>,
}

enum Kept {
    Absent,
    Bytes(Vec<u8>),
    TooLarge(u64),
}

impl Custody {
    /// Takes the files into custody.
    pub(super) fn take(workspace: &Workspace, read_logs: &[String]) -> Result<Self> {
        let (paths, store) = (&workspace.paths, &workspace.store);
        let names = ["genes.json", "genes.jsonl", "capsules.json", "capsules.jsonl", "failed_capsules.json"];
        let state = [paths.run_state(), paths.personality(), paths.memory_state(), paths.cycle_state()];
        let state = state.into_iter().chain([paths.memory_graph(), store.folder.join(".gitignore")]);
        let all = names.iter().map(|name| store.folder.join(name)).chain(state);
        let logs = read_logs.iter().map(|log| workspace.repository.root.join(log));
        let hold = |path: PathBuf| keep(&path).map(|kept| (path, kept));
        Ok(Self {
            files: all.map(hold).collect::<Result<_>>()?,
            logs: logs.map(hold).collect::<Result<_>>()?,
        })
    }

    /// Puts back what changed; gives the names. What the agent wrote is kept beside it.
    pub(super) fn restore(&self, workspace: &Workspace) -> Result<Vec<String>> {
        for (path, kept) in &self.logs {
            if let Kept::Bytes(bytes) = kept
                && !path.exists()
            {
                files::replace(path, bytes)?;
            }
        }
        let mut changed = Vec::new();
        for (path, kept) in &self.files {
            let now = keep(path)?;
            let same = match (kept, &now) {
                (Kept::Absent, Kept::Absent) => true,
                (Kept::Bytes(old), Kept::Bytes(new)) => old == new,
                (Kept::TooLarge(old), Kept::TooLarge(new)) => old == new,
                _ => false,
            };
            if same {
                continue;
            }
            if let Kept::Bytes(new) = &now {
                let mut aside = path.clone().into_os_string();
                aside.push(format!(".foreign-{}", workspace.now().0));
                files::replace(&PathBuf::from(aside), new)?;
            }
            match kept {
                Kept::Bytes(old) => files::replace(path, old)?,
                Kept::Absent => files::remove(path)?,
                Kept::TooLarge(_) => {}
            }
            let shown = path.strip_prefix(&workspace.repository.root).unwrap_or(path);
            changed.push(shown.display().to_string());
        }
        Ok(changed)
    }
}

fn keep(path: &std::path::Path) -> Result<Kept> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::Absent),
        Err(error) => Err(fail(error)),
        Ok(meta) if meta.len() > HELD => Ok(Kept::TooLarge(meta.len())),
        Ok(_) => std::fs::read(path).map(Kept::Bytes).map_err(fail),
    }
}
