//! Starts the launcher: this same program again, which builds the sandbox before its `main` would run.

use super::orphans::OrphanGuard;
use crate::system::plan::{LaunchMessage, LaunchPlan, PlannedConfinement};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The name by which this program knows that it is to be the launcher.
const LAUNCHER: &str = "capsid-sandbox";

/// How long the processes of a sandbox may take to be gone once they were killed.
const KILL_TIME: Duration = Duration::from_secs(10);

/// Runs before `main`. A call in `main` could be forgotten, and test programs have a `main` that is not ours; the C
/// library calls what is listed here in every program that links this module. That of GNU passes the arguments of `main`,
/// and that of musl nothing, so they come from the kernel.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = become_launcher;

extern "C" fn become_launcher() {
    let Some(words) = launcher_arguments() else { return };
    let numbers: Vec<RawFd> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let &[settings, lifeline, report] = numbers.as_slice() else {
        super::sys::exit(2);
    };
    super::launcher::run(settings, lifeline, report);
}

/// The three arguments of the launcher, if this program is to be it. Every start of the program reads them, so no more
/// than is needed.
fn launcher_arguments() -> Option<Vec<String>> {
    let mut head = [0; 64];
    let length = File::open("/proc/self/cmdline").and_then(|mut file| file.read(&mut head)).ok()?;
    let numbers =
        head[..length].strip_prefix(LAUNCHER.as_bytes())?.strip_prefix(b"\0")?.strip_suffix(b"\0")?;
    let words: Vec<String> =
        numbers.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    (words.len() == 3).then_some(words)
}

/// A launcher that runs. Dropping it ends the program and everything that the program started.
pub struct Launched {
    child: Child,
    /// Closed, it ends the sandbox; a byte on it asks the program to end.
    lifeline: Option<UnixStream>,
    messages: Receiver<LaunchMessage>,
    seen: Vec<LaunchMessage>,
    ended: bool,
    reaped: bool,
    /// Where nothing but the launcher knows the processes of the sandbox.
    orphans: Option<OrphanGuard>,
}

/// Starts a launcher with this plan; the three outputs and inputs become those of the program.
pub fn launch(plan: &LaunchPlan, stdin: Stdio, stdout: Stdio, stderr: Stdio) -> io::Result<Launched> {
    // Naming it here keeps the linker from leaving it out.
    std::hint::black_box(&BEFORE_MAIN);
    let settings = seal(plan)?;
    let (lifeline, its_lifeline) = UnixStream::pair()?;
    let (report, its_report) = UnixStream::pair()?;
    let numbers = [settings.as_raw_fd(), its_lifeline.as_raw_fd(), its_report.as_raw_fd()];
    let mut command = Command::new("/proc/self/exe");
    command.arg0(LAUNCHER).args(numbers.map(|number| number.to_string())).env_clear();
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    // SAFETY: the closure only makes system calls, which is all that is allowed between fork and exec; the descriptors
    // are open until the launcher was started.
    unsafe {
        command.pre_exec(move || {
            for number in numbers {
                fcntl_setfd(BorrowedFd::borrow_raw(number), FdFlags::empty())?;
            }
            Ok(())
        });
    }
    let orphans = (!matches!(plan.confinement, PlannedConfinement::Namespaces(_))).then(OrphanGuard::adopt);
    let child = command.spawn()?;
    drop((settings, its_lifeline, its_report));
    let messages = read_messages(report);
    let (seen, ended, reaped) = (Vec::new(), false, false);
    Ok(Launched { child, lifeline: Some(lifeline), messages, seen, ended, reaped, orphans })
}

/// The plan in a memory file that nobody can change any more.
fn seal(plan: &LaunchPlan) -> io::Result<OwnedFd> {
    let memory = memfd_create(LAUNCHER, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(memory);
    file.write_all(&serde_json::to_vec(plan)?)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file.into())
}

/// The reports end when the launcher and the first process of the sandbox are both gone.
fn read_messages(report: UnixStream) -> Receiver<LaunchMessage> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        while let Some(descriptor) = receive(&report, &mut text) {
            if let Some(upper) = descriptor
                && sender.send(LaunchMessage::MemoryUpper(upper)).is_err()
            {
                return;
            }
            while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let report = serde_json::from_slice(&line).map(LaunchMessage::Report);
                if report.is_ok_and(|report| sender.send(report).is_err()) {
                    return;
                }
            }
        }
    });
    receiver
}

/// Adds what came to `text`, and gives a descriptor that came with it; nothing at the end.
fn receive(report: &UnixStream, text: &mut Vec<u8>) -> Option<Option<OwnedFd>> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut buffer = [0; 4096];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(&mut buffer)];
    let message =
        rustix::io::retry_on_intr(|| recvmsg(report, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC));
    let length = message.ok()?.bytes;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    text.extend_from_slice(&buffer[..length]);
    (length > 0).then_some(descriptor)
}

impl Launched {
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the end of everything in the sandbox; false when the time is over first.
    pub fn wait_until(&mut self, deadline: Instant) -> bool {
        while !self.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.seen.push(message),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
        }
        true
    }

    /// Asks the program's process group to end.
    pub fn ask_to_end(&mut self) {
        if let Some(lifeline) = &mut self.lifeline {
            // A launcher that is gone has nothing left to end.
            let _ = lifeline.write_all(b"t");
        }
    }

    /// Ends everything and gives all that was reported.
    pub fn finish(&mut self) -> io::Result<Vec<LaunchMessage>> {
        self.lifeline = None;
        if !self.wait_until(Instant::now() + KILL_TIME) {
            // It does not answer. The first process of the sandbox dies with it.
            let _ = self.child.kill();
            self.wait_until(Instant::now() + KILL_TIME);
        }
        let status = self.child.wait()?;
        self.reaped = true;
        if let Some(orphans) = self.orphans.take()
            && !status.success()
        {
            orphans.end();
        }
        Ok(std::mem::take(&mut self.seen))
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.finish();
        }
    }
}
