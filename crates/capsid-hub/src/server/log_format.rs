//! The log on stderr, which no request waits for and which may fail. It names requests by route and number, and nodes, tasks and the like by id; never what they carry.

use crate::runtime::log_queue::{LogGuard, LogQueue};
use capsid_model::problem::{Code, Problem, Result};
use tracing_subscriber::EnvFilter;

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// Starts the log. `filter` is a level such as `info`, or levels by module such as `capsid_hub=debug`. The last lines are
/// written when the returned value goes.
pub fn start(format: LogFormat, filter: &str, color: bool) -> Result<LogGuard> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Problem::new(Code::ConfigInvalid, format!("The log level `{filter}` cannot be read: {error}."))
            .fix("Use error, warn, info, debug or trace.")
    })?;
    let failed = |error: &dyn std::fmt::Display| {
        Problem::new(Code::Internal, format!("The log could not be started: {error}."))
    };
    let queue = LogQueue::start(std::io::stderr()).map_err(|error| failed(&error))?;
    // The library would report a failure to stderr, which is what failed.
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(queue.clone())
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => lines.with_ansi(color).with_target(false).try_init(),
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
        }
    };
    started.map_err(|error| failed(&error))?;
    Ok(LogGuard(queue))
}
