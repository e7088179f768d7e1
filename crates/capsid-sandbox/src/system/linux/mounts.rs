//! The files of a sandbox. Every mount is made detached first, while all real paths can still be reached, and then they
//! are put in their places, the shorter paths first.

use super::detached::{
    NO_DEVICES, NO_SUID, NO_SUID_DEVICES, READ_ONLY, attach, clone_tree, memory_folder, new_mount,
    set_mount_attributes,
};
use super::proc_dev;
use super::sandbox_user::SandboxUser;
use super::sys::{self, AtStep, SetupResult};
use super::write_layer::{WriteAs, prepare_write_folder};
use crate::system::plan::{
    FileBase, MountContent, NamespacePlan, OverlayFallback, PlannedMount, PlannedWrites,
};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, unmount,
};
use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folders over which the staging area may be mounted for a moment: nothing in them is ever shown by itself.
const STAGING: [&str; 3] = ["/sys", "/mnt", "/media"];

/// Where writes go if their folder cannot hold a layer, as one on an overlay cannot.
const MEMORY_WRITES: PlannedWrites =
    PlannedWrites::Memory { bytes: 1 << 30, inodes: 100_000, hand_out: false };

/// What came of building the files.
#[derive(Default)]
pub struct BuiltFiles {
    /// What became weaker than planned.
    pub notes: Vec<String>,
    /// The write layer in memory that the engine is to have.
    pub memory_upper: Option<OwnedFd>,
}

/// The mounts while they are made.
struct FileView<'a> {
    user: &'a SandboxUser,
    built: BuiltFiles,
    staging: PathBuf,
    staged: usize,
}

/// A mount that has no place yet.
struct Detached {
    target: PathBuf,
    kind: DetachedKind,
}

enum DetachedKind {
    Mount { mount: OwnedFd, is_folder: bool },
    Devices(proc_dev::PreparedDevices),
    Symlink(PathBuf),
}

/// Whether the ids of everything that the program is to write can be mapped; that depends on the file systems.
pub fn check_id_mapping(plan: &NamespacePlan, userns: BorrowedFd<'_>) -> SetupResult<()> {
    for mount in &plan.mounts {
        let paths: Vec<&Path> = match &mount.content {
            MountContent::Overlay { lower, .. } => lower.iter().map(|layer| layer.as_path()).collect(),
            MountContent::Bind { source, writable: true } => vec![source.as_path()],
            _ => Vec::new(),
        };
        for path in paths {
            let tree = clone_tree(path, false).step("layer")?;
            set_mount_attributes(tree.as_fd(), false, 0, Some(userns))
                .map_err(|errno| sys::failure("id-mapped layer", errno, path.display().to_string()))?;
        }
    }
    Ok(())
}

/// Builds everything and makes it the root of this process.
pub fn build(plan: &NamespacePlan, user: &SandboxUser) -> SetupResult<BuiltFiles> {
    let mut view = FileView::stage(user)?;
    let mut detached = Vec::new();
    for mount in &plan.mounts {
        view.detach(mount, &mut detached)?;
    }
    detached.sort_by_key(|mount| mount.target.components().count());
    match plan.base {
        FileBase::Machine => {
            unmount(&view.staging, UnmountFlags::DETACH).step("umount (staging)")?;
            let root = open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).step("open")?;
            set_mount_attributes(root.as_fd(), true, READ_ONLY | NO_SUID | NO_DEVICES, None)
                .step("read-only root")?;
            attach_all(Path::new("/"), detached)?;
        }
        FileBase::Empty => {
            let root = view.staging.join("root");
            fs::create_dir(&root).step("new root")?;
            let mount = memory_folder(16 << 20, 10_000, 0o755, None).step("new root")?;
            attach(&mount, &root).step("new root")?;
            attach_all(&root, detached)?;
            rustix::process::chdir(&root).step("new root")?;
            rustix::process::pivot_root(".", ".").step("pivot_root")?;
            unmount(".", UnmountFlags::DETACH).step("umount (old root)")?;
            rustix::process::chdir("/").step("new root")?;
            set_mount_attributes(mount.as_fd(), false, READ_ONLY | NO_SUID | NO_DEVICES, None)
                .step("read-only root")?;
        }
    }
    Ok(view.built)
}

fn attach_all(root: &Path, mounts: Vec<Detached>) -> SetupResult<()> {
    for Detached { target, kind } in mounts {
        let inside = root.join(target.strip_prefix("/").unwrap_or(&target));
        let step = format!("mount `{}`", target.display());
        match kind {
            DetachedKind::Symlink(to) => {
                make_parents(&inside).step(&step)?;
                std::os::unix::fs::symlink(to, &inside).step(&step)?;
            }
            DetachedKind::Mount { mount, is_folder } => {
                make_mount_point(&inside, is_folder).step(&step)?;
                attach(&mount, &inside).step(&step)?;
            }
            DetachedKind::Devices(devices) => {
                make_mount_point(&inside, true).step(&step)?;
                devices.attach(&inside)?;
            }
        }
    }
    Ok(())
}

fn make_parents(path: &Path) -> std::io::Result<()> {
    // What is made here stands for folders of the machine, which everybody may pass.
    let mut builder = fs::DirBuilder::new();
    let parent = path.parent().unwrap_or(Path::new("/"));
    if parent.is_dir() {
        return Ok(());
    }
    builder.recursive(true).mode(0o755).create(parent)?;
    for folder in parent.ancestors().take_while(|folder| folder.parent().is_some()) {
        // The mask of the launcher is strict; folders that were there before refuse this, and stay as they are.
        if fs::metadata(folder).is_ok_and(|meta| meta.mode() & 0o777 == 0o700) {
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
        }
    }
    Ok(())
}

fn make_mount_point(path: &Path, is_folder: bool) -> std::io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    make_parents(path)?;
    if is_folder {
        fs::DirBuilder::new().mode(0o755).create(path)
    } else {
        fs::File::create_new(path).map(drop)
    }
}

impl<'a> FileView<'a> {
    /// Mounts the staging area, in which layers have to be for a moment.
    fn stage(user: &'a SandboxUser) -> SetupResult<Self> {
        let staging = STAGING.iter().map(PathBuf::from).find(|folder| folder.is_dir());
        let staging =
            staging.ok_or_else(|| sys::failure("staging", Errno::NOENT, "there is no folder `/sys`"))?;
        let memory = memory_folder(16 << 20, 10_000, 0o755, None).step("staging")?;
        attach(&memory, &staging).step("staging")?;
        Ok(Self { user, built: BuiltFiles::default(), staging, staged: 0 })
    }

    fn detach(&mut self, mount: &PlannedMount, into: &mut Vec<Detached>) -> SetupResult<()> {
        let target = mount.target.as_path().to_owned();
        let kind = match &mount.content {
            MountContent::Overlay { lower, writes, otherwise } => {
                let lower: Vec<&Path> = lower.iter().map(|layer| layer.as_path()).collect();
                let made = match (self.overlay(&lower, writes), otherwise) {
                    (Err(_), OverlayFallback::Memory | OverlayFallback::Parts(_)) => {
                        self.overlay(&lower, &MEMORY_WRITES)
                    }
                    (made, _) => made,
                };
                match (made, otherwise) {
                    (Ok(mount), _) => DetachedKind::Mount { mount, is_folder: true },
                    (Err(failure), OverlayFallback::Refuse) => return Err(failure),
                    (Err(failure), OverlayFallback::Memory) => {
                        self.built
                            .notes
                            .push(format!("`{}` is empty and in memory: {failure}", target.display()));
                        let mount = memory_folder(1 << 30, 100_000, 0o1777, None).step("tmpfs")?;
                        DetachedKind::Mount { mount, is_folder: true }
                    }
                    (Err(failure), OverlayFallback::Parts(parts)) => {
                        self.built.notes.push(format!("`{}` is read-only: {failure}", target.display()));
                        let parts: Vec<&Path> = parts.iter().map(|part| part.as_path()).collect();
                        // By itself too: what lies around it may be covered.
                        let mount = self.bind(&target, false)?;
                        into.push(Detached { target, kind: DetachedKind::Mount { mount, is_folder: true } });
                        return self.overlay_parts(&parts, writes, into);
                    }
                }
            }
            MountContent::Bind { source, writable } => {
                let source = source.as_path();
                let is_folder = fs::metadata(source).step("bind")?.is_dir();
                DetachedKind::Mount { mount: self.bind(source, *writable)?, is_folder }
            }
            MountContent::Memory { bytes, inodes, mode } => {
                let mount = memory_folder(*bytes, *inodes, *mode, self.user.outer_owner()).step("tmpfs")?;
                DetachedKind::Mount { mount, is_folder: true }
            }
            MountContent::File(text) => DetachedKind::Mount { mount: self.file(text)?, is_folder: false },
            MountContent::Symlink(to) => DetachedKind::Symlink(to.as_path().to_owned()),
            MountContent::Proc => {
                let mount = new_mount("proc", &[], NO_SUID_DEVICES | MountAttrFlags::MOUNT_ATTR_NOEXEC);
                DetachedKind::Mount { mount: mount.step("proc")?, is_folder: true }
            }
            MountContent::Devices => DetachedKind::Devices(proc_dev::PreparedDevices::detach()?),
        };
        into.push(Detached { target, kind });
        Ok(())
    }

    /// Overlays over some folders of a tree that cannot be overlaid as a whole.
    fn overlay_parts(
        &mut self,
        parts: &[&Path],
        writes: &PlannedWrites,
        into: &mut Vec<Detached>,
    ) -> SetupResult<()> {
        for (at, part) in parts.iter().copied().filter(|part| part.is_dir()).enumerate() {
            let writes = match writes {
                PlannedWrites::Folder(folder) => {
                    let folder = folder.as_path().with_extension(format!("part{at}"));
                    prepare_write_folder(&folder, part, self.user)?;
                    PlannedWrites::Folder(folder.into())
                }
                memory @ PlannedWrites::Memory { .. } => memory.clone(),
            };
            match self.overlay(&[part], &writes) {
                Ok(mount) => into.push(Detached {
                    target: part.to_owned(),
                    kind: DetachedKind::Mount { mount, is_folder: true },
                }),
                Err(failure) => {
                    self.built.notes.push(format!("`{}` is read-only: {failure}", part.display()))
                }
            }
        }
        Ok(())
    }

    fn overlay(&mut self, lower: &[&Path], writes: &PlannedWrites) -> SetupResult<OwnedFd> {
        let mut layers = Vec::new();
        for layer in lower {
            layers.push(self.layer(layer)?);
        }
        let writes = self.write_layer(writes, lower.last().copied().unwrap_or(Path::new("/")))?;
        let open_below = |name: &str| {
            rustix::fs::openat(
                &writes,
                name,
                OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
            )
            .step("write layer")
        };
        let (upper, work) = (open_below("upper")?, open_below("work")?);
        let name = |layer: &OwnedFd| format!("/proc/self/fd/{}", layer.as_raw_fd());
        let lower = layers.iter().map(name).collect::<Vec<_>>().join(":");
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).step("overlay")?;
        let _writer = self.user.outer_owner().map(WriteAs::begin).transpose().step("overlay")?;
        let made = (|| {
            fsconfig_set_string(&context, "lowerdir", lower.as_str())?;
            fsconfig_set_string(&context, "upperdir", name(&upper).as_str())?;
            fsconfig_set_string(&context, "workdir", name(&work).as_str())?;
            fsconfig_set_flag(&context, "volatile")?;
            match self.user {
                SandboxUser::Same => fsconfig_set_flag(&context, "userxattr")?,
                _ => fsconfig_set_string(&context, "redirect_dir", "nofollow")?,
            }
            fsconfig_create(&context)?;
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, NO_SUID_DEVICES)
        })();
        made.map_err(|errno| sys::failure("overlay", errno, kernel_message(context)))
    }

    /// A folder as a layer: as it is for a user, id-mapped for the superuser.
    fn layer(&mut self, path: &Path) -> SetupResult<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Some(map) = self.user.mount_map() else {
            return open(path, flags, Mode::empty()).step("layer");
        };
        let tree = clone_tree(path, false).step("layer")?;
        set_mount_attributes(tree.as_fd(), false, 0, Some(map)).step("id-mapped layer")?;
        self.stage_mount(&tree)
    }

    /// The folder with `upper` and `work` in it.
    fn write_layer(&mut self, writes: &PlannedWrites, tree: &Path) -> SetupResult<OwnedFd> {
        match writes {
            PlannedWrites::Folder(folder) => self.layer(folder.as_path()),
            PlannedWrites::Memory { bytes, inodes, hand_out } => {
                let memory = memory_folder(*bytes, *inodes, 0o700, None).step("tmpfs")?;
                let staged = self.stage_mount(&memory)?;
                let folder = PathBuf::from(format!("/proc/self/fd/{}", staged.as_raw_fd()));
                prepare_write_folder(&folder, tree, self.user)?;
                if *hand_out {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    let upper = rustix::fs::openat(&staged, "upper", flags, Mode::empty());
                    self.built.memory_upper = Some(upper.step("write layer")?);
                }
                let Some(map) = self.user.mount_map() else {
                    return Ok(staged);
                };
                let tree = clone_tree(&folder, false).step("layer")?;
                set_mount_attributes(tree.as_fd(), false, 0, Some(map)).step("id-mapped layer")?;
                self.stage_mount(&tree)
            }
        }
    }

    /// Gives a detached mount a place in the staging area: kernels before 6.15 refuse layers without one.
    fn stage_mount(&mut self, mount: &OwnedFd) -> SetupResult<OwnedFd> {
        let place = self.staging.join(self.staged.to_string());
        self.staged += 1;
        fs::create_dir(&place).step("staging")?;
        attach(mount, &place).step("staging")?;
        open(&place, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).step("staging")
    }

    fn bind(&self, source: &Path, writable: bool) -> SetupResult<OwnedFd> {
        let attributes = NO_SUID | NO_DEVICES | if writable { 0 } else { READ_ONLY };
        let map = self.user.mount_map();
        let mount = clone_tree(source, true).step("bind")?;
        let Err(errno) = set_mount_attributes(mount.as_fd(), true, attributes, map) else {
            return Ok(mount);
        };
        if map.is_none() {
            return Err(sys::failure("bind", errno, source.display().to_string()));
        }
        // A mount below it, or the file system itself, cannot be mapped.
        let mount = clone_tree(source, false).step("bind")?;
        match set_mount_attributes(mount.as_fd(), false, attributes, map) {
            Ok(()) => Ok(mount),
            Err(errno) if writable => {
                Err(sys::failure("id-mapped bind", errno, source.display().to_string()))
            }
            Err(_) => {
                let mount = clone_tree(source, true).step("bind")?;
                set_mount_attributes(mount.as_fd(), true, attributes, None).step("bind")?;
                Ok(mount)
            }
        }
    }

    /// A file in memory, read-only.
    fn file(&mut self, text: &str) -> SetupResult<OwnedFd> {
        let path = self.staging.join(format!("file{}", self.staged));
        self.staged += 1;
        fs::write(&path, text).step("file")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).step("file")?;
        let mount = clone_tree(&path, false).step("file")?;
        let attributes = READ_ONLY | NO_SUID | NO_DEVICES;
        set_mount_attributes(mount.as_fd(), false, attributes, None).step("file")?;
        Ok(mount)
    }
}

/// What the kernel says about a mount that it refused.
fn kernel_message(context: OwnedFd) -> String {
    let mut buffer = [0; 512];
    let read = fs::File::from(context).read(&mut buffer).unwrap_or(0);
    let text = String::from_utf8_lossy(&buffer[..read]);
    text.trim().trim_start_matches(['e', 'w', 'i', ' ']).to_owned()
}
