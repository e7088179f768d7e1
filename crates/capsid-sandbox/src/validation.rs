//! Running one validation command: argv without a shell, confined, limited, with nothing left behind.

use crate::isolation::{best_isolation, unavailable};
use crate::launched::{GRACE, LaunchedProgram, deadline};
use crate::output::CapturedOutput;
use crate::program::{ResolvedProgram, not_found};
use crate::{
    ConfinedTree, Confinement, Isolation, IsolationPolicy, LimitHit, ProcessLimits, SandboxIds,
    ValidationProfile, plans,
};
use capsid_model::{Code, Problem, Result, gate};
use std::process::Stdio;
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
    /// The head and the end of its standard output.
    pub stdout: String,
    /// The head and the end of its standard error.
    pub stderr: String,
    /// How long it took.
    pub duration: Duration,
    /// How long building the sandbox took of that.
    pub build_time: Duration,
    /// How it was confined.
    pub isolation: Isolation,
    /// As whom it ran.
    pub ids: SandboxIds,
    /// The limits it ran into.
    pub limits_hit: Vec<LimitHit>,
}

/// Runs a command that passed the gate, in the best sandbox the policy asks for.
pub fn run_validation(
    argv: &[String],
    confinement: &Confinement,
    policy: IsolationPolicy,
    limits: &ProcessLimits,
) -> Result<FinishedProcess> {
    let isolation = match policy {
        IsolationPolicy::Require => best_isolation()?,
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
    check_level(isolation, confinement)?;
    let confinement = confinement.resolved()?;
    let limits = match confinement.profile {
        ValidationProfile::Validation => *limits,
        ValidationProfile::Untrusted => limits.for_untrusted(),
    };
    let argv = gate::argv_to_run(argv);
    let Some((name, args)) = argv.split_first() else {
        return Err(Problem::new(Code::InputInvalid, "There is no command to run."));
    };
    let program = ResolvedProgram::find(name, confinement.root())?;
    let home = tempfile::tempdir()
        .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
    let plan = plans::validation(isolation, &program, args, &confinement, home.path(), &limits);
    let started = Instant::now();
    let deadline = deadline(limits.timeout);
    let mut running =
        LaunchedProgram::start(&plan, Stdio::null()).map_err(|error| unavailable(isolation, error))?;
    let stdout = running.stdout().map(|pipe| CapturedOutput::spawn_reader(pipe, limits.output_bytes));
    let stderr = running.stderr().map(|pipe| CapturedOutput::spawn_reader(pipe, limits.output_bytes));
    let in_time = running.wait_until(deadline);
    let duration = started.elapsed();
    let outcome = running.finish().map_err(|error| unavailable(isolation, error))?;
    if let Some(failure) = outcome.refused {
        return Err(unavailable(isolation, failure));
    }
    if let Some(error) = outcome.not_started {
        return Err(not_found(name, error));
    }
    let mut limits_hit = outcome.limits_hit;
    let until = Instant::now() + GRACE;
    let mut text = |output: Option<CapturedOutput>| {
        let (text, cut) = output.map_or_else(Default::default, |output| output.wait(until));
        if cut && !limits_hit.contains(&LimitHit::Output) {
            limits_hit.push(LimitHit::Output);
        }
        text
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    let end = match (in_time, outcome.end) {
        (false, _) => ProcessEnd::TimedOut,
        (true, Ok(status)) => ProcessEnd::Exited(status),
        (true, Err(signal)) => ProcessEnd::Signalled(signal),
    };
    match end {
        ProcessEnd::TimedOut => limits_hit.push(LimitHit::Time),
        ProcessEnd::Signalled(signal) if signal == rustix::process::Signal::XFSZ.as_raw() => {
            limits_hit.push(LimitHit::FileSize);
        }
        _ => {}
    }
    let build_time = outcome.build_time;
    Ok(FinishedProcess { end, stdout, stderr, duration, build_time, isolation, ids: outcome.ids, limits_hit })
}

/// Some things are not run in a weaker sandbox, however it is asked for.
fn check_level(isolation: Isolation, confinement: &Confinement) -> Result<()> {
    if isolation == Isolation::Namespaces {
        return Ok(());
    }
    let level = isolation.as_str();
    if confinement.profile == ValidationProfile::Untrusted {
        let message = format!("The isolation `{level}` is too weak for a command of somebody else.");
        return Err(Problem::new(Code::SandboxUnavailable, message)
            .fix("Run it on a machine that allows user namespaces; `capsid doctor` says what is missing."));
    }
    if let ConfinedTree::Private(tree) = &confinement.tree {
        let message =
            format!("The isolation `{level}` cannot make a private view of `{}`.", tree.root.display());
        return Err(Problem::new(Code::SandboxUnavailable, message)
            .fix("Set `view = \"copy\"` under `[cycle]` in `capsid.toml`."));
    }
    Ok(())
}
