//! Answers as they were written, for as long as nothing changed that could change them.
//!
//! An answer belongs to a state of the database and the index. Every write that ends makes another state, so an answer is
//! never older than the last write that was acknowledged. Where other processes change the database there is no state to
//! know, and nothing is kept.

use axum::body::Bytes;
use capsid_store::StoreState;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes of questions and answers are kept.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// What was answered in the present state.
#[derive(Debug, Default)]
pub struct ResponseCache(Mutex<KeptResponses>);

#[derive(Debug, Default)]
struct KeptResponses {
    state: Option<StoreState>,
    bodies: HashMap<String, Bytes>,
    bytes: usize,
}

impl ResponseCache {
    /// The answer to a question in a state, if it was kept.
    pub fn find(&self, question: &str, state: Option<StoreState>) -> Option<Bytes> {
        let kept = self.lock();
        (state.is_some() && kept.state == state).then(|| kept.bodies.get(question).cloned()).flatten()
    }

    /// Keeps the answer to a question that was asked after a state was looked at.
    pub fn insert(&self, question: &str, state: Option<StoreState>, body: &Bytes) {
        let size = question.len() + body.len();
        if state.is_none() || size > MAX_BYTES {
            return;
        }
        let mut kept = self.lock();
        if kept.state != state || kept.bytes + size > MAX_BYTES {
            *kept = KeptResponses { state, ..KeptResponses::default() };
        }
        if kept.bodies.insert(question.to_owned(), body.clone()).is_none() {
            kept.bytes += size;
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptResponses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
