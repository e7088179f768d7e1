//! `capsid doctor`: what is installed, found and wrong, and how to fix it.

mod apparmor;
mod memory;
mod node;
mod signer;
mod trail;

pub(super) use node::read_health;

use super::workspace;
use crate::output::{self, BAD, GOOD, NAME, WARN, paint};
use capsid_engine::run::{level, pending};
use capsid_engine::store::collection::Collection;
use capsid_engine::store::lines;
use capsid_engine::workspace::{Workspace, merge_driver};
use capsid_model::gene::Gene;
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result, Value, asset, gate, json};
use capsid_sandbox::git::Git;
use clap::Args;
use std::ops::ControlFlow;
use std::path::Path;

/// Check this machine and this repository: what is installed, found and wrong, and how to fix it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid doctor                            is everything ready here?
  capsid doctor --json                     the same for a program; exit 1 when something is wrong")]
pub struct DoctorArgs {}

#[derive(Clone, Copy, PartialEq)]
enum CheckLevel {
    Fine,
    Note,
    Wrong,
}

struct DoctorFinding {
    check: &'static str,
    health: CheckLevel,
    detail: String,
    fix: Option<String>,
}

impl DoctorFinding {
    fn fine(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, health: CheckLevel::Fine, detail: detail.into(), fix: None }
    }

    fn warning(check: &'static str, detail: impl Into<String>, fix: &str) -> Self {
        Self { check, health: CheckLevel::Note, detail: detail.into(), fix: Some(fix.to_owned()) }
    }

    fn wrong(check: &'static str, problem: &Problem) -> Self {
        Self { check, health: CheckLevel::Wrong, detail: problem.message.clone(), fix: problem.fix.clone() }
    }

    fn to_json(&self) -> Value {
        let health = match self.health {
            CheckLevel::Fine => "ok",
            CheckLevel::Note => "note",
            CheckLevel::Wrong => "wrong",
        };
        json!({"check": self.check, "status": health, "detail": self.detail, "fix": self.fix})
    }
}

/// Runs the command. Exits 1 when something is wrong.
pub fn run(folder: &Path) -> Result<u8> {
    let mut findings = vec![git_version(folder)];
    let sandboxes = sandboxes();
    let can_validate = sandboxes.iter().any(|finding| finding.health == CheckLevel::Fine);
    findings.extend(sandboxes);
    match workspace(folder) {
        Ok(workspace) => {
            findings.extend(repository(&workspace));
            findings.extend(memory::findings(&workspace));
        }
        Err(problem) => findings.push(DoctorFinding::wrong("repository", &problem)),
    }
    findings.extend(trail::findings());
    findings.extend(signer::findings());
    findings.extend(node::findings(folder, can_validate));
    let wrong = findings.iter().any(|finding| finding.health == CheckLevel::Wrong);
    if output::is_json() {
        let checks: Vec<Value> = findings.iter().map(DoctorFinding::to_json).collect();
        output::document(&json!({"ok": !wrong, "version": env!("CARGO_PKG_VERSION"), "checks": checks}));
    } else {
        findings.iter().for_each(print);
    }
    Ok(u8::from(wrong))
}

fn print(finding: &DoctorFinding) {
    let mark = match finding.health {
        CheckLevel::Fine => paint(GOOD, "ok   "),
        CheckLevel::Note => paint(WARN, "note "),
        CheckLevel::Wrong => paint(BAD, "wrong"),
    };
    output::line(format_args!("{mark}  {:<11} {}", finding.check, inert_line(&finding.detail)));
    if let Some(fix) = &finding.fix {
        output::line(format_args!("                   {} {}", paint(NAME, "fix:"), inert_line(fix)));
    }
}

fn git_version(folder: &Path) -> DoctorFinding {
    match Git::at(folder).run(&["--version"]) {
        Ok(version) => DoctorFinding::fine("git", String::from_utf8_lossy(&version).trim()),
        Err(problem) => DoctorFinding::wrong("git", &problem),
    }
}

/// One working level is enough; the others are only printed.
fn sandboxes() -> Vec<DoctorFinding> {
    let probes = capsid_sandbox::probe();
    let works = probes.iter().any(|probe| probe.works);
    let mut findings: Vec<DoctorFinding> = probes
        .iter()
        .map(|probe| {
            let detail = format!("{}: {}", probe.isolation.as_str(), probe.detail);
            match (probe.works, works) {
                (true, _) => DoctorFinding::fine("sandbox", detail),
                (false, true) => DoctorFinding::warning("sandbox", detail, "Another level works, so nothing needs to be done."),
                (false, false) => DoctorFinding::warning(
                    "sandbox",
                    detail,
                    "Allow unprivileged user namespaces, or set sandbox = \"off\" under [validation] in capsid.toml to run without one.",
                ),
            }
        })
        .collect();
    findings.extend(apparmor::findings(&probes));
    findings
}

fn repository(workspace: &Workspace) -> Vec<DoctorFinding> {
    let root = &workspace.repository.root;
    let mut findings = vec![DoctorFinding::fine("repository", root.display().to_string())];
    findings.push(match workspace.config.digest.as_str() {
        "" => DoctorFinding::warning(
            "capsid.toml",
            "absent; the defaults hold",
            "`capsid init` writes a commented one.",
        ),
        _ => DoctorFinding::fine("capsid.toml", "read"),
    });
    if let Err(problem) = workspace.require_store() {
        findings.push(DoctorFinding::wrong("store", &problem));
        return findings;
    }
    let store = &workspace.store;
    findings.push(collection("genes", &store.genes));
    findings.push(collection("capsules", &store.capsules));
    findings.push(collection("failed", &store.failed));
    findings.push(events(workspace));
    findings.extend(merge(workspace));
    findings.extend(validation(workspace));
    findings.extend(view(workspace));
    findings.extend(pending(workspace));
    findings
}

/// Where the agent of a cycle works in this repository, and what no limit covers there.
fn view(workspace: &Workspace) -> Vec<DoctorFinding> {
    let chosen = match level::choose(workspace) {
        Ok(chosen) => chosen,
        Err(problem) => return vec![DoctorFinding::wrong("view", &problem)],
    };
    let Some(ids) = chosen.ids else {
        return vec![DoctorFinding::warning(
            "view",
            format!("copy: {}", chosen.reason.unwrap_or_default()),
            "Cycles work in a copy of the repository. Remove the cause to get a private view at its own path.",
        )];
    };
    let unlimited = capsid_sandbox::unlimited_resources(ids).join(" and ");
    vec![
        DoctorFinding::fine("view", "overlay: your tree is not touched until a change is proven"),
        DoctorFinding::warning(
            "limits",
            format!("no limit for {unlimited}; each process has its own"),
            "Start `capsid` in a scope with a limit, such as `systemd-run --user --scope -p MemoryMax=8G`.",
        ),
    ]
}

fn collection(check: &'static str, list: &Collection) -> DoctorFinding {
    let texts = match list.texts() {
        Ok(texts) => texts,
        Err(problem) => return DoctorFinding::wrong(check, &problem),
    };
    let stale =
        texts.iter().filter(|text| !asset::verify_text(text).is_ok_and(|verdict| verdict.holds())).count();
    let detail = format!("{} in {}", texts.len(), list.path().display());
    if stale == 0 {
        return DoctorFinding::fine(check, detail);
    }
    let fix =
        format!("`capsid asset verify {}` names them; other engines write such ids.", list.path().display());
    DoctorFinding::warning(check, format!("{detail}; {stale} have no id that verifies"), &fix)
}

fn events(workspace: &Workspace) -> DoctorFinding {
    let path = workspace.store.events.path();
    let (mut total, mut broken, mut stale) = (0_u64, 0_u64, 0_u64);
    let scanned = lines::scan(path, |line| {
        total += 1;
        match std::str::from_utf8(line).map(asset::verify_text) {
            Ok(Ok(verdict)) => stale += u64::from(!verdict.holds()),
            _ => broken += 1,
        }
        ControlFlow::Continue(())
    });
    if let Err(problem) = scanned {
        return DoctorFinding::wrong("events", &problem);
    }
    if broken + stale == 0 {
        let heads = workspace.store.events.heads().map_or(0, |heads| heads.len());
        let merge = match heads {
            0 | 1 => String::new(),
            heads => format!("; merge of {heads} heads, which the next event joins"),
        };
        return DoctorFinding::fine("events", format!("{total} records, all verify{merge}"));
    }
    DoctorFinding::warning(
        "events",
        format!("{total} records; {broken} are not JSON and {stale} do not verify"),
        &format!("`capsid asset verify {}` names them. They are left as they are.", path.display()),
    )
}

/// Whether git can merge the store of this clone with that of another.
fn merge(workspace: &Workspace) -> Option<DoctorFinding> {
    if !merge_driver::is_wanted(workspace) {
        return None;
    }
    Some(match merge_driver::is_set_up(workspace) {
        Ok(true) => DoctorFinding::fine("merge", "git merges the store with `capsid merge-file`"),
        Ok(false) => DoctorFinding::warning(
            "merge",
            "git does not know the driver that merges the store",
            "`capsid init` sets it up in this clone, and so does every cycle.",
        ),
        Err(problem) => DoctorFinding::wrong("merge", &problem),
    })
}

/// Commands that the gate would refuse make every cycle of their gene fail: better known before.
fn validation(workspace: &Workspace) -> Vec<DoctorFinding> {
    let policy = workspace.config.gate();
    let genes = workspace.store.genes.documents().unwrap_or_default();
    let views: Vec<Gene> = genes.iter().map(Gene::read).collect();
    let owner = workspace.config.validation.commands.iter().map(|command| ("capsid.toml", command));
    let all = views
        .iter()
        .flat_map(|gene| gene.validation.iter().map(|command| (gene.id.as_str(), command)))
        .chain(owner);
    let mut refused = Vec::new();
    let mut count = 0;
    for (whose, command) in all {
        count += 1;
        if let Err(refusal) = gate::check(command, &policy) {
            refused.push(DoctorFinding::warning(
                "validation",
                format!("{whose}: `{command}`: {}", refusal.message),
                "Change the command, or allow its program under [validation] in capsid.toml.",
            ));
        }
    }
    if count == 0 {
        refused.push(DoctorFinding::warning(
            "validation",
            "no gene and no setting names a command, so cycles prove nothing",
            "Name one under [validation] commands in capsid.toml.",
        ));
    }
    if refused.is_empty() {
        refused.push(DoctorFinding::fine("validation", format!("{count} commands pass the gate")));
    }
    refused
}

fn pending(workspace: &Workspace) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    if workspace.journal().is_ok_and(|journal| journal.exists()) {
        findings.push(DoctorFinding::warning(
            "journal",
            "a command was interrupted while it wrote",
            "The next command that writes finishes it.",
        ));
    }
    match pending::pending(workspace) {
        Ok(Some((run, _))) => {
            let fix = "`capsid solidify` finishes it, `capsid review --reject` drops it.";
            findings.push(DoctorFinding::warning("run", format!("{} waits", run.run_id), fix));
        }
        Ok(None) => {}
        Err(problem) => findings.push(DoctorFinding::wrong("run", &problem)),
    }
    findings
}
