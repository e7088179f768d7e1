//! The open connections: who holds how many, and which of them only wait.

use super::stream::ConnectionPhase;
use crate::auth::credentials::rate_limit_key;
use capsid_rules::identity::addresses::{AddressRange, network_of};
use capsid_rules::identity::connection_limits::{
    ConnectionCounts, ConnectionLimits, ConnectionRefusal, hurried_wait,
};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// One that waits for less than this is not closed to make room: its request may be on its way.
const FRESH: Duration = Duration::from_secs(1);

/// Every open connection.
pub struct ConnectionTable {
    limits: ConnectionLimits,
    proxies: Vec<AddressRange>,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    last_id: u64,
    all: HashMap<u64, OpenConnection>,
    by_address: HashMap<String, usize>,
    by_network: HashMap<AddressRange, usize>,
}

struct OpenConnection {
    address: String,
    network: AddressRange,
    phase: Arc<ConnectionPhase>,
    close: Arc<Notify>,
}

/// A place in the table, free again when it is dropped.
pub struct ConnectionSlot {
    table: Arc<ConnectionTable>,
    id: u64,
    /// What the connection does.
    pub phase: Arc<ConnectionPhase>,
    close: Arc<Notify>,
}

impl ConnectionTable {
    /// An empty table.
    pub fn new(limits: ConnectionLimits, proxies: Vec<AddressRange>) -> Arc<Self> {
        Arc::new(Self { limits, proxies, open: Mutex::default() })
    }

    /// Adds a connection, or says which limit keeps it out.
    pub fn enter(self: &Arc<Self>, peer: IpAddr) -> Result<ConnectionSlot, ConnectionRefusal> {
        let (address, network) = (rate_limit_key(peer), network_of(peer));
        let is_proxy = self.proxies.iter().any(|range| range.contains(peer));
        let mut open = self.open();
        // Who has its share already closes nobody else's.
        if let Err(refusal @ (ConnectionRefusal::Address | ConnectionRefusal::Network)) =
            self.limits.admit(open.counts(&address, network), is_proxy)
        {
            return Err(refusal);
        }
        if self.limits.is_nearly_full(open.all.len()) {
            open.make_room();
        }
        self.limits.admit(open.counts(&address, network), is_proxy)?;
        let (phase, close) = (Arc::new(ConnectionPhase::default()), Arc::new(Notify::new()));
        let id = open.insert(OpenConnection {
            address,
            network,
            phase: Arc::clone(&phase),
            close: Arc::clone(&close),
        });
        drop(open);
        Ok(ConnectionSlot { table: Arc::clone(self), id, phase, close })
    }

    /// From half full on, closes connections that have waited for too long.
    pub fn close_waiting(&self) {
        let mut open = self.open();
        if !self.limits.is_half_full(open.all.len()) {
            return;
        }
        let late = |connection: &OpenConnection| {
            let waits = connection.phase.waits_for();
            waits.is_some_and(|(time, has_sent)| time >= hurried_wait(has_sent))
        };
        let late: Vec<u64> = open.all.iter().filter(|(_, one)| late(one)).map(|(id, _)| *id).collect();
        late.into_iter().for_each(|id| open.close(id));
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn counts(&self, address: &str, network: AddressRange) -> ConnectionCounts {
        ConnectionCounts {
            total: self.all.len(),
            address: self.by_address.get(address).copied().unwrap_or(0),
            network: self.by_network.get(&network).copied().unwrap_or(0),
        }
    }

    fn insert(&mut self, connection: OpenConnection) -> u64 {
        self.last_id += 1;
        *self.by_address.entry(connection.address.clone()).or_default() += 1;
        *self.by_network.entry(connection.network).or_default() += 1;
        self.all.insert(self.last_id, connection);
        self.last_id
    }

    /// Takes a connection out; its place is free at once, though it takes a moment to end.
    fn remove(&mut self, id: u64) -> Option<OpenConnection> {
        let connection = self.all.remove(&id)?;
        decrease(&mut self.by_address, &connection.address);
        decrease(&mut self.by_network, &connection.network);
        Some(connection)
    }

    fn close(&mut self, id: u64) {
        if let Some(connection) = self.remove(id) {
            connection.close.notify_one();
        }
    }

    /// Closes the connection that has waited longest, of the network that has the most.
    fn make_room(&mut self) {
        let Some(network) = self.by_network.iter().max_by_key(|(_, count)| **count).map(|(one, _)| *one)
        else {
            return;
        };
        let of_network = self.all.iter().filter(|(_, connection)| connection.network == network);
        let waiting = of_network.filter_map(|(id, connection)| Some((connection.phase.waits_for()?.0, *id)));
        if let Some((_, id)) = waiting.filter(|(time, _)| *time >= FRESH).max() {
            self.close(id);
        }
    }
}

fn decrease<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl ConnectionSlot {
    /// Ends when the table wants the place back.
    pub async fn closed(&self) {
        self.close.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.table.open().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(total: usize) -> Arc<ConnectionTable> {
        let proxy = AddressRange::parse("10.0.0.1").unwrap();
        let limits = ConnectionLimits { total, per_address: total, per_network: total, reserve_percent: 10 };
        ConnectionTable::new(limits, vec![proxy])
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Lets time pass for all of them.
    fn pass(slots: &[&ConnectionSlot], time: Duration) {
        slots.iter().for_each(|slot| slot.phase.pass(time));
    }

    fn is_open(slot: &ConnectionSlot) -> bool {
        slot.table.open().all.contains_key(&slot.id)
    }

    #[tokio::test]
    async fn whoever_waits_longest_in_the_largest_network_makes_room() {
        let table = table(10);
        let mut slots: Vec<_> = (0..6).map(|_| table.enter(ip("192.0.2.1")).ok().unwrap()).collect();
        slots.push(table.enter(ip("198.51.100.1")).ok().unwrap());
        slots.push(table.enter(ip("192.0.2.2")).ok().unwrap());
        slots.push(table.enter(ip("203.0.113.1")).ok().unwrap());
        assert!(slots.iter().all(is_open), "nobody has waited for long");
        for (n, slot) in slots.iter().enumerate() {
            pass(&[slot], FRESH * (20 - n as u32));
        }
        // The first one answers a request, and the other network is small, however long it waits.
        slots[0].phase.request();
        pass(&[&slots[6]], FRESH * 100);
        slots.push(table.enter(ip("203.0.113.1")).ok().unwrap());
        let closed: Vec<usize> = (0..slots.len()).filter(|n| !is_open(&slots[*n])).collect();
        assert_eq!(closed, [1]);
        tokio::time::timeout(Duration::from_secs(10), slots[1].closed()).await.expect("it is told");
        drop(slots);
        assert!(table.open().by_address.is_empty() && table.open().by_network.is_empty());
    }

    #[test]
    fn from_half_full_on_who_waits_has_less_time() {
        let table = table(4);
        let enter = || table.enter(ip("192.0.2.1")).ok().unwrap();
        let silent = enter();
        pass(&[&silent], Duration::from_secs(5));
        table.close_waiting();
        assert!(is_open(&silent), "there is room");
        let idle = enter();
        idle.phase.request();
        idle.phase.between();
        table.close_waiting();
        assert!(!is_open(&silent) && is_open(&idle));
        let busy = enter();
        busy.phase.request();
        pass(&[&idle, &busy], Duration::from_secs(9));
        table.close_waiting();
        assert!(is_open(&idle));
        pass(&[&idle, &busy], Duration::from_secs(2));
        table.close_waiting();
        assert!(!is_open(&idle) && is_open(&busy), "a request is never cut off");
    }

    #[test]
    fn a_proxy_may_hold_more_than_an_address() {
        let limits = ConnectionLimits { total: 10, per_address: 2, per_network: 2, reserve_percent: 10 };
        let table = ConnectionTable::new(limits, vec![AddressRange::parse("10.0.0.1").unwrap()]);
        let enter = |text: &str| table.enter(ip(text));
        let held: Vec<_> = (0..10).map(|_| enter("10.0.0.1").ok().unwrap()).collect();
        assert_eq!(enter("192.0.2.1").err(), Some(ConnectionRefusal::Total));
        drop(held);
        let _held = [enter("192.0.2.1"), enter("192.0.2.1")];
        assert_eq!(enter("192.0.2.1").err(), Some(ConnectionRefusal::Address));
        assert_eq!(enter("192.0.2.2").err(), Some(ConnectionRefusal::Network));
    }
}
