#![doc = include_str!("../README.md")]

pub mod install;
pub mod payload;
pub mod session;
