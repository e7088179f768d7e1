//! How many connections a hub takes, and from whom. A few addresses cannot use up what others need: each address and each
//! network has its share, the last part is for networks that have none, and who only waits makes room.

use std::time::Duration;

/// How many connections may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub total: usize,
    pub per_address: usize,
    pub per_network: usize,
    /// The part of all connections that is for networks without one.
    pub reserve_percent: usize,
}

/// How many connections are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionCounts {
    pub total: usize,
    /// Those of the address that asks for one more.
    pub address: usize,
    /// Those of its network.
    pub network: usize,
}

/// Which limit keeps a connection out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionRefusal {
    Address,
    Network,
    Reserve,
    Total,
}

impl ConnectionRefusal {
    /// Its name in the metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Address => "connections_per_address",
            Self::Network => "connections_per_network",
            Self::Reserve => "connections_reserve",
            Self::Total => "max_connections",
        }
    }
}

impl ConnectionLimits {
    /// The limits of a hub. Where the total is small, so is the part that one address or network gets of it.
    pub fn new(total: usize, per_address: usize, per_network: usize, reserve_percent: usize) -> Self {
        Self {
            total,
            per_address: per_address.min((total / 4).max(16)),
            per_network: per_network.min((total / 2).max(32)),
            reserve_percent: reserve_percent.min(100),
        }
    }

    /// Decides about one more connection. A proxy speaks for many callers, so only the total holds for it.
    pub fn admit(&self, open: ConnectionCounts, is_proxy: bool) -> Result<(), ConnectionRefusal> {
        let reserve = self.total * self.reserve_percent / 100;
        if !is_proxy && open.address >= self.per_address {
            Err(ConnectionRefusal::Address)
        } else if !is_proxy && open.network >= self.per_network {
            Err(ConnectionRefusal::Network)
        } else if open.total >= self.total {
            Err(ConnectionRefusal::Total)
        } else if !is_proxy && open.network > 0 && open.total >= self.total - reserve {
            Err(ConnectionRefusal::Reserve)
        } else {
            Ok(())
        }
    }

    /// Whether there are so many that who waits gets less time.
    pub fn is_half_full(&self, open: usize) -> bool {
        open * 2 >= self.total
    }

    /// Whether there are so many that each new one takes the place of one that waits.
    pub fn is_nearly_full(&self, open: usize) -> bool {
        open * 4 >= self.total * 3
    }
}

/// How long a connection may wait from half full on: less if it has sent nothing yet.
pub fn hurried_wait(has_sent: bool) -> Duration {
    Duration::from_secs(if has_sent { 10 } else { 3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: ConnectionLimits =
        ConnectionLimits { total: 4096, per_address: 1024, per_network: 2048, reserve_percent: 10 };

    fn open(total: usize, address: usize, network: usize) -> ConnectionCounts {
        ConnectionCounts { total, address, network }
    }

    #[test]
    fn four_addresses_leave_room_for_a_fifth() {
        let (mut total, mut held) = (0, [0_usize; 4]);
        for _ in 0..1030 {
            for held in &mut held {
                if PRIVATE.admit(open(total, *held, *held), false).is_ok() {
                    (*held, total) = (*held + 1, total + 1);
                }
            }
        }
        assert_eq!(total, 4096 - 409);
        assert_eq!(PRIVATE.admit(open(total, 900, 900), false), Err(ConnectionRefusal::Reserve));
        assert_eq!(PRIVATE.admit(open(total, 0, 0), false), Ok(()));
        assert_eq!(PRIVATE.admit(open(4096, 0, 0), false), Err(ConnectionRefusal::Total));
    }

    #[test]
    fn each_limit_holds_at_its_boundary() {
        assert_eq!(PRIVATE.admit(open(1023, 1023, 1023), false), Ok(()));
        assert_eq!(PRIVATE.admit(open(1024, 1024, 1024), false), Err(ConnectionRefusal::Address));
        assert_eq!(PRIVATE.admit(open(2048, 1, 2048), false), Err(ConnectionRefusal::Network));
        assert_eq!(PRIVATE.admit(open(3686, 1, 1), false), Ok(()));
        assert_eq!(PRIVATE.admit(open(3687, 1, 1), false), Err(ConnectionRefusal::Reserve));
        assert_eq!(PRIVATE.admit(open(4095, 3000, 3000), true), Ok(()));
        assert_eq!(PRIVATE.admit(open(4096, 0, 0), true), Err(ConnectionRefusal::Total));
        assert!(PRIVATE.is_half_full(2048) && !PRIVATE.is_half_full(2047));
        assert!(PRIVATE.is_nearly_full(3072) && !PRIVATE.is_nearly_full(3071));
    }

    #[test]
    fn a_small_hub_shares_what_it_has() {
        let small = ConnectionLimits::new(80, 1024, 2048, 10);
        assert_eq!((small.per_address, small.per_network), (20, 40));
        let tiny = ConnectionLimits::new(2, 1024, 2048, 10);
        assert_eq!((tiny.per_address, tiny.per_network), (16, 32));
        assert_eq!(tiny.admit(open(1, 1, 1), false), Ok(()));
        assert_eq!(ConnectionLimits::new(40_000, 1024, 2048, 10).per_address, 1024);
    }
}
