//! Keys of the hub itself: for secrets that were just issued, for the machines of nodes, and to sign what it says.

use crate::random::Random;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::hash::hex;
use capsid_model::problem::{Code, Problem, Result};
use capsid_store::Store;
use capsid_store::db::tx::Dialect;
use capsid_store::system::meta;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The keys of a hub.
pub struct HubKeys {
    /// With SQLite it is in memory alone, so what was sealed cannot be read after the hub ended. Hubs that share a
    /// database share it there.
    issue: [u8; 32],
    device: [u8; 32],
    signing: SigningKey,
}

impl HubKeys {
    /// Reads the keys, or makes them.
    pub fn load(store: &Store, random: &dyn Random) -> Result<Self> {
        let mut drawn = [[0; 32]; 3];
        drawn.iter_mut().for_each(|key| random.fill(key));
        let [issue, device, signing] = drawn;
        let dialect = store.dialect();
        if dialect == Dialect::Sqlite
            && let Some((device, signing)) = find_stored(store)?
        {
            // Only the first start writes: a hub whose disk is full still starts, and reads.
            return Self::from_stored(issue.to_vec(), &device, &signing);
        }
        let (issue, device, signing) = store.write_now(move |tx| {
            let shared = match dialect {
                Dialect::Sqlite => issue.to_vec(),
                Dialect::Postgres => meta::issue_key(tx, &issue)?,
            };
            let mut kept = |name: &str, key: [u8; 32]| meta::get_or_set(tx, name, &STANDARD.encode(key));
            Ok::<_, Problem>((shared, kept("device_key", device)?, kept("signing_key", signing)?))
        })?;
        Self::from_stored(issue, &device, &signing)
    }

    fn from_stored(issue: Vec<u8>, device: &str, signing: &str) -> Result<Self> {
        let key = |name: &str, bytes: Option<Vec<u8>>| {
            let key: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
            key.ok_or_else(|| {
                Problem::new(Code::StoreDamaged, format!("The hub's key `{name}` is not 32 bytes."))
                    .fix("Restore a backup with `capsid hub restore`.")
            })
        };
        Ok(Self {
            issue: key("issued", Some(issue))?,
            device: key("device_key", STANDARD.decode(device).ok())?,
            signing: SigningKey::from_bytes(&key("signing_key", STANDARD.decode(signing).ok())?),
        })
    }

    /// Seals a secret of 64 hexadecimal digits, or opens it: each version of a node's secret has a pad of its own.
    fn pad(&self, node_id: &str, version: i64, bytes: &[u8]) -> Vec<u8> {
        let text = format!("issued secret\0{version}\0{node_id}");
        bytes.iter().zip(keyed_hash(&self.issue, text.as_bytes())).map(|(byte, pad)| byte ^ pad).collect()
    }

    /// A secret as it is kept until its issue window ends.
    pub fn seal_secret(&self, node_id: &str, version: i64, secret: &[u8; 32]) -> Vec<u8> {
        self.pad(node_id, version, secret)
    }

    /// The secret again, as hexadecimal digits. Where another key sealed it, it is not the node's secret.
    pub fn open_secret(&self, node_id: &str, version: i64, sealed: &[u8]) -> String {
        hex(&self.pad(node_id, version, sealed))
    }

    /// What a machine is compared by. Nobody can try ids without the key.
    pub fn hash_device(&self, device_id: &str) -> [u8; 32] {
        keyed_hash(&self.device, device_id.as_bytes())
    }

    /// Signs a text; base64.
    pub fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.signing.sign(text.as_bytes()).to_bytes())
    }

    /// The key that verifies what the hub signs; base64.
    pub fn public_key(&self) -> String {
        STANDARD.encode(self.signing.verifying_key().to_bytes())
    }
}

/// The keys that an earlier start stored.
fn find_stored(store: &Store) -> Result<Option<(String, String)>> {
    store.read_now(|tx| Ok(meta::find(tx, "device_key")?.zip(meta::find(tx, "signing_key")?)))
}

fn keyed_hash(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(text);
            mac.finalize().into_bytes().into()
        }
        // A key of any length is taken.
        Err(_) => [0; 32],
    }
}

impl std::fmt::Debug for HubKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HubKeys")
    }
}
