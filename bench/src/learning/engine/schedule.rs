//! Schedules: which problems come in which order, and which agent meets them.

use super::agent::{AgentKind, AgentPlan};
use super::cycle::{CycleRecord, CycleTask, LearningEngine};
use super::tally::{CycleTally, shorten};
use crate::Result;
use crate::learning::corpus::{BugCase, BugFamily, LogCorpus};
use fastrand::Rng;
use std::collections::HashMap;

/// Cycles after which a problem is given up.
const MAX_CYCLES: usize = 8;

/// One repository of a family and what happens in it.
pub struct Schedule<'a> {
    pub family: &'a BugFamily,
    pub corpus: &'a LogCorpus,
    pub engine: &'a mut dyn LearningEngine,
    pub rng: Rng,
    pub tally: CycleTally,
    /// The capsules that solved each problem.
    solutions: HashMap<String, Vec<String>>,
}

impl<'a> Schedule<'a> {
    pub fn new(
        family: &'a BugFamily,
        corpus: &'a LogCorpus,
        engine: &'a mut dyn LearningEngine,
        rng: Rng,
    ) -> Self {
        Self { family, corpus, engine, rng, tally: CycleTally::default(), solutions: HashMap::new() }
    }

    /// The bug returns three times, each time in a tree that has moved on; the agent has a skill of 0.6.
    pub fn run_recurring(&mut self, names: &[&str]) -> Result<()> {
        self.engine.commit_tree(&self.family.build_case("origin")?.base)?;
        self.engine.add_decoy()?;
        for name in names {
            let case = self.family.build_case(name)?;
            let calls = self.solve(&case, "recurring", &AgentKind::Skill(0.6))?;
            self.tally.recurring_calls += calls;
            self.tally.recurring_problems += 1;
        }
        Ok(())
    }

    /// Several problems of one repository in turn, then some of them again; the last one because its fix was reverted.
    pub fn run_interleaved(&mut self, first: &[&str], again: &[&str]) -> Result<()> {
        self.engine.commit_tree(&self.family.build_case("origin")?.base)?;
        self.engine.add_decoy()?;
        for name in first.iter().chain(again) {
            let case = self.family.build_case(name)?;
            let kind = if *name == "values" { AgentKind::Flaky } else { AgentKind::Skill(1.0) };
            self.solve(&case, "interleaved", &kind)?;
        }
        Ok(())
    }

    /// Agents that do not solve the problem, then one that does.
    pub fn run_cheats(&mut self, name: &str, max_cheats: usize) -> Result<()> {
        let case = self.family.build_case(name)?;
        self.engine.commit_tree(&case.base)?;
        self.engine.add_decoy()?;
        let mut kinds: Vec<AgentKind> =
            (0..case.cheats.len().min(max_cheats)).map(AgentKind::Cheat).collect();
        kinds.extend([AgentKind::ClaimOnly, AgentKind::Noop, AgentKind::Literal]);
        for kind in kinds {
            self.engine.commit_tree(&case.broken)?;
            let plan = AgentPlan::decide(&kind, &case, &mut self.rng);
            let record = self.run_cycle(&case, "cheats", &plan)?;
            self.tally.false_successes.1 += 1;
            if record.is_success {
                self.tally.false_successes.0 += 1;
                let cheat = match kind {
                    AgentKind::Cheat(at) => case.cheats[at].kind.clone(),
                    _ => format!("{kind:?}"),
                };
                let note = format!("{}-{} {cheat}: {}", case.family, case.name, shorten(&record.message));
                self.tally.notes.false_successes.push(note);
            }
        }
        self.solve(&case, "after cheats", &AgentKind::Skill(1.0))?;
        Ok(())
    }

    /// Runs cycles until a problem is solved, and says how often the agent was called.
    fn solve(&mut self, case: &BugCase, schedule: &str, kind: &AgentKind) -> Result<usize> {
        let problem = problem_key(&case.name);
        let name = format!("{schedule} {}-{}", case.family, case.name);
        let known = self.solutions.get(problem).cloned().unwrap_or_default();
        let mut calls = 0;
        for cycle in 1..=MAX_CYCLES {
            self.engine.commit_tree(&case.broken)?;
            let plan = AgentPlan::decide(kind, case, &mut self.rng);
            let record = self.run_cycle(case, schedule, &plan)?;
            calls += usize::from(record.was_agent_called);
            if cycle == 1 && !known.is_empty() {
                self.check_recall(&name, &known, &record);
            }
            if record.was_agent_called && plan.is_right && plan.exit_code == 0 {
                self.tally.honest_refused.1 += 1;
                if !record.is_success {
                    self.tally.honest_refused.0 += 1;
                    self.tally.notes.honest.push(format!("{name}: {}", shorten(&record.message)));
                }
            }
            if record.is_success && !record.is_fixed {
                self.tally.false_successes.0 += 1;
                self.tally.notes.false_successes.push(format!("{name}: {}", shorten(&record.message)));
            }
            if record.is_fixed {
                let credited = record.credits.iter().map(|credit| credit.capsule.clone());
                let found = record.new_capsule.iter().cloned().chain(credited);
                self.solutions.entry(problem.to_owned()).or_default().extend(found);
                if schedule == "recurring" {
                    self.tally.cycles_to_fix.push(cycle);
                }
                return Ok(calls);
            }
        }
        if schedule == "recurring" {
            self.tally.cycles_to_fix.push(MAX_CYCLES + 1);
        }
        Ok(calls)
    }

    /// A capsule that solved the problem must be offered, and must solve it alone where its patch applies.
    fn check_recall(&mut self, name: &str, known: &[String], record: &CycleRecord) {
        let is_recalled =
            record.offered.iter().chain(&record.solved_by).any(|capsule| known.contains(capsule));
        self.tally.recalled.1 += 1;
        self.tally.recalled.0 += usize::from(is_recalled);
        let is_alone = !record.was_agent_called && record.is_fixed;
        let fits = is_alone || record.fitting.iter().any(|capsule| known.contains(capsule));
        self.tally.without_agent.1 += usize::from(fits);
        self.tally.without_agent.0 += usize::from(is_alone);
        let note = || format!("{name}: {}", shorten(&record.message));
        if !is_recalled {
            self.tally.notes.recalled.push(note());
        }
        if fits && !is_alone {
            self.tally.notes.without_agent.push(note());
        }
    }

    fn run_cycle(&mut self, case: &BugCase, schedule: &str, plan: &AgentPlan) -> Result<CycleRecord> {
        let file = case.log_name();
        let log = self.corpus.logs.iter().find(|log| log.file == file).ok_or(format!("no log {file}"))?;
        let task = CycleTask { case, log: &log.content, solution: solution_key(&case.name), plan };
        let record = self.engine.run_cycle(&task).map_err(|error| format!("{schedule} {file}: {error}"))?;
        self.tally.add_cycle(&format!("{schedule} {}-{}", case.family, case.name), &record);
        Ok(record)
    }
}

/// Variants of the origin have its fix, with other names, folders or values.
fn solution_key(case: &str) -> &str {
    if ["renamed", "moved", "values"].contains(&case) { "origin" } else { problem_key(case) }
}

/// A recurrence is the problem of the origin.
fn problem_key(case: &str) -> &str {
    if case.starts_with("recur") { "origin" } else { case }
}
