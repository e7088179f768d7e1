//! What was asked a moment ago is not asked again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many questions are remembered.
const MOST: usize = 256;

/// What became of a question: nothing where the endpoint makes nothing of it.
type Known = Option<Arc<Vec<f32>>>;

/// Recent questions, the latest first.
#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<(String, Known)>>);

impl Recent {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Known)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of a question, if it is of so many numbers.
    pub fn get(&self, words: &str, dims: usize) -> Option<Known> {
        let mut all = self.lock();
        let at = all.iter().position(|(known, _)| known == words)?;
        let found = all.remove(at)?;
        let known = found.1.clone();
        if known.as_ref().is_some_and(|vector| vector.len() != dims) {
            return None;
        }
        all.push_front(found);
        Some(known)
    }

    /// Remembers what became of a question.
    pub fn put(&self, words: &str, known: Known) {
        let mut all = self.lock();
        all.retain(|(other, _)| other != words);
        all.push_front((words.to_owned(), known));
        all.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_the_others_forgotten() {
        let recent = Recent::default();
        for n in 0..MOST {
            recent.put(&n.to_string(), Some(Arc::new(vec![n as f32])));
        }
        assert_eq!(recent.get("0", 1), Some(Some(Arc::new(vec![0.0]))));
        recent.put("one more", None);
        assert_eq!(recent.get("one more", 1), Some(None));
        assert_eq!(recent.get("1", 1), None, "the one that was not asked for longest");
        assert!(recent.get("0", 1).is_some() && recent.get("2", 1).is_some());
        assert_eq!(recent.get("0", 2), None, "of another length");
    }
}
