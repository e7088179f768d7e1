#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod bundle;
pub mod chain;
pub mod evidence;
pub mod heads;
pub mod home;
pub mod imported;
pub mod keys;
pub mod meta;
#[cfg(feature = "pq")]
pub mod pq;
pub mod pq_public;
pub mod record;
pub mod record_signer;
mod salt;
pub mod sealer;
pub mod sign;
pub mod sources;
pub mod uri;
pub mod verify;

pub use capsid_verdict as verdict;
pub use capsid_verdict::{hash, stored};
pub use home::TrailHome;
pub use record::{ActionRecord, ChainLink};
pub use sealer::{Sealer, python_iso};
pub use sign::{PublicKey, SigningKey};
pub use stored::{RecordColumns, RecordSeal, StoredRecord};
