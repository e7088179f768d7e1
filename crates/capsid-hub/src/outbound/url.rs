//! Whether an address may be called by the hub. A node must not be able to send the hub into its own network.
//!
//! This looks at the text only. What a name stands for is looked at again when the hub calls it.

use crate::outbound::resolve::{CallAddress, is_public};
use axum::http::Uri;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ports that may be called.
const PORTS: [u16; 2] = [443, 8443];

/// How names end that mean something only inside a network.
const LOCAL: [&str; 11] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "lan",
    "home",
    "corp",
    "onion",
    "svc",
];

/// What an address says that may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    pub https: bool,
    /// Host and port as they stand in the address.
    pub authority: String,
    pub path: String,
    pub place: CallAddress,
}

/// Checks an address. The reason is a short code.
pub fn check(url: &str, allow_local: bool) -> Result<WebhookUrl, &'static str> {
    // A reader of addresses drops some of these and so sees another address than the one that was checked.
    if !url.bytes().all(|byte| byte.is_ascii_graphic()) || url.contains(['\\', '#']) {
        return Err("invalid_url");
    }
    let uri: Uri = url.parse().map_err(|_| "invalid_url")?;
    let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or("invalid_url")?;
    if authority.as_str().contains('@') {
        return Err("credentials_in_url");
    }
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let local = allow_local && is_loopback(&host);
    match scheme {
        "https" => {}
        "http" if local => {}
        _ => return Err("https_required"),
    }
    let port = port(authority.as_str().strip_prefix(authority.host()).unwrap_or_default())?;
    if !local {
        if !port.is_none_or(|port| PORTS.contains(&port)) {
            return Err("port_not_allowed");
        }
        check_host(&host)?;
    }
    let https = scheme == "https";
    let port = port.unwrap_or(if https { 443 } else { 80 });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(WebhookUrl {
        https,
        authority: authority.as_str().to_owned(),
        path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
        place: CallAddress { host: bare, port, local },
    })
}

/// What stands behind the host: nothing, or a colon and a number.
fn port(text: &str) -> Result<Option<u16>, &'static str> {
    match text.strip_prefix(':') {
        None if text.is_empty() => Ok(None),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map(Some).map_err(|_| "invalid_url")
        }
        _ => Err("invalid_url"),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || literal(host).is_some_and(|address| address.is_loopback())
}

fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => inside.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

fn check_host(host: &str) -> Result<(), &'static str> {
    if let Some(address) = literal(host) {
        return if is_public(address) { Ok(()) } else { Err("private_address") };
    }
    let labels: Vec<&str> = host.split('.').collect();
    let plain = |label: &&str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if host.len() > 253 || !labels.iter().all(plain) {
        return Err("invalid_host");
    }
    // 2130706433, 0x7f.1 and 0177.0.0.1 are addresses to some readers: a name never ends in a number.
    let last = labels.last().copied().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") {
        return Err("private_address");
    }
    if labels.len() < 2 || LOCAL.contains(&last) || host.ends_with(".home.arpa") || contains_address(&labels)
    {
        return Err("private_address");
    }
    Ok(())
}

/// Whether a name spells an address, as the services do that answer such a name with the address in it:
/// `10.0.0.1.nip.io`, `app-10-0-0-1.sslip.io`, `7f000001.nip.io`, `--1.sslip.io`.
fn contains_address(labels: &[&str]) -> bool {
    let service = |name: &[&str]| {
        matches!(name, ["nip" | "sslip" | "xip", "io"] | ["traefik" | "backname", "me" | "io"])
            || matches!(name, ["localtest" | "lvh" | "vcap", "me"] | ["lacolhost", "com"])
    };
    if labels.split_last_chunk::<2>().is_some_and(|(_, name)| service(name)) {
        return true;
    }
    let parts: Vec<&str> = labels.iter().flat_map(|label| label.split('-')).collect();
    parts.windows(4).any(|four| four.iter().all(|part| part.parse::<u8>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn public_addresses_may_be_called() {
        for url in [
            "https://agent.example.com/webhook",
            "https://agent.example.com:8443/webhook?x=1",
            "https://agent.example.com./",
            "https://93.184.215.14/",
            "https://[2606:2800:220:1::1]:443/hook",
            "HTTPS://Agent.Example.COM",
            "https://build-2026-11-15.example.com/",
            "https://v1.2.3.example.com/",
            "https://local.example.com/",
        ] {
            assert!(check(url, false).is_ok(), "{url}");
        }
    }

    #[test]
    fn an_address_says_where_to_connect_to() {
        let target = check("HTTPS://Agent.Example.COM.:8443/hook?x=1", false).unwrap();
        assert_eq!((target.https, &*target.authority), (true, "Agent.Example.COM.:8443"));
        assert_eq!((&*target.path, &*target.place.host), ("/hook?x=1", "agent.example.com"));
        assert_eq!((target.place.port, target.place.local), (8443, false));
        let target = check("https://[2606:2800:220:1::1]?x", false).unwrap();
        assert_eq!(
            (&*target.path, &*target.place.host, target.place.port),
            ("/?x", "2606:2800:220:1::1", 443)
        );
        let target = check("http://localhost", true).unwrap();
        assert_eq!((&*target.path, target.place.port, target.place.local), ("/", 80, true));
    }

    #[test]
    fn nothing_inside_a_network_may_be_called() {
        for url in [
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://printer/",
            "https://printer.local/",
            "https://metadata.google.internal/",
            "https://printer.localdomain/",
            "https://localhost.localdomain/",
            "https://router.home.arpa/",
            "https://hidden.onion/",
            "https://web.default.svc/",
            "https://web.default.svc.cluster.local/",
            "https://router.LAN./",
            "https://127.0.0.1.nip.io/",
            "https://7f000001.nip.io/",
            "https://--1.sslip.io/",
            "https://nip.io/",
            "https://app-10-0-0-1.example.com/",
            "https://10.0.0.1.example.com/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://127.0.0.01/",
            "https://0/",
            "https://10.0.0.1/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://100.64.0.1/",
            "https://198.18.0.1/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::]/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[::127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[64:ff9b:1::1]/",
            "https://[fc00::1]/",
            "https://[fd12:3456::1]/",
            "https://[fe80::1]/",
            "https://[fe80::1%25eth0]/",
            "https://[2002:7f00:1::]/",
            "https://[2001::1]/",
            "https://[ff02::1]/",
        ] {
            assert!(check(url, false).is_err(), "{url}");
        }
    }

    #[test]
    fn other_schemes_ports_and_tricks_are_refused() {
        for (url, reason) in [
            ("http://agent.example.com/", "https_required"),
            ("ftp://agent.example.com/", "https_required"),
            ("https://user:secret@agent.example.com/", "credentials_in_url"),
            ("https://agent.example.com@10.0.0.1/", "credentials_in_url"),
            ("https://agent.example.com:22/", "port_not_allowed"),
            ("https://agent.example.com:80/", "port_not_allowed"),
            ("https://agent.example.com:0/", "port_not_allowed"),
            ("https://ag%65nt.example.com/", "invalid_url"),
            ("https://-a.example.com/", "invalid_host"),
            ("https://a..example.com/", "invalid_host"),
        ] {
            assert_eq!(check(url, false), Err(reason), "{url}");
        }
        for url in [
            "",
            "x",
            "/hook",
            "https://",
            "https:///x",
            "https://agent.example.com:/",
            "https://a.example.com:99999/",
            "https://a.example.com:+443/",
            "https://a.example.com\\@10.0.0.1/",
            "https://a.example.com/\n",
            " https://a.example.com/",
            "https://exämple.com/",
            "https://a.example.com/#x",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            assert!(check(url, false).is_err(), "{url:?}");
        }
    }

    #[test]
    fn this_machine_may_be_called_where_the_operator_allows_it() {
        for url in
            ["http://127.0.0.1:9999/hook", "http://localhost:80/", "https://localhost/", "http://[::1]:1/"]
        {
            assert!(check(url, true).is_ok(), "{url}");
            assert!(check(url, false).is_err(), "{url}");
        }
        for url in ["http://10.0.0.1/", "http://agent.example.com/", "https://10.0.0.1/", "https://a.b:9999/"]
        {
            assert!(check(url, true).is_err(), "{url}");
        }
    }
}
