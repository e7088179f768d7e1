//! Whether the whole internet can reach the hub.

use crate::config::{HubConfig, HubProfile};
use capsid_rules::identity::addresses::is_global;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Whether a hub for friends listens where strangers can reach it.
pub fn is_exposed_to_strangers(config: &HubConfig) -> bool {
    config.profile == HubProfile::Private && is_open_to_internet(config.listen)
}

fn is_open_to_internet(listen: SocketAddr) -> bool {
    match listen.ip() {
        address if !address.is_unspecified() => is_global(address),
        IpAddr::V4(_) => has_global_address(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(1, 1, 1, 1).into()),
        IpAddr::V6(_) => {
            let far = Ipv6Addr::new(0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1111);
            has_global_address(Ipv6Addr::UNSPECIFIED.into(), far.into())
                || is_open_to_internet(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), listen.port()))
        }
    }
}

/// Whether the address that this machine would use to reach a far one is global. Connecting UDP sends nothing.
fn has_global_address(own: IpAddr, far: IpAddr) -> bool {
    let chosen = UdpSocket::bind((own, 0)).and_then(|socket| {
        socket.connect((far, 9))?;
        socket.local_addr()
    });
    chosen.is_ok_and(|address| is_global(address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_private_hub_at_a_global_address_is_exposed() {
        for (profile, listen, exposed) in [
            (HubProfile::Private, "127.0.0.1:4000", false),
            (HubProfile::Private, "192.168.1.7:4000", false),
            (HubProfile::Private, "8.8.8.8:4000", true),
            (HubProfile::Private, "[2a00:1450::1]:4000", true),
            (HubProfile::Public, "8.8.8.8:4000", false),
        ] {
            let config = HubConfig { profile, listen: listen.parse().unwrap(), ..HubConfig::default() };
            assert_eq!(is_exposed_to_strangers(&config), exposed, "{profile:?} {listen}");
        }
    }
}
