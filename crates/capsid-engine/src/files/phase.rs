//! Names the step the engine is in, so that a trial which kills the program knows where it hit.

use std::io::Write;
use std::sync::LazyLock;

/// Set to anything, each step that writes is announced on standard error as `phase <name>`.
pub const TRACE_VARIABLE: &str = "CAPSID_TRACE_PHASES";

static TRACING: LazyLock<bool> = LazyLock::new(|| std::env::var_os(TRACE_VARIABLE).is_some());

/// Every step that writes something a user would miss, in the order of a complete cycle.
pub const WRITING: [&str; 19] = [
    "memory_graph",
    "base",
    "candidates",
    "prompt",
    "run_state",
    "journal",
    "apply_journal",
    "apply_prepare",
    "apply_prepared",
    "apply_exchange",
    "apply_sync",
    "apply_finished",
    "genes",
    "capsules",
    "failed_capsules",
    "events",
    "state",
    "solidify_state",
    "seal",
];

/// Reports that a step begins.
pub fn enter(name: &'static str) {
    if *TRACING {
        let mut line = String::with_capacity(32);
        line.push_str("phase ");
        line.push_str(name);
        line.push('\n');
        // A trace that nobody reads any more is no reason to stop working.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
