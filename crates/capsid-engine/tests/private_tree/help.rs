//! What the tests of private trees and of applying share.

use capsid_engine::tree::names::{self, Name};
use capsid_engine::tree::private_tree::change_layer::USER_OPAQUE;
use capsid_engine::tree::private_tree::{
    BaseCopies, BaseManifest, BaseScope, ChangeLayer, FreezeMethod, TreeBase, UpperListing, freeze,
    list_upper,
};
use capsid_testkit::test_repo::TestRepo;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A repository, the folder of a run, and the base that the run recorded.
pub struct Run {
    pub repo: TestRepo,
    pub base: TreeBase,
    folder: TempDir,
}

pub fn scope_of(repo: &TestRepo) -> BaseScope {
    BaseScope {
        own: vec![b"assets/gep".to_vec()],
        read_logs: vec![b"agent.log".to_vec()],
        git_dir: repo.file(".git"),
        common_dir: repo.file(".git"),
        excludes_file: None,
    }
}

impl Run {
    pub fn start(repo: TestRepo) -> Self {
        let folder = capsid_testkit::disk::tempdir();
        let root = repo.path().to_owned();
        let mut manifest = BaseManifest::record(&root, &scope_of(&repo), None).unwrap();
        let copies = BaseCopies::create(folder.path().join("base"), &root, &mut manifest).unwrap();
        manifest.write(&folder.path().join("base.manifest")).unwrap();
        // What another process would read.
        let manifest = BaseManifest::read(&folder.path().join("base.manifest")).unwrap();
        Self { repo, base: TreeBase { root, manifest, copies }, folder }
    }

    pub fn root(&self) -> &Path {
        self.repo.path()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn upper(&self) -> PathBuf {
        let upper = self.folder.path().join("upper");
        std::fs::create_dir_all(&upper).unwrap();
        upper
    }

    /// Writes a file to the upper layer by hand.
    pub fn write_upper(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.upper().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Deletes a path in the upper layer by hand.
    pub fn whiteout(&self, name: &str) {
        let path = self.upper().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, &path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }

    pub fn list(&self) -> UpperListing {
        list_upper(&self.upper(), self.root(), &self.base.manifest.rules, USER_OPAQUE).unwrap()
    }

    pub fn freeze(&self, listing: &UpperListing) -> ChangeLayer {
        let change = self.folder.path().join("change");
        freeze(listing, &self.upper(), self.root(), &change, FreezeMethod::Link).unwrap();
        ChangeLayer::read(&change).unwrap()
    }

    /// Lists and freezes what the upper layer has.
    pub fn change(&self) -> ChangeLayer {
        self.freeze(&self.list())
    }
}

pub fn changed(listing: &UpperListing) -> Vec<String> {
    listing.changed.iter().map(|path| format!("{:?} {}", path.kind, names::show(&path.name))).collect()
}

/// Each file and link of a tree, without `.git`: what kind it is, whether it can be run, and its bytes.
pub type TreeMap = BTreeMap<Name, (char, bool, Vec<u8>)>;

pub type TreeEntry = (Name, (char, bool, Vec<u8>));

pub fn read_tree(root: &Path) -> TreeMap {
    let mut map = TreeMap::new();
    read_folder(root, root, &mut map);
    map
}

fn read_folder(root: &Path, folder: &Path, map: &mut TreeMap) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        let name = names::of_path(path.strip_prefix(root).unwrap());
        let executable = meta.permissions().mode() & 0o100 != 0;
        match () {
            () if meta.is_dir() => read_folder(root, &path, map),
            () if meta.is_symlink() => {
                let target = names::of_path(&std::fs::read_link(&path).unwrap());
                map.insert(name, ('l', false, target));
            }
            () if meta.is_file() => {
                map.insert(name, ('f', executable, std::fs::read(&path).unwrap()));
            }
            () => drop(map.insert(name, ('o', false, Vec::new()))),
        }
    }
}
