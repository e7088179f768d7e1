//! What was decided about a cycle, and why.

use capsid_model::report::CommandResult;
use capsid_model::text::{cut, cut_front};
use capsid_rules::learning::proof::{ProofGrade, ProofRecord};

/// Whose failure it was. A gene is only charged for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureClass {
    /// The agent or a program of the machine failed.
    Host,
    /// The network could not be reached.
    Network,
    /// No sandbox works here, or it broke.
    Sandbox,
    /// The gene cannot work as written, or its cycle changed nothing.
    Gene,
    /// A validation command failed.
    Validation,
    /// The change broke a constraint.
    Constraint,
}

impl FailureClass {
    /// The class as it is recorded.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Network => "network",
            Self::Sandbox => "sandbox",
            Self::Gene => "gene",
            Self::Validation => "validation",
            Self::Constraint => "constraint",
        }
    }

    /// Whether the gene is to blame.
    pub fn charges_gene(self) -> bool {
        matches!(self, Self::Gene | Self::Validation | Self::Constraint)
    }
}

/// Everything that was decided about a cycle.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Whether the change is proven.
    pub ok: bool,
    /// Whose failure it was.
    pub failure_class: Option<FailureClass>,
    /// Whether the gene was made for this cycle.
    pub gene_created: bool,
    /// How the gene was come by.
    pub gene_reason: String,
    /// How far the change went beyond what the gene allows.
    pub severity: String,
    /// Broken constraints.
    pub constraint_violations: Vec<String>,
    /// Broken rules of the protocol.
    pub protocol_violations: Vec<String>,
    /// What is worth knowing and breaks nothing.
    pub warnings: Vec<String>,
    /// The folders that changed most, when constraints were broken.
    pub breakdown: Vec<String>,
    /// Each validation command that ran or was refused.
    pub commands: Vec<CommandResult>,
    /// How the commands were kept apart from the machine.
    pub isolation: String,
    /// Under which ids they ran.
    pub ids: String,
    /// Limits that they ran into.
    pub limits_hit: Vec<String>,
    /// Whether the owner's load check passed; nothing without one, or when it was not reached.
    pub load_check: Option<bool>,
    /// How long the commands took.
    pub duration_ms: u64,
    /// What the agent or the machine did wrong, if anything.
    pub host_failure: Option<String>,
    /// Whether the cycle changed nothing.
    pub is_empty: bool,
    /// What proves the change; none where no command could run.
    pub proof: Option<ProofRecord>,
    /// What the next grade of the proof needs.
    pub proof_gap: Option<String>,
    /// Why the change does not solve the problem although every command passes.
    pub proof_failure: Option<String>,
    /// Why somebody has to look at the change before it is kept.
    pub review_reason: Option<String>,
    /// The end of what the deciding command printed with the change.
    pub output: String,
}

impl Verdict {
    /// Whether every command passed. None at all also counts as passed, and is shown as vacuous.
    pub fn validation_ok(&self) -> bool {
        self.commands.iter().all(|command| command.ok)
    }

    /// How strongly the change is proven.
    pub fn grade(&self) -> ProofGrade {
        self.proof.as_ref().map(|proof| proof.grade).unwrap_or_default()
    }

    /// Why it failed, in the order of what matters, one text for each part.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        if let Some(failure) = &self.host_failure {
            errors.push(format!("host: {failure}"));
        }
        if self.is_empty {
            errors.push("empty: the cycle changed nothing".to_owned());
        }
        if !self.constraint_violations.is_empty() {
            errors.push(format!("constraint: {}", self.constraint_violations.join("; ")));
        }
        if !self.protocol_violations.is_empty() {
            errors.push(format!("protocol: {}", self.protocol_violations.join("; ")));
        }
        for failed in self.commands.iter().filter(|command| !command.ok) {
            let complaint = if failed.stderr.trim().is_empty() { &failed.stdout } else { &failed.stderr };
            errors.push(format!(
                "validation_failed: {} => {}",
                cut(&failed.command, 120),
                cut_front(complaint.trim(), 200)
            ));
        }
        if let Some(failure) = &self.proof_failure {
            errors.push(format!("not_proven: {failure}"));
        }
        errors
    }

    /// The same as one text of at most 2000 units; never empty.
    pub fn reason(&self) -> String {
        let errors = self.errors();
        if errors.is_empty() { "unknown".to_owned() } else { cut(&errors.join("; "), 2000).to_owned() }
    }
}

/// Decides success and whose failure it was. `sandbox_failed` says that commands could not run for want of a sandbox,
/// `gate_refused` that a command did not pass the gate.
pub fn decide(mut verdict: Verdict, sandbox_failed: bool, gate_refused: bool) -> Verdict {
    let class = if verdict.host_failure.is_some() {
        Some(FailureClass::Host)
    } else if !verdict.constraint_violations.is_empty() {
        Some(FailureClass::Constraint)
    } else if !verdict.protocol_violations.is_empty() || gate_refused || verdict.is_empty {
        Some(FailureClass::Gene)
    } else if sandbox_failed {
        Some(FailureClass::Sandbox)
    } else if verdict.validation_ok() && verdict.proof_failure.is_some() {
        Some(FailureClass::Validation)
    } else if !verdict.validation_ok() {
        let network = verdict.commands.iter().filter(|c| !c.ok).any(|c| speaks_of_network(&c.stderr));
        Some(if network { FailureClass::Network } else { FailureClass::Validation })
    } else {
        None
    };
    verdict.ok = class.is_none();
    verdict.failure_class = class;
    verdict
}

fn speaks_of_network(text: &str) -> bool {
    [
        "ENOTFOUND",
        "EAI_AGAIN",
        "ENETUNREACH",
        "getaddrinfo",
        "Network is unreachable",
        "Temporary failure in name resolution",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
