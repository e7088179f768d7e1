//! The state of one instance of the module.

use sha3::{Digest, Sha3_256};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// One instance: the bytes that came in last, and the result that goes out.
#[derive(Debug, Default)]
pub struct VerdictModule {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl VerdictModule {
    /// An instance without input.
    pub const fn new() -> Self {
        Self { input: Vec::new(), output: Vec::new() }
    }

    /// Makes room for input and returns it to be filled.
    pub fn resize_input(&mut self, len: usize) -> &mut [u8] {
        self.input.clear();
        self.input.resize(len, 0);
        &mut self.input
    }

    /// The result of the last call.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Hashes the input.
    pub fn hash(&mut self) {
        let digest = Sha3_256::digest(&self.input);
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        self.output = digits.map(|digit| DIGITS[usize::from(digit)]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_the_input_is_the_output() {
        let mut module = VerdictModule::new();
        module.resize_input(3).copy_from_slice(b"abc");
        module.hash();
        assert_eq!(module.output(), b"3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
    }
}
