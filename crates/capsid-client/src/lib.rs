#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod address;
pub mod asset;
pub mod calls;
pub mod config;
mod device;
pub mod envelope;
pub mod files;
mod hello;
pub mod http;
pub mod identity;
pub mod joined;
pub mod node;
pub mod otlp;
mod private_file;
mod proxy;
mod raw_assets;
pub mod refusal;
mod retry;
pub mod runner;
mod trial;
mod work;

pub use config::ClientConfig;
pub use files::FileTransport;
pub use hello::HelloResult;
pub use identity::Identity;
pub use node::NodeClient;
pub use proxy::ProxyUrl;
