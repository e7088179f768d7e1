#![doc = include_str!("../README.md")]

pub mod asset;
pub mod calls;
mod device;
pub mod envelope;
pub mod files;
mod greeting;
pub mod http;
pub mod identity;
pub mod node;
mod private_file;
mod proxy;
pub mod refusal;
mod renewal;
pub mod settings;
mod wait;
mod work;

pub use files::FileTransport;
pub use identity::Identity;
pub use node::Node;
pub use proxy::ProxyUrl;
pub use settings::Settings;
