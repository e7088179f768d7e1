#![doc = include_str!("../README.md")]

pub mod arguments;
pub mod catalog;
pub mod compat;
pub mod http;
pub mod job;
pub mod place;
pub mod resources;
pub mod server;
pub mod stdio;
mod tools;
