//! SHA-256 of bytes as they pass by.

use capsid_model::hash;
use sha2::{Digest, Sha256};
use std::io::Read;

/// A reader that hashes and counts what is read through it.
pub struct HashingReader<R> {
    inner: R,
    hasher: Sha256,
    read: u64,
}

impl<R: Read> HashingReader<R> {
    /// Nothing has passed yet.
    pub fn new(inner: R) -> Self {
        Self { inner, hasher: Sha256::new(), read: 0 }
    }

    /// How many bytes passed, and their hash in hex.
    pub fn finish(self) -> (u64, String) {
        (self.read, hash::hex(&self.hasher.finalize()))
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.read += count as u64;
        Ok(count)
    }
}
