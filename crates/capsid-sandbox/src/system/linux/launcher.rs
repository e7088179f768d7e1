//! The launcher: one thread, no environment, started to build one sandbox and to wait for its end.

use super::disk::{DiskState, DiskWatch};
use super::engine_link::EngineLink;
use super::first_process::FirstProcess;
use super::init::{self, StartedProgram};
use super::sys::{self, AtStep, SetupResult};
use super::{namespaces, reaper, write_layer};
use crate::LimitHit;
use crate::system::plan::{LaunchPlan, LaunchReport, PlannedConfinement};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, WaitOptions, pidfd_open, waitpid};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Where the descriptors of the launcher are. Everything above is closed.
const SETTINGS: RawFd = 3;
const LIFELINE: RawFd = 4;
const REPORT: RawFd = 5;

/// Builds the sandbox of the plan in `settings`, and ends when it ends.
pub fn run(settings: RawFd, lifeline: RawFd, report: RawFd) -> ! {
    let began = Instant::now();
    // Out of the way first, because one may be where another has to be.
    let moved: Vec<RawFd> = [settings, lifeline, report].iter().filter_map(|&fd| duplicate(fd)).collect();
    let places = [SETTINGS, LIFELINE, REPORT];
    for (&from, &to) in moved.iter().zip(&places) {
        if sys::place_descriptor(from, to, true).is_err() {
            sys::exit(2);
        }
    }
    if moved.len() != places.len() || sys::close_from(REPORT + 1).is_err() {
        sys::exit(2);
    }
    // SAFETY: these numbers were just filled, and nothing else owns them.
    let (settings, lifeline, report) = unsafe {
        (File::from_raw_fd(SETTINGS), UnixStream::from_raw_fd(LIFELINE), UnixStream::from_raw_fd(REPORT))
    };
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let mut engine = EngineLink { lifeline, report, began, umask };
    match read_plan(settings) {
        Ok(plan) => start(&plan, engine),
        Err(failure) => engine.refuse(failure),
    }
}

fn duplicate(fd: RawFd) -> Option<RawFd> {
    // SAFETY: the number was given by the engine for this purpose; if it is not open the call fails.
    let moved = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, REPORT + 20) };
    (moved >= 0).then_some(moved)
}

fn read_plan(mut settings: File) -> SetupResult<LaunchPlan> {
    let mut bytes = Vec::new();
    settings.read_to_end(&mut bytes).step("settings")?;
    serde_json::from_slice(&bytes).map_err(std::io::Error::from).step("settings")
}

fn start(plan: &LaunchPlan, mut engine: EngineLink) -> ! {
    sys::leave_session_keyring();
    // Only a process that leads a group already cannot do this, and a launcher does not.
    let _ = rustix::process::setsid();
    let started = match &plan.confinement {
        PlannedConfinement::Namespaces(namespaces) => start_in_namespaces(plan, namespaces, &mut engine),
        PlannedConfinement::Landlock(rules) => reaper::start(plan, Some(rules), &mut engine),
        PlannedConfinement::None => reaper::start(plan, None, &mut engine),
    };
    match started {
        Ok(first) => watch(&first, engine),
        Err(failure) => engine.refuse(failure),
    }
}

fn start_in_namespaces(
    plan: &LaunchPlan,
    namespaces: &crate::system::plan::NamespacePlan,
    engine: &mut EngineLink,
) -> SetupResult<FirstProcess> {
    let ids = namespaces::enter(namespaces)?;
    write_layer::prepare_write_folders(namespaces, &ids)?;
    let disk = plan.disk.as_ref().map(DiskWatch::open).transpose()?;
    let Some(pid) = sys::fork().step("fork")? else {
        drop(disk);
        init::run(plan, namespaces, ids, engine);
    };
    Ok(FirstProcess { pid, disk, owns_namespace: true, process_folder: None })
}

/// Waits for the end, passes requests to end on, and stops what writes too much.
fn watch(first: &FirstProcess, mut engine: EngineLink) -> ! {
    sys::release_standard_streams();
    let Ok(pidfd) = pidfd_open(first.pid, PidfdFlags::empty()) else {
        first.kill();
        engine.refuse(sys::failure("pidfd_open", rustix::io::Errno::NOSYS, ""));
    };
    let mut next_walk = Instant::now() + DiskWatch::INTERVAL;
    loop {
        match wait_for_event(&pidfd, &engine.lifeline, first.disk.as_ref().map(|_| next_walk)) {
            WatchEvent::Ended => break,
            WatchEvent::EndRequested => {
                first.ask_to_end();
            }
            WatchEvent::EngineGone => {
                first.kill();
                break;
            }
            WatchEvent::Tick => {
                if let Some(disk) = &first.disk {
                    let began = Instant::now();
                    let state = disk.measure();
                    if state == DiskState::Exceeded {
                        engine.send(&LaunchReport::LimitHit(LimitHit::Disk));
                        first.kill();
                    }
                    next_walk = Instant::now() + DiskWatch::pause(state, began.elapsed());
                }
            }
        }
    }
    let status = waitpid(Some(first.pid), WaitOptions::empty());
    if !first.owns_namespace {
        reaper::end_descendants();
        if let Ok(Some((_, status))) = status {
            engine.send(&StartedProgram::report(status));
        }
    }
    sys::exit(0)
}

enum WatchEvent {
    Ended,
    EndRequested,
    EngineGone,
    Tick,
}

fn wait_for_event(first: &OwnedFd, lifeline: &UnixStream, tick: Option<Instant>) -> WatchEvent {
    let left = tick.map(|tick| tick.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
    let timeout = left.and_then(|left| Timespec::try_from(left).ok());
    let mut both = [
        PollFd::from_borrowed_fd(first.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(lifeline.as_fd(), PollFlags::IN),
    ];
    if !poll(&mut both, timeout.as_ref()).is_ok_and(|ready| ready > 0) {
        return WatchEvent::Tick;
    }
    if !both[0].revents().is_empty() {
        return WatchEvent::Ended;
    }
    let mut byte = [0];
    match (&*lifeline).read(&mut byte) {
        Ok(1) => WatchEvent::EndRequested,
        _ => WatchEvent::EngineGone,
    }
}
