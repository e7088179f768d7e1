//! The programs that checks and agents start.

use std::process::Command;

/// Where they are: those of the system, so that the sandbox shows them, and the Rust toolchain.
pub struct ToolPaths {
    /// The value of `PATH`.
    pub path: String,
    /// Folders that validation commands may read.
    pub read: Vec<String>,
}

impl ToolPaths {
    pub fn find() -> Self {
        let mut path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        let mut read = Vec::new();
        // `cargo` in a user's home may be a proxy, which needs more of that home than the toolchain.
        let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok();
        let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if let Some(folder) = sysroot.filter(|folder| !folder.is_empty()) {
            path = format!("{folder}/bin:{path}");
            read.push(folder);
        }
        Self { path, read }
    }
}
