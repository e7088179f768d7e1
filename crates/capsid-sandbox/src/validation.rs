//! Running one validation command: argv without a shell, confined, limited, with nothing left behind.

use crate::isolation::{Confinement, Isolation, IsolationPolicy, best, unavailable};
use crate::leftovers::OrphanReaper;
use crate::limits::lower;
use crate::output::CapturedOutput;
use crate::process::{GRACE, RunningProcess, deadline, signal_or_status};
use crate::program::{ResolvedProgram, not_found};
use crate::{ProcessLimits, bubblewrap, environment, landlock};
use capsid_model::{Code, Problem, Result, gate};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was killed because its time was over.
    TimedOut,
}

impl ProcessEnd {
    /// Whether it succeeded.
    pub fn ok(self) -> bool {
        self == Self::Exited(0)
    }
}

/// A program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProcess {
    /// How.
    pub end: ProcessEnd,
    /// The head of its standard output.
    pub stdout: String,
    /// The head of its standard error.
    pub stderr: String,
    /// How long it took.
    pub duration: Duration,
    /// How it was confined.
    pub isolation: Isolation,
}

/// Runs a command that passed the gate, in the best sandbox the policy asks for.
pub fn run_validation(
    argv: &[String],
    confinement: &Confinement,
    policy: IsolationPolicy,
    limits: &ProcessLimits,
) -> Result<FinishedProcess> {
    let isolation = match policy {
        IsolationPolicy::Require => best()?,
        IsolationPolicy::Off => Isolation::None,
    };
    run_validation_at(isolation, argv, confinement, limits)
}

/// The same in one kind of sandbox, whether or not a better one is there.
pub fn run_validation_at(
    isolation: Isolation,
    argv: &[String],
    confinement: &Confinement,
    limits: &ProcessLimits,
) -> Result<FinishedProcess> {
    let place = confinement.resolved()?;
    let argv = gate::argv_to_run(argv);
    let Some((name, args)) = argv.split_first() else {
        return Err(Problem::new(Code::InputInvalid, "There is no command to run."));
    };
    let program = ResolvedProgram::find(name, &place.root)?;
    let home = tempfile::tempdir()
        .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
    let mut command = match isolation {
        Isolation::Bubblewrap => bubblewrap::command(&program, args, &place)?,
        Isolation::Landlock => landlock::command(&program, args, &place, home.path())?,
        Isolation::None => unconfined(&program, args, &place, home.path()),
    };
    let watch = (isolation != Isolation::Bubblewrap).then(OrphanReaper::begin);
    let mut finished =
        run(&mut command, isolation, limits, watch.as_ref()).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => unavailable(isolation, error),
            _ => not_found(name, error),
        })?;
    if isolation == Isolation::Bubblewrap {
        bubblewrap::check_started(name, &finished)?;
        finished.end = bubblewrap::true_end(finished.end);
    }
    Ok(finished)
}

fn unconfined(program: &ResolvedProgram, args: &[String], place: &Confinement, home: &Path) -> Command {
    let mut command = Command::new(&program.path);
    command.args(args).current_dir(&place.root).env_clear().envs(environment::variables(
        program,
        home,
        place.network,
    ));
    command
}

fn run(
    command: &mut Command,
    isolation: Isolation,
    limits: &ProcessLimits,
    watch: Option<&OrphanReaper>,
) -> std::io::Result<FinishedProcess> {
    let kernel_limits = limits.for_kernel();
    // SAFETY: the closure only makes system calls, which is all that is allowed between fork and exec.
    unsafe {
        command.pre_exec(move || kernel_limits.into_iter().try_for_each(lower));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let deadline = deadline(limits.timeout);
    let mut running = RunningProcess::start(command)?;
    let stdout = running.child().stdout.take();
    let stderr = running.child().stderr.take();
    let stdout = stdout.map(|pipe| CapturedOutput::spawn_reader(pipe, limits.output_bytes));
    let stderr = stderr.map(|pipe| CapturedOutput::spawn_reader(pipe, limits.output_bytes));
    let in_time = running.wait_until(deadline);
    let duration = started.elapsed();
    let status = running.finish()?;
    let until = Instant::now() + GRACE;
    if let Some(watch) = watch {
        watch.clear(until);
    }
    let end = match (in_time, signal_or_status(status)) {
        (false, _) => ProcessEnd::TimedOut,
        (true, Ok(status)) => ProcessEnd::Exited(status),
        (true, Err(signal)) => ProcessEnd::Signalled(signal),
    };
    let text = |output: Option<CapturedOutput>| output.map_or_else(String::new, |o| o.wait(until));
    Ok(FinishedProcess { end, stdout: text(stdout), stderr: text(stderr), duration, isolation })
}
