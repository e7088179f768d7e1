//! `capsid node validator`.

use super::connection::HubConnectionArgs;
use crate::commands::cycle::evolve::stop_flag;
use crate::commands::trail::signer::layout;
use crate::commands::variable;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::network::heartbeat::{HeartbeatReport, HeartbeatSender};
use capsid_engine::network::validator::{StakeStatus, ValidatedAssignment, ValidatorEarnings, ValidatorNode};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_seal::keys::{file, own};
use capsid_seal::{SigningKey, TrailHome, python_iso};
use capsid_signer::home_sealer::{node_key_path, service_of_home};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the hub hears that the validator is there.
const BEAT: Duration = Duration::from_secs(5 * 60);

/// Validate what others published, in the sandbox, and report what was seen.
///
/// The hub asks nodes that put credits aside. A public hub asks accounts without a stake what it knows already, and pays for
/// right answers, so that they can earn one. For each capsule it asks about, the files that the capsule's diff creates are put
/// into an empty folder, the gene's commands run there without network, and the signed result is reported. Nothing ever runs
/// outside the sandbox.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node validator --once                 one round; says what is needed where the hub does not ask this node yet
  capsid node validator --stake 100            put 100 credits aside, then validate until stopped
  capsid node validator --unstake              take the credits back, and be asked no more
  capsid node validator --once --dir ../app    try each change in a copy of what ../app has committed
  capsid node validator --once --json | jq '.judged[].failure_class'")]
pub struct NodeValidatorArgs {
    /// One round, then stop.
    #[arg(long)]
    once: bool,
    /// Stake this many credits first, where that is not done yet. They stay yours, and `--unstake` refunds them.
    #[arg(long, value_name = "CREDITS", value_parser = clap::value_parser!(u32).range(1..))]
    stake: Option<u32>,
    /// Take the stake back, and do nothing else. The hub asks this node no more.
    #[arg(long, conflicts_with_all = ["once", "stake", "repository"])]
    unstake: bool,
    /// Seconds between two rounds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(15..=86_400))]
    interval: u64,
    /// Seconds until a command is stopped.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Make each change in a copy of what this repository has committed, instead of an empty folder.
    #[arg(long = "dir", alias = "in", value_name = "DIR")]
    repository: Option<PathBuf>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeValidatorArgs, folder: &Path) -> Result<u8> {
    if arguments.unstake {
        return unstake(arguments, folder);
    }
    ValidatorNode::require_sandbox()?;
    let node = arguments.hub.node(folder)?;
    let heart = HeartbeatSender::new(&node)?;
    let repository = arguments.repository.as_deref().map(real_folder).transpose()?;
    let mut validator = ValidatorNode {
        node,
        key: signing_key()?,
        is_key_known: false,
        clock: Arc::new(SystemClock),
        timeout: Duration::from_secs(arguments.timeout),
        repository,
    };
    if let Some(problem) = validator.say_hello()? {
        output::caution("validator", &problem);
    }
    let stake = stake(arguments, &validator)?;
    let mut is_asked = stake.is_validator;
    let stop = stop_flag()?;
    let mut last_beat = None;
    loop {
        if last_beat.is_none_or(|last: Instant| last.elapsed() >= BEAT) {
            // A heartbeat that fails is no reason not to validate; the round itself reports what is wrong.
            let _heard = heart.send(&HeartbeatReport::default());
            last_beat = Some(Instant::now());
        }
        let judged = validator.round(&|| stop.load(Ordering::Relaxed));
        is_asked |= judged.as_ref().is_ok_and(|judged| !judged.is_empty());
        if !is_asked && judged.is_ok() {
            return Err(stake.stake_required());
        }
        let result = judged.and_then(|judged| print_validated(&validator, &judged));
        match result {
            Ok(untold) if arguments.once => return Ok(u8::from(untold > 0)),
            Err(problem) if arguments.once => return Err(problem),
            Err(problem) => output::caution("validator", &problem),
            Ok(_) => {}
        }
        if wait_between_rounds(Duration::from_secs(arguments.interval), &stop) {
            output::talk(format_args!("{} stopped cleanly.", paint(GOOD, "validator:")));
            return Ok(0);
        }
    }
}

fn unstake(arguments: &NodeValidatorArgs, folder: &Path) -> Result<u8> {
    let stake = StakeStatus::unstake(&arguments.hub.node(folder)?)?;
    if output::is_json() {
        output::document(&json!({
            "ok": !stake.is_validator, "is_validator": stake.is_validator, "stake": stake.amount,
            "credit_balance": stake.balance,
        }));
    } else {
        output::line(format_args!(
            "{} the stake came back; this node holds {} credits",
            paint(GOOD, "validator:"),
            stake.balance
        ));
    }
    Ok(u8::from(stake.is_validator))
}

fn real_folder(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| Problem::io("open", path, &error))
}

/// The user's key, made on first use like everywhere else.
fn signing_key() -> Result<SigningKey> {
    let home = TrailHome::find(None, &variable)?;
    home.create()?;
    if service_of_home(&layout().trust, home.root())?.is_some() {
        // The home's key is the service's, which signs records and nothing else.
        return file::load_or_create(&node_key_path(home.root()), &own::random_seed()?);
    }
    let now = python_iso(SystemClock.now().0.saturating_mul(1000));
    let made = own::own(home.root(), own::random_seed, &now)?;
    if made.is_new {
        let name = made.sealer.public().fingerprint();
        output::talk(format_args!("{} made the key {name} to sign reports with.", paint(DIM, "validator:")));
    }
    file::load(&file::path(home.root()))?.ok_or_else(|| {
        Problem::new(Code::KeyMissing, "There is no key to sign reports with.").fix("Run `capsid key new`.")
    })
}

/// Only the user may spend: nothing is staked without `--stake`.
fn stake(arguments: &NodeValidatorArgs, validator: &ValidatorNode) -> Result<StakeStatus> {
    let stake = StakeStatus::fetch(&validator.node)?;
    let Some(amount) = arguments.stake.filter(|_| !stake.is_validator) else { return Ok(stake) };
    output::talk(format_args!(
        "{} puts {amount} of {} credits aside as a stake.",
        paint(WARN, "validator:"),
        stake.balance
    ));
    let stake = StakeStatus::stake(&validator.node, f64::from(amount))?;
    match stake.is_validator {
        true => Ok(stake),
        false => Err(stake.stake_required()),
    }
}

/// Prints the results; returns how many could not be reported to the hub.
fn print_validated(validator: &ValidatorNode, judged: &[ValidatedAssignment]) -> Result<usize> {
    let untold = judged.iter().filter(|one| one.answer.is_err()).count();
    let earned = ValidatorEarnings::fetch(&validator.node)?;
    if output::is_json() {
        let rows: Vec<Value> = judged.iter().map(ValidatedAssignment::to_json).collect();
        output::document(&json!({
            "ok": true,
            "judged": rows,
            "earned": {"total": earned.total, "by_validation": earned.by_validation, "pending": earned.pending},
        }));
        return Ok(untold);
    }
    for one in judged {
        let verdict = match one.trial.ok {
            true => paint(GOOD, "passed"),
            false => paint(BAD, format_args!("failed ({})", one.trial.class)),
        };
        output::line(format_args!(
            "{} {verdict} {}",
            paint(NAME, inert_line(&one.asset_id)),
            inert_line(&one.summary)
        ));
        match (&one.answer, one.weight()) {
            (Err(problem), _) => output::caution("report", problem),
            (Ok(_), Some(weight)) => output::line(paint(DIM, format_args!("  reported; it weighs {weight}"))),
            (Ok(_), None) => output::line(paint(DIM, "  reported")),
        }
    }
    output::line(format_args!(
        "{} {} judged; earned {} credits by validating, {} in all",
        paint(GOOD, "validator:"),
        judged.len(),
        earned.by_validation,
        earned.total
    ));
    Ok(untold)
}

/// Waits; true when a signal came.
fn wait_between_rounds(wait: Duration, stop: &AtomicBool) -> bool {
    let start = Instant::now();
    while start.elapsed() < wait {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    stop.load(Ordering::Relaxed)
}
