//! What confines programs: a launcher on Linux, and nothing on other systems, where none is started.

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub mod plan;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{idmap, spawn};
#[cfg(target_os = "linux")]
pub use linux::{idmap, spawn};
