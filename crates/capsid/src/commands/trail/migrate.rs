//! `capsid trail migrate`: a home of an older version in the present form.

use super::chains::print_refused;
use super::seal::session_sealer;
use super::signer::add_keys_of_service;
use crate::commands::key;
use crate::output::{self, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::keys::{known, load_home, pinned};
use capsid_seal::{PublicKey, TrailHome};
use capsid_trail::migration::MigrationPlan;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};

/// Bring a home of an older version into the present form.
///
/// Chains of others go from `chains/` to `imported/`: each is copied, the copy is compared, and then the original is
/// removed. Rotations of the key that were never recorded are recorded, with every chain. Chains that are finalised get a mark that
/// names their record in the meta-chain. It says what it would change and asks first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail migrate --dry-run                         only say what would change
  capsid trail migrate                                   say it, and ask
  capsid trail migrate --yes                             do not ask; keys that are known stay as they are")]
pub(super) struct TrailMigrateArgs {
    /// Only say what would change.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &TrailMigrateArgs, home: &TrailHome) -> Result<u8> {
    let mut keys = load_home(home.root());
    add_keys_of_service(&mut keys, home);
    print_refused(&keys.refused);
    let plan = MigrationPlan::read(home, &keys)?;
    let is_done = !arguments.dry_run && !plan.is_empty();
    if !output::is_json() {
        print_plan(&plan);
    }
    let can_ask = std::io::stdin().is_terminal() && !output::is_json();
    if is_done && !arguments.yes && !(can_ask && ask("Go on? [y/N] ").is_some_and(|answer| answer == "y")) {
        return Err(Problem::new(Code::ChangeRefused, "Nothing was changed.")
            .fix("Answer `y`, or run `capsid trail migrate --yes`."));
    }
    if is_done {
        apply(&plan, home)?;
    }
    if !arguments.dry_run && can_ask && !arguments.yes {
        plan.known.iter().try_for_each(|key| ask_about(home, key))?;
    }
    match output::is_json() {
        true => output::document(&to_json(&plan, is_done)),
        false if is_done => output::line(format_args!("{} the home is up to date", paint(GOOD, "migrated"))),
        false if plan.is_empty() => output::line("nothing has to change"),
        false => {}
    }
    Ok(0)
}

fn apply(plan: &MigrationPlan, home: &TrailHome) -> Result<()> {
    plan.foreign.iter().try_for_each(|chain| chain.relocate(home))?;
    plan.marks.iter().try_for_each(capsid_seal::meta::MissingMark::write)?;
    if !plan.unrecorded_rotations.is_empty() {
        let sealer = key::sealer(home)?;
        session_sealer(home, &sealer, true).record_past_rotations(&plan.unrecorded_rotations)?;
    }
    Ok(())
}

fn print_plan(plan: &MigrationPlan) {
    for chain in &plan.foreign {
        output::line(format_args!(
            "move {}, signed by {}, to {}",
            paint(NAME, inert_line(&chain.name)),
            inert_line(&chain.signer),
            inert_line(&chain.to.to_string_lossy())
        ));
    }
    for (name, reason) in &plan.stuck {
        let name = inert_line(name);
        output::talk(format_args!("{} {name} is not wholly yours and stays: {reason}", paint(WARN, "note:")));
    }
    for key in &plan.unrecorded_rotations {
        output::line(format_args!("record every chain, and that {} was replaced", key.fingerprint()));
    }
    if !plan.marks.is_empty() {
        output::line(format_args!("mark {} finalised chain(s)", plan.marks.len()));
    }
    for key in &plan.known {
        output::line(format_args!(
            "{} {} is known; `capsid key pin` vouches for it",
            paint(DIM, "key:"),
            key.fingerprint()
        ));
    }
}

/// An import of an earlier version made keys known without a question.
fn ask_about(home: &TrailHome, key: &PublicKey) -> Result<()> {
    let question = format!("The key {}: [p]in, [r]emove or [k]eep as known? [k] ", key.fingerprint());
    match ask(&question).as_deref() {
        Some("p") => pinned::pin(home.root(), key),
        Some("r") => known::remove(home.root(), key),
        _ => Ok(()),
    }
}

/// The first letter of an answer.
fn ask(question: &str) -> Option<String> {
    eprint!("{question}");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).ok()?;
    answer.trim().to_lowercase().get(..1).map(str::to_owned)
}

fn to_json(plan: &MigrationPlan, is_done: bool) -> Value {
    let foreign: Vec<Value> = plan
        .foreign
        .iter()
        .map(|one| json!({"chain": one.name, "from": one.from, "to": one.to, "signer": one.signer}))
        .collect();
    let stuck: Vec<Value> =
        plan.stuck.iter().map(|(chain, reason)| json!({"chain": chain, "reason": reason})).collect();
    let keys = |keys: &[PublicKey]| keys.iter().map(PublicKey::hex).collect::<Vec<_>>();
    json!({
        "migrated": is_done, "moved": foreign, "stuck": stuck, "known": keys(&plan.known),
        "rotations": keys(&plan.unrecorded_rotations), "marks": plan.marks.len(),
    })
}
