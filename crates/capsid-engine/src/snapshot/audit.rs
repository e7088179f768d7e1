//! Watches the audit log during a cycle: its old bytes may not change, and nobody but the engine appends to it.
//!
//! A mirror of the log lies beside the snapshots, where no agent has a reason to write. It grows with the log, so a
//! cycle copies only what is new.

use super::place;
use super::stat::Stat;
use capsid_model::{Problem, Result, Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much of the end of the mirror is compared before it is trusted to be the beginning of the log.
const OVERLAP: u64 = 64 * 1024;

/// The state of the log at the start of a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// Nothing, when there was no log.
    stat: Option<Stat>,
}

/// What was found to be wrong with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    /// Bytes that were there are gone or different.
    Rewritten,
    /// Something was appended that the engine did not write.
    Appended,
}

impl Audit {
    /// Brings the mirror up to date and notes the state of the log. Call it again after the engine's own appends.
    pub fn start(log: &Path, mirror: &Path) -> Result<Self> {
        let sync = || -> io::Result<Option<Stat>> {
            if let Some(folder) = mirror.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let Some(stat) = Stat::of(log)? else {
                File::create(mirror)?;
                return Ok(None);
            };
            catch_up(log, mirror, stat.len)?;
            Ok(Some(stat))
        };
        let stat = sync().map_err(|error| Problem::io("mirror", log, &error))?;
        Ok(Self { stat })
    }

    /// What happened to the log since the start, if it was not the engine.
    pub fn check(&self, log: &Path, mirror: &Path) -> Result<Option<Tampering>> {
        self.compare(log, mirror).map_err(|error| Problem::io("read", log, &error))
    }

    fn compare(&self, log: &Path, mirror: &Path) -> io::Result<Option<Tampering>> {
        let now = Stat::of(log)?;
        let (Some(start), Some(now)) = (self.stat, now) else {
            return Ok(match (self.stat, now) {
                (None, Some(_)) => Some(Tampering::Appended),
                (Some(_), None) => Some(Tampering::Rewritten),
                _ => None,
            });
        };
        if start == now {
            return Ok(None);
        }
        if now.len < start.len || !same_bytes(log, mirror, 0, start.len)? {
            return Ok(Some(Tampering::Rewritten));
        }
        Ok((now.len > start.len).then_some(Tampering::Appended))
    }

    /// Puts the old bytes back; what was there instead is moved aside, and its new path given.
    pub fn restore(&self, log: &Path, mirror: &Path, stamp_ms: i64) -> Result<Option<PathBuf>> {
        if self.check(log, mirror)?.is_none() {
            return Ok(None);
        }
        let mut name = log.as_os_str().to_owned();
        name.push(format!(".foreign-{stamp_ms}"));
        let aside = PathBuf::from(name);
        self.swap(log, mirror, &aside).map_err(|error| Problem::io("restore", log, &error))?;
        Ok(aside.symlink_metadata().is_ok().then_some(aside))
    }

    fn swap(&self, log: &Path, mirror: &Path, aside: &Path) -> io::Result<()> {
        let Some(start) = self.stat else {
            return std::fs::rename(log, aside);
        };
        let folder = log.parent().unwrap_or(Path::new("."));
        let mut old = tempfile::NamedTempFile::new_in(folder)?;
        let copied = io::copy(&mut File::open(mirror)?.take(start.len), &mut old)?;
        if copied != start.len {
            return Err(io::Error::other("its mirror is too short"));
        }
        place::set_mode(old.path(), 0o644)?;
        old.as_file().sync_all()?;
        // A second name for the foreign bytes first, so that there is a log at every moment.
        match std::fs::hard_link(log, aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::fs::rename(log, aside)?,
            _ => {}
        }
        old.persist(log).map_err(|kept| kept.error)?;
        Ok(())
    }

    /// The form it has in the run state.
    pub fn to_value(&self) -> Value {
        self.stat.map_or(Value::Null, |stat| json!([stat.len, stat.inode, stat.modified, stat.changed]))
    }

    /// Reads what [`Audit::to_value`] wrote.
    pub fn read(value: &Value) -> Option<Self> {
        let stat = match value {
            Value::Null => None,
            _ => Some(Stat {
                len: value.get(0)?.as_u64()?,
                inode: value.get(1)?.as_u64()?,
                modified: value.get(2)?.as_i64()?,
                changed: value.get(3)?.as_i64()?,
            }),
        };
        Some(Self { stat })
    }
}

/// Copies to the mirror what the log has more; starts over when the log is not a continuation of it.
fn catch_up(log: &Path, mirror: &Path, len: u64) -> io::Result<()> {
    let have = mirror.metadata().map_or(0, |meta| meta.len());
    let from = have.saturating_sub(OVERLAP);
    let continues = have <= len && (have == 0 || same_bytes(log, mirror, from, have - from)?);
    let start = if continues { have } else { 0 };
    let mut source = File::open(log)?;
    source.seek(SeekFrom::Start(start))?;
    let mut copy = File::options().create(true).write(true).truncate(false).open(mirror)?;
    copy.set_len(start)?;
    copy.seek(SeekFrom::End(0))?;
    io::copy(&mut source.take(len - start), &mut copy)?;
    copy.flush()
}

/// Whether two files hold the same `len` bytes from `start` on.
fn same_bytes(a: &Path, b: &Path, start: u64, len: u64) -> io::Result<bool> {
    let open = |path: &Path| -> io::Result<BufReader<io::Take<File>>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(64 * 1024, file.take(len)))
    };
    let (mut a, mut b) = (open(a)?, open(b)?);
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut rest = len;
    while rest > 0 {
        let step = rest.min(64 * 1024) as usize;
        let read = a.read_exact(&mut left[..step]).and_then(|()| b.read_exact(&mut right[..step]));
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
            Ok(()) if left[..step] != right[..step] => return Ok(false),
            Ok(()) => rest -= step as u64,
        }
    }
    Ok(true)
}
