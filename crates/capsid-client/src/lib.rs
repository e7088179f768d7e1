#![doc = include_str!("../README.md")]

pub mod asset;
pub mod calls;
pub mod envelope;
pub mod http;
pub mod identity;
pub mod node;
pub mod settings;

pub use identity::Identity;
pub use node::Node;
pub use settings::Settings;
