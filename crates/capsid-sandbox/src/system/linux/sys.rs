//! System calls that rustix does not wrap, and the name of the step that failed.

use crate::system::plan::SetupFailure;
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

pub type SetupResult<T> = Result<T, SetupFailure>;

/// Names the step of the setup that an error belongs to.
pub trait AtStep<T> {
    fn step(self, name: &str) -> SetupResult<T>;
}

impl<T> AtStep<T> for rustix::io::Result<T> {
    fn step(self, name: &str) -> SetupResult<T> {
        self.map_err(|errno| failure(name, errno, String::new()))
    }
}

impl<T> AtStep<T> for io::Result<T> {
    fn step(self, name: &str) -> SetupResult<T> {
        self.map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            failure(name, Errno::from_raw_os_error(errno), String::new())
        })
    }
}

pub fn failure(step: &str, errno: Errno, detail: impl Into<String>) -> SetupFailure {
    SetupFailure { step: step.to_owned(), errno: errno.raw_os_error(), detail: detail.into() }
}

/// The result of a system call, or its error.
pub fn check(result: libc::c_long) -> rustix::io::Result<libc::c_long> {
    if result >= 0 {
        return Ok(result);
    }
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Err(Errno::from_raw_os_error(errno))
}

/// The child's number for the parent, nothing for the child.
pub fn fork() -> rustix::io::Result<Option<Pid>> {
    // SAFETY: the launcher has one thread, so the child may do whatever the parent may.
    let pid = check(libc::c_long::from(unsafe { libc::fork() }))?;
    Ok(i32::try_from(pid).ok().and_then(Pid::from_raw))
}

/// Ends this process at once: neither buffers nor exit handlers belong to a forked child.
pub fn exit(status: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: RawFd) -> rustix::io::Result<()> {
    // SAFETY: the callers own no descriptor from `first` on that they use afterwards.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Moves a descriptor to a number that nothing here owns, and lets it survive an exec or not.
pub fn place_descriptor(from: RawFd, to: RawFd, close_on_exec: bool) -> rustix::io::Result<()> {
    let flags = if close_on_exec { libc::O_CLOEXEC } else { 0 };
    if from == to {
        let flags = if close_on_exec { libc::FD_CLOEXEC } else { 0 };
        // SAFETY: it changes a flag of one descriptor.
        return check(libc::c_long::from(unsafe { libc::fcntl(to, libc::F_SETFD, flags) })).map(drop);
    }
    // SAFETY: the launcher decides about its own descriptors before anything else uses that number.
    check(libc::c_long::from(unsafe { libc::dup3(from, to, flags) })).map(drop)
}

/// Starts a new session keyring, so that the keys of the user's session are not reachable.
pub fn leave_session_keyring() {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    // A kernel without keys, or a filter that refuses the call, leaves nothing to protect that the filter does not.
    // SAFETY: a null name asks for an anonymous keyring.
    let _ = check(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0) });
}

/// Becomes another program; returns only if that failed.
pub fn execute(program: &CStr, argv: &[std::ffi::CString], env: &[std::ffi::CString]) -> Errno {
    let pointers = |texts: &[std::ffi::CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both lists end with a null pointer, and the texts they point to outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    Errno::from_raw_os_error(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// Blocks signals and gives a descriptor that reports them.
pub fn signal_descriptor(signals: &[i32]) -> rustix::io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    let mut set: libc::sigset_t = empty_signal_set();
    for &signal in signals {
        // SAFETY: the set was initialised.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: the set is initialised, and the old one is not asked for.
    check(libc::c_long::from(unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut())
    }))?;
    // SAFETY: -1 asks for a new descriptor.
    let fd = check(libc::c_long::from(unsafe {
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }))?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1)) })
}

/// Lets all signals through again, as a program expects to be started.
pub fn unblock_signals() {
    let set = empty_signal_set();
    // SAFETY: the set is initialised, and the old one is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

fn empty_signal_set() -> libc::sigset_t {
    // SAFETY: a signal set is plain numbers, and the call below gives it its meaning.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is writable and of the right type.
    unsafe { libc::sigemptyset(&raw mut set) };
    set
}

/// Lowers one limit of this process; a stricter one that is already there stays.
pub fn lower_limit(resource: u32, most: u64) -> rustix::io::Result<()> {
    // The C libraries have other types for it.
    let resource = resource as _;
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel fills the structure that it is given.
    check(libc::c_long::from(unsafe { libc::getrlimit64(resource, &raw mut limit) }))?;
    let most = limit.rlim_max.min(most);
    let limit = libc::rlimit64 { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure is complete.
    check(libc::c_long::from(unsafe { libc::setrlimit64(resource, &raw const limit) })).map(drop)
}

/// Switches the loopback of a new network namespace on.
pub fn bring_loopback_up() -> rustix::io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the structure is plain numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the request names an interface and its flags, as this call wants it.
    check(libc::c_long::from(unsafe {
        libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    }))
    .map(drop)
}

/// Lets go of the program's input and outputs, so that the other side sees when the program closed them.
pub fn release_standard_streams() {
    if let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        for stream in 0..3 {
            let _ = place_descriptor(null.as_raw_fd(), stream, false);
        }
    }
}
