//! The hub that this user joined: the address in their own settings, used where nothing else names a hub.

use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The file in `~/.evomap`.
const FILE: &str = "joined_hub.json";

/// The hub that this user joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedHub {
    /// Its address.
    pub url: String,
    /// Whether `http://` is allowed for a host that is not this machine.
    #[serde(default)]
    pub allow_insecure: bool,
}

impl JoinedHub {
    /// The hub that was joined, if one was.
    pub fn load(env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let Some(path) = path(env) else { return Ok(None) };
        let Some(text) = files::read_optional(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Problem::new(Code::ConfigInvalid, format!("`{}` cannot be read: {error}.", path.display()))
                .fix("Run `capsid node join URL` again, which writes it anew.")
        })
    }

    /// Stores it for this user.
    pub fn save(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        let path = path(env).ok_or_else(|| {
            Problem::new(Code::ConfigInvalid, "This user has no home folder.").fix("Set HOME.")
        })?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        files::replace_private(&path, format!("{text}\n").as_bytes())
    }

    /// Forgets it; gives what was forgotten.
    pub fn forget(env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let joined = Self::load(env)?;
        if let Some(path) = path(env).filter(|_| joined.is_some()) {
            files::remove(&path)?;
        }
        Ok(joined)
    }
}

fn path(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(set("HOME").or_else(|| set("USERPROFILE"))?.join(".evomap").join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ClientConfig;

    #[test]
    fn a_joined_hub_is_used_where_nothing_else_names_one() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().to_string_lossy().into_owned();
        let env = |name: &str| (name == "HOME").then(|| home.clone());
        assert_eq!(JoinedHub::load(&env).unwrap(), None);
        let joined = JoinedHub { url: "http://hub.lan:4000".to_owned(), allow_insecure: true };
        joined.save(&env).unwrap();
        let settings = ClientConfig::resolve(None, &env).unwrap();
        assert_eq!((settings.url.as_str(), settings.allow_insecure), ("http://hub.lan:4000", true));
        let named = |name: &str| match name {
            "A2A_HUB_URL" => Some("https://other".to_owned()),
            name => env(name),
        };
        assert_eq!(ClientConfig::resolve(None, &named).unwrap().url, "https://other");
        assert_eq!(JoinedHub::forget(&env).unwrap(), Some(joined));
        assert_eq!(ClientConfig::resolve(None, &env).unwrap_err().code, Code::NoHub);
        files::replace(&path(&env).unwrap(), b"{").unwrap();
        assert_eq!(ClientConfig::resolve(None, &env).unwrap_err().code, Code::ConfigInvalid);
    }
}
