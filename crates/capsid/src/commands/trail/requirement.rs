//! Whose signatures count: the options of `verify`, and the default of each place.

use super::verify::given_keys;
use capsid_model::{Code, Problem, Result};
use capsid_seal::TrailHome;
use capsid_seal::keys::{KeySet, pinned};
use capsid_seal::verdict::{DataPlace, Require, SignerPolicy};
use clap::{Args, ValueEnum};

// No doc comment: it would take the place of the one of the command.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RequirementArgs {
    /// Whose key every record must be signed with. The default depends on the place: your own home asks for `own`, and
    /// what comes from elsewhere for `pinned` as soon as a key is pinned.
    #[arg(long, value_name = "WHO")]
    pub require: Option<RequireWord>,
    /// Check signatures with this public key alone (64 hex digits); may be given again for a rotated key.
    #[arg(long, value_name = "HEX", conflicts_with = "require")]
    pub pubkey: Vec<String>,
    /// Of the pinned keys, only those that were pinned under this name count.
    #[arg(long, value_name = "NAME", conflicts_with = "pubkey")]
    pub from: Option<String>,
}

/// The words of --require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RequireWord {
    /// The home's key, now or up to its rotation.
    Own,
    /// Own, or one that you pinned.
    Pinned,
    /// Pinned, or one that the home knows.
    Known,
    /// Any of these, or one that came with the data.
    Any,
}

impl RequireWord {
    fn require(self) -> Require {
        match self {
            Self::Own => Require::Own,
            Self::Pinned => Require::Pinned,
            Self::Known => Require::Known,
            Self::Any => Require::Any,
        }
    }
}

/// The options, read.
#[derive(Debug, Clone, Default)]
pub(super) struct SignerRequirement {
    word: Option<Require>,
    given: Option<KeySet>,
    from: Option<Vec<capsid_seal::PublicKey>>,
    /// Whether the default counts as written out.
    is_explicit: bool,
}

impl SignerRequirement {
    /// Reads the options. `is_explicit` makes the default of a place count as written out.
    pub fn read(arguments: &RequirementArgs, home: &TrailHome, is_explicit: bool) -> Result<Self> {
        let from = arguments.from.as_deref().map(|name| keys_pinned_as(home, name)).transpose()?;
        let word = arguments.require.map(RequireWord::require).or(from.is_some().then_some(Require::Pinned));
        Ok(Self { word, given: given_keys(&arguments.pubkey)?, from, is_explicit })
    }

    /// Whether keys were named on the command line.
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// The keys to verify with: those that were named, or those that are there.
    pub fn keys(&self, found: impl FnOnce() -> KeySet) -> KeySet {
        if let Some(keys) = &self.given {
            return keys.clone();
        }
        let mut keys = found();
        if let Some(pinned) = &self.from {
            keys.pin_only(pinned);
        }
        keys
    }

    /// What is required of the data of a place.
    pub fn policy(&self, place: DataPlace, keys: &KeySet) -> SignerPolicy {
        match self.word {
            _ if self.is_given() => SignerPolicy::explicit(Require::Given),
            Some(require) => SignerPolicy::explicit(require),
            None => {
                let default = SignerPolicy::for_place(place, keys.has_pinned());
                SignerPolicy { is_explicit: self.is_explicit, ..default }
            }
        }
    }
}

fn keys_pinned_as(home: &TrailHome, name: &str) -> Result<Vec<capsid_seal::PublicKey>> {
    let keys = pinned::named(home.root(), name)?;
    if keys.is_empty() {
        return Err(Problem::new(Code::NotFound, format!("No key is pinned under the name `{name}`."))
            .fix("Pin one with `capsid key pin HEX --name NAME`."));
    }
    Ok(keys)
}
