//! What was asked a moment ago is not asked again.

use capsid_model::backoff::BackoffPolicy;
use capsid_model::time::Time;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many questions are remembered.
const MAX: usize = 256;
/// How long a question is set aside that the endpoint does not take.
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(30_000, 3_600_000);

/// What became of a question: nothing where the endpoint makes nothing of it.
type CachedEmbedding = Option<Arc<Vec<f32>>>;

#[derive(Debug)]
enum CacheEntry {
    Vector(Arc<Vec<f32>>),
    Aside { tries: i64, until: i64 },
}

/// Recent questions, the latest first.
#[derive(Debug, Default)]
pub struct QueryCache(Mutex<VecDeque<(String, CacheEntry)>>);

impl QueryCache {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, CacheEntry)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of a question, if it is of so many numbers, or was set aside and is not yet due.
    pub fn get(&self, words: &str, dims: usize, now: Time) -> Option<CachedEmbedding> {
        let mut all = self.lock();
        let at = all.iter().position(|(known, _)| known == words)?;
        let known = match &all.get(at)?.1 {
            CacheEntry::Vector(vector) => (vector.len() == dims).then(|| Some(Arc::clone(vector))),
            // What is further away was set by a clock that was wrong.
            CacheEntry::Aside { until, .. } => {
                (1..=BACKOFF.longest_ms).contains(&(until - now.0)).then_some(None)
            }
        }?;
        let found = all.remove(at)?;
        all.push_front(found);
        Some(known)
    }

    /// Remembers the embedding of a question.
    pub fn insert(&self, words: &str, vector: Arc<Vec<f32>>) {
        self.store(words, |_| CacheEntry::Vector(vector));
    }

    /// Sets a question aside that the endpoint does not take.
    pub fn mark_failed(&self, words: &str, now: Time) {
        self.store(words, |before| {
            let tries = match before {
                Some(CacheEntry::Aside { tries, .. }) => tries.saturating_add(1),
                _ => 1,
            };
            CacheEntry::Aside { tries, until: now.0.saturating_add(BACKOFF.pause_ms(tries)) }
        });
    }

    fn store(&self, words: &str, became: impl FnOnce(Option<CacheEntry>) -> CacheEntry) {
        let mut all = self.lock();
        let at = all.iter().position(|(known, _)| known == words);
        let before = at.and_then(|at| all.remove(at)).map(|(_, before)| before);
        all.push_front((words.to_owned(), became(before)));
        all.truncate(MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000);

    #[test]
    fn the_latest_are_remembered_and_the_others_forgotten() {
        let recent = QueryCache::default();
        for n in 0..MAX {
            recent.insert(&n.to_string(), Arc::new(vec![n as f32]));
        }
        assert_eq!(recent.get("0", 1, NOW), Some(Some(Arc::new(vec![0.0]))));
        recent.mark_failed("one more", NOW);
        assert_eq!(recent.get("one more", 1, NOW), Some(None));
        assert_eq!(recent.get("1", 1, NOW), None, "the one that was not asked for longest");
        assert!(recent.get("0", 1, NOW).is_some() && recent.get("2", 1, NOW).is_some());
        assert_eq!(recent.get("0", 2, NOW), None, "of another length");
    }

    #[test]
    fn what_is_not_taken_is_asked_again_after_longer_and_longer() {
        let recent = QueryCache::default();
        let mut now = NOW;
        for pause in [30_000, 60_000, 120_000, 240_000] {
            recent.mark_failed("odd", now);
            assert_eq!(recent.get("odd", 1, Time(now.0 + pause - 1)), Some(None), "{pause}");
            now = Time(now.0 + pause);
            assert_eq!(recent.get("odd", 1, now), None, "{pause}");
        }
        for _ in 0..100 {
            recent.mark_failed("odd", now);
        }
        assert_eq!(recent.get("odd", 1, Time(now.0 + BACKOFF.longest_ms)), None);
        assert_eq!(recent.get("odd", 1, Time(now.0 - 1)), None, "a clock that was set back");
        recent.insert("odd", Arc::new(vec![1.0]));
        assert!(recent.get("odd", 1, now).is_some_and(|known| known.is_some()));
        recent.mark_failed("odd", now);
        assert_eq!(recent.get("odd", 1, Time(now.0 + BACKOFF.first_ms)), None, "it begins anew");
    }
}
