//! Whose signatures count.

use crate::key_set::KeyOrigin;

/// What the key of every record must be. Each includes the one before it, apart from the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Require {
    /// The home's key, now or up to its rotation.
    Own,
    /// Own, or one that the user vouches for.
    Pinned,
    /// Pinned, or one that the home knows.
    Known,
    /// Any of these, or one that came with the data.
    Any,
    /// One that was named for this verification, and no other.
    Given,
}

impl Require {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Pinned => "pinned",
            Self::Known => "known",
            Self::Any => "any",
            Self::Given => "given",
        }
    }

    /// Whether a key of that origin meets it.
    pub fn allows(self, origin: KeyOrigin) -> bool {
        match self {
            Self::Own => matches!(origin, KeyOrigin::Own | KeyOrigin::Retired),
            Self::Pinned => matches!(origin, KeyOrigin::Own | KeyOrigin::Retired | KeyOrigin::Pinned),
            Self::Known => !matches!(origin, KeyOrigin::Bundled | KeyOrigin::Given),
            Self::Any => true,
            Self::Given => origin == KeyOrigin::Given,
        }
    }
}

/// Where the data is that a verification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPlace {
    /// Among the user's own chains, or the meta-chain.
    Home,
    /// In the user's home, among the chains that were imported.
    Imported,
    /// Anywhere else.
    Elsewhere,
}

/// A requirement, and whether the user wrote it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignerPolicy {
    /// What is required.
    pub require: Require,
    /// Whether it was asked for, and is no default.
    pub is_explicit: bool,
}

impl SignerPolicy {
    /// The default of a place.
    pub fn implied(require: Require) -> Self {
        Self { require, is_explicit: false }
    }

    /// What is required where the user asks for nothing. One pinned key makes everything from elsewhere strict: which key
    /// a bundle should have cannot be read from the bundle.
    pub fn for_place(place: DataPlace, has_pinned: bool) -> Self {
        Self::implied(match (place, has_pinned) {
            (DataPlace::Home, _) => Require::Own,
            (_, true) => Require::Pinned,
            (_, false) => Require::Any,
        })
    }

    /// A requirement that the user wrote out.
    pub fn explicit(require: Require) -> Self {
        Self { require, is_explicit: true }
    }

    /// Whether a signer nobody knows is an open question and no fault.
    pub fn tolerates_unknown_signers(self) -> bool {
        self.require == Require::Any && !self.is_explicit
    }
}
