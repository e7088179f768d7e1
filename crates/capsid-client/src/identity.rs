//! Who this node is: `~/.evomap` holds its id, its secret and its device in the form that existing tools read.
//!
//! A secret belongs to one hub. `hubs.json` beside them keeps one for each hub that was greeted, so that no hub ever
//! sees another one's; `node_secret` holds the one that other tools use. A secret that another tool put there belongs
//! to the hub that A2A_HUB_URL or EVOMAP_HUB_URL names, and goes to no other.

use crate::device;
use crate::private_file::{FilePrivacy, invalid, make_folder, read};
use capsid_disk::{Lock, files};
use capsid_model::{Code, Object, Problem, Result, Time, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a process waits for another one that writes the identity.
const WAIT: Duration = Duration::from_secs(5);
/// How long it waits for another one that gets a new secret, which takes a call or two.
const WAIT_FOR_SECRET: Duration = Duration::from_secs(45);
/// The largest file that holds one id or secret.
const SMALL: u64 = 4096;
/// The largest `hubs.json`.
const LARGE: u64 = 1 << 20;

/// This node.
#[derive(Clone)]
pub struct Identity {
    /// Its name, for good.
    pub node_id: String,
    folder: PathBuf,
    /// A secret from the environment, which wins over the files.
    given_secret: Option<String>,
    given_device: Option<String>,
    /// The hub that other tools of this user use.
    /// The hub that the secret from the environment is for.
    given_for: Option<String>,
    common_hub: Option<String>,
    /// Whether the name is the one that other tools of this user have.
    is_common: bool,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("node_id", &self.node_id).finish_non_exhaustive()
    }
}

/// What is known of a hub that was greeted.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KnownHub {
    /// The secret that this hub gave.
    pub secret: Option<String>,
    /// Its version.
    pub secret_version: Option<u64>,
    /// The name by which the hub signs its answers.
    pub hub_node_id: Option<String>,
    /// The code by which a person claims the node, and when it expires.
    pub claim: Option<(String, Time)>,
    /// How often in a row the hub refused a new secret.
    pub refusals: u32,
    /// The hub is not asked for a secret again before this time.
    pub rests_until: Option<Time>,
}

impl std::fmt::Debug for KnownHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownHub").field("hub_node_id", &self.hub_node_id).finish_non_exhaustive()
    }
}

impl Identity {
    /// The identity of this user, made on first use. `home` is the user's home folder.
    pub fn open(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let set =
            |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let folder = home.join(".evomap");
        let (node_id, is_common) = match set("A2A_NODE_ID") {
            Some(node_id) => {
                check_id(&node_id, "A2A_NODE_ID")?;
                let is_common = stored_id(&folder).is_ok_and(|stored| stored.as_ref() == Some(&node_id));
                (node_id, is_common)
            }
            None => (stored_id(&folder)?.map_or_else(|| make_id(&folder), Ok)?, true),
        };
        let given_secret = set("A2A_NODE_SECRET");
        if given_secret.as_deref().is_some_and(|secret| !is_secret(secret)) {
            return Err(unusable("A2A_NODE_SECRET", "no secret of a node, which has 64 hexadecimal digits"));
        }
        let given_device = set("EVOMAP_DEVICE_ID");
        if given_device.as_deref().is_some_and(|device| !device::is_valid(device)) {
            return Err(unusable(
                "EVOMAP_DEVICE_ID",
                "no id of a device, which has 16 to 64 lowercase hexadecimal digits",
            ));
        }
        let common_hub = set("A2A_HUB_URL").or_else(|| set("EVOMAP_HUB_URL"));
        let common_hub = common_hub.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Self {
            node_id,
            folder,
            given_secret,
            given_device,
            given_for: common_hub.clone(),
            common_hub,
            is_common,
        })
    }

    /// The same, where a person named the hub: a secret from the environment is for that one.
    #[must_use]
    pub(crate) fn for_hub(mut self, url: &str) -> Self {
        self.given_for = Some(url.to_owned());
        self
    }

    /// What is known of a hub.
    pub fn hub(&self, url: &str) -> Result<KnownHub> {
        let hubs = self.hubs()?;
        let mut known = self.entry(&hubs, url);
        if known.secret.is_none() {
            known.secret = self.foreign_secret_in(&hubs, url)?;
        }
        if let Some(secret) = &self.given_secret {
            // A repository may name a hub too; what the environment gives is for the hub that its owner named.
            if self.given_for.as_deref() != Some(url) {
                return Err(unusable(
                    "A2A_NODE_SECRET",
                    "a secret, and nothing says that it is for this hub",
                )
                .fix("Set A2A_HUB_URL to the hub that gave it, or name that hub with `--hub`."));
            }
            known.secret_version = known.secret_version.filter(|_| known.secret.as_ref() == Some(secret));
            known.secret = Some(secret.clone());
        }
        Ok(known)
    }

    /// Remembers what a hub said at hello. What is not said stays as it is, and an older secret does not replace a newer
    /// one that another process got meanwhile.
    pub fn save_hub(&self, url: &str, known: &KnownHub) -> Result<()> {
        // What the environment gives is not for the files.
        let hub_secret = known.secret.as_ref().filter(|secret| self.given_secret.as_ref() != Some(secret));
        self.update(url, |stored| {
            let is_older =
                known.secret_version.zip(stored.secret_version).is_some_and(|(new, old)| new < old);
            if hub_secret.is_some() && !is_older {
                stored.secret = hub_secret.cloned();
                stored.secret_version = known.secret_version;
            } else if self.given_secret.is_none() && !is_older && known.secret_version.is_some() {
                stored.secret_version = known.secret_version;
            }
            if known.hub_node_id.is_some() {
                stored.hub_node_id.clone_from(&known.hub_node_id);
            }
            stored.claim.clone_from(&known.claim);
            (stored.refusals, stored.rests_until) = (known.refusals, known.rests_until);
        })
    }

    /// Changes the stored data of a hub, under a lock against other processes.
    pub(crate) fn update(&self, url: &str, change: impl FnOnce(&mut KnownHub)) -> Result<()> {
        make_folder(&self.folder)?;
        let _lock = Lock::acquire(&self.folder.join(".lock"), "The node's identity", WAIT)?;
        let mut hubs = self.hubs()?;
        let before = self.entry(&hubs, url);
        let mut known = before.clone();
        change(&mut known);
        if known == before {
            return Ok(());
        }
        let shared = self.shares_secret(&hubs, url)?;
        self.insert_hub(&mut hubs, url, &known);
        self.write(&hubs)?;
        match known.secret.filter(|_| shared) {
            Some(secret) => files::replace_secret(&self.folder.join("node_secret"), secret.as_bytes()),
            None => Ok(()),
        }
    }

    /// Forgets a hub with its secret: it was set up again, or is not used any more.
    pub fn forget(&self, url: &str) -> Result<()> {
        make_folder(&self.folder)?;
        let _lock = Lock::acquire(&self.folder.join(".lock"), "The node's identity", WAIT)?;
        let mut hubs = self.hubs()?;
        let known = self.entry(&hubs, url);
        if hubs.shift_remove(url).is_none() {
            return Ok(());
        }
        self.write(&hubs)?;
        // The secret would otherwise count as one that another tool wrote.
        match self.file_secret()? {
            Some(secret) if known.secret.as_ref() == Some(&secret) => {
                files::remove(&self.folder.join("node_secret"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the answer of a hub could be stored, before it is asked.
    pub(crate) fn check(&self, url: &str) -> Result<()> {
        make_folder(&self.folder)?;
        self.shares_secret(&self.hubs()?, url).map(|_| ())
    }

    /// Whether the secret comes from the environment, where it cannot be replaced.
    pub fn has_given_secret(&self) -> bool {
        self.given_secret.is_some()
    }

    /// Keeps other processes of this user from requesting a new secret at the same time.
    pub(crate) fn renewing(&self) -> Result<Lock> {
        make_folder(&self.folder)?;
        Lock::acquire(&self.folder.join(".renewing"), "The node's secret", WAIT_FOR_SECRET)
    }

    /// The id of this machine, created and stored on first use.
    pub fn device_id(&self) -> Result<String> {
        if let Some(device) = &self.given_device {
            return Ok(device.clone());
        }
        let path = self.folder.join("device_id");
        let stored = || -> Result<Option<String>> {
            let Some(text) = read(&path, FilePrivacy::Readable, SMALL)? else { return Ok(None) };
            match text.trim() {
                id if device::is_valid(id) => Ok(Some(id.to_owned())),
                _ => Err(invalid(&path, "holds no id of a device")),
            }
        };
        if let Some(id) = stored()? {
            return Ok(id);
        }
        make_folder(&self.folder)?;
        let fresh = device::detect_device_id().map_or_else(random_hex::<16>, Ok)?;
        files::create_secret(&path, fresh.as_bytes())?;
        Ok(stored()?.unwrap_or(fresh))
    }

    /// A secret for a hub that another tool wrote, if there is one.
    pub(crate) fn foreign_secret(&self, url: &str) -> Result<Option<String>> {
        self.foreign_secret_in(&self.hubs()?, url)
    }

    fn foreign_secret_in(&self, hubs: &Object, url: &str) -> Result<Option<String>> {
        if !self.is_common || self.common_hub.as_deref() != Some(url) {
            return Ok(None);
        }
        Ok(self.file_secret()?.filter(|secret| !holds_secret(hubs, secret)))
    }

    fn file_secret(&self) -> Result<Option<String>> {
        let path = self.folder.join("node_secret");
        let Some(text) = read(&path, FilePrivacy::Secret, SMALL)? else { return Ok(None) };
        match text.trim() {
            secret if is_secret(secret) => Ok(Some(secret.to_owned())),
            _ => Err(invalid(&path, "holds no secret of a node")),
        }
    }

    /// Whether other tools should find a hub's secret: where they talk to this hub, or to none, and what they would lose
    /// is known here.
    fn shares_secret(&self, hubs: &Object, url: &str) -> Result<bool> {
        if !self.is_common || self.given_secret.is_some() {
            return Ok(false);
        }
        match &self.common_hub {
            Some(common) => Ok(common == url && self.file_secret().map(|_| true)?),
            None => Ok(self.file_secret()?.is_none_or(|secret| holds_secret(hubs, &secret))),
        }
    }

    fn hubs(&self) -> Result<Object> {
        let path = self.folder.join("hubs.json");
        match read(&path, FilePrivacy::Secret, LARGE)?.as_deref().map(serde_json::from_str) {
            None => Ok(Object::new()),
            Some(Ok(Value::Object(hubs))) => Ok(hubs),
            Some(_) => Err(invalid(&path, "is not JSON")),
        }
    }

    fn write(&self, hubs: &Object) -> Result<()> {
        let text = serde_json::to_string_pretty(hubs).unwrap_or_default();
        files::replace_secret(&self.folder.join("hubs.json"), text.as_bytes())
    }

    fn entry(&self, hubs: &Object, url: &str) -> KnownHub {
        let hub = hubs.get(url);
        let node = hub.and_then(|hub| hub.get("nodes")?.get(&self.node_id));
        let text = |of: Option<&Value>, name: &str| of?.get(name)?.as_str().map(str::to_owned);
        let number = |name: &str| node.and_then(|node| node.get(name)?.as_u64());
        let time = |name: &str| Time::parse(&text(node, name)?);
        KnownHub {
            secret: text(node, "node_secret").filter(|secret| is_secret(secret)),
            secret_version: number("node_secret_version"),
            hub_node_id: text(hub, "hub_node_id"),
            claim: text(node, "claim_code").zip(time("claim_expires_at")),
            refusals: number("rotation_refusals").and_then(|n| u32::try_from(n).ok()).unwrap_or_default(),
            rests_until: time("rotation_rests_until"),
        }
    }

    fn insert_hub(&self, hubs: &mut Object, url: &str, known: &KnownHub) {
        let mut nodes = match hubs.get(url).and_then(|hub| hub.get("nodes")) {
            Some(Value::Object(nodes)) => nodes.clone(),
            _ => Object::new(),
        };
        let node = json!({
            "node_secret": known.secret,
            "node_secret_version": known.secret_version,
            "claim_code": known.claim.as_ref().map(|(code, _)| code),
            "claim_expires_at": known.claim.as_ref().map(|(_, at)| at.iso()),
            "rotation_refusals": (known.refusals > 0).then_some(known.refusals),
            "rotation_rests_until": known.rests_until.map(Time::iso),
        });
        nodes.insert(self.node_id.clone(), without_nulls(node));
        hubs.insert(url.to_owned(), without_nulls(json!({"hub_node_id": known.hub_node_id, "nodes": nodes})));
    }
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    value
}

/// Whether any hub gave this secret to any node.
fn holds_secret(hubs: &Object, secret: &str) -> bool {
    let nodes = hubs.values().filter_map(|hub| hub.get("nodes")?.as_object());
    nodes.flat_map(Object::values).any(|node| node.get("node_secret").and_then(Value::as_str) == Some(secret))
}

/// Whether a text can be a node's secret.
pub fn is_secret(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn stored_id(folder: &Path) -> Result<Option<String>> {
    let path = folder.join("node_id");
    let Some(text) = read(&path, FilePrivacy::Readable, SMALL)? else { return Ok(None) };
    let id = text.trim();
    check_id(id, &path.display().to_string())?;
    Ok(Some(id.to_owned()))
}

fn make_id(folder: &Path) -> Result<String> {
    make_folder(folder)?;
    let fresh = format!("node_{}", random_hex::<8>()?);
    // Another process may have been first; then its name is ours.
    files::create_secret(&folder.join("node_id"), fresh.as_bytes())?;
    Ok(stored_id(folder)?.unwrap_or(fresh))
}

fn random_hex<const BYTES: usize>() -> Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Problem::new(Code::Internal, format!("The system gives no random bytes: {error}."))
    })?;
    Ok(capsid_model::hash::hex(&bytes))
}

/// Whether a text can be the name of a node or, with `hub_` in front, of a hub.
pub(crate) fn is_name(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    !id.is_empty() && id.len() <= 128 && id.chars().all(allowed)
}

fn check_id(id: &str, origin: &str) -> Result<()> {
    if is_name(id) && !id.starts_with("hub_") {
        return Ok(());
    }
    Err(Problem::new(Code::IdentityInvalid, format!("`{origin}` holds no name that a node can have.")).fix(
        "A node's id is made of letters, digits, `_`, `-`, `.` and `:`, and does not begin with `hub_`.",
    ))
}

fn unusable(variable: &str, what: &str) -> Problem {
    Problem::new(Code::IdentityInvalid, format!("The variable {variable} holds {what}."))
        .fix(format!("Correct {variable}, or unset it."))
}
