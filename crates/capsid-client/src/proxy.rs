//! The proxy between this machine and a hub, from the variables that every tool reads.

use crate::address::{host_of, is_loopback};
use capsid_model::{Code, Problem, Result};

/// A proxy's address. It may hold a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl(pub(crate) String);

impl std::fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProxyUrl(..)")
    }
}

/// The proxy for an address: the one for its scheme, else the one for everything. Never for this machine, nor for what
/// `NO_PROXY` names. `set` gives variables that are not empty.
pub(crate) fn for_address(url: &str, set: &dyn Fn(&str) -> Option<String>) -> Result<Option<ProxyUrl>> {
    let either = |lower: &str| {
        let upper = lower.to_ascii_uppercase();
        set(lower).map(|value| (lower.to_owned(), value)).or_else(|| set(&upper).map(|value| (upper, value)))
    };
    let host = host_of(url);
    let excepted = either("no_proxy").is_some_and(|(_, list)| is_excepted(host, &list));
    if is_loopback(host) || excepted {
        return Ok(None);
    }
    let own = if url.starts_with("https://") { "https_proxy" } else { "http_proxy" };
    let Some((name, value)) = either(own).or_else(|| either("all_proxy")) else { return Ok(None) };
    let value = if value.contains("://") { value } else { format!("http://{value}") };
    let usable = value.starts_with("http://") || value.starts_with("https://");
    if !usable || ureq::Proxy::new(&value).is_err() {
        // The value may hold a password.
        return Err(Problem::new(
            Code::ConfigInvalid,
            format!("The proxy that `{name}` names cannot be used."),
        )
        .fix(
            "Give an HTTP proxy, such as `http://proxy.example:3128`, or name the hub's host in NO_PROXY.",
        ));
    }
    Ok(Some(ProxyUrl(value)))
}

/// Whether a list such as `localhost, .lan, 10.0.0.7:4000, *` names a host.
fn is_excepted(host: &str, list: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let entry = entry.trim_start_matches("*.").trim_start_matches('.');
        let name = host_of(entry);
        entry == "*" || entry == host || name == host || host.ends_with(&format!(".{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let set = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        for_address(url, &set).unwrap().map(|proxy| proxy.0)
    }

    #[test]
    fn the_scheme_chooses_and_this_machine_is_reached_directly() {
        let both = [("HTTPS_PROXY", "http://s:1"), ("http_proxy", "h:2"), ("ALL_PROXY", "http://a:3")];
        assert_eq!(proxy("https://hub.example", &both).as_deref(), Some("http://s:1"));
        assert_eq!(proxy("http://hub.example", &both).as_deref(), Some("http://h:2"));
        assert_eq!(proxy("https://hub.example", &both[2..]).as_deref(), Some("http://a:3"));
        assert_eq!(proxy("http://127.0.0.1:4000", &both), None);
        assert_eq!(proxy("http://[::1]:4000", &both), None);
        assert_eq!(proxy("https://hub.example", &[]), None);
    }

    #[test]
    fn exceptions_are_hosts_and_their_domains() {
        let with = |list: &str| proxy("https://a.hub.lan:8443", &[("all_proxy", "p:1"), ("NO_PROXY", list)]);
        for list in ["*", "hub.lan", ".hub.lan", "*.lan", "x, a.hub.lan:8443", "A.HUB.LAN"] {
            assert_eq!(with(list), None, "{list}");
        }
        for list in ["b.lan", "ub.lan", "a.hub.lan.evil", "10.0.0.1"] {
            assert!(with(list).is_some(), "{list}");
        }
    }

    #[test]
    fn a_proxy_that_is_not_spoken_is_refused_without_its_password() {
        let set = |name: &str| (name == "ALL_PROXY").then(|| "socks5://me:hunter2@p:1".to_owned());
        let problem = for_address("https://hub.example", &set).unwrap_err();
        assert_eq!(problem.code, Code::ConfigInvalid);
        assert!(!format!("{problem:?}").contains("hunter2"));
        assert!(!format!("{:?}", ProxyUrl("http://me:hunter2@p:1".into())).contains("hunter2"));
    }
}
