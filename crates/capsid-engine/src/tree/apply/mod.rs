//! Applies a proven change to the user's tree, file by file, without ever overwriting an edit of the user's.
//!
//! First everything is decided, then a journal is written, then the files are exchanged. Whatever moment the program is
//! killed at, [`recover`] brings it to an end.

pub mod exchange;
#[cfg(test)]
mod exchange_tests;
pub mod journal;
mod merge;
pub mod operation;
pub mod outcome;
pub mod plan;
mod prepare;
pub mod restore;
pub mod undo;

pub use journal::{PHASES, apply, begin, discard, finish, is_pending, recover};
pub use operation::{Expected, Operation, OperationKind};
pub use outcome::{AppliedFile, ApplyOutcome, LateEdit, LeftFile};
pub use plan::{ApplyConflict, ApplyPlan, ConflictKind, plan};
pub use restore::{AfterFile, RestoreOutcome, list_after, restore};
pub use undo::undo;
