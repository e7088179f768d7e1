//! The sandbox of Linux: a launcher that builds it and the parts that it is built of.

mod detached;
mod disk;
mod engine_link;
mod first_process;
pub mod idmap;
mod init;
mod landlock;
mod launcher;
mod mounts;
mod namespaces;
mod orphans;
mod proc_dev;
mod reaper;
mod sandbox_user;
mod seccomp;
pub mod spawn;
mod sys;
mod write_layer;
