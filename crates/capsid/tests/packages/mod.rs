//! Three published packages are broken, repaired by a scripted agent, broken again in another clone, and repaired there
//! without an agent. What the program prints is the page `docs/explanation/repair-twice.md`.
#![cfg(unix)]

mod bytes;
mod jsonpointer;
mod page;
mod peers;
mod story;
mod strsim;
