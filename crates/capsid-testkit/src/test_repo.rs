//! A scratch git repository that is gone when the test ends.

use capsid_model::hash::sha256_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A git repository in a temporary folder.
pub struct TestRepo {
    root: PathBuf,
    // Removed when the repository is dropped.
    _dir: tempfile::TempDir,
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

impl TestRepo {
    /// An empty repository with a user, a branch `main` and no commit.
    pub fn new() -> Self {
        Self::named("repo")
    }

    /// The same, in a folder with a name of its own.
    pub fn named(folder: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join(folder);
        std::fs::create_dir(&root).unwrap();
        let repo = Self { root, _dir: dir };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.git(&["config", "user.name", "Test"]);
        repo.git(&["config", "user.email", "test@example.invalid"]);
        repo.git(&["config", "commit.gpgsign", "false"]);
        repo
    }

    /// A copy on the disk with everything that is in the folder, the git directory included.
    #[cfg(unix)]
    #[must_use]
    pub fn copy(&self) -> Self {
        let dir = crate::disk::tempdir();
        let root = dir.path().canonicalize().unwrap().join("copy");
        let status = Command::new("cp").arg("-a").arg(&self.root).arg(&root).status();
        assert!(status.unwrap().success());
        Self { root, _dir: dir }
    }

    /// Its work tree.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The folder for what belongs to no repository: beside it, and gone with it.
    pub fn data(&self) -> PathBuf {
        self.root.with_file_name("data")
    }

    /// Variables that name that folder and nothing else.
    pub fn env(&self) -> impl Fn(&str) -> Option<String> + Send + Sync + 'static {
        let data = self.data().display().to_string();
        move |name| (name == "CAPSID_HOME").then(|| data.clone())
    }

    /// A path inside it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, with its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes an executable script.
    pub fn script(&self, name: &str, content: &str) -> PathBuf {
        let path = self.write(name, content);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        path
    }

    /// The content of a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// Runs git and panics unless it succeeds; gives its output.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git.
    pub fn try_git(&self, args: &[&str]) -> Output {
        Command::new("git").current_dir(self.path()).args(args).output().unwrap()
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// All that a rollback must leave as it was: each file, link and folder with its permissions, the index, HEAD, refs,
    /// stashes, configuration and hooks. Two of them are compared with `assert_eq!`, which names what differs.
    pub fn fingerprint(&self) -> BTreeMap<String, String> {
        let mut print = BTreeMap::new();
        fingerprint_folder(self.path(), self.path(), &mut print);
        let git_dir = PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]).trim_end_matches('\n'));
        for name in ["index", "HEAD", "config"] {
            let bytes = std::fs::read(git_dir.join(name)).unwrap_or_default();
            print.insert(format!(".git/{name}"), sha256_hex(&bytes));
        }
        for folder in ["hooks", "info"] {
            let folder = git_dir.join(folder);
            if folder.is_dir() {
                fingerprint_folder(&git_dir, &folder, &mut print);
            }
        }
        for list in [&["stash", "list"][..], &["for-each-ref"]] {
            print.insert(list.join(" "), self.git(list));
        }
        print
    }

    /// The same without the engine's own folders, and without the list that hides them from `git status`.
    pub fn user_files(&self) -> BTreeMap<String, String> {
        let own = ["\"assets", "\"memory", "\"info/exclude\""];
        let mut print = self.fingerprint();
        print.retain(|name, _| !own.iter().any(|prefix| name.starts_with(prefix)));
        print
    }
}

fn fingerprint_folder(root: &Path, folder: &Path, print: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        let name = format!("{:?}", path.strip_prefix(root).unwrap());
        let meta = path.symlink_metadata().unwrap();
        let content = match () {
            () if meta.is_symlink() => format!("link {:?}", std::fs::read_link(&path).unwrap()),
            () if meta.is_dir() => {
                fingerprint_folder(root, &path, print);
                "folder".to_owned()
            }
            () if meta.is_file() => sha256_hex(&std::fs::read(&path).unwrap()),
            () => "other".to_owned(),
        };
        print.insert(name, format!("{} {content}", mode(&meta)));
    }
}

#[cfg(unix)]
fn mode(meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::PermissionsExt;
    format!("{:o}", meta.permissions().mode())
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> String {
    String::new()
}
