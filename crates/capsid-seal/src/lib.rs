#![doc = include_str!("../README.md")]

pub mod hash;
pub mod keys;
#[cfg(feature = "pq")]
pub mod pq;
pub mod record;
pub mod sealer;
pub mod sign;
pub mod stored;
pub mod uri;
pub mod validate;
pub mod verify;

pub use record::{Link, Record};
pub use sealer::{Sealer, python_iso};
pub use sign::{PublicKey, SigningKey};
pub use stored::{Columns, Seal, Stored};
