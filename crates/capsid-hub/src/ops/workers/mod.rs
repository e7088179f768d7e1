//! The work pool.

pub mod register;
