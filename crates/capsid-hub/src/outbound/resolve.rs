//! Which addresses a name stands for, and whether the hub may call them.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// An answer that is still to come.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;
}

/// The machine's own way.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRefusal {
    /// An address is none of the public network.
    Private,
    /// The name has no address, or nobody could tell.
    Unresolved,
}

impl AddressRefusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private_address",
            Self::Unresolved => "name_not_resolved",
        }
    }
}

/// A host and a port to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAddress {
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
    /// Whether this machine is meant, and the operator allows that.
    pub local: bool,
}

impl CallAddress {
    /// The addresses to connect to. If one of them may not be called, none is: a name that has a public address and
    /// another one is meant to lead somewhere else.
    pub async fn addresses(&self, resolver: &dyn Resolver) -> Result<Vec<SocketAddr>, AddressRefusal> {
        let found = match self.host.parse() {
            Ok(literal) => vec![literal],
            Err(_) => resolver.resolve(&self.host).await.map_err(|_| AddressRefusal::Unresolved)?,
        };
        if found.is_empty() {
            return Err(AddressRefusal::Unresolved);
        }
        if !found.iter().all(|address| self.allows(*address)) {
            return Err(AddressRefusal::Private);
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, self.port)).collect())
    }

    /// Whether an address may be connected to: a public one, or this machine where that was meant and nothing else.
    pub fn allows(&self, address: IpAddr) -> bool {
        if self.local { address.is_loopback() } else { is_public(address) }
    }

    /// Looks whether a name leads to addresses that may be called. One that cannot be resolved just now may yet be.
    pub async fn is_private(&self, resolver: &dyn Resolver, patience: Duration) -> bool {
        matches!(timeout(patience, self.addresses(resolver)).await, Ok(Err(AddressRefusal::Private)))
    }
}

/// Whether an address belongs to the public network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is given out. Mapped, translated, local and multicast addresses all lie elsewhere; of what lies
    // inside, 2001::/23 (Teredo and others), documentation and 6to4 lead to other places.
    (0x2000..0x4000).contains(&a)
        && !(a == 0x2001 && b < 0x200)
        && !(a == 0x2001 && b == 0xdb8)
        && a != 0x2002
        && !(a == 0x3fff && b < 0x1000)
}
