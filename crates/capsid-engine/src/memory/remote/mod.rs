//! A memory that a user's repositories and machines share: a hub stores what each of them records, and advises.
//!
//! `MEMORY_GRAPH_PROVIDER=remote` turns it on. Whatever is recorded is recorded here first; the hub's word is asked for
//! before a gene is chosen, and where it does not come the memory of this repository alone advises.

pub mod advice;
mod consult;
mod outbox;
mod outgoing;

pub use consult::{ConsultOutcome, consult};
pub use outbox::{FlushSummary, deliver, entries, flush, pending, queue};

use crate::workspace::Workspace;
use capsid_client::{NodeClient, config};
use capsid_model::{Code, Problem, Result};
use std::time::Duration;

/// What turns it on.
const PROVIDER: &str = "MEMORY_GRAPH_PROVIDER";
const URL: &str = "MEMORY_GRAPH_REMOTE_URL";
const KEY: &str = "MEMORY_GRAPH_REMOTE_KEY";
const TIMEOUT: &str = "MEMORY_GRAPH_REMOTE_TIMEOUT_MS";

/// How long a cycle waits for advice by default, and the range of the setting.
const DEFAULT_MS: u64 = 5000;
const LEAST_MS: u64 = 100;
const MAX_MS: u64 = 60_000;

/// Where the shared memory is, and in whose name it is used.
#[derive(Debug, Clone)]
pub struct RemoteMemory {
    node: NodeClient,
    key: Option<RemoteMemoryKey>,
    timeout: Duration,
    /// Whether a key was given and is not shown, because a repository named the hub.
    key_withheld: bool,
}

/// An account's key or token; it is never printed.
#[derive(Clone)]
struct RemoteMemoryKey(String);

impl std::fmt::Debug for RemoteMemoryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Whether the user wants a shared memory.
pub fn is_wanted(workspace: &Workspace) -> bool {
    workspace.variable(PROVIDER).is_some_and(|value| value.trim().eq_ignore_ascii_case("remote"))
}

/// The shared memory that the environment asks for; none where it asks for none. Nothing is sent yet.
pub fn connect_remote(workspace: &Workspace) -> Result<Option<RemoteMemory>> {
    if !is_wanted(workspace) {
        return Ok(None);
    }
    let named = workspace.variable(URL);
    let configured = workspace.config.hub.settings_for(named.as_deref().map(str::trim), &*workspace.env)?;
    let mut settings = configured.ok_or_else(|| {
        Problem::new(Code::NoHub, format!("{PROVIDER} is `remote`, and no hub is named.")).fix(format!(
            "Name one with {URL}, with A2A_HUB_URL or with `url` under `[hub]`, or unset {PROVIDER}."
        ))
    })?;
    let key = workspace.variable(KEY).map(|key| RemoteMemoryKey(key.trim().to_owned()));
    // A key is for the hub that the user names. A repository that names another one does not get it.
    let key_withheld = key.is_some() && settings.from_repository;
    // A secret from the environment is for the hub that the environment names for it, and for no other address.
    let is_common = config::named_in(&*workspace.env)
        .is_some_and(|common| common.trim_end_matches('/') == settings.url.as_str());
    settings.from_repository = !is_common;
    settings.timeout = timeout(workspace)?;
    settings.retries = 0;
    let timeout = settings.timeout;
    let node = workspace.node(&settings)?;
    Ok(Some(RemoteMemory { node, key: key.filter(|_| !key_withheld), timeout, key_withheld }))
}

fn timeout(workspace: &Workspace) -> Result<Duration> {
    let Some(text) = workspace.variable(TIMEOUT) else { return Ok(Duration::from_millis(DEFAULT_MS)) };
    let ms: u64 = text.trim().parse().map_err(|_| {
        Problem::new(Code::ConfigInvalid, format!("`{TIMEOUT}` should be a whole number, is `{text}`."))
            .fix(format!("Correct or unset `{TIMEOUT}`."))
    })?;
    Ok(Duration::from_millis(ms.clamp(LEAST_MS, MAX_MS)))
}

impl RemoteMemory {
    /// The hub's address.
    pub fn hub_url(&self) -> &str {
        self.node.hub_url()
    }

    /// Whether it is used in the name of an account, and not of this node.
    pub fn by_key(&self) -> bool {
        self.key.is_some()
    }

    /// Whether a key was given and is not shown, because a repository named the hub.
    pub fn withholds_key(&self) -> bool {
        self.key_withheld
    }

    /// How long a cycle waits for it.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How the hub is reached.
    pub fn settings(&self) -> &capsid_client::ClientConfig {
        self.node.settings()
    }

    /// Posts something in the name of the account or the node.
    fn post(&self, path: &str, mut body: capsid_model::Value) -> Result<capsid_model::Value> {
        match &self.key {
            Some(key) => {
                self.node.post_as(path, &body, Some(&key.0)).map_err(|refused| self.about_key(refused))
            }
            None => {
                body["sender_id"] = self.node.id().into();
                self.node.post_again(path, &body)
            }
        }
    }

    /// Names the key that the hub refused.
    fn about_key(&self, refused: Problem) -> Problem {
        match refused.hub_status {
            Some(401) => refused.fix(format!(
                "Set {KEY} to an API key or a token of an account on {}, or unset it to share in this node's name.",
                self.hub_url()
            )),
            _ => refused,
        }
    }

    /// Whether the hub would have to be greeted first.
    fn is_stranger(&self) -> bool {
        self.key.is_none() && self.node.known().is_ok_and(|known| known.secret.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::SystemClock;
    use capsid_testkit::test_repo::TestRepo;
    use std::sync::Arc;

    fn remote(policy: &str, variables: &[(&str, &str)]) -> Result<Option<RemoteMemory>> {
        let repo = TestRepo::new();
        repo.write("capsid.toml", policy);
        let mut set: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let home = repo.path().join("home").display().to_string();
        set.push(("HOME".to_owned(), home));
        let env =
            move |name: &str| set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        connect_remote(&Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(env)).unwrap())
    }

    #[test]
    fn it_is_off_unless_it_is_asked_for_and_then_needs_a_hub() {
        assert!(remote("", &[("A2A_HUB_URL", "https://hub.example")]).unwrap().is_none());
        assert!(remote("", &[("MEMORY_GRAPH_PROVIDER", "local")]).unwrap().is_none());
        assert_eq!(remote("", &[("MEMORY_GRAPH_PROVIDER", "remote")]).unwrap_err().code, Code::NoHub);
        let odd = [("MEMORY_GRAPH_PROVIDER", "remote"), ("A2A_HUB_URL", "https://h"), (TIMEOUT, "soon")];
        assert_eq!(remote("", &odd).unwrap_err().code, Code::ConfigInvalid);
    }

    #[test]
    fn its_own_address_wins_and_its_patience_is_bounded() {
        let memory = remote(
            "",
            &[
                (PROVIDER, " Remote "),
                ("A2A_HUB_URL", "https://a"),
                (URL, "https://b/"),
                (TIMEOUT, "999999999"),
            ],
        );
        let memory = memory.unwrap().unwrap();
        assert_eq!((memory.hub_url(), memory.timeout()), ("https://b", Duration::from_secs(60)));
        let usual = remote("", &[(PROVIDER, "remote"), ("A2A_HUB_URL", "https://a")]).unwrap().unwrap();
        assert_eq!((usual.hub_url(), usual.timeout()), ("https://a", Duration::from_secs(5)));
    }

    #[test]
    fn a_repository_that_names_a_hub_does_not_get_the_key() {
        let policy = "[hub]\nurl = \"https://evil.example\"\n";
        let variables = [(PROVIDER, "remote"), (KEY, "ek_1")];
        let memory = remote(policy, &variables).unwrap().unwrap();
        assert!(!memory.by_key() && memory.withholds_key());
        let memory = remote(policy, &[variables.as_slice(), &[(URL, "https://mine.example")]].concat());
        let memory = memory.unwrap().unwrap();
        assert!(memory.by_key() && !memory.withholds_key());
        assert!(!format!("{memory:?}").contains("ek_1"));
    }
}
