//! The first process of the sandbox: it builds the files, starts the program, and reaps what is left by others. When it
//! ends, the kernel kills everything else in its PID namespace.

use super::engine_link::EngineLink;
use super::namespaces;
use super::sandbox_user::SandboxUser;
use super::sys::{self, AtStep, SetupResult};
use super::{landlock, mounts, proc_dev, seccomp};
use crate::system::plan::{LaunchPlan, LaunchReport, NamespacePlan, SetupFailure};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, kill_process_group, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The last descriptor that the first process keeps; those of the real tree are above it and are closed.
const SIGNALS: i32 = 6;

/// Never returns: the process ends with the program.
pub fn run(plan: &LaunchPlan, files: &NamespacePlan, user: SandboxUser, engine: &mut EngineLink) -> ! {
    match build(plan, files, user, engine).and_then(|signals| start(plan, engine).map(|pid| (signals, pid))) {
        Ok((signals, program)) => {
            sys::release_standard_streams();
            let report = wait_for_end(program, &signals, engine);
            engine.send(&report);
            sys::exit(0)
        }
        Err(failure) => {
            engine.send(&LaunchReport::Refused(failure));
            sys::exit(1)
        }
    }
}

fn build(
    plan: &LaunchPlan,
    files: &NamespacePlan,
    user: SandboxUser,
    engine: &mut EngineLink,
) -> SetupResult<OwnedFd> {
    let built = mounts::build(files, &user)?;
    if let Some(upper) = built.memory_upper {
        engine.send_upper(&upper).step("write layer")?;
    }
    // A superuser owns these files whatever its capabilities are.
    if files.mask_proc || rustix::process::geteuid().is_root() {
        proc_dev::mask_proc()?;
    }
    let ids = user.ids();
    namespaces::drop_privileges(&user)?;
    drop(user);
    // Only now: the kernel forgets this wish when the ids change.
    set_parent_process_death_signal(Some(Signal::KILL)).step("parent death signal")?;
    restrict(plan, files.network)?;
    let signals = sys::signal_descriptor(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])
        .step("signals")?;
    sys::place_descriptor(signals.as_raw_fd(), SIGNALS, true).step("signals")?;
    std::mem::forget(signals);
    // The program could open what this process holds, and some of it leads to the real tree.
    sys::close_from(SIGNALS + 1).step("close_range")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("dumpable")?;
    engine.built(ids, built.notes);
    // SAFETY: the number was just filled, and the descriptor it was copied from is closed.
    Ok(unsafe { std::os::fd::FromRawFd::from_raw_fd(SIGNALS) })
}

/// Limits and filters, which the program inherits.
fn restrict(plan: &LaunchPlan, shares_network: bool) -> SetupResult<()> {
    for &(resource, most) in &plan.limits {
        sys::lower_limit(resource, most).step("limits")?;
    }
    if shares_network {
        landlock::scope_abstract_sockets()
            .map_err(|why| sys::failure("landlock", rustix::io::Errno::INVAL, why))?;
    }
    seccomp::apply(plan.filter)
}

/// Starts the program in a session of its own.
pub fn start(plan: &LaunchPlan, engine: &mut EngineLink) -> SetupResult<Pid> {
    start_with(plan, engine, || Ok(()))
}

/// The same, after something that only the program's own process is to do.
pub fn start_with(
    plan: &LaunchPlan,
    engine: &mut EngineLink,
    before: impl FnOnce() -> SetupResult<()>,
) -> SetupResult<Pid> {
    let program = plan.program.to_c_string();
    let argv: Vec<_> = plan.argv.iter().map(|word| word.to_c_string()).collect();
    let env: Vec<_> = plan.env.iter().map(|word| word.to_c_string()).collect();
    if let Some(pid) = sys::fork().step("fork")? {
        return Ok(pid);
    }
    sys::unblock_signals();
    // A child that was just forked leads no group yet.
    let _ = rustix::process::setsid();
    if let Err(failure) = before().and_then(|()| rustix::process::chdir(plan.cwd.as_path()).step("chdir")) {
        let cwd = plan.cwd.as_path().display().to_string();
        engine.send(&LaunchReport::Refused(SetupFailure { detail: cwd, ..failure }));
        sys::exit(1);
    }
    rustix::process::umask(engine.umask);
    let errno = sys::execute(&program, &argv, &env);
    engine.send(&LaunchReport::NotStarted { errno: errno.raw_os_error() });
    sys::exit(127)
}

/// The end of the program, as it is reported.
pub struct StartedProgram;

impl StartedProgram {
    pub fn report(status: WaitStatus) -> LaunchReport {
        match status.exit_status() {
            Some(status) => LaunchReport::Exited(status),
            None => LaunchReport::Signalled(status.terminating_signal().unwrap_or(0)),
        }
    }
}

/// Reaps until the program itself has ended; ends at once when the engine is gone.
fn wait_for_end(program: Pid, signals: &OwnedFd, engine: &EngineLink) -> LaunchReport {
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == program {
                return StartedProgram::report(status);
            }
        }
        let mut both = [
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
            // No event is asked for: the launcher reads what comes, and an end is always reported.
            PollFd::from_borrowed_fd(engine.lifeline.as_fd(), PollFlags::empty()),
        ];
        let _ = poll(&mut both, None);
        if both[1].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            sys::exit(1);
        }
        for signal in received(signals) {
            if signal != libc::SIGCHLD
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                let _ = kill_process_group(program, signal);
            }
        }
    }
}

/// The numbers of the signals that came.
fn received(signals: &OwnedFd) -> Vec<i32> {
    const RECORD: usize = size_of::<libc::signalfd_siginfo>();
    let mut buffer = [0; RECORD * 8];
    let read = rustix::io::read(signals, &mut buffer).unwrap_or(0);
    let records = buffer[..read].chunks_exact(RECORD);
    // The number is the first field.
    records.filter_map(|record| Some(u32::from_ne_bytes(*record.first_chunk()?).cast_signed())).collect()
}
