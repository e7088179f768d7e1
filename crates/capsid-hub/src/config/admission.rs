//! Who is let in: names, web pages, proxies, connections, and how full the disk may be.

use super::HubConfig;
use capsid_rules::identity::addresses::AddressRange;
use capsid_rules::identity::connection_limits::ConnectionLimits;
use capsid_rules::identity::request_guard::GuardPolicy;
use toml::Value as Toml;

const MIB: u64 = 1024 * 1024;

/// Who is let in.
#[derive(Debug, Clone)]
pub struct AdmissionConfig {
    /// Names of the hub besides that of `public_url`.
    pub allowed_hosts: Vec<String>,
    /// Web pages of other sites that may call the hub.
    pub allowed_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<AddressRange>,
    pub connections_per_address: usize,
    pub connections_per_network: usize,
    /// The part of all connections that is for networks without one.
    pub reserve_percent: usize,
    /// Below so much free disk space nothing is written; 0 checks nothing.
    pub min_free_bytes: u64,
}

impl Default for AdmissionConfig {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            connections_per_address: 1024,
            connections_per_network: 2048,
            reserve_percent: 10,
            min_free_bytes: 256 * MIB,
        }
    }
}

impl AdmissionConfig {
    /// What differs on a hub that strangers use.
    pub(super) fn set_public_defaults(&mut self) {
        self.connections_per_address = 64;
        self.connections_per_network = 256;
    }
}

impl HubConfig {
    /// Which requests this hub lets in.
    pub fn guard_policy(&self) -> GuardPolicy {
        GuardPolicy {
            is_loopback: self.listen.ip().to_canonical().is_loopback(),
            public_url: self.public_url.clone(),
            allowed_hosts: self.admission.allowed_hosts.clone(),
            allowed_origins: self.admission.allowed_origins.clone(),
        }
    }

    /// How many connections it takes, and from whom.
    pub fn connection_limits(&self) -> ConnectionLimits {
        let admission = &self.admission;
        ConnectionLimits::new(
            self.max_connections,
            admission.connections_per_address,
            admission.connections_per_network,
            admission.reserve_percent,
        )
    }
}

fn words<T>(value: &Toml, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|word| parse(word.as_str()?.trim())).collect()
}

/// Names with or without a port.
pub(super) fn hosts(value: &Toml) -> Option<Vec<String>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    words(value, |name| (!name.is_empty() && name.bytes().all(is_plain)).then(|| name.to_owned()))
}

/// Schemes and hosts, without a path.
pub(super) fn origins(value: &Toml) -> Option<Vec<String>> {
    words(value, |origin| {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"))?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        (!host.is_empty() && host.bytes().all(is_plain)).then(|| origin.to_owned())
    })
}

/// Addresses and ranges of addresses.
pub(super) fn ranges(value: &Toml) -> Option<Vec<AddressRange>> {
    words(value, AddressRange::parse)
}

pub(super) fn shown_ranges(ranges: &[AddressRange]) -> Vec<String> {
    ranges.iter().map(AddressRange::to_string).collect()
}
