//! What a verifier must say of a manipulation, worked out by hand for each family.

use capsid_model::{Value, json};

/// What the reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderPolicy {
    /// Nothing: the default without a pinned key.
    Default,
    /// `--require any`.
    Any,
    /// Both keys of the owner are pinned.
    Pinned,
    /// Both are the reader's own.
    Own,
}

impl ReaderPolicy {
    pub const ALL: [Self; 4] = [Self::Default, Self::Any, Self::Pinned, Self::Own];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Any => "any",
            Self::Pinned => "pinned",
            Self::Own => "own",
        }
    }

    /// Whether the owner's keys are more to the reader than keys that came with the data.
    pub fn vouches(self) -> bool {
        matches!(self, Self::Pinned | Self::Own)
    }
}

/// The level, and the first finding of the worst level in the order of evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedVerdict {
    pub level: &'static str,
    pub code: Option<&'static str>,
    pub chain: Option<&'static str>,
    pub position: Option<usize>,
}

impl ExpectedVerdict {
    pub fn to_value(&self) -> Value {
        let exit = match self.level {
            "valid" | "unverified" => 0,
            "unreadable" => 2,
            _ => 1,
        };
        json!([self.level, exit, self.code, self.chain, self.position])
    }
}

/// The verdict by policy.
pub type Expectation = Box<dyn Fn(ReaderPolicy) -> ExpectedVerdict>;

pub fn verdict(
    level: &'static str,
    code: &'static str,
    chain: impl Into<Option<&'static str>>,
    position: impl Into<Option<usize>>,
) -> ExpectedVerdict {
    ExpectedVerdict { level, code: Some(code), chain: chain.into(), position: position.into() }
}

/// Something was changed, and every reader sees it.
pub fn invalid(
    code: &'static str,
    chain: impl Into<Option<&'static str>>,
    position: impl Into<Option<usize>>,
) -> Expectation {
    let verdict = verdict("invalid", code, chain, position);
    Box::new(move |_| verdict.clone())
}

/// Something is missing, and every reader sees it.
pub fn incomplete(
    code: &'static str,
    chain: &'static str,
    position: impl Into<Option<usize>>,
) -> Expectation {
    let verdict = verdict("incomplete", code, chain, position);
    Box::new(move |_| verdict.clone())
}

/// It cannot be read, whoever reads it.
pub fn unreadable(chain: &'static str) -> Expectation {
    Box::new(move |_| verdict("unreadable", "unreadable", chain, None))
}

/// The honest bundle: valid for whoever knows the keys, else not proven.
pub fn unchanged() -> Expectation {
    Box::new(|policy| match policy.vouches() {
        true => ExpectedVerdict { level: "valid", code: None, chain: None, position: None },
        false => verdict("unverified", "bundled_signer", "codex/s1", None),
    })
}

/// As the honest bundle, with a finding that is no fault where the keys are known.
pub fn noticed(
    level: &'static str,
    code: &'static str,
    chain: impl Into<Option<&'static str>>,
) -> Expectation {
    let chain = chain.into();
    Box::new(move |policy| match policy.vouches() {
        true => verdict(level, code, chain, None),
        false => unchanged()(policy),
    })
}

/// A signer of whom nobody has the key: a fault as soon as the reader asks for anything.
pub fn unknown_signer(position: usize) -> Expectation {
    Box::new(move |policy| {
        let level = if policy == ReaderPolicy::Default { "unverified" } else { "invalid" };
        verdict(level, "unknown_signer", "codex/s1", position)
    })
}

/// One verdict if the reader knows the owner's keys, another if not.
pub fn by_trust(known: Expectation, unknown: Expectation) -> Expectation {
    Box::new(move |policy| if policy.vouches() { known(policy) } else { unknown(policy) })
}

/// One verdict if the reader asks for nothing, another if for anything.
pub fn by_request(asked: Expectation, default: Expectation) -> Expectation {
    Box::new(move |policy| if policy == ReaderPolicy::Default { default(policy) } else { asked(policy) })
}
