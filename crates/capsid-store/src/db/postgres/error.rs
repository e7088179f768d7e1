//! What the server's errors mean for an operation, and for whoever asked for it.

use capsid_model::problem::{Code, Problem};
use std::error::Error as _;
use tokio_postgres::Error;

/// Why a transaction did not come to its end.
pub enum PostgresFailure {
    /// It met another one; nothing was kept, and it may be done again.
    Conflict,
    /// The server went away, or takes no writes any more, before anything was kept.
    Lost(Problem),
    /// Something that doing it again does not mend.
    Other(Problem),
}

/// The code of five characters that the server gave.
fn state(error: &Error) -> &str {
    error.code().map_or("", tokio_postgres::error::SqlState::code)
}

/// The transaction met another one in a deadlock, or on a standby that had to go on.
pub fn is_conflict(error: &Error) -> bool {
    matches!(state(error), "40001" | "40P01")
}

/// The server undid the transaction because of what it did, so it certainly was not kept.
pub fn is_refused_commit(error: &Error) -> bool {
    state(error).starts_with("23")
}

/// What an error before the end of a transaction means.
pub fn failure(error: &Error) -> PostgresFailure {
    if is_conflict(error) {
        PostgresFailure::Conflict
    } else if is_lost(error) {
        PostgresFailure::Lost(problem(error))
    } else {
        PostgresFailure::Other(problem(error))
    }
}

fn is_lost(error: &Error) -> bool {
    match state(error) {
        "" => is_broken(error),
        // A server that became a copy of another one. Where the URL names others, one of them takes writes.
        "25006" => true,
        // A statement that was prepared before a migration.
        "0A000" => error.as_db_error().is_some_and(|error| error.message().contains("cached plan")),
        // Too many connections for a moment, as when all hubs come back at once.
        "53300" => true,
        // The connection waited for too long inside a transaction.
        "25P03" => true,
        code => code.starts_with("57P") || code.starts_with("08"),
    }
}

/// The connection broke, or could not be made.
fn is_broken(error: &Error) -> bool {
    error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>())
}

/// What went wrong, with the code that fits it.
pub fn problem(error: &Error) -> Problem {
    let state = state(error);
    let (code, fix) = match state {
        "53100" => {
            (Code::DiskFull, "Free some space on the database server; nothing that was acknowledged is lost.")
        }
        "25P03" => (Code::StoreBusy, "Try again in a moment."),
        _ if state.starts_with("53") || state.starts_with("40") || state == "55P03" => {
            (Code::StoreBusy, "Try again in a moment.")
        }
        _ if state.starts_with("58") => {
            (Code::IoError, "Look at the disk and the log of the database server.")
        }
        _ if state.starts_with("XX00") && state != "XX000" => {
            (Code::StoreDamaged, "Restore a backup of the database server.")
        }
        // A server that became a copy of another one, or whose operator stopped writes.
        "25006" => {
            (Code::StoreUnreachable, "Name the server that takes writes in the URL; try again in a moment.")
        }
        _ if state.starts_with("28") || state == "3D000" => {
            (Code::StoreUnreachable, "Check the user, the password and the database name in the URL.")
        }
        _ if state.starts_with("57P") || state.starts_with("08") => {
            (Code::StoreUnreachable, "The server is shutting down or starting; try again in a moment.")
        }
        "" if is_connection_error(error) => {
            (Code::StoreUnreachable, "Check the URL and that the server runs.")
        }
        _ => (Code::Internal, "Please report this as a bug."),
    };
    Problem::new(code, format!("The database failed: {}.", description(error))).fix(fix)
}

/// Anything but a value that does not fit its place, which the library has as an error without a cause of the system.
fn is_connection_error(error: &Error) -> bool {
    let text = error.to_string();
    let beginnings = [
        "error communicating",
        "error performing TLS",
        "error connecting",
        "authentication error",
        "timeout",
    ];
    is_broken(error) || beginnings.iter().any(|beginning| text.starts_with(beginning))
}

/// The error with its causes, which the library keeps apart.
fn description(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The refusal of whoever asks for a server that does not answer.
pub fn unreachable_server(why: &str) -> Problem {
    Problem::new(Code::StoreUnreachable, format!("The database server cannot be reached: {why}."))
        .fix("Check the URL and that the server runs.")
}
