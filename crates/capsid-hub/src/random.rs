//! Where ids, secrets and codes come from. Tests pass a source of their own.

use std::sync::Mutex;

/// A source of random bytes.
pub trait Random: Send + Sync {
    /// Fills the bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The machine's own source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        // The system's source fails only where the machine has none at all, and then no secret may be made.
        if getrandom::fill(bytes).is_err() {
            tracing::error!("the system gives no random bytes");
            std::process::abort();
        }
    }
}

/// The same numbers every time, for tests.
#[derive(Debug)]
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for byte in bytes {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (*state >> 56) as u8;
        }
    }
}

impl dyn Random + '_ {
    /// So many bytes as lower-case hexadecimal digits.
    pub fn hex(&self, bytes: usize) -> String {
        let mut buffer = vec![0; bytes];
        self.fill(&mut buffer);
        capsid_model::hash::hex(&buffer)
    }

    /// A claim code such as `REEF-4X7K`: 40 random bits in letters and digits that cannot be mistaken for others.
    pub fn claim_code(&self) -> String {
        const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        let mut code: String = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
        code.insert(4, '-');
        code
    }
}
