//! The network that a request comes from: what the hub can tell apart without knowing anybody.

use super::addresses::network_of;
use std::fmt;
use std::net::IpAddr;

/// The 24 bits of an IPv4 address, or the 48 bits of an IPv6 address, that a party usually has to itself. This machine
/// is one network, whichever of its addresses a program uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Network(String);

impl Network {
    /// The network of an address.
    pub fn of_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            address if address.is_loopback() => Self::loopback(),
            address => Self(network_of(address).to_string()),
        }
    }

    /// This machine.
    pub fn loopback() -> Self {
        Self("loopback".to_owned())
    }

    /// The text that is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::loopback()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_one_network() {
        for (address, network) in [
            ("192.0.2.1", "192.0.2.0/24"),
            ("192.0.2.255", "192.0.2.0/24"),
            ("192.0.3.1", "192.0.3.0/24"),
            ("::ffff:192.0.2.7", "192.0.2.0/24"),
            ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
            ("2001:db8:1:ffff::", "2001:db8:1::/48"),
            ("2001:db8:2::", "2001:db8:2::/48"),
            ("127.0.0.1", "loopback"),
            ("127.9.9.9", "loopback"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
        ] {
            assert_eq!(Network::of_address(address.parse().unwrap()).as_str(), network, "{address}");
        }
    }
}
