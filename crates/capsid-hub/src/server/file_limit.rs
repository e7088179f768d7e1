//! How many files the system lets the hub open. Each connection is one.

/// Files that the hub opens besides connections.
const OTHERS: u64 = 128;

/// Raises the limit of this process to what the system allows, and says how many connections that leaves, if fewer than
/// wanted.
#[cfg(unix)]
pub fn raise_file_limit(connections: usize) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + OTHERS;
    let mut current = limit.current.unwrap_or(u64::MAX);
    if current < wanted {
        let raised = limit.maximum.unwrap_or(wanted).min(wanted).max(current);
        let asked = Rlimit { current: Some(raised), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, asked).is_ok() {
            current = raised;
        }
    }
    (current < wanted).then(|| current.saturating_sub(OTHERS))
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn raise_file_limit(_connections: usize) -> Option<u64> {
    None
}
