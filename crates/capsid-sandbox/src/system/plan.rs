//! What the launcher is to do, as data: it crosses from the engine to the launcher in a sealed memory file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path, argument or variable. It may hold any bytes, so JSON carries it with one character for each byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RawText(Vec<u8>);

impl RawText {
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// As the kernel wants it; what follows a NUL is cut off, because nothing can name it.
    pub fn to_c_string(&self) -> CString {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        CString::new(&self.0[..end]).unwrap_or_default()
    }
}

impl From<OsString> for RawText {
    fn from(text: OsString) -> Self {
        Self(text.into_vec())
    }
}

impl From<PathBuf> for RawText {
    fn from(path: PathBuf) -> Self {
        Self::from(path.into_os_string())
    }
}

impl From<&Path> for RawText {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<&str> for RawText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl Serialize for RawText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().map(|&byte| char::from(byte)).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for RawText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = text.chars().map(|c| u8::try_from(u32::from(c)).map_err(serde::de::Error::custom));
        bytes.collect::<Result<_, _>>().map(Self)
    }
}

/// One start of a program.
#[derive(Debug, Serialize, Deserialize)]
pub struct LaunchPlan {
    pub program: RawText,
    /// With the name of the program as the first.
    pub argv: Vec<RawText>,
    /// `NAME=value`.
    pub env: Vec<RawText>,
    pub cwd: RawText,
    pub confinement: PlannedConfinement,
    pub filter: SyscallFilter,
    /// Numbers of `RLIMIT_*` and their values.
    pub limits: Vec<(u32, u64)>,
    pub disk: Option<DiskLimit>,
}

/// How the program is kept apart from the rest of the machine.
#[derive(Debug, Serialize, Deserialize)]
pub enum PlannedConfinement {
    Namespaces(NamespacePlan),
    Landlock(LandlockPlan),
    None,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct NamespacePlan {
    pub base: FileBase,
    pub mounts: Vec<PlannedMount>,
    pub network: bool,
    /// Whether parts of `/proc` are hidden from an ordinary user too; for the superuser they always are.
    pub mask_proc: bool,
    /// Whether a superuser without id-mapped mounts is refused.
    pub require_mapped_root: bool,
    /// The folder whose owner the program runs as when root starts it.
    pub owned_like: RawText,
}

/// What the mounts are laid over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileBase {
    /// The machine's own files, read-only.
    Machine,
    /// Nothing.
    Empty,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlannedMount {
    pub target: RawText,
    pub content: MountContent,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum MountContent {
    /// The topmost layer first; the last one is the tree itself.
    Overlay {
        lower: Vec<RawText>,
        writes: PlannedWrites,
        otherwise: OverlayFallback,
    },
    /// A file or folder of the machine with all that is mounted below it.
    Bind {
        source: RawText,
        writable: bool,
    },
    /// An empty folder in memory.
    Memory {
        bytes: u64,
        inodes: u64,
        mode: u32,
    },
    /// A read-only file with this text.
    File(String),
    Symlink(RawText),
    Proc,
    Devices,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum PlannedWrites {
    /// `upper` and `work` are made in it.
    Folder(RawText),
    /// Memory, and whether the engine gets a descriptor of its `upper`, by which it outlives the sandbox.
    Memory { bytes: u64, inodes: u64, hand_out: bool },
}

/// What to do where the kernel refuses an overlay, as it does over a tree with a mount in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum OverlayFallback {
    Refuse,
    /// A folder in memory instead.
    Memory,
    /// Overlays over these folders of it, and the rest read-only.
    Parts(Vec<RawText>),
}

#[derive(Debug, Serialize, Deserialize)]
pub struct LandlockPlan {
    pub read: Vec<RawText>,
    pub write: Vec<RawText>,
    pub network: bool,
    /// Whether the program reads what the kernel knows of its own process, which runtimes do. Not those that it starts.
    pub own_process: bool,
    /// The uid and gid that a superuser gives up its own for. It still reads and writes what the rules allow, as the
    /// superuser could; modes, owners and times of its files are out of reach.
    pub run_as: Option<(u32, u32)>,
}

/// Which system calls are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyscallFilter {
    Open,
    /// For agents, which bring sandboxes of their own.
    Base,
    Strict,
    /// Strict, and no netlink.
    Untrusted,
    /// Base without namespaces: what Landlock has no rule for is refused by number, Unix sockets too unless some are shown.
    BaseWithoutNamespaces {
        network: bool,
        sockets: bool,
    },
    StrictWithoutNamespaces {
        network: bool,
    },
}

/// The most that may be written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiskLimit {
    pub bytes: u64,
    /// What is counted: write layers, or a folder with what it already has.
    pub folders: Vec<CountedFolder>,
}

/// A folder with the most files that may be added to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CountedFolder {
    pub path: RawText,
    pub files: u64,
}

/// What the launcher and the first process of the sandbox say, one line each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum LaunchReport {
    /// The sandbox is built. Microseconds since the launcher began.
    Built {
        ids: crate::SandboxIds,
        micros: u64,
        notes: Vec<String>,
    },
    /// It could not be built.
    Refused(SetupFailure),
    /// The program could not be started.
    NotStarted {
        errno: i32,
    },
    Exited(i32),
    Signalled(i32),
    LimitHit(crate::LimitHit),
}

/// What comes from the sandbox.
pub enum LaunchMessage {
    Report(LaunchReport),
    MemoryUpper(OwnedFd),
}

/// The step of the setup that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupFailure {
    pub step: String,
    pub errno: i32,
    /// What the kernel or the launcher says about it.
    pub detail: String,
}

impl std::fmt::Display for SetupFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.step, std::io::Error::from_raw_os_error(self.errno))?;
        if self.detail.is_empty() { Ok(()) } else { write!(out, " ({})", self.detail) }
    }
}
