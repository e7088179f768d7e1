#![doc = include_str!("../README.md")]

pub mod arguments;
pub mod catalog;
pub mod compat;
pub mod context;
pub mod http;
pub mod resources;
pub mod server;
pub mod stdio;
pub mod tool_context;
mod tool_entry;
mod tools;
