//! `capsid hub runner`.

use crate::commands::cycle::evolve::stop_flag;
use crate::commands::variable;
use crate::output::{self, BAD, GOOD, NAME, WARN, paint};
use capsid_client::ClientConfig;
use capsid_client::runner::RunnerClient;
use capsid_engine::exchange::bundle_runs::{describe_runtime, refuse_root, run_bundle};
use capsid_engine::exchange::runner_folder::open_runner_folder;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, json};
use capsid_rules::evaluation::runner_job::{RunnerJob, RunnerReport};
use capsid_rules::evaluation::runner_outcome::RunnerOutcome;
use capsid_sandbox::require_untrusted_sandbox;
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a stop is looked for while nothing is to be done.
const STEP: Duration = Duration::from_millis(100);

/// Run the commands of candidates for a hub, in the sandbox, and tell the hub what they showed.
///
/// The hub itself never runs a command. This program does so beside it, as a user of its own, never as root: it has no
/// access to the database, one token, and no other right. Each bundle is run in an empty folder, without its change and
/// twice with it; only what fails without the change and passes with it counts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub runner --token-file /etc/capsid/runner-token
  capsid hub runner --hub https://hub.example.org --token-file runner-token
  capsid hub runner --once --json                    run what waits now, then stop

The hub has to have `runner = \"on\"` under `[validation]`. It writes its token into the file `runner-token` in its data
folder; give the runner's user a copy. CAPSID_RUNNER_TOKEN holds the token instead of a file.")]
pub struct HubRunnerArgs {
    /// The hub's address.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4000")]
    hub: String,
    /// The file with the token (default: the variable CAPSID_RUNNER_TOKEN).
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Run what waits now, then stop.
    #[arg(long)]
    once: bool,
    /// Seconds between two looks at an empty queue.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
}

/// Runs the command.
pub fn run(arguments: &HubRunnerArgs) -> Result<u8> {
    refuse_root()?;
    let _folder = open_runner_folder()?;
    require_untrusted_sandbox()?;
    let mut settings = ClientConfig::resolve(Some(&arguments.hub), &variable)?;
    settings.retries = 0;
    let client = RunnerClient::new(&settings, &read_token(arguments)?)?;
    let runtime = describe_runtime();
    let stop = stop_flag()?;
    loop {
        match run_waiting(&client, &runtime, &stop) {
            Err(problem) if arguments.once => return Err(problem),
            Err(problem) => output::caution("runner", &problem),
            Ok(()) => {}
        }
        if arguments.once || wait(Duration::from_secs(arguments.interval), &stop) {
            return Ok(0);
        }
    }
}

fn read_token(arguments: &HubRunnerArgs) -> Result<String> {
    let text = match &arguments.token_file {
        Some(path) => capsid_disk::files::read_optional(path)?.ok_or_else(|| {
            Problem::new(Code::FileNotFound, format!("The token file `{}` does not exist.", path.display()))
                .fix("Copy `runner-token` from the hub's data folder, readable for this user alone.")
        })?,
        None => variable("CAPSID_RUNNER_TOKEN").unwrap_or_default(),
    };
    let token = text.trim();
    if token.is_empty() {
        return Err(Problem::new(Code::InputInvalid, "The runner has no token.")
            .fix("Name the file with `--token-file`, or set CAPSID_RUNNER_TOKEN."));
    }
    Ok(token.to_owned())
}

/// Runs everything that waits.
fn run_waiting(client: &RunnerClient, runtime: &str, stop: &AtomicBool) -> Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let Some(job) = client.next_job(runtime)? else { return Ok(()) };
        let job: RunnerJob = serde_json::from_value(job).map_err(|error| {
            Problem::new(Code::HubAnswerInvalid, format!("The hub's job cannot be read: {error}."))
                .fix("Use a runner of the same version as the hub.")
        })?;
        let ran = run_bundle(&job)?;
        let report = RunnerReport {
            job_id: job.job_id.clone(),
            outcome: ran.outcome.as_str().to_owned(),
            reason: ran.reason,
            runtime: runtime.to_owned(),
            seconds: ran.duration.as_secs_f64(),
        };
        client.report(&json!(report))?;
        print_report(&job, ran.outcome, &report);
    }
    Ok(())
}

fn print_report(job: &RunnerJob, outcome: RunnerOutcome, report: &RunnerReport) {
    if output::is_json() {
        output::document(&json!({
            "asset_id": job.asset_id, "outcome": report.outcome, "reason": report.reason,
            "seconds": report.seconds,
        }));
        return;
    }
    let color = match outcome.verdict() {
        Some(true) => GOOD,
        Some(false) => BAD,
        None => WARN,
    };
    output::line(format_args!("{}  {}", paint(color, outcome.as_str()), paint(NAME, &job.asset_id)));
    output::line(format_args!("  {}", outcome.text()));
    if !report.reason.is_empty() {
        output::line(format_args!("  {}", inert_line(&report.reason)));
    }
}

/// Waits, and tells whether it was told to stop.
fn wait(time: Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STEP);
    }
    stop.load(Ordering::Relaxed)
}
