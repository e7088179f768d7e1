//! What a worker has under way, and how much room that leaves: for others than those that do not answer, and at a host
//! that many nodes name, which may know nothing of it.

use capsid_model::time::Time;
use capsid_store::notifications::deliveries::calls::DeliveryCall;
use capsid_store::notifications::deliveries::select;
use capsid_store::notifications::deliveries::select::DeliveryCapacity;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many calls are under way at a time.
const MAX: usize = 32;
/// How many of them may be to nodes of which it is not known that calls arrive.
const MAX_PROBES: usize = 24;
/// How many of them may be to one host.
const MAX_OF_HOST: usize = 8;
/// How many calls to one host may be begun in a minute.
const MAX_IN_MINUTE: usize = 600;
const MINUTE_MS: i64 = 60_000;

/// What a worker has under way.
#[derive(Debug, Default)]
pub struct InFlightCalls {
    now: Mutex<InFlightState>,
}

#[derive(Debug, Default)]
struct InFlightState {
    calls: usize,
    probes: usize,
    hosts: HashMap<String, usize>,
    /// Calls that were begun in this minute, by host.
    minute: i64,
    begun: HashMap<String, usize>,
    last: String,
}

impl InFlightCalls {
    fn now(&self) -> MutexGuard<'_, InFlightState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is room for.
    pub fn room(&self, time: Time) -> DeliveryCapacity {
        let mut now = self.now();
        now.turn(time);
        let mut hosts = HashMap::new();
        for host in now.hosts.keys().chain(now.begun.keys()) {
            let busy = now.hosts.get(host).copied().unwrap_or_default();
            let begun = now.begun.get(host).copied().unwrap_or_default();
            let left = MAX_OF_HOST.saturating_sub(busy).min(MAX_IN_MINUTE.saturating_sub(begun));
            hosts.insert(host.clone(), left);
        }
        DeliveryCapacity {
            calls: MAX.saturating_sub(now.calls),
            probes: MAX_PROBES.saturating_sub(now.probes),
            of_host: MAX_OF_HOST,
            hosts,
            after: now.last.clone(),
        }
    }

    /// Notes the node that was called last.
    pub fn called_last(&self, node_id: String) {
        self.now().last = node_id;
    }

    /// Notes that a call is under way, until what is given back is dropped.
    pub fn enter(self: &Arc<Self>, call: &DeliveryCall, time: Time) -> InFlightCall {
        let host = select::host(&call.url);
        let mut now = self.now();
        now.turn(time);
        now.calls += 1;
        now.probes += usize::from(call.probes);
        *now.hosts.entry(host.clone()).or_default() += 1;
        *now.begun.entry(host.clone()).or_default() += 1;
        InFlightCall { traffic: Arc::clone(self), host, probes: call.probes }
    }
}

impl InFlightState {
    /// Begins to count anew with every minute.
    fn turn(&mut self, time: Time) {
        let minute = time.0.div_euclid(MINUTE_MS);
        if self.minute != minute {
            self.minute = minute;
            self.begun.clear();
        }
    }
}

/// A call that is under way.
#[derive(Debug)]
pub struct InFlightCall {
    traffic: Arc<InFlightCalls>,
    host: String,
    probes: bool,
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        let mut now = self.traffic.now();
        now.calls = now.calls.saturating_sub(1);
        now.probes = now.probes.saturating_sub(usize::from(self.probes));
        let left = now.hosts.get(&self.host).map_or(0, |busy| busy.saturating_sub(1));
        if left == 0 {
            now.hosts.remove(&self.host);
        } else {
            now.hosts.insert(self.host.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(url: &str, probes: bool) -> DeliveryCall {
        DeliveryCall {
            delivery_id: "evt_1".to_owned(),
            node_id: "node_a".to_owned(),
            kind: "ping".to_owned(),
            payload: "{}".to_owned(),
            attempt: 1,
            url: url.to_owned(),
            secrets: Vec::new(),
            probes,
        }
    }

    #[test]
    fn room_is_used_up_and_given_back() {
        let traffic: Arc<InFlightCalls> = Arc::default();
        let underway: Vec<_> =
            (0..8).map(|n| traffic.enter(&call("https://a.example/x", n % 2 == 0), Time(0))).collect();
        let room = traffic.room(Time(0));
        assert_eq!((room.calls, room.probes, room.hosts["a.example"]), (24, 20, 0));
        drop(underway);
        let room = traffic.room(Time(0));
        assert_eq!((room.calls, room.probes, room.hosts["a.example"]), (32, 24, 8));
        for _ in MAX_OF_HOST..MAX_IN_MINUTE {
            drop(traffic.enter(&call("https://a.example/x", false), Time(59_999)));
        }
        assert_eq!(traffic.room(Time(59_999)).hosts["a.example"], 0, "enough for this minute");
        assert!(traffic.room(Time(60_000)).hosts.is_empty());
    }
}
