//! Finding the nodes that requests come from. Those that are asked for while a read is under way are found by the next one
//! together.

use capsid_model::problem::{Code, Problem, Result};
use capsid_store::Store;
use capsid_store::nodes::{self, NodeRow};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The most nodes of one read.
const LARGEST_READ: usize = 256;

/// Finds nodes.
#[derive(Clone)]
pub struct NodeLookup {
    store: Arc<Store>,
    state: Arc<Mutex<LookupState>>,
}

#[derive(Default)]
struct LookupState {
    waiting: Vec<WaitingLookup>,
    is_reading: bool,
}

struct WaitingLookup {
    node_id: String,
    found: oneshot::Sender<Result<Option<NodeRow>>>,
}

impl NodeLookup {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, state: Arc::default() }
    }

    /// A node as it was at some moment after the call.
    pub async fn find(&self, node_id: &str) -> Result<Option<NodeRow>> {
        let (found, is_found) = oneshot::channel();
        let starts = {
            let mut state = self.state();
            state.waiting.push(WaitingLookup { node_id: node_id.to_owned(), found });
            !std::mem::replace(&mut state.is_reading, true)
        };
        if starts {
            tokio::spawn(self.clone().read_all());
        }
        is_found.await.unwrap_or_else(|_| {
            Err(Problem::new(Code::StoreBusy, "The hub closed while a node was looked up.").fix("Try again."))
        })
    }

    fn state(&self) -> MutexGuard<'_, LookupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until nobody waits.
    async fn read_all(self) {
        while let Some(waiting) = self.take_waiting() {
            let ids: Vec<String> = waiting.iter().map(|waiting| waiting.node_id.clone()).collect();
            let read = self.store.read::<_, Problem, _>(move |tx| nodes::find_all(tx, &ids)).await;
            let read = read.map(|rows| {
                rows.into_iter().map(|row| (row.node_id.clone(), row)).collect::<HashMap<_, _>>()
            });
            for WaitingLookup { node_id, found } in waiting {
                let node = read.as_ref().map(|rows| rows.get(&node_id).cloned()).map_err(Problem::clone);
                // Nobody waits any more when the client went away.
                let _gone = found.send(node);
            }
        }
    }

    fn take_waiting(&self) -> Option<Vec<WaitingLookup>> {
        let mut state = self.state();
        let size = state.waiting.len().min(LARGEST_READ);
        state.is_reading = size > 0;
        (size > 0).then(|| state.waiting.drain(..size).collect())
    }
}
