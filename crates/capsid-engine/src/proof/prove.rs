//! Proves a change: runs its check with the change, under the old checks, and without its source.

use super::change_parts::ChangeParts;
use super::check_run::{Check, CheckRun, read_check, run_check};
use crate::run::Run;
use crate::run::reproduction::Reproduction;
use crate::run::validation::{self, Validated, ValidationTree};
use crate::tree::names;
use crate::tree::private_tree::{ChangeLayer, ChangePair};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::hash::sha256_hex;
use capsid_rules::evaluation::proof::{ProofLevel, proof};
use capsid_rules::learning::flaky::FlakyCheck;
use capsid_rules::learning::proof::{
    ProofEvidence, ProofRecord, ProofRun, ProofStep, find_flaky_check, missing_for_next_grade,
};
use capsid_rules::learning::repro_command::{CommandSource, ReproCommand};
use capsid_rules::learning::test_summary::TestSummary;
use capsid_rules::learning::test_weakening::{Weakening, find_weakening, has_new_failing_test};
use std::path::Path;
use std::time::Instant;

/// What is to be proven.
pub struct ProofRequest<'a> {
    pub run: &'a Run,
    /// The change, with each file before and after.
    pub pairs: &'a [ChangePair],
    /// The frozen change; none where it is in the tree itself.
    pub layer: Option<&'a ChangeLayer>,
    /// Commands of the gene and the owner.
    pub commands: &'a [String],
    /// Whether the commands must pass twice.
    pub is_twice: bool,
    /// A folder for views and layers.
    pub scratch: &'a Path,
}

/// What the runs showed.
#[derive(Debug, Default)]
pub struct ProofOutcome {
    /// The commands with the change.
    pub validated: Validated,
    /// None if no command could run.
    pub record: Option<ProofRecord>,
    /// What the next grade needs, in one sentence.
    pub missing: Option<String>,
    /// How the tests are weaker than before.
    pub weakening: Option<Weakening>,
    /// Whether only tests and settings changed for a problem that no command showed.
    pub is_check_only: bool,
    /// Whether the checks as they were pass with the source part of the change. True where no check file changed.
    pub old_checks_pass: bool,
    /// Whether the command passes although its output still shows the problem.
    pub still_shows_problem: bool,
    /// What the command printed with the change.
    pub output: String,
}

/// Runs what a proof needs.
pub fn prove(workspace: &Workspace, request: &ProofRequest<'_>) -> Result<ProofOutcome> {
    Prover { workspace, request, began: Instant::now(), runs: Vec::new(), hashes: String::new() }.prove()
}

struct Prover<'a> {
    workspace: &'a Workspace,
    request: &'a ProofRequest<'a>,
    began: Instant,
    runs: Vec<ProofRun>,
    /// Hashes of the outputs, one a line.
    hashes: String,
}

impl Prover<'_> {
    fn prove(mut self) -> Result<ProofOutcome> {
        let reproduction = self.request.run.reproduction.as_ref();
        let all = all_commands(reproduction, self.request.commands);
        let Some(command) = deciding_command(reproduction, self.request.commands) else {
            let validated = validation::run(&all, self.request.is_twice, self.workspace, &self.tree())?;
            return Ok(ProofOutcome { validated, old_checks_pass: true, ..ProofOutcome::default() });
        };
        let parts = ChangeParts::split(self.request.pairs, &all);
        let has_check_changes = !parts.check_files.is_empty();
        let validated = validation::run(&all, self.request.is_twice, self.workspace, &self.tree())?;
        let passes = validated.commands.iter().all(|result| result.ok);
        let after = read_check(self.workspace, &command.command, ProofStep::After, validated)?;
        let has_run = after.has_run();
        let before = match (reproduction, passes) {
            (Some(known), _) => Some((known.runs.clone(), known.tests.clone())),
            (None, true) => self.baseline(&command)?,
            (None, false) => None,
        };
        let (before_runs, before_tests) = before.unwrap_or_default();
        self.runs.extend(before_runs);
        let before_ms = self.runs.iter().map(|run| run.duration_ms).max();
        self.add_run(&after);
        let mut outcome = ProofOutcome {
            weakening: passes.then(|| find_weakening(before_tests.as_ref(), after.tests.as_ref())).flatten(),
            still_shows_problem: passes && !after.run.passes_without(self.message_id()),
            is_check_only: has_check_changes
                && !parts.has_source
                && self.request.run.problem.is_some()
                && reproduction.is_none_or(|known| !known.is_reproduced),
            old_checks_pass: true,
            output: after.output.clone(),
            validated: after.validated,
            ..ProofOutcome::default()
        };
        let mut new_test_fails = false;
        if passes && outcome.weakening.is_none() && !outcome.still_shows_problem {
            if has_check_changes {
                // Without a change of the source, the old checks see the tree that was seen to fail.
                let is_known_to_fail =
                    !parts.has_source && reproduction.is_some_and(|known| known.is_reproduced);
                outcome.old_checks_pass =
                    !is_known_to_fail && self.pass_old_checks(&parts, &all, &command.command)?;
            }
            let revert = self.workspace.config.proof.revert;
            if outcome.old_checks_pass && self.is_in_time() && revert.should_run(before_ms) {
                let without = self.without_source(&parts, &check_of(reproduction, &command))?;
                new_test_fails = has_new_failing_test(before_tests.as_ref(), without.as_ref());
            }
            self.pass_often_enough(&check_of(reproduction, &command), has_check_changes)?;
        }
        let evidence = ProofEvidence {
            problem: self.message_id(),
            runs: &self.runs,
            has_check_changes,
            is_vacuous: reproduction.is_none_or(|known| !known.is_reproduced)
                && proof(&all).0 < ProofLevel::Weak,
            is_weakened: outcome.weakening.is_some(),
            has_new_failing_test: new_test_fails,
        };
        let hash = sha256_hex(self.hashes.as_bytes());
        outcome.missing = missing_for_next_grade(&evidence);
        if has_run {
            let record = ProofRecord::from_evidence(&evidence, Some(&command), parts.check_files, Some(hash));
            outcome.record = Some(record);
        }
        // A later run of the same check may have failed.
        let flaky_failure = self.runs.iter().find(|run| run.run == ProofStep::After && !run.ok);
        outcome.still_shows_problem |= passes && flaky_failure.is_some();
        Ok(outcome)
    }

    fn message_id(&self) -> Option<&str> {
        self.request.run.problem.as_ref().map(|problem| problem.ids.message.as_str())
    }

    fn is_in_time(&self) -> bool {
        self.began.elapsed() < self.workspace.config.proof.budget()
    }

    fn add_run(&mut self, run: &CheckRun) {
        self.runs.push(run.run.clone());
        self.hashes.push_str(&run.output_hash());
        self.hashes.push('\n');
    }

    /// The tree with the change.
    fn tree(&self) -> ValidationTree {
        self.tree_with(self.request.layer.cloned())
    }

    fn tree_with(&self, change: Option<ChangeLayer>) -> ValidationTree {
        ValidationTree { change, scratch: self.request.scratch.to_owned() }
    }

    /// A layer in a folder that is removed with its guard.
    fn part(
        &self,
        create: impl FnOnce(&Path, &Path) -> Result<ChangeLayer>,
    ) -> Result<(ChangeLayer, RemovedLayer)> {
        capsid_disk::files::create_private_folder(self.request.scratch)?;
        let folder = tempfile::Builder::new()
            .prefix("part-")
            .tempdir_in(self.request.scratch)
            .map_err(|error| capsid_model::Problem::io("make a folder in", self.request.scratch, &error))?;
        let layer = create(&folder.path().join("layer"), &self.workspace.repository.root)?;
        Ok((layer, RemovedLayer(folder)))
    }

    /// Runs the check on the tree as it was, where no run before the change is known.
    fn baseline(&self, command: &ReproCommand) -> Result<Option<(Vec<ProofRun>, Option<TestSummary>)>> {
        let check = check_of(None, command);
        let run = match self.request.layer {
            Some(_) => run_check(self.workspace, &check, ProofStep::Before, &self.tree_with(None))?,
            None => {
                let (layer, _guard) =
                    self.part(|folder, root| ChangeParts::base_layer(self.request.pairs, folder, root))?;
                run_check(self.workspace, &check, ProofStep::Before, &self.tree_with(Some(layer)))?
            }
        };
        Ok(run.has_run().then(|| (vec![run.run.clone()], run.tests)))
    }

    /// Runs the old checks as often as a flaky check needs.
    fn pass_old_checks(&mut self, parts: &ChangeParts, all: &[String], command: &str) -> Result<bool> {
        let needed = find_flaky_check(&self.runs, true).map_or(1, FlakyCheck::passes_needed);
        for _ in 0..needed {
            if !self.is_in_time() || !self.old_checks(parts, all, command)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs the commands with the source part of the change: the checks as they were decide. A command that runs a file
    /// of the change itself was no check before.
    fn old_checks(&mut self, parts: &ChangeParts, all: &[String], command: &str) -> Result<bool> {
        let old: Vec<String> =
            all.iter().filter(|command| !runs_new_file(command, self.request.pairs)).cloned().collect();
        if old.is_empty() {
            return Ok(true);
        }
        let (layer, _guard) = self.part(|folder, root| parts.source_layer(folder, root))?;
        let validated = validation::run(&old, false, self.workspace, &self.tree_with(Some(layer)))?;
        let passes = validated.commands.iter().all(|result| result.ok);
        let mut run = read_check(self.workspace, command, ProofStep::OldChecks, validated)?;
        run.run.ok &= passes;
        self.add_run(&run);
        Ok(run.run.passes_without(self.message_id()))
    }

    /// Runs the check without the source part of the change.
    fn without_source(&mut self, parts: &ChangeParts, check: &Check) -> Result<Option<TestSummary>> {
        let is_tree = self.request.layer.is_some() && parts.check_files.is_empty();
        let run = match is_tree {
            true => run_check(self.workspace, check, ProofStep::WithoutSource, &self.tree_with(None))?,
            false => {
                let (layer, _guard) = self.part(|folder, root| parts.check_layer(folder, root))?;
                run_check(self.workspace, check, ProofStep::WithoutSource, &self.tree_with(Some(layer)))?
            }
        };
        self.add_run(&run);
        Ok(run.tests)
    }

    /// A check that was seen both to fail and to pass must pass several times in a row.
    fn pass_often_enough(&mut self, check: &Check, has_check_changes: bool) -> Result<()> {
        loop {
            let needed =
                find_flaky_check(&self.runs, has_check_changes).map_or(1, FlakyCheck::passes_needed) as usize;
            let after: Vec<bool> =
                self.runs.iter().filter(|run| run.run == ProofStep::After).map(|run| run.ok).collect();
            if after.len() >= needed || after.contains(&false) || !self.is_in_time() {
                return Ok(());
            }
            let run = run_check(self.workspace, check, ProofStep::After, &self.tree())?;
            self.add_run(&run);
        }
    }
}

/// What is left in a layer has any mode, so its folder's own removal could fail.
struct RemovedLayer(tempfile::TempDir);

impl Drop for RemovedLayer {
    fn drop(&mut self) {
        capsid_sandbox::remove_layer(self.0.path());
    }
}

/// Whether a command names a file that the change adds.
fn runs_new_file(command: &str, pairs: &[ChangePair]) -> bool {
    let added = |word: &str| {
        let word = word.trim_matches(['\'', '"']).trim_start_matches("./");
        pairs.iter().any(|pair| pair.before.is_none() && names::show(&pair.name) == word)
    };
    command.split_whitespace().skip(1).any(added)
}

fn check_of(reproduction: Option<&Reproduction>, command: &ReproCommand) -> Check {
    Check {
        preparation: reproduction.map(|known| known.preparation.clone()).unwrap_or_default(),
        command: command.command.clone(),
    }
}

/// Every command that must pass with the change: what reproduces the problem, then the gene's and the owner's.
fn all_commands(reproduction: Option<&Reproduction>, commands: &[String]) -> Vec<String> {
    let known = reproduction.into_iter().filter(|known| !commands.contains(&known.command));
    known
        .flat_map(|known| known.preparation.iter().chain([&known.command]))
        .filter(|command| !commands.contains(command))
        .chain(commands)
        .cloned()
        .collect()
}

/// The command that decides: the one that reproduces the problem, else the first of the others that can fail.
fn deciding_command(reproduction: Option<&Reproduction>, commands: &[String]) -> Option<ReproCommand> {
    let known =
        reproduction.map(|known| ReproCommand { command: known.command.clone(), source: known.source });
    known.or_else(|| {
        let real = commands.iter().find(|command| proof(&[command]).0 >= ProofLevel::Weak);
        let command = real.or_else(|| commands.first())?.clone();
        Some(ReproCommand { command, source: CommandSource::Owner })
    })
}

#[cfg(test)]
#[path = "prove_tests.rs"]
mod tests;
