//! `capsid hub load starter`: the starter pack, published and then tested on this machine.

use super::HubLocation;
use crate::output::progress::ProgressLine;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::exchange::bundle_runs::read_version;
use capsid_engine::exchange::pack_run::PackRun;
use capsid_hub::ops::starter::load::StarterLoad;
use capsid_hub::random::SystemRandom;
use capsid_hub::runtime::starter::pack::StarterEntry;
use capsid_hub::runtime::starter::view::{StarterEntryView, StarterPackView};
use capsid_hub::runtime::starter::{StarterRun, StarterRunner};
use capsid_model::text::inert_line;
use capsid_model::{Result, SystemClock, Time};
use capsid_rules::lifecycle::AssetStatus;
use capsid_sandbox::require_untrusted_sandbox;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the commands of the pack in the sandbox for strangers.
#[derive(Debug)]
pub(crate) struct SandboxedStarter;

impl StarterRunner for SandboxedStarter {
    fn probe(&self, program: &str) -> Result<String> {
        read_version(program, if program == "go" { "version" } else { "--version" })
    }

    fn run(&self, entry: &StarterEntry, programs: &[String], runtime: &str, now: Time) -> Result<StarterRun> {
        let run = PackRun::new(&entry.capsule, &entry.commands, programs)?;
        Ok(StarterRun { report: run.to_report(runtime, now), why_not: run.why_not() })
    }
}

/// Loads the pack into a hub, which may run meanwhile.
pub(super) fn load(location: &HubLocation) -> Result<u8> {
    require_untrusted_sandbox()?;
    let config = location.load(Vec::new())?.config;
    let store = location.open_beside()?;
    let line = Mutex::new(ProgressLine::new("testing"));
    let load = StarterLoad {
        store: &store,
        config: &config,
        clock: &SystemClock,
        random: Arc::new(SystemRandom),
        runner: &SandboxedStarter,
    };
    let loaded = load.run(&|view| {
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        line.update("entries", view.tested as u64, view.total as u64);
    })?;
    drop(line);
    print(&loaded);
    Ok(0)
}

fn print(view: &StarterPackView) {
    if output::is_json() {
        output::document(&serde_json::to_value(view).unwrap_or_default());
        return;
    }
    let rows: Vec<Vec<String>> = view.entries.iter().map(row).collect();
    output::print(&output::table(&rows));
    for program in &view.programs {
        if let Some(problem) = &program.problem {
            let count = program.entries;
            output::line(format_args!(
                "{} {}; {count} entries stay candidates",
                paint(WARN, "not here:"),
                inert_line(problem).trim_end_matches('.')
            ));
        }
    }
    output::line(format_args!(
        "{} {} solutions: {} tested on this machine, {} promoted",
        paint(GOOD, "loaded"),
        view.total,
        view.tested,
        view.promoted
    ));
}

fn row(entry: &StarterEntryView) -> Vec<String> {
    let status = match entry.status {
        Some(AssetStatus::Promoted) => paint(GOOD, "promoted"),
        Some(status) => paint(WARN, status),
        None => paint(BAD, "refused"),
    };
    let detail = entry.reason.as_deref().unwrap_or(&entry.title);
    vec![paint(NAME, &entry.name), status, paint(DIM, inert_line(detail))]
}
