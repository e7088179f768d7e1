//! What tests need: scratch git repositories, builders of assets, a harness that kills the program.
//!
//! Only tests depend on this crate, so it may panic, spawn and write as it likes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used)]

pub mod bundle_cases;
pub mod disk;
pub mod economy;
#[cfg(unix)]
pub mod hub;
#[cfg(unix)]
pub mod kill;
#[cfg(unix)]
pub mod logged_child;
#[cfg(all(unix, feature = "database"))]
pub mod postgres;
#[cfg(all(unix, feature = "database"))]
pub mod postgres_pair;
pub mod program;
pub mod program_repo;
pub mod rounds;
pub mod secrets;
pub mod served_program;
#[cfg(feature = "database")]
pub mod sqlite;
pub mod store;
pub mod test_repo;
pub mod trail_user;
pub mod transcript;
pub mod wait;
