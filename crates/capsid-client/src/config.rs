//! Which hub, and how it is reached.

use crate::address::{host_of, is_loopback};
use crate::joined::JoinedHub;
use crate::proxy::{self, ProxyUrl};
use capsid_model::{Code, Problem, Result};
use std::path::PathBuf;
use std::time::Duration;

/// How long a call may take that somebody waits for.
pub const CALL: Duration = Duration::from_secs(15);
/// How long a search before a cycle may take.
pub const SEARCH: Duration = Duration::from_secs(8);

/// How a hub is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// The hub's address without a slash at its end, such as `https://hub.example`.
    pub url: String,
    /// How long one call may take, answer included.
    pub timeout: Duration,
    /// How often a call is tried again when the hub is busy or away.
    pub retries: u32,
    /// A certificate authority in addition to those of the system, as a PEM file.
    pub ca_file: Option<PathBuf>,
    /// Whether `http://` is allowed for a host that is not this machine.
    pub allow_insecure: bool,
    /// Whether a repository named the hub and not its user: then nothing from the environment is sent to it.
    pub from_repository: bool,
    /// The proxy for requests to the hub.
    pub proxy: Option<ProxyUrl>,
}

impl ClientConfig {
    /// Settings for an address, or what is wrong with it.
    pub fn new(url: &str, allow_insecure: bool) -> Result<Self> {
        let url = checked(url, allow_insecure)?;
        Ok(Self {
            url,
            timeout: CALL,
            retries: 3,
            ca_file: None,
            allow_insecure,
            from_repository: false,
            proxy: None,
        })
    }

    /// Settings from an address that was given, from the variables that existing tools know, or of the hub that was joined.
    pub fn resolve(url_given: Option<&str>, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let set =
            |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let Some(url) = url_given.map(str::to_owned).or_else(|| named_in(env)) else {
            return Self::for_joined(&JoinedHub::load(env)?.ok_or_else(no_hub)?, env);
        };
        let insecure = ["CAPSID_HUB_ALLOW_INSECURE", "EVOMAP_HUB_ALLOW_INSECURE"];
        let insecure = insecure.iter().any(|name| matches!(set(name).as_deref(), Some("1" | "true")));
        let mut settings = Self::new(&url, insecure)?;
        settings.ca_file = set("CAPSID_CA_FILE").map(PathBuf::from);
        settings.proxy = proxy::for_address(&settings.url, &set)?;
        Ok(settings)
    }

    /// Settings of the hub that this user joined.
    pub fn for_joined(joined: &JoinedHub, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let insecure = |name: &str| match env(name) {
            None if joined.allow_insecure && name == "CAPSID_HUB_ALLOW_INSECURE" => Some("1".to_owned()),
            value => value,
        };
        Self::resolve(Some(&joined.url), &insecure)
    }

    /// The same, for a search that a cycle waits for: one try, and not for long.
    #[must_use]
    pub fn for_search(mut self) -> Self {
        self.timeout = SEARCH;
        self.retries = 0;
        self
    }
}

/// The hub that the environment names, by the variables that existing tools know.
pub fn named_in(env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let set = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    set("A2A_HUB_URL").or_else(|| set("EVOMAP_HUB_URL"))
}

fn no_hub() -> Problem {
    Problem::new(Code::NoHub, "No hub is configured, so nothing leaves this machine.").fix(
        "Use one from now on with `capsid node join URL`, or name one with `--hub URL`, with `url` under `[hub]` in capsid.toml, or with A2A_HUB_URL; `capsid up` starts one here.",
    )
}

fn checked(url: &str, allow_insecure: bool) -> Result<String> {
    let wrong = |what: &str| {
        Problem::new(Code::HubUrlInvalid, format!("`{url}` cannot be used as a hub's address: {what}"))
            .fix("Give the scheme, the host and the port alone, such as `https://hub.example` or `http://127.0.0.1:4000`.")
    };
    let bare = url.trim().trim_end_matches('/');
    let rest = match bare.split_once("://") {
        Some(("https" | "http", rest)) => rest,
        _ => return Err(wrong("it does not begin with `https://` or `http://`.")),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.is_empty() || bare.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(wrong("it names no host."));
    }
    if host.contains('@') {
        return Err(wrong("it holds a user name or a password."));
    }
    if path.split('/').any(|part| part == "a2a") {
        return Err(wrong("paths of the protocol begin with `/a2a` already."));
    }
    if bare.contains(['?', '#']) {
        return Err(wrong("it holds a query or a fragment."));
    }
    if bare.starts_with("http://") && !allow_insecure && !is_loopback(host_of(bare)) {
        return Err(Problem::new(
            Code::HubUrlInvalid,
            format!("`{bare}` is not encrypted, and what is sent there could be read on the way."),
        )
        .fix("Use `https://`, or set CAPSID_HUB_ALLOW_INSECURE=1 (or `allow_insecure` under `[hub]`) for a network you trust."));
    }
    Ok(bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_and_refused_where_it_cannot_be_meant() {
        for good in ["http://127.0.0.1:4000", "https://hub.example/", "http://localhost", "http://[::1]:4000"]
        {
            assert!(ClientConfig::new(good, false).is_ok(), "{good}");
        }
        let bad = [
            "hub.example",
            "ftp://x",
            "https://",
            "https://a:b@x",
            "https://x/a2a",
            "https://x?y",
            "http://x",
        ];
        for bad in bad {
            assert_eq!(ClientConfig::new(bad, false).unwrap_err().code, Code::HubUrlInvalid, "{bad}");
        }
        assert!(ClientConfig::new("http://hub.lan:4000", true).is_ok());
        assert_eq!(ClientConfig::new("https://hub.example///", false).unwrap().url, "https://hub.example");
    }

    #[test]
    fn without_an_address_there_is_no_hub() {
        assert_eq!(ClientConfig::resolve(None, &|_| None).unwrap_err().code, Code::NoHub);
        let env = |name: &str| (name == "A2A_HUB_URL").then(|| "http://127.0.0.1:1".to_owned());
        assert_eq!(ClientConfig::resolve(None, &env).unwrap().url, "http://127.0.0.1:1");
        assert_eq!(ClientConfig::resolve(Some("https://x"), &env).unwrap().url, "https://x");
    }
}
