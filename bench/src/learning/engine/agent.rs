//! Simulated agents. What one does is decided before the cycle, so that every set of rules meets the same agent.

use crate::Result;
use crate::learning::corpus::{BugCase, FileTree};
use fastrand::Rng;
use serde_json::json;
use std::path::Path;

/// How an agent behaves.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentKind {
    /// Makes the right fix with this probability, otherwise a wrong one.
    Skill(f64),
    /// Applies the patch that the prompt shows, if there is one.
    Literal,
    /// Makes the check pass in one of six wrong ways.
    Cheat(usize),
    /// Ends without a word.
    Noop,
    /// Edits nothing and says that it is done.
    ClaimOnly,
    /// Ends with an error in half of its calls, after half of its work.
    Flaky,
}

/// What an agent does in one cycle.
#[derive(Clone, Debug)]
pub struct AgentPlan {
    /// The tree that it leaves; nothing if it edits no file.
    pub tree: Option<FileTree>,
    /// What it writes as its note.
    pub note: String,
    pub exit_code: i32,
    pub is_literal: bool,
    /// Whether its change solves the problem.
    pub is_right: bool,
    /// The command that a cheat is made for, where it is not the usual one.
    pub check: Option<String>,
}

impl AgentPlan {
    fn idle() -> Self {
        Self {
            tree: None,
            note: String::new(),
            exit_code: 0,
            is_literal: false,
            is_right: false,
            check: None,
        }
    }

    /// The right fix.
    pub fn fix(case: &BugCase) -> Self {
        Self {
            tree: Some(case.fixed.clone()),
            note: format!(
                "Repair {} in {}\n\nThe cause is removed; the check passes.\n",
                case.family, case.name
            ),
            is_right: true,
            ..Self::idle()
        }
    }

    /// Decides what an agent does about a case.
    pub fn decide(kind: &AgentKind, case: &BugCase, rng: &mut Rng) -> Self {
        let wrong = || Self {
            tree: Some(case.wrong.clone()),
            note: "Change the computation\n\nThis should do.\n".to_owned(),
            ..Self::idle()
        };
        match kind {
            AgentKind::Skill(p) if rng.f64() < *p => Self::fix(case),
            AgentKind::Skill(_) => wrong(),
            AgentKind::Literal => Self { is_literal: true, ..Self::idle() },
            AgentKind::Cheat(at) => match case.cheats.get(*at) {
                Some(cheat) => Self {
                    tree: Some(cheat.tree.clone()),
                    note: "Make the check pass\n\nAll tests pass now.\n".to_owned(),
                    check: (cheat.check != case.check).then(|| cheat.check.clone()),
                    ..Self::idle()
                },
                None => Self::idle(),
            },
            AgentKind::Noop => Self::idle(),
            AgentKind::ClaimOnly => Self {
                note: "Repair the failing check\n\nThe bug is fixed and all tests pass.\n".to_owned(),
                ..Self::idle()
            },
            AgentKind::Flaky if rng.bool() => Self::fix(case),
            AgentKind::Flaky => Self { exit_code: 3, ..wrong() },
        }
    }

    /// Writes the plan for the program below: the files that change, and those that are removed.
    pub(super) fn write(&self, folder: &Path, broken: &FileTree) -> Result<()> {
        let plan = folder.join("plan");
        let _there_was_none = std::fs::remove_dir_all(&plan);
        std::fs::create_dir_all(&plan)?;
        let mut files = serde_json::Map::new();
        let mut removed = Vec::new();
        if let Some(tree) = &self.tree {
            for (path, content) in tree.iter().filter(|(path, content)| broken.get(*path) != Some(content)) {
                files.insert(path.clone(), json!(content));
            }
            removed.extend(broken.keys().filter(|path| !tree.contains_key(*path)));
        }
        let plan_json = json!({
            "files": files, "removed": removed, "note": self.note, "exit_code": self.exit_code,
            "literal": self.is_literal,
        });
        std::fs::write(plan.join("plan.json"), plan_json.to_string())?;
        Ok(())
    }
}

/// The program of every agent. It keeps its prompt, so that the bench can count calls and characters.
pub(super) const AGENT: &str = r#"
import json, os, re, subprocess, sys
home = sys.argv[1]
prompt = sys.stdin.read()
number = len([name for name in os.listdir(home) if name.startswith("prompt-")])
with open(f"{home}/prompt-{number}", "w") as file:
    file.write(prompt)
plan = json.load(open(f"{home}/plan/plan.json"))
for path, content in plan["files"].items():
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(content)
for path in plan["removed"]:
    os.remove(path)
if plan["literal"]:
    # The blocks of a prompt are marked; the patch is the one with the head of a diff.
    for block in re.findall(r"<<<DATA[^\n]*\n(.*?)\nDATA [^\n]*>>>", prompt, re.S):
        if re.search(r"^(?:diff --git |--- a/)", block, re.M):
            patch = block[re.search(r"^(?:diff --git |--- a/)", block, re.M).start():] + "\n"
            if subprocess.run(["git", "apply", "--recount", "-C1"], input=patch, text=True, capture_output=True).returncode == 0:
                break
if plan["note"]:
    print(plan["note"])
    if os.environ.get("CAPSID_NOTE_FILE"):
        with open(os.environ["CAPSID_NOTE_FILE"], "w") as file:
            file.write(plan["note"])
sys.exit(plan["exit_code"])
"#;
