//! Copies the content of a file: shared blocks where the file system can, holes where the source has them.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::io::Read;
use std::io::{self, Seek, Write};

/// Copies everything to an empty file.
#[cfg(target_os = "linux")]
pub fn copy_content(source: &mut File, target: &mut File) -> io::Result<()> {
    use rustix::fs::SeekFrom;
    use rustix::io::Errno;
    if rustix::fs::ioctl_ficlone(&*target, &*source).is_ok() {
        return Ok(());
    }
    let length = source.metadata()?.len();
    target.set_len(length)?;
    let mut at = 0;
    while at < length {
        let start = match rustix::fs::seek(&*source, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Only a hole is left.
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&*source, SeekFrom::Hole(start)).unwrap_or(length).max(start);
        copy_range(source, target, start, end.min(length))?;
        at = end.max(start + 1);
    }
    Ok(())
}

/// Copies everything to an empty file.
#[cfg(not(target_os = "linux"))]
pub fn copy_content(source: &mut File, target: &mut File) -> io::Result<()> {
    source.rewind()?;
    io::copy(source, target)?;
    target.flush()
}

#[cfg(target_os = "linux")]
fn copy_range(source: &mut File, target: &mut File, start: u64, end: u64) -> io::Result<()> {
    let (mut from, mut to) = (start, start);
    while from < end {
        let wanted = usize::try_from(end - from).unwrap_or(usize::MAX).min(1 << 30);
        match rustix::fs::copy_file_range(&*source, Some(&mut from), &*target, Some(&mut to), wanted) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(_) => {
                source.seek(io::SeekFrom::Start(from))?;
                target.seek(io::SeekFrom::Start(from))?;
                let mut part = Read::by_ref(source).take(end - from);
                io::copy(&mut part, target)?;
                target.flush()?;
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_copy_has_the_bytes_and_the_holes_of_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = File::create_new(folder.path().join("a")).unwrap();
        source.set_len(8 << 20).unwrap();
        source.seek(io::SeekFrom::Start(4 << 20)).unwrap();
        source.write_all(b"middle").unwrap();
        let mut source = File::open(folder.path().join("a")).unwrap();
        let mut target = File::create_new(folder.path().join("b")).unwrap();
        copy_content(&mut source, &mut target).unwrap();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!(read("a"), read("b"));
        assert!(target.metadata().unwrap().blocks() * 512 < 1 << 20, "the hole is not filled");
    }
}
