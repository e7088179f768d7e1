//! Addresses and networks: where a caller comes from, and who can reach an address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses, written as `10.0.0.0/8`, or as one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    first: IpAddr,
    bits: u8,
}

impl AddressRange {
    /// Reads a range or an address. An IPv4 address in IPv6 form is the IPv4 address.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.trim().split_once('/') {
            Some((address, bits)) => (address.parse::<IpAddr>().ok()?, Some(bits.parse::<u8>().ok()?)),
            None => (text.trim().parse::<IpAddr>().ok()?.to_canonical(), None),
        };
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then(|| Self { first: mask(address, bits), bits })
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && mask(address, self.bits) == self.first
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.first.is_ipv4() { 32 } else { 128 };
        match self.bits == whole {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}/{}", self.first, self.bits),
        }
    }
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let kept = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            Ipv4Addr::from(u32::from(address) & kept).into()
        }
        IpAddr::V6(address) => {
            let kept = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            Ipv6Addr::from(u128::from(address) & kept).into()
        }
    }
}

/// The network that an address counts for: its IPv4 /24 or IPv6 /48.
pub fn network_of(address: IpAddr) -> AddressRange {
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { 24 } else { 48 };
    AddressRange { first: mask(address, bits), bits }
}

/// The caller's address: the socket's, unless that is a proxy that the operator named. Then it is the rightmost address
/// of `X-Forwarded-For` that is no such proxy, because a proxy appends what it saw and the rest is what the caller says.
pub fn client_address(peer: IpAddr, forwarded: Option<&str>, proxies: &[AddressRange]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|range| range.contains(address));
    let peer = peer.to_canonical();
    if !is_proxy(peer) {
        return peer;
    }
    for entry in forwarded.unwrap_or_default().rsplit(',') {
        match parse_forwarded(entry) {
            Some(address) if is_proxy(address) => {}
            Some(address) => return address,
            None => return peer,
        }
    }
    peer
}

/// An entry of the header, with or without a port.
fn parse_forwarded(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let address = entry.parse::<IpAddr>().ok();
    let socket = || entry.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip());
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    address.or_else(socket).or_else(bracketed).map(|address| address.to_canonical())
}

/// Whether the whole internet can send to an address: it is neither this machine's own nor one of a local network.
pub fn is_global(address: IpAddr) -> bool {
    const LOCAL: [&str; 21] = [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/127",
        "100::/64",
        "2001:db8::/32",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    ];
    !LOCAL.iter().filter_map(|range| AddressRange::parse(range)).any(|range| range.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_holds_its_addresses_and_no_others() {
        let range = AddressRange::parse("10.1.2.3/8").unwrap();
        assert_eq!(range.to_string(), "10.0.0.0/8");
        assert!(range.contains(ip("10.255.0.1")) && range.contains(ip("::ffff:10.0.0.1")));
        assert!(!range.contains(ip("11.0.0.1")) && !range.contains(ip("::1")));
        let one = AddressRange::parse("::ffff:127.0.0.1").unwrap();
        assert!(one.contains(ip("127.0.0.1")) && !one.contains(ip("127.0.0.2")));
        assert!(AddressRange::parse("0.0.0.0/0").unwrap().contains(ip("8.8.8.8")));
        assert!(AddressRange::parse("::/0").unwrap().contains(ip("2001::1")));
        for wrong in ["", "x", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/"] {
            assert_eq!(AddressRange::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_network_is_a_24_or_a_48() {
        assert_eq!(network_of(ip("192.0.2.77")).to_string(), "192.0.2.0/24");
        assert_eq!(network_of(ip("::ffff:192.0.2.77")), network_of(ip("192.0.2.1")));
        assert_eq!(network_of(ip("2001:db8:1:2::3")).to_string(), "2001:db8:1::/48");
    }

    #[test]
    fn a_forged_header_changes_nothing() {
        let proxies = ["10.0.0.0/8", "127.0.0.1"].map(|text| AddressRange::parse(text).unwrap());
        let found = |peer: &str, header| client_address(ip(peer), header, &proxies).to_string();
        // Without a proxy the header is what the caller says.
        assert_eq!(found("192.0.2.1", Some("198.51.100.9")), "192.0.2.1");
        assert_eq!(client_address(ip("10.0.0.1"), Some("198.51.100.9"), &[]).to_string(), "10.0.0.1");
        // Behind proxies, what the caller put in front does not count.
        assert_eq!(found("10.0.0.1", Some("1.1.1.1, 198.51.100.9")), "198.51.100.9");
        assert_eq!(found("127.0.0.1", Some("1.1.1.1, 198.51.100.9, 10.9.9.9")), "198.51.100.9");
        assert_eq!(found("::ffff:10.0.0.1", Some("[2001:db8::1]:443")), "2001:db8::1");
        assert_eq!(found("10.0.0.1", Some("198.51.100.9:5000")), "198.51.100.9");
        // What cannot be read ends the walk at the proxy itself.
        for header in [None, Some(""), Some("unknown"), Some("1.1.1.1, x"), Some("10.0.0.2")] {
            assert_eq!(found("10.0.0.1", header), "10.0.0.1", "{header:?}");
        }
    }

    #[test]
    fn addresses_of_machines_and_local_networks_are_not_global() {
        for local in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.1.1",
            "172.31.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "::",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:192.168.1.1",
            "169.254.1.1",
        ] {
            assert!(!is_global(ip(local)), "{local}");
        }
        for global in ["8.8.8.8", "172.32.0.1", "2a00:1450::1", "::ffff:8.8.8.8"] {
            assert!(is_global(ip(global)), "{global}");
        }
    }
}
