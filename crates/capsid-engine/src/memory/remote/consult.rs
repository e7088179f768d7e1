//! Asks the shared memory before a gene is chosen. It takes no longer than its patience, and fails no cycle.

use super::advice::RemoteAdvice;
use super::{RemoteMemory, outbox, outgoing};
use crate::rules::select;
use crate::rules::select::SelectInput;
use crate::store::pool::GenePool;
use crate::workspace::Workspace;
use capsid_client::refusal::{TIMEOUT, may_pass};
use capsid_model::gene::Gene;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Code, Problem, Result, Value, env, json};
use capsid_rules::memory::advice::Advice;
use std::collections::HashMap;
use std::sync::mpsc;

/// The most genes in one request; a hub accepts no more.
const MAX_GENES: usize = 2000;

/// How asking ended.
#[derive(Debug, Clone, Default)]
pub struct ConsultOutcome {
    /// The hub that was consulted.
    pub hub: String,
    /// The signals at the time of the request.
    pub signals: Vec<String>,
    pub advice: Option<RemoteAdvice>,
    /// Why this repository's own memory advises alone: `no_signals`, `no_genes`, `timeout`, ...
    pub miss: Option<String>,
    /// The problem, which is only reported.
    pub problem: Option<Problem>,
}

impl ConsultOutcome {
    /// For programs, and for the record of the run.
    pub fn to_json(&self) -> Value {
        let mut value = match &self.advice {
            Some(advice) => advice.to_json(),
            None => json!({
                "miss": self.miss,
                "problem": self.problem.as_ref().map(|problem| json!({
                    "code": problem.code.as_str(),
                    "message": problem.message,
                })),
            }),
        };
        value["hub"] = self.hub.as_str().into();
        value
    }

    /// The advice, if it was requested for exactly these signals.
    pub fn parse_advice(&self, signals: &[String]) -> Option<&RemoteAdvice> {
        self.advice.as_ref().filter(|_| self.signals == signals)
    }
}

/// Asks what the shared memory advises. Pending records are sent first, so that they count; a dry run sends
/// nothing and registers no node.
pub fn consult(
    remote: &RemoteMemory,
    workspace: &Workspace,
    signals: &[String],
    drift: bool,
    dry_run: bool,
) -> ConsultOutcome {
    let consulted = ConsultOutcome {
        hub: remote.hub_url().to_owned(),
        signals: signals.to_vec(),
        ..ConsultOutcome::default()
    };
    match in_time(remote, workspace, signals, drift, dry_run) {
        Ok(advice) => ConsultOutcome { advice: Some(advice), ..consulted },
        Err(ConsultMiss { word, problem }) => ConsultOutcome { miss: Some(word), problem, ..consulted },
    }
}

struct ConsultMiss {
    word: String,
    problem: Option<Problem>,
}

impl ConsultMiss {
    fn from_reason(word: &str) -> Self {
        Self { word: word.to_owned(), problem: None }
    }
}

impl From<Problem> for ConsultMiss {
    fn from(problem: Problem) -> Self {
        let word = problem.hub_code.clone().unwrap_or_else(|| problem.code.as_str().to_owned());
        Self { word, problem: Some(problem) }
    }
}

/// The calls run on another thread, which is left behind when the time is up.
fn in_time(
    remote: &RemoteMemory,
    workspace: &Workspace,
    signals: &[String],
    drift: bool,
    dry_run: bool,
) -> Result<RemoteAdvice, ConsultMiss> {
    let names = outgoing::names(signals);
    if names.is_empty() {
        return Err(ConsultMiss::from_reason("no_signals"));
    }
    let genes = candidates(workspace, signals)?;
    if genes.is_empty() {
        return Err(ConsultMiss::from_reason("no_genes"));
    }
    if dry_run && remote.is_stranger() {
        return Err(ConsultMiss::from_reason("not_registered"));
    }
    let (sender, receiver) = mpsc::channel();
    let (asking, thread_workspace) = (remote.clone(), workspace.clone());
    let worker = move || {
        // Nobody listens any more once the time is up.
        let _ = sender.send(talk(&asking, &thread_workspace, &names, &genes, drift, dry_run));
    };
    if std::thread::Builder::new().name("memory-advice".to_owned()).spawn(worker).is_err() {
        return Err(ConsultMiss::from_reason("exception"));
    }
    match receiver.recv_timeout(remote.timeout()) {
        Ok(ended) => ended,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(too_slow(remote)),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(ConsultMiss::from_reason("exception")),
    }
}

fn too_slow(remote: &RemoteMemory) -> ConsultMiss {
    let message =
        format!("`{}` gave no advice within {} s.", remote.hub_url(), remote.timeout().as_secs_f32());
    Problem::new(Code::HubUnreachable, message).hub_code(TIMEOUT).into()
}

fn talk(
    remote: &RemoteMemory,
    workspace: &Workspace,
    signals: &[String],
    genes: &[ConsultCandidate],
    drift: bool,
    dry_run: bool,
) -> Result<RemoteAdvice, ConsultMiss> {
    if !dry_run {
        let flushed = outbox::flush(workspace, remote, remote.timeout() / 2);
        // A hub that does not take anything now would not answer either. What is in the way here is not its fault.
        if let Some(problem) = flushed.ok().and_then(|flushed| flushed.problem).filter(may_pass) {
            return Err(problem.into());
        }
    }
    let listed: Vec<Value> = genes.iter().map(ConsultCandidate::to_json).collect();
    let answer =
        remote.post("/kg/advice", json!({"signals": signals, "genes": listed, "driftEnabled": drift}))?;
    let ids: Vec<String> = genes.iter().map(|gene| gene.id.clone()).collect();
    RemoteAdvice::read(&answer, &ids).ok_or_else(|| {
        let message = format!("`{}` answered with something that is no advice.", remote.hub_url());
        Problem::new(Code::HubAnswerInvalid, message).into()
    })
}

/// A gene in the request to the hub.
struct ConsultCandidate {
    id: String,
    category: Option<String>,
}

impl ConsultCandidate {
    fn to_json(&self) -> Value {
        json!({"id": self.id, "category": self.category, "type": "Gene"})
    }
}

/// The genes that fit the signals, best first. Genes whose name must not leave this machine are left out.
fn candidates(workspace: &Workspace, signals: &[String]) -> Result<Vec<ConsultCandidate>> {
    let pool = workspace.store.gene_pool()?;
    let selection = select::select(SelectInput {
        signals,
        genes: pool.as_pool(),
        capsules: &[],
        advice: &Advice::default(),
        failed: &[],
        env_context: &workspace.fingerprint().context(),
        platform: env::platform(),
        drift: None,
    });
    let mut categories = match &pool {
        GenePool::Few(_) => categories(workspace)?,
        GenePool::Many(_) => HashMap::new(),
    };
    let ids = selection.scores.into_iter().map(|scored| scored.gene).take(MAX_GENES);
    let open = ids.filter(|id| redact(id, RedactProfile::Publish) == id.as_str());
    Ok(open.map(|id| ConsultCandidate { category: categories.remove(&id), id }).collect())
}

fn categories(workspace: &Workspace) -> Result<HashMap<String, String>> {
    let genes = workspace.store.genes.documents()?;
    Ok(genes.iter().map(Gene::read).map(|gene| (gene.id, gene.category)).collect())
}
