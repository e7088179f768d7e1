//! What is counted in a cycle and stored in its records.

use capsid_model::{Value, json};

/// What was counted in a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedSignals {
    /// The agent whose transcripts were read.
    pub agent: String,
    /// Whether drift was requested.
    pub drift_enabled: bool,
    /// Whether a person reviews the change.
    pub review_mode: bool,
    pub dry_run: bool,
    /// How long reading the inputs took.
    pub scan_ms: u64,
    /// How large the memory file was.
    pub memory_size_bytes: u64,
    /// How many errors the log had.
    pub recent_error_count: u64,
    pub node: String,
    pub platform: String,
}

impl ObservedSignals {
    /// The record's form.
    pub fn to_value(&self) -> Value {
        json!({
            "agent": self.agent,
            "drift_enabled": self.drift_enabled,
            "review_mode": self.review_mode,
            "dry_run": self.dry_run,
            "scan_ms": self.scan_ms,
            "memory_size_bytes": self.memory_size_bytes,
            "recent_error_count": self.recent_error_count,
            "node": self.node,
            "platform": self.platform,
        })
    }
}
