//! The folder that a runner's temporary files are in. A runner that is killed cannot remove it, so the next one does.

use capsid_model::{Problem, Result};
use rustix::process::{Pid, test_kill_process};
use std::path::Path;
use tempfile::TempDir;

/// What the name begins with; the id of the process follows.
const PREFIX: &str = "capsid-runner-";

/// Makes a folder for this process and has all temporary files made there. It is removed with the value.
pub fn open_runner_folder() -> Result<TempDir> {
    let base = std::env::temp_dir();
    remove_left_folders(&base)?;
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir_in(&base)
        .map_err(|error| Problem::io("make a folder in", &base, &error))?;
    // Where it was set before, temporary files are made there and are nobody's to remove here.
    let _set_before = tempfile::env::override_temp_dir(folder.path());
    Ok(folder)
}

/// Removes what runners left that run no more. What belongs to another user stays.
fn remove_left_folders(base: &Path) -> Result<()> {
    let entries = std::fs::read_dir(base).map_err(|error| Problem::io("read", base, &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        let Some(process) = process.and_then(Pid::from_raw) else { continue };
        let is_gone = test_kill_process(process) == Err(rustix::io::Errno::SRCH);
        if is_gone {
            let _not_ours = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_left_that_is_gone_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        // No system gives a process so high a number.
        let gone = i32::MAX;
        let name = |text: &str| base.path().join(text);
        let left = name(&format!("{PREFIX}{gone}-a1"));
        let kept = [
            name(&format!("{PREFIX}{}-a1", std::process::id())),
            name(PREFIX),
            name("other"),
            name("capsid-runner-x-1"),
        ];
        for folder in kept.iter().chain([&left]) {
            std::fs::create_dir_all(folder.join("work")).unwrap();
        }
        remove_left_folders(base.path()).unwrap();
        assert!(!left.exists());
        assert!(kept.iter().all(|folder| folder.is_dir()));
    }
}
