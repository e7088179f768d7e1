//! A solution that one repository published, and another repository that has the same problem.

use super::agent::{AgentKind, AgentPlan};
use super::cycle::{CycleRecord, CycleTask, LearningEngine};
use super::program::{ProgramEngine, find_program};
use super::tally::{CycleTally, shorten};
use super::tools::ToolPaths;
use crate::Result;
use crate::learning::corpus::{BugCase, BugFamily, LogCorpus};
use capsid_testkit::hub::{HubProcess, TestHubLocation};
use capsid_testkit::program::TestProgram;
use fastrand::Rng;
use serde_json::Value;

/// A hub, and what is needed to run its commands.
pub struct SharedHub {
    hub: HubProcess,
    location: TestHubLocation,
    program: TestProgram,
    _folder: tempfile::TempDir,
}

impl SharedHub {
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let program = TestProgram::at(find_program()?);
        let location = TestHubLocation { data: folder.path().join("hub"), database: None };
        let hub = HubProcess::try_start(&program, &location)?;
        Ok(Self { hub, location, program, _folder: folder })
    }

    /// Solves the bug of a family three times in one repository, so that the hub's threshold is reached, publishes the
    /// solution, and meets the bug in another one.
    pub fn share_solution(
        &self,
        family: &BugFamily,
        corpus: &LogCorpus,
        tools: &ToolPaths,
    ) -> Result<CycleTally> {
        let mut tally = CycleTally::default();
        let settings = format!("[hub]\nurl = \"http://{}\"\n", self.hub.address);
        let origin = family.build_case("origin")?;
        let mut author = ProgramEngine::create(&origin.check, &settings, tools)?;
        author.commit_tree(&origin.base)?;
        for name in ["origin", "recur1", "recur3"] {
            let case = family.build_case(name)?;
            let record = run_cycle(&mut author, &case, corpus, &AgentPlan::fix(&case))?;
            tally.add_cycle(&format!("hub, author {}-{name}", family.name), &record);
        }
        self.publish(&author)?;

        let case = family.build_case("recur2")?;
        let mut reader = ProgramEngine::create(&case.check, &settings, tools)?;
        reader.commit_tree(&case.base)?;
        // It applies what the prompt shows, if the engine has not applied it before.
        let plan = AgentPlan::decide(&AgentKind::Literal, &case, &mut Rng::with_seed(1));
        let record = run_cycle(&mut reader, &case, corpus, &plan)?;
        let name = format!("hub, reader {}", family.name);
        tally.add_cycle(&name, &record);
        tally.shared.1 += 1;
        tally.shared.0 += usize::from(record.is_fixed);
        if !record.is_fixed {
            tally.notes.shared.push(format!("{name}: {}", shorten(&record.message)));
        }
        Ok(tally)
    }

    /// Sends what is eligible, and has it promoted.
    fn publish(&self, author: &ProgramEngine<'_>) -> Result<()> {
        let shown = author.command(&["node", "publish", "--dry-run"]).output()?;
        let complaint = String::from_utf8_lossy(&shown.stderr).into_owned();
        let assets: Vec<Value> =
            serde_json::from_slice(&shown.stdout).map_err(|_| format!("publish: {complaint}"))?;
        let sent = author.command(&["node", "publish"]).output()?;
        crate::generated_repo::check(
            sent.status.success(),
            &format!(
                "publish: {}{}",
                String::from_utf8_lossy(&sent.stdout),
                String::from_utf8_lossy(&sent.stderr)
            ),
        )?;
        for asset in assets.iter().filter(|asset| asset["type"] != "EvolutionEvent") {
            let id = asset["asset_id"].as_str().unwrap_or_default();
            let done = self.location.run(&self.program, &["admin", "promote", id, "--reason", "tried"]);
            crate::generated_repo::check(
                done.status == 0 || done.stderr.contains("promoted"),
                &format!("promote: {done}"),
            )?;
        }
        Ok(())
    }
}

fn run_cycle(
    engine: &mut ProgramEngine<'_>,
    case: &BugCase,
    corpus: &LogCorpus,
    plan: &AgentPlan,
) -> Result<CycleRecord> {
    let file = case.log_name();
    let log = corpus.logs.iter().find(|log| log.file == file).ok_or(format!("no log {file}"))?;
    engine.commit_tree(&case.broken)?;
    engine.run_cycle(&CycleTask { case, log: &log.content, solution: "origin", plan })
}
