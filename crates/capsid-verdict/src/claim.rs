//! A bundle's claims about a chain, and whether the records confirm them.

use crate::stored::RecordSeal;
use capsid_model::exact::ExactJson;
use std::collections::BTreeSet;

/// A bundle's claims about a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainClaim {
    /// How many records it has.
    pub length: Option<u64>,
    /// The hash of the last one.
    pub head_hash: Option<String>,
    /// The hash of the first one.
    pub genesis_hash: Option<String>,
    /// Whether every record has the hash that it states.
    pub all_hashes_ok: Option<bool>,
    /// Who signed.
    pub signed_by: Option<BTreeSet<String>>,
    /// When the first record was signed.
    pub started_at: Option<String>,
    /// When the last one was.
    pub ended_at: Option<String>,
}

/// What the records of a chain come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainFacts {
    /// How many there are.
    pub length: u64,
    /// The hash of the last one.
    pub head_hash: Option<String>,
    /// The hash of the first one.
    pub genesis_hash: Option<String>,
    /// Who signed them, by the names they give.
    pub signed_by: BTreeSet<String>,
    /// When the first one was signed.
    pub started_at: Option<String>,
    /// When the last one was.
    pub ended_at: Option<String>,
}

impl ChainFacts {
    /// Adds the next record.
    pub fn record(&mut self, seal: &RecordSeal) {
        if self.length == 0 {
            self.genesis_hash = Some(seal.hash.clone());
            self.started_at.clone_from(&seal.signed_at);
        }
        self.length += 1;
        if !seal.signed_by.is_empty() && !self.signed_by.contains(&seal.signed_by) {
            self.signed_by.insert(seal.signed_by.clone());
        }
        self.head_hash = Some(seal.hash.clone());
        self.ended_at.clone_from(&seal.signed_at);
    }
}

impl ChainClaim {
    /// The claims in an entry of an index, or in the head of a chain file. A member of another type counts as absent.
    pub fn parse(entry: &ExactJson) -> Self {
        let text = |name: &str| entry.text(name).map(str::to_owned);
        let names =
            |list: &[ExactJson]| list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        Self {
            length: entry.get("length").and_then(ExactJson::as_i64).and_then(|length| length.try_into().ok()),
            head_hash: text("head_hash"),
            genesis_hash: text("genesis_hash"),
            all_hashes_ok: entry.get("all_hashes_ok").and_then(ExactJson::as_bool),
            signed_by: entry.get("signed_by").and_then(ExactJson::as_array).map(names),
            started_at: text("started_at"),
            ended_at: text("ended_at"),
        }
    }

    /// In what the records contradict its length and its head.
    pub fn contradiction(&self, length: u64, head_hash: Option<&str>) -> Option<String> {
        if let Some(claimed) = self.length.filter(|claimed| *claimed != length) {
            return Some(format!("{claimed} records were announced and {length} are there"));
        }
        differs("the head", self.head_hash.as_deref(), head_hash)
    }

    /// In what the records of a chain that holds contradict any of it.
    pub fn contradicted_by(&self, facts: &ChainFacts) -> Option<String> {
        let signers = || {
            let claimed = self.signed_by.as_ref().filter(|claimed| **claimed != facts.signed_by)?;
            let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
            let (claimed, actual) = (list(claimed), list(&facts.signed_by));
            Some(format!("the signers were announced as [{claimed}] and are [{actual}]"))
        };
        let hashes = || {
            (self.all_hashes_ok == Some(false))
                .then(|| "wrong hashes were announced and every hash is right".to_owned())
        };
        self.contradiction(facts.length, facts.head_hash.as_deref())
            .or_else(|| {
                differs("the first record", self.genesis_hash.as_deref(), facts.genesis_hash.as_deref())
            })
            .or_else(hashes)
            .or_else(signers)
            .or_else(|| differs("the start", self.started_at.as_deref(), facts.started_at.as_deref()))
            .or_else(|| differs("the end", self.ended_at.as_deref(), facts.ended_at.as_deref()))
    }
}

/// One claim that the records do not confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimConflict {
    /// The member of the index or the header.
    pub field: &'static str,
    /// What it says.
    pub claimed: String,
    /// What the records say.
    pub actual: String,
}

impl ClaimConflict {
    /// A sentence that says where the claim was made.
    pub fn sentence(&self, place: &str) -> String {
        format!("{place} says {} is {}; the records say {}.", self.field, self.claimed, self.actual)
    }
}

impl ChainClaim {
    /// The first claim that the records of a chain that holds do not confirm.
    pub fn conflict(&self, facts: &ChainFacts) -> Option<ClaimConflict> {
        let conflict = |field, claimed: String, actual: String| {
            (claimed != actual).then_some(ClaimConflict { field, claimed, actual })
        };
        let text = |field, claimed: &Option<String>, actual: &Option<String>| {
            conflict(field, claimed.clone()?, actual.clone().unwrap_or_default())
        };
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        (self.length.and_then(|length| conflict("length", length.to_string(), facts.length.to_string())))
            .or_else(|| text("head_hash", &self.head_hash, &facts.head_hash))
            .or_else(|| text("genesis_hash", &self.genesis_hash, &facts.genesis_hash))
            .or_else(|| conflict("all_hashes_ok", self.all_hashes_ok?.to_string(), true.to_string()))
            .or_else(|| conflict("signed_by", names(self.signed_by.as_ref()?), names(&facts.signed_by)))
            .or_else(|| text("started_at", &self.started_at, &facts.started_at))
            .or_else(|| text("ended_at", &self.ended_at, &facts.ended_at))
    }
}

fn differs(what: &str, claimed: Option<&str>, actual: Option<&str>) -> Option<String> {
    let claimed = claimed.filter(|claimed| *claimed != actual.unwrap_or_default())?;
    // Hashes are shown shortened, times in full.
    let short = |text: &str| text.chars().take(if text.len() == 64 { 12 } else { 40 }).collect::<String>();
    let actual = actual.map_or("nothing".to_owned(), short);
    Some(format!("{what} was announced as {} and is {actual}", short(claimed)))
}
