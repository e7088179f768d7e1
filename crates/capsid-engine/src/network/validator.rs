//! A validator's round: what the hub asks about is tried in the sandbox, and what was seen is signed and reported.

use crate::exchange::bundle_runs::read_node_version;
use crate::exchange::control::{self, ControlRuns};
use crate::exchange::reproduction::read_reproduction;
use crate::exchange::trial::{self, TrialReport};
use capsid_client::NodeClient;
use capsid_client::asset::is_id;
use capsid_client::node::encoded;
use capsid_model::gate::CommandPolicy;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Clock, Code, Object, Problem, Result, Time, Value, canonical, json};
use capsid_sandbox::require_untrusted_sandbox;
use capsid_seal::SigningKey;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The most assignments of one round.
const MAX: usize = 20;
/// The most commands of an assignment that are read.
const MAX_COMMANDS: usize = 50;

/// The member of a report with its signature.
const SIGNATURE: &str = "public_key_signature";
/// What a hub answers where the node has another key.
const KEY_IN_USE: &str = "public_key_in_use";

/// The stake that makes a node eligible for validation tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StakeStatus {
    /// Whether the hub asks this node.
    pub is_validator: bool,
    pub amount: f64,
    /// The least that the hub wants.
    pub least: f64,
    /// What the node holds besides.
    pub balance: f64,
}

impl StakeStatus {
    fn read(response: &Value) -> Self {
        let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or_default();
        let active = response.pointer("/stake/status").and_then(Value::as_str) == Some("active");
        Self {
            is_validator: response.get("is_validator").and_then(Value::as_bool).unwrap_or(active),
            amount: number(response.pointer("/stake/amount")),
            least: response.get("min_stake").and_then(Value::as_f64).unwrap_or(100.0),
            balance: number(response.get("credit_balance")),
        }
    }

    /// This node's status as a validator.
    pub fn fetch(node: &NodeClient) -> Result<Self> {
        Ok(Self::read(&node.validator_status()?))
    }

    /// Puts credits aside.
    pub fn stake(node: &NodeClient, amount: f64) -> Result<Self> {
        Ok(Self::read(&node.stake(amount)?))
    }

    /// Takes them back.
    pub fn unstake(node: &NodeClient) -> Result<Self> {
        Ok(Self::read(&node.unstake()?))
    }

    /// What to do where there is none.
    pub fn stake_required(&self) -> Problem {
        let message = format!(
            "The hub asks only nodes that put credits aside; this node has put {} aside. It takes at least {} credits, and this node holds {}.",
            self.amount, self.least, self.balance
        );
        Problem::new(Code::NotEligible, message).fix(format!(
            "`capsid node validator --stake {}` puts them aside. They stay yours; `capsid node validator --unstake` gives them back.",
            self.least
        ))
    }
}

/// What the node earned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValidatorEarnings {
    pub total: f64,
    pub by_validation: f64,
    /// What is not decided yet.
    pub pending: f64,
}

impl ValidatorEarnings {
    /// The earnings as the hub reports them.
    pub fn fetch(node: &NodeClient) -> Result<Self> {
        let response = node.get(&format!("/billing/earnings/{}", encoded(node.id())), &[])?;
        let number = |path: &str| response.pointer(path).and_then(Value::as_f64).unwrap_or_default();
        Ok(Self {
            total: number("/total_earned"),
            by_validation: number("/by_source/validation"),
            pending: number("/pending"),
        })
    }
}

/// What the hub asks this node to try.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ValidationAssignment {
    task_id: String,
    nonce: String,
    asset_id: String,
    commands: Vec<String>,
}

impl ValidationAssignment {
    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let short = |text: &String| !text.is_empty() && text.len() <= 200;
        let list = value.get("validation_commands").and_then(Value::as_array);
        let commands = list.into_iter().flatten().filter_map(Value::as_str).take(MAX_COMMANDS);
        Some(Self {
            task_id: text("task_id").filter(short)?,
            nonce: text("nonce").filter(short)?,
            asset_id: text("target_asset_id").filter(|id| is_id(id))?,
            commands: commands.map(str::to_owned).collect(),
        })
    }
}

/// What is tried.
struct ValidationSubject {
    capsule: Object,
    commands: Vec<String>,
    /// What shows the hub that this node read the capsule.
    read_proof: Option<String>,
}

/// One assignment that was worked on.
#[derive(Debug)]
pub struct ValidatedAssignment {
    pub asset_id: String,
    pub summary: String,
    pub trial: TrialReport,
    /// What the hub answered, or why it did not take the report.
    pub answer: Result<Object>,
}

impl ValidatedAssignment {
    /// The weight of the report, from the hub.
    pub fn weight(&self) -> Option<f64> {
        self.answer.as_ref().ok()?.get("weight").and_then(Value::as_f64)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let answer = self.answer.as_ref();
        let problem =
            answer.err().map(|problem| json!({"code": problem.code.as_str(), "message": problem.message}));
        json!({
            "asset_id": self.asset_id,
            "overall_ok": self.trial.ok,
            "failure_class": self.trial.class,
            "commands_passed": self.trial.passed(),
            "commands_total": self.trial.total,
            "duration_ms": self.trial.duration().as_millis() as u64,
            "isolation": self.trial.isolation,
            "weight": self.weight(),
            "report_id": answer.ok().and_then(|answer| answer.get("report_id")),
            "problem": problem,
        })
    }
}

/// Somebody who validates what others published.
pub struct ValidatorNode {
    /// The client for the hub.
    pub node: NodeClient,
    pub key: SigningKey,
    /// Whether the hub knows the key as this node's. Otherwise reports are sent unsigned.
    pub is_key_known: bool,
    pub clock: Arc<dyn Clock>,
    /// How long one command may take.
    pub timeout: Duration,
    /// A repository whose committed files the change is made in, instead of an empty folder.
    pub repository: Option<PathBuf>,
}

impl ValidatorNode {
    /// Refuses where the sandbox for strangers does not work: nothing of others is ever run outside of it.
    pub fn require_sandbox() -> Result<()> {
        require_untrusted_sandbox()
    }

    /// Says hello with the key that signs the reports. Gives the problem where the hub knows this node by another key; then
    /// reports are sent unsigned.
    pub fn say_hello(&mut self) -> Result<Option<Problem>> {
        let hello = |payload: Value| self.node.hello(payload.as_object().cloned().unwrap_or_default());
        let introduced = hello(json!({"capabilities": {}, "public_key": self.key.public().hex()}));
        let refused = match introduced {
            Ok(_) => None,
            Err(problem) if problem.hub_code.as_deref() == Some(KEY_IN_USE) => {
                hello(json!({"capabilities": {}}))?;
                Some(problem.fix(
                    "Reports are sent unsigned. A hello that both keys sign replaces the key of a node.",
                ))
            }
            Err(problem) => return Err(problem),
        };
        self.is_key_known = refused.is_none();
        Ok(refused)
    }

    /// Works on everything that the hub asks for now.
    pub fn round(&self, stop: &dyn Fn() -> bool) -> Result<Vec<ValidatedAssignment>> {
        let tasks = self.node.validation_tasks()?;
        let mut judged = Vec::new();
        // Most of what is asked runs under Node, as the sandbox has it.
        let runtime = if tasks.is_empty() { None } else { read_node_version() };
        let runtime = runtime.map_or_else(|| "none".to_owned(), |version| format!("node {version}"));
        for assignment in tasks.iter().filter_map(ValidationAssignment::read).take(MAX) {
            if stop() {
                break;
            }
            judged.push(self.judge(&assignment, &runtime));
        }
        Ok(judged)
    }

    /// Tries one and reports; a problem with it does not stop the others.
    fn judge(&self, assignment: &ValidationAssignment, runtime: &str) -> ValidatedAssignment {
        let tried = self.fetch(assignment).and_then(|subject| Ok((self.try_subject(&subject)?, subject)));
        let asset_id = assignment.asset_id.clone();
        match tried {
            Ok(((trial, control), subject)) => {
                let mut report = report(assignment, &trial, runtime, self.clock.now());
                add_evidence(&mut report, &subject, control, self.repository.is_none());
                let report = if self.is_key_known { signed(report, &self.key) } else { report };
                let summary = subject.capsule.get("summary").and_then(Value::as_str).unwrap_or_default();
                let summary = inert_line(cut(summary, 100));
                ValidatedAssignment {
                    asset_id,
                    summary,
                    answer: self.node.report_assignment(&report.into()),
                    trial,
                }
            }
            Err(problem) => {
                let trial = TrialReport::nothing("env_asset_unavailable", assignment.commands.len());
                ValidatedAssignment { asset_id, summary: String::new(), trial, answer: Err(problem) }
            }
        }
    }

    /// Runs the commands with the change, and without it if they pass: a test that cannot fail proves nothing.
    fn try_subject(&self, subject: &ValidationSubject) -> Result<(TrialReport, ControlRuns)> {
        let capsule = &subject.capsule;
        let diff = capsule.get("diff").and_then(Value::as_str).unwrap_or_default();
        let reproduction = self.repository.is_none().then(|| read_reproduction(capsule)).flatten();
        if let Some(reproduction) = reproduction {
            let policy = CommandPolicy::default();
            let commands = &subject.commands;
            return control::run_on_reproduction(&policy, diff, commands, &reproduction, self.timeout);
        }
        let trial = trial::run(diff, &subject.commands, self.repository.as_deref(), self.timeout)?;
        let control = match trial.ok && self.repository.is_none() {
            true => control::run_control(diff, &subject.commands, self.timeout)?,
            false => ControlRuns::default(),
        };
        Ok((trial, control))
    }

    /// The capsule, and the commands of its gene where that can be had: both have ids that hold. What the hub itself says
    /// is to be run counts only where it gives no gene.
    fn fetch(&self, assignment: &ValidationAssignment) -> Result<ValidationSubject> {
        let id = assignment.asset_id.as_str();
        let mut fetched = self.node.fetch(&[id])?;
        let Some(capsule) = fetched.assets.pop() else {
            return Err(fetched.refused.pop().unwrap_or_else(|| {
                Problem::new(
                    Code::HubAnswerInvalid,
                    format!("The hub asks about `{id}` and does not give it."),
                )
                .fix("Try again later; the assignment may have ended.")
            }));
        };
        let commands = self.gene_commands(id).unwrap_or_else(|| assignment.commands.clone());
        let read_proof = fetched.read_proof(id, &assignment.nonce);
        Ok(ValidationSubject { capsule, commands, read_proof })
    }

    fn gene_commands(&self, capsule_id: &str) -> Option<Vec<String>> {
        let path = format!("/a2a/assets/{}", encoded(capsule_id));
        let detail = self.node.get(&path, &[("node_id", self.node.id())]).ok()?;
        let gene_id = detail.pointer("/bundle/gene/asset_id")?.as_str().filter(|id| is_id(id))?;
        let gene = self.node.fetch(&[gene_id]).ok()?.assets.pop()?;
        let list = gene.get("validation")?.as_array()?;
        let commands: Vec<String> =
            list.iter().filter_map(Value::as_str).take(MAX_COMMANDS).map(str::to_owned).collect();
        (!commands.is_empty()).then_some(commands)
    }
}

/// What was seen, in the form that hubs know.
fn report(assignment: &ValidationAssignment, trial: &TrialReport, runtime: &str, now: Time) -> Object {
    let mut report = trial.to_members(runtime, now);
    for (name, value) in [
        ("task_id", &assignment.task_id),
        ("nonce", &assignment.nonce),
        ("target_asset_id", &assignment.asset_id),
    ] {
        report.insert(name.to_owned(), value.as_str().into());
    }
    report
}

/// Adds what shows that the asset was read, and what the commands did without the change.
fn add_evidence(
    report: &mut Object,
    subject: &ValidationSubject,
    control: ControlRuns,
    is_from_scratch: bool,
) {
    if let Some(proof) = &subject.read_proof {
        report.insert("read_proof".to_owned(), proof.as_str().into());
    }
    if control != ControlRuns::default() {
        report.insert("control".to_owned(), control.to_value());
    }
    if is_from_scratch {
        let ran_on = if read_reproduction(&subject.capsule).is_some() { "reproduction" } else { "scratch" };
        report.insert("ran_on".to_owned(), ran_on.into());
    }
}

/// Signs a report in the form that the hub reads: the signature covers the canonical JSON of all other members.
fn signed(mut report: Object, key: &SigningKey) -> Object {
    let text = canonical::canonical_value(&Value::Object(report.clone()));
    report.insert(SIGNATURE.to_owned(), key.sign(&text).into());
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment() -> Value {
        json!({"task_id": "val_1", "nonce": "n", "target_asset_id": format!("sha256:{}", "a".repeat(64)),
            "validation_commands": ["node test.js", 7]})
    }

    #[test]
    fn an_assignment_is_read_strictly() {
        assert_eq!(ValidationAssignment::read(&assignment()).unwrap().commands, ["node test.js"]);
        for (name, value) in [
            ("task_id", json!("")),
            ("nonce", json!(1)),
            ("target_asset_id", json!("sha256:../x")),
            ("target_asset_id", json!(format!("sha256:{}", "A".repeat(64)))),
            ("task_id", json!("x".repeat(201))),
        ] {
            let mut odd = assignment();
            odd[name] = value;
            assert_eq!(ValidationAssignment::read(&odd), None, "{name}");
        }
    }

    #[test]
    fn a_report_is_signed_and_a_changed_one_is_not() {
        let key = SigningKey::from_seed(&[7; 32]);
        let is_signed = |report: &Object| {
            let mut bare = report.clone();
            let signature = bare.shift_remove(SIGNATURE).and_then(|text| text.as_str().map(str::to_owned));
            let text = canonical::canonical_value(&Value::Object(bare));
            signature.is_some_and(|signature| key.public().verifies(&text, &signature))
        };
        let trial = trial::run("", &["node missing.js".to_owned()], None, Duration::from_secs(30)).unwrap();
        let report = report(
            &ValidationAssignment::read(&assignment()).unwrap(),
            &trial,
            "none",
            Time(1_770_000_000_000),
        );
        let mut signed = signed(report, &key);
        assert!(is_signed(&signed));
        signed.insert("overall_ok".to_owned(), true.into());
        assert!(!is_signed(&signed));
        signed.shift_remove(SIGNATURE);
        assert!(!is_signed(&signed));
    }

    #[test]
    fn a_stake_is_read_whatever_comes() {
        let response =
            json!({"stake": {"amount": 100, "status": "active"}, "min_stake": 50, "credit_balance": 400});
        assert_eq!(
            StakeStatus::read(&response),
            StakeStatus { is_validator: true, amount: 100.0, least: 50.0, balance: 400.0 }
        );
        assert!(!StakeStatus::read(&json!([])).is_validator);
        assert!(
            StakeStatus::read(&json!({})).stake_required().fix.is_some_and(|fix| fix.contains("--stake 100"))
        );
    }
}
