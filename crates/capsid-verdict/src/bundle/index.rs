//! The index of a bundle, of either generation. It is a stranger's: every word of it is checked.

use crate::claim::ChainClaim;
use crate::evidence::ClaimFault;
use crate::finding::FindingCode;
use crate::public_key::PublicKey;
use capsid_model::exact::{ExactJson, parse};
use std::collections::BTreeMap;

/// What an index says, and in what it contradicts itself.
#[derive(Debug, Clone, Default)]
pub struct BundleIndex {
    /// When the bundle was made, as it claims.
    pub generated_at: Option<String>,
    /// The chains that it lists, in its order. One that is listed twice is in it twice.
    pub chains: Vec<ListedChain>,
    /// What it says of the meta-chain; none where it says nothing.
    pub meta: Option<ChainClaim>,
    /// The keys whose names are the beginnings of themselves.
    pub keys: Vec<PublicKey>,
    /// Keys that are not taken, chains that are listed twice, and sums that are not those of the list.
    pub faults: Vec<ClaimFault>,
}

/// A chain that an index lists.
#[derive(Debug, Clone, Default)]
pub struct ListedChain {
    /// The name of its file, without the ending.
    pub id: String,
    /// The agent.
    pub tool: Option<String>,
    /// The session, as far as the id says it.
    pub session: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// What is said of its records.
    pub claim: ChainClaim,
}

impl ListedChain {
    fn parse(entry: &ExactJson) -> Self {
        let text = |name: &str| entry.text(name).map(str::to_owned);
        let (id, tool) = (text("id").unwrap_or_default(), text("tool"));
        let session = tool.as_ref().and_then(|tool| id.strip_prefix(tool.as_str())?.strip_prefix('-'));
        let session = session.unwrap_or(&id).to_owned();
        Self {
            session: (!session.is_empty()).then_some(session),
            title: text("title"),
            claim: ChainClaim::parse(entry),
            id,
            tool,
        }
    }

    /// Whether its id can only mean a file in the same folder.
    pub fn is_plain(&self) -> bool {
        let id = self.id.as_str();
        !id.is_empty() && !id.contains(['/', '\\', ':', '\0']) && id != "." && id != ".."
    }

    /// The name that a finding gives it: `tool/session`, or its id.
    pub fn name(&self) -> String {
        match (&self.tool, &self.session) {
            (Some(tool), Some(session)) if *session != self.id => format!("{tool}/{session}"),
            _ => self.id.clone(),
        }
    }
}

impl BundleIndex {
    /// Reads an index, or says why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let index =
            parse(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|problem| problem.message)?;
        let listed = index.get("chains").and_then(ExactJson::as_array).ok_or("it lists no chains")?;
        let chains: Vec<ListedChain> = listed.iter().map(ListedChain::parse).collect();
        let (keys, mut faults) = keys(&index);
        faults.extend(listed_twice(&chains));
        faults.extend(totals(&index, listed));
        let meta = index.get("meta").filter(|meta| !meta.is_null()).map(ChainClaim::parse);
        let generated_at = index.text("generated_at").map(str::to_owned);
        Ok(Self { generated_at, chains, meta, keys, faults })
    }

    /// The chain of an id; of several the first.
    pub fn find(&self, id: &str) -> Option<&ListedChain> {
        self.chains.iter().find(|chain| chain.id == id)
    }
}

fn fault(code: FindingCode, chain: Option<String>, message: String) -> ClaimFault {
    ClaimFault { code, chain, message }
}

fn keys(index: &ExactJson) -> (Vec<PublicKey>, Vec<ClaimFault>) {
    let (mut keys, mut faults): (Vec<PublicKey>, _) = (Vec::new(), Vec::new());
    let own = index.text("public_key").filter(|key| !key.is_empty()).map(|key| {
        let name = index.text("fingerprint").unwrap_or_else(|| key.get(..16).unwrap_or_default());
        (name, Some(key))
    });
    let listed = index.get("keys").and_then(ExactJson::as_object);
    let listed = listed.into_iter().flatten().map(|(name, key)| (name.as_str(), key.as_str()));
    for (name, key) in own.into_iter().chain(listed) {
        let why = match key.map(PublicKey::from_hex) {
            Some(Ok(key)) if key.fingerprint() == name => {
                if !keys.contains(&key) {
                    keys.push(key);
                }
                continue;
            }
            Some(Ok(_)) => "the name is not its beginning",
            _ => "no private key has it",
        };
        let message = format!("The key named `{name}` was ignored: {why}.");
        faults.push(fault(FindingCode::KeyRefused, None, message));
    }
    (keys, faults)
}

fn listed_twice(chains: &[ListedChain]) -> Vec<ClaimFault> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for chain in chains {
        *counts.entry(&chain.id).or_default() += 1;
    }
    let mut faults = Vec::new();
    for chain in chains {
        let count = counts.remove(chain.id.as_str()).unwrap_or_default();
        if chain.id == super::META && count > 0 {
            let message = "A chain is named `meta`: its file would be the meta-chain itself.".to_owned();
            faults.push(fault(FindingCode::ListedTwice, Some(super::META.to_owned()), message));
        } else if count > 1 {
            let message = format!("index.json lists {} {count} times.", chain.id);
            faults.push(fault(FindingCode::ListedTwice, Some(chain.name()), message));
        }
    }
    faults
}

fn totals(index: &ExactJson, listed: &[ExactJson]) -> Vec<ClaimFault> {
    let records: i64 =
        listed.iter().filter_map(|entry| entry.get("length")?.as_i64()).fold(0, i64::saturating_add);
    let count = i64::try_from(listed.len()).unwrap_or(i64::MAX);
    let sums = [("chain_count", count, "chains"), ("capsule_count", records, "records")];
    let differs = |(name, actual, what): (&str, i64, &str)| {
        let claimed = index.get(name)?.as_i64().filter(|claimed| *claimed != actual)?;
        let message = format!("`{name}` of index.json says {claimed} and {actual} {what} are listed.");
        Some(fault(FindingCode::Contradiction, None, message))
    };
    sums.into_iter().filter_map(differs).collect()
}
