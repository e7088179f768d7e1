//! Texts that the service signs besides hashes. None of them is 64 hex digits, so none is ever a record's signature.

use super::HashBytes;
use super::chain_state::{SignedHead, SignerChainState};
use super::signer_chain::SignerChain;
use capsid_seal::PublicKey;
use capsid_seal::hash::{hex, unhex};

/// The first line of a statement about one chain.
pub const HEAD: &str = "capsid-head/v1";
/// The first line of a statement about all chains of a user.
pub const HEADS: &str = "capsid-heads/v1";
/// The first line of the statement by which a key names its successor.
const ROTATION: &str = "capsid-rotation/v1";

/// Who states it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementOrigin {
    pub user: u32,
    pub key: PublicKey,
    /// The last entry of the journal.
    pub entry: u64,
    /// What the asker sent, so that an old answer cannot be given again; none in the heads file.
    pub nonce: Option<String>,
    /// By the service's clock: claimed.
    pub time: String,
}

/// One chain in a statement about all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedChain {
    pub chain: SignerChain,
    pub head: SignedHead,
    /// How many records are signed by the home's own key, before the service took over.
    pub adopted: u64,
}

/// A statement about all chains of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadsStatement {
    pub origin: StatementOrigin,
    pub chains: Vec<StatedChain>,
    /// Histories that root gave up, each with its last head.
    pub restarted: Vec<(SignerChain, SignedHead)>,
}

/// The statement about one chain. A statement by a home's own key has no `user`, `entry` and `nonce`.
pub fn head_text(origin: &StatementOrigin, chain: &SignerChain, head: &SignedHead) -> String {
    let nonce = origin.nonce.as_deref().map_or_else(String::new, |nonce| format!("nonce {nonce}\n"));
    format!(
        "{HEAD}\nuser {}\nkey {}\nchain {}\ncount {}\nhead {}\nentry {}\n{nonce}time {}\n",
        origin.user,
        origin.key.hex(),
        chain.to_words(),
        head.count,
        hex(&head.hash),
        head.entry,
        origin.time
    )
}

/// The statement by which an old key names the new one.
pub fn rotation_text(user: u32, old: &PublicKey, new: &PublicKey) -> String {
    format!("{ROTATION}\nuser {user}\nold {}\nnew {}\n", old.hex(), new.hex())
}

/// Whether a text can be a nonce: 32 bytes in hex.
pub fn is_nonce(text: &str) -> bool {
    unhex::<32>(text).is_some()
}

/// The statement about all chains.
pub fn heads_text(origin: &StatementOrigin, chains: &[SignerChainState]) -> String {
    let mut text =
        format!("{HEADS}\nuser {}\nkey {}\nentry {}\n", origin.user, origin.key.hex(), origin.entry);
    if let Some(nonce) = &origin.nonce {
        text.push_str(&format!("nonce {nonce}\n"));
    }
    text.push_str(&format!("time {}\n", origin.time));
    for chain in chains {
        let name = chain.name.to_words();
        for SignedHead { count, hash, entry } in &chain.restarted {
            text.push_str(&format!("restarted {name} {count} {} {entry}\n", hex(hash)));
        }
        if let Some(SignedHead { count, hash, entry }) = &chain.head {
            text.push_str(&format!("chain {name} {count} {} {entry} {}\n", hex(hash), chain.adopted));
        }
    }
    text
}

impl HeadsStatement {
    /// Reads a statement about all chains. A line that is not understood makes it nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n').peekable();
        (lines.next()? == HEADS).then_some(())?;
        let user = lines.next()?.strip_prefix("user ")?.parse().ok()?;
        let key = PublicKey::from_hex(lines.next()?.strip_prefix("key ")?).ok()?;
        let entry = lines.next()?.strip_prefix("entry ")?.parse().ok()?;
        let nonce = lines.next_if(|line| line.starts_with("nonce ")).map(|line| line[6..].to_owned());
        let time = lines.next()?.strip_prefix("time ")?.to_owned();
        let origin = StatementOrigin { user, key, entry, nonce, time };
        let mut statement = Self { origin, chains: Vec::new(), restarted: Vec::new() };
        for line in lines {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["chain", domain, session, count, hash, entry, adopted] => {
                    let chain = SignerChain::from_words(domain, session)?;
                    let (head, adopted) = (parse_head(count, hash, entry)?, adopted.parse().ok()?);
                    statement.chains.push(StatedChain { chain, head, adopted });
                }
                ["restarted", domain, session, count, hash, entry] => {
                    let chain = SignerChain::from_words(domain, session)?;
                    statement.restarted.push((chain, parse_head(count, hash, entry)?));
                }
                _ => return None,
            }
        }
        Some(statement)
    }
}

fn parse_head(count: &str, hash: &str, entry: &str) -> Option<SignedHead> {
    let hash: HashBytes = unhex(hash)?;
    Some(SignedHead { count: count.parse().ok()?, hash, entry: entry.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_seal::SigningKey;

    fn origin(nonce: Option<&str>) -> StatementOrigin {
        StatementOrigin {
            user: 1000,
            key: SigningKey::from_seed(&[1; 32]).public(),
            entry: 4711,
            nonce: nonce.map(str::to_owned),
            time: "2026-11-16T18:00:00Z".to_owned(),
        }
    }

    fn head(count: u64) -> SignedHead {
        SignedHead { count, hash: [7; 32], entry: count }
    }

    #[test]
    fn a_head_is_stated_line_by_line() {
        let chain = SignerChain::new("claude-code", "a b").unwrap();
        let text = head_text(&origin(None), &chain, &head(12));
        let key = origin(None).key.hex();
        let hash = "07".repeat(32);
        assert_eq!(
            text,
            format!(
                "capsid-head/v1\nuser 1000\nkey {key}\nchain claude-code a%20b\ncount 12\nhead {hash}\nentry 12\ntime 2026-11-16T18:00:00Z\n"
            )
        );
    }

    #[test]
    fn heads_are_read_back_and_an_unknown_line_is_refused() {
        let name = |session| SignerChain::new("codex", session).unwrap();
        let mut chains = vec![SignerChainState::new(name("a")), SignerChainState::new(name("b\nc"))];
        chains[1].head = Some(head(3));
        chains[1].adopted = 2;
        chains[1].restarted = vec![head(9)];
        for nonce in [None, Some("00ff")] {
            let text = heads_text(&origin(nonce), &chains);
            let read = HeadsStatement::parse(&text).unwrap();
            assert_eq!(read.origin, origin(nonce));
            assert_eq!(read.chains, [StatedChain { chain: name("b\nc"), head: head(3), adopted: 2 }]);
            assert_eq!(read.restarted, [(name("b\nc"), head(9))]);
            assert_eq!(HeadsStatement::parse(&format!("{text}more\n")), None);
            assert_eq!(HeadsStatement::parse(text.trim_end()), None);
        }
    }

    #[test]
    fn a_nonce_is_64_digits() {
        assert!(is_nonce(&"0f".repeat(32)));
        assert!(!is_nonce("0f") && !is_nonce(&"0F".repeat(32)) && !is_nonce(&"\n".repeat(64)));
    }
}
