//! Root runs tests of this program as a user that has no rights.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nobody has this id.
pub const UID: u32 = 54_321;

/// A folder of an ordinary user, with a copy of this program: root's own may lie where others cannot go.
pub struct OrdinaryUser {
    folder: tempfile::TempDir,
}

impl OrdinaryUser {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("capsid-user-")
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir_in("/tmp")
            .unwrap();
        std::fs::copy(std::env::current_exe().unwrap(), folder.path().join("tests")).unwrap();
        let user = Self { folder };
        user.make("home");
        user.make("tmp");
        user
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a folder that belongs to the user.
    pub fn make(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(&path).unwrap();
        chown(&path, Some(UID), Some(UID)).unwrap();
        path
    }

    /// Runs tests as the user; gives what they printed.
    pub fn run_tests(&self, args: &[&str], env: &[(&str, &Path)]) -> String {
        let output = Command::new(self.path("tests"))
            .args(args)
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("CARGO_MANIFEST_DIR", "/")
            .env_remove("XDG_RUNTIME_DIR")
            .envs(env.iter().copied())
            .current_dir("/")
            .uid(UID)
            .gid(UID)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        println!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
        assert!(text.contains("test result: ok."), "nothing ran");
        text
    }
}

#[test]
fn the_sandbox_holds_for_an_ordinary_user_too() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not repeated: these tests already run as an ordinary user; the half of root did not run");
        return;
    }
    let skipped = ["hostile_commands", "ordinary_user", "root_only", "cargo_works"];
    let skipped = skipped.iter().flat_map(|name| ["--skip", name]);
    let args: Vec<&str> = ["--test-threads", "2"].into_iter().chain(skipped).collect();
    OrdinaryUser::new().run_tests(&args, &[]);
}
