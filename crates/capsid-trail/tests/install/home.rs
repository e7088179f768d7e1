//! A scratch home, with installing and uninstalling.

use capsid_trail::install::{
    CommandSyntax, HookStatus, InstallOutcome, InstallPaths, install, status, uninstall,
};
use capsid_transcript::Tool;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A scratch home.
pub struct Home {
    pub folder: TempDir,
    pub paths: InstallPaths,
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_path_buf();
        let paths = InstallPaths { home, claude_config: None, codex_home: None, os: CommandSyntax::Unix };
        Self { folder, paths }
    }

    pub fn path(&self, tool: Tool) -> PathBuf {
        let name = match tool {
            Tool::ClaudeCode => ".claude/settings.json",
            Tool::Cursor => ".cursor/hooks.json",
            Tool::Codex => ".codex/config.toml",
            Tool::Cline => "Documents/Cline/Hooks/TaskComplete",
        };
        self.folder.path().join(name)
    }

    pub fn with(tool: Tool, content: &str) -> Self {
        let home = Self::new();
        home.put(tool, content);
        home
    }

    pub fn put(&self, tool: Tool, content: impl AsRef<[u8]>) {
        let path = self.path(tool);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn text(&self, tool: Tool) -> String {
        fs::read_to_string(self.path(tool)).unwrap()
    }

    pub fn install(&self, tool: Tool) -> InstallOutcome {
        install(tool, &self.paths, &command("/usr/local/bin/capsid", tool)).unwrap()
    }

    pub fn uninstall(&self, tool: Tool) -> InstallOutcome {
        uninstall(tool, &self.paths).unwrap()
    }
}

pub fn command(program: &str, tool: Tool) -> Vec<String> {
    [program, "trail", "hook", tool.name()].map(str::to_owned).to_vec()
}

/// Installs, installs again, uninstalls; returns the file's text in between.
pub fn round_trip(tool: Tool, original: &str, seed: u64) -> String {
    let home = Home::with(tool, original);
    let first = install(tool, &home.paths, &command("/usr/local/bin/capsid", tool));
    assert!(first.as_ref().is_ok_and(|first| first.registered), "seed {seed}, {first:?}:\n{original}");
    let installed = home.text(tool);
    assert_eq!(status(tool, &home.paths), HookStatus::Installed, "seed {seed}:\n{original}\n--\n{installed}");
    let again = home.install(tool);
    assert!(again.changes.iter().all(|line| line.ends_with("already registered")), "seed {seed}: {again:?}");
    assert_eq!(home.text(tool), installed, "seed {seed}: a second time changes nothing");
    home.uninstall(tool);
    assert_eq!(home.text(tool), original, "seed {seed}, between:\n{installed}");
    assert_eq!(status(tool, &home.paths), HookStatus::NotInstalled, "seed {seed}");
    installed
}
