//! Who this node is: `~/.evomap` holds its id and its secret in the form that existing tools read.
//!
//! A secret belongs to one hub. `hubs.json` beside them keeps one for each hub that was greeted, so that no hub ever
//! sees another one's; `node_secret` holds that of the hub greeted last, where other tools look for it.

use capsid_disk::{Lock, files};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a process waits for another one that writes the identity.
const WAIT: Duration = Duration::from_secs(5);

/// This node.
#[derive(Clone)]
pub struct Identity {
    /// Its name, for good.
    pub node_id: String,
    folder: PathBuf,
    /// A secret from the environment, which wins over the files.
    given_secret: Option<String>,
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
        let given_secret = set("A2A_NODE_SECRET");
        if let Some(node_id) = set("A2A_NODE_ID") {
            check_id(&node_id, "A2A_NODE_ID")?;
            return Ok(Self { node_id, folder, given_secret });
        }
        let path = folder.join("node_id");
        if let Some(text) = files::read_optional(&path)?.filter(|text| !text.trim().is_empty()) {
            let node_id = text.trim().to_owned();
            check_id(&node_id, &path.display().to_string())?;
            return Ok(Self { node_id, folder, given_secret });
        }
        make_folder(&folder)?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| {
            Problem::new(Code::Internal, format!("The system gives no random bytes: {error}."))
        })?;
        let fresh = bytes.iter().fold("node_".to_owned(), |id, byte| format!("{id}{byte:02x}"));
        // Another process may have been first; then its name is ours.
        files::create_secret(&path, fresh.as_bytes())?;
        let node_id = files::read_optional(&path)?.map_or(fresh, |text| text.trim().to_owned());
        Ok(Self { node_id, folder, given_secret })
    }

    /// What is known of a hub.
    pub fn hub(&self, url: &str) -> Result<KnownHub> {
        let all = self.hubs()?;
        let entry = all.get(url).and_then(Value::as_object);
        let text =
            |name: &str| entry.and_then(|entry| entry.get(name)).and_then(Value::as_str).map(str::to_owned);
        let of_this_node = text("node_id").is_none_or(|id| id == self.node_id);
        let version = entry.and_then(|entry| entry.get("node_secret_version")).and_then(Value::as_u64);
        Ok(KnownHub {
            secret: self.given_secret.clone().or_else(|| text("node_secret").filter(|_| of_this_node)),
            secret_version: version.filter(|_| of_this_node && self.given_secret.is_none()),
            hub_node_id: text("hub_node_id"),
        })
    }

    /// Remembers what a hub said at hello.
    pub fn remember(&self, url: &str, known: &KnownHub) -> Result<()> {
        make_folder(&self.folder)?;
        let _lock = Lock::acquire(&self.folder.join(".lock"), "The node's identity", WAIT)?;
        let mut all = self.hubs()?;
        let entry = json!({
            "node_id": self.node_id,
            "node_secret": known.secret,
            "node_secret_version": known.secret_version,
            "hub_node_id": known.hub_node_id,
        });
        all.insert(url.to_owned(), entry);
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        files::replace_secret(&self.folder.join("hubs.json"), text.as_bytes())?;
        match &known.secret {
            Some(secret) if self.given_secret.is_none() => {
                files::replace_secret(&self.folder.join("node_secret"), secret.as_bytes())
            }
            _ => Ok(()),
        }
    }

    fn hubs(&self) -> Result<Object> {
        let path = self.folder.join("hubs.json");
        match files::read_optional(&path)?.as_deref().map(serde_json::from_str) {
            None => Ok(Object::new()),
            Some(Ok(Value::Object(hubs))) => Ok(hubs),
            Some(_) => Err(Problem::new(Code::IdentityInvalid, format!("`{}` cannot be read as JSON.", path.display()))
                .fix("Move it away and run `capsid node hello`; the hub may ask the node's owner to reset its secret.")),
        }
    }
}

fn check_id(id: &str, place: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if !id.is_empty() && id.len() <= 128 && id.chars().all(allowed) && !id.starts_with("hub_") {
        return Ok(());
    }
    Err(Problem::new(Code::IdentityInvalid, format!("`{place}` holds no name that a node can have.")).fix(
        "A node's id is made of letters, digits, `_`, `-`, `.` and `:`, and does not begin with `hub_`.",
    ))
}

/// A folder that only its owner may enter.
fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    files::create_folder(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
            .map_err(|error| Problem::io("set the permissions of", folder, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_made_once_and_a_secret_stays_with_its_hub() {
        let home = tempfile::tempdir().unwrap();
        let node = Identity::open(home.path(), &|_| None).unwrap();
        assert!(node.node_id.starts_with("node_") && node.node_id.len() == 21);
        assert_eq!(Identity::open(home.path(), &|_| None).unwrap().node_id, node.node_id);
        let known = KnownHub { secret: Some("ab".repeat(32)), secret_version: Some(1), hub_node_id: None };
        node.remember("http://127.0.0.1:1", &known).unwrap();
        assert_eq!(node.hub("http://127.0.0.1:1").unwrap(), known);
        assert_eq!(node.hub("http://127.0.0.1:2").unwrap(), KnownHub::default());
        assert!(!format!("{node:?}{known:?}").contains("abab"));
    }
}
