//! The calls of a hub's runner: the next job, and what was found.

use crate::ClientConfig;
use crate::http::{HttpAnswer, HttpCall, HttpClient};
use crate::refusal;
use capsid_model::{Result, Value, json};

/// A runner's connection to its hub.
#[derive(Debug, Clone)]
pub struct RunnerClient {
    http: HttpClient,
    token: String,
}

impl RunnerClient {
    /// Prepares the connection; nothing is sent yet.
    pub fn new(settings: &ClientConfig, token: &str) -> Result<Self> {
        Ok(Self { http: HttpClient::new(settings)?, token: token.trim().to_owned() })
    }

    /// The next job as the hub sends it; nothing where none waits. `runtime` is where this runner runs things.
    pub fn next_job(&self, runtime: &str) -> Result<Option<Value>> {
        let answer = self.post("/runner/next", &json!({ "runtime": runtime }))?;
        Ok(answer.body.get("job").filter(|job| !job.is_null()).cloned())
    }

    /// Reports what was found.
    pub fn report(&self, report: &Value) -> Result<Value> {
        Ok(self.post("/runner/report", report)?.body)
    }

    fn post(&self, path: &str, body: &Value) -> Result<HttpAnswer> {
        let call = HttpCall {
            method: "POST",
            path,
            body: Some(body),
            bearer: Some(&self.token),
            secret_version: None,
        };
        let answer = self.http.call(call)?;
        if answer.ok() { Ok(answer) } else { Err(refusal::from_answer(&answer)) }
    }
}
