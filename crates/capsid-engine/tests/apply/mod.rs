//! Applying a change, taking it out again, and restoring files, against a user who edits at the same time.

mod attributes;
mod kill;
mod planning;
mod undoing;
