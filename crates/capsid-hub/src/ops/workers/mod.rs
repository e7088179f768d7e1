//! The work pool.

pub mod work;
