//! How many may wait at a time, of each: connections of an address, streams of a node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts who is inside.
#[derive(Debug, Clone, Default)]
pub struct KeyedSemaphore(Arc<Mutex<HashMap<String, usize>>>);

/// A place inside, given back when it is dropped.
#[derive(Debug)]
pub struct KeyedPermit {
    room: KeyedSemaphore,
    who: String,
}

impl KeyedSemaphore {
    /// Lets one more of `who` in, unless there are `most` already.
    pub fn enter(&self, who: &str, most: usize) -> Option<KeyedPermit> {
        let mut inside = self.inside();
        let count = inside.get(who).copied().unwrap_or(0);
        if count >= most {
            return None;
        }
        inside.insert(who.to_owned(), count + 1);
        Some(KeyedPermit { room: self.clone(), who: who.to_owned() })
    }

    fn inside(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for KeyedPermit {
    fn drop(&mut self) {
        let mut inside = self.room.inside();
        if let Some(count) = inside.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                inside.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KeyedSemaphore;

    #[test]
    fn a_place_is_free_again_once_it_is_left() {
        let room = KeyedSemaphore::default();
        let (first, second) = (room.enter("a", 2).unwrap(), room.enter("a", 2));
        assert!(second.is_some() && room.enter("a", 2).is_none() && room.enter("b", 2).is_some());
        drop(first);
        assert!(room.enter("a", 2).is_some());
        drop(second);
        assert!(room.inside().is_empty());
    }
}
