//! The ids of the superuser's sandbox: a block of ids that belongs to nobody.

use super::sys::{self, AtStep, SetupResult};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// How many ids the sandbox has.
pub const COUNT: u32 = 65_536;
/// Above the ranges that systemd gives to containers and services.
const FIRST: u32 = 0x7000_0000;
/// The last block that is tried; ids from 2^31 on are misread by old programs.
const LAST: u32 = 0x7fff_0000;

/// The first block that no user, group or delegated range has ids in.
pub fn free_block() -> Option<u32> {
    let files = ["/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid"];
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap_or_default()).collect();
    let ids = texts[..2].iter().flat_map(|text| text.lines()).filter_map(|line| {
        let id: u32 = line.split(':').nth(2)?.parse().ok()?;
        Some((id, 1))
    });
    let ranges = texts[2..].iter().flat_map(|text| text.lines()).filter_map(|line| {
        let mut fields = line.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    first_free(&ids.chain(ranges).collect::<Vec<(u32, u32)>>())
}

/// The ids of programs that a superuser confines without namespaces; nothing for an ordinary user, and for a superuser who
/// may not change its ids or reach its own files without being their owner, as in some containers.
pub fn superuser_replacement() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let needed =
        CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::SETPCAP | CapabilitySet::DAC_OVERRIDE;
    let held = rustix::thread::capabilities(None).ok()?.permitted;
    let base = held.contains(needed).then(free_block)??;
    let own = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    // A superuser of a user namespace has only the ids that were mapped into it.
    let is_possible =
        has_id(&own("uid_map"), base) && has_id(&own("gid_map"), base) && own("setgroups").trim() != "deny";
    is_possible.then_some((base, base))
}

/// Whether a map has an id, as it is seen inside.
fn has_id(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(inside)), _, Some(Ok(count))) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        (inside..inside + count).contains(&u64::from(id))
    })
}

fn first_free(used: &[(u32, u32)]) -> Option<u32> {
    (FIRST..=LAST).step_by(COUNT as usize).find(|&base| {
        used.iter().all(|&(first, count)| {
            u64::from(first) >= u64::from(base) + u64::from(COUNT)
                || u64::from(first) + u64::from(count) <= u64::from(base)
        })
    })
}

/// A user namespace with this map, made by a child that ends at once: the descriptor keeps it.
pub fn user_namespace(uid_map: &str, gid_map: &str) -> SetupResult<OwnedFd> {
    let (mut ours, mut theirs) = UnixStream::pair().step("user namespace")?;
    let Some(pid) = sys::fork().step("fork")? else {
        drop(ours);
        // SAFETY: nothing of this process is shared with a thread.
        let entered = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWUSER) };
        let errno = entered.err().map_or(0, Errno::raw_os_error);
        let _ = theirs.write_all(&errno.to_ne_bytes());
        // It lives until the parent has what it needs, or is gone.
        let _ = theirs.read(&mut [0]);
        sys::exit(0);
    };
    drop(theirs);
    let namespace = read_errno(&mut ours).step("unshare (user)").and_then(|()| {
        let process = format!("/proc/{}", pid.as_raw_pid());
        fs::write(format!("{process}/gid_map"), gid_map).step("gid_map")?;
        fs::write(format!("{process}/uid_map"), uid_map).step("uid_map")?;
        fs::File::open(format!("{process}/ns/user")).step("user namespace")
    });
    drop(ours);
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    Ok(namespace?.into())
}

fn read_errno(stream: &mut UnixStream) -> std::io::Result<()> {
    let mut errno = [0; 4];
    stream.read_exact(&mut errno)?;
    match i32::from_ne_bytes(errno) {
        0 => Ok(()),
        errno => Err(std::io::Error::from_raw_os_error(errno)),
    }
}

/// A map of every id that exists here to itself.
pub fn identity(own_map: &str) -> String {
    own_map
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (inside, _, count) = (fields.next()?, fields.next()?, fields.next()?);
            Some(format!("{inside} {inside} {count}\n"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_somebody_has_ids_in_is_not_used() {
        assert_eq!(first_free(&[(0, 1), (1000, 1), (100_000, 65_536)]), Some(FIRST));
        assert_eq!(first_free(&[(FIRST + 5, 1)]), Some(FIRST + COUNT));
        assert_eq!(first_free(&[(FIRST - 1, 2), (FIRST + COUNT, COUNT)]), Some(FIRST + 2 * COUNT));
        assert_eq!(first_free(&[(0, u32::MAX)]), None);
    }

    #[test]
    fn a_map_has_the_ids_of_its_ranges() {
        assert!(has_id("         0          0 4294967295\n", FIRST));
        assert!(!has_id("0 1000 1\n", FIRST) && has_id("0 1000 1\n", 0));
        assert!(!has_id("", 0));
    }

    #[test]
    fn the_identity_map_has_every_range_of_the_own_map() {
        let own = "         0          0 4294967295\n";
        assert_eq!(identity(own), "0 0 4294967295\n");
        assert_eq!(identity("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
