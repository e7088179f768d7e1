//! Lets the user's agent make the change: its own command, in the repository, the prompt on its standard input.

use super::custody::Custody;
use super::evolve::Ready;
use crate::solidify::SolidifyRequest;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_sandbox::agent::{AgentEnd, AgentRequest, run_agent};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How to run the agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Its command and arguments.
    pub argv: Vec<String>,
    /// How long it may take; the owner's setting otherwise.
    pub timeout: Option<Duration>,
    /// Set from outside to stop it.
    pub stop: Arc<AtomicBool>,
}

/// How the agent ended.
#[derive(Debug, Clone, Default)]
pub struct AgentOutcome {
    /// What went wrong, if anything did.
    pub failure: Option<String>,
    /// Whether it was stopped from outside: then nobody has judged its work, and the run waits.
    pub stopped: bool,
    /// The run it worked on.
    pub run_id: String,
    /// Files of the engine that it changed, which are as they were again.
    pub restored_store: Vec<String>,
}

impl AgentOutcome {
    /// The request that settles its run.
    pub fn request(self, commit: bool) -> SolidifyRequest {
        SolidifyRequest {
            commit,
            host_failure: self.failure,
            restored_store: self.restored_store,
            run_id: Some(self.run_id),
            unattended: true,
            ..SolidifyRequest::default()
        }
    }
}

/// Runs the agent on a prepared run. A failing agent is an outcome, not an error: its run is still to be settled.
pub fn run(
    workspace: &Workspace,
    ready: &Ready,
    options: &AgentOptions,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<AgentOutcome> {
    let timeout =
        options.timeout.unwrap_or(Duration::from_secs(workspace.config.cycle.agent_timeout_seconds.max(1)));
    let request = AgentRequest {
        argv: &options.argv,
        cwd: &workspace.repository.root,
        prompt: ready.prompt.as_bytes(),
        env: &[
            ("CAPSID_RUN_ID".into(), ready.run.run_id.clone()),
            ("CAPSID_PROMPT_FILE".into(), ready.prompt_path.display().to_string()),
        ],
        timeout,
        stop: &options.stop,
    };
    let custody = Custody::take(workspace, &ready.run.read_logs)?;
    let end = run_agent(&request, on_output);
    let restored_store = custody.restore(workspace)?;
    let stopped = matches!(end, Ok(AgentEnd::Stopped));
    let failure = match end {
        Ok(AgentEnd::Exited(0)) => None,
        Ok(AgentEnd::Exited(status)) => Some(format!("the agent ended with status {status}")),
        Ok(AgentEnd::Signalled(signal)) => Some(format!("the agent was ended by signal {signal}")),
        Ok(AgentEnd::TimedOut) => Some(format!("the agent was stopped after {} s", timeout.as_secs())),
        Ok(AgentEnd::Stopped) => Some("the agent was stopped by a signal".to_owned()),
        Err(problem) => Some(problem.message),
    };
    Ok(AgentOutcome { failure, stopped, run_id: ready.run.run_id.clone(), restored_store })
}
