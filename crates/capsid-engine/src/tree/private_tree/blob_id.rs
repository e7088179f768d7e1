//! Ids of git's objects.

/// The id of a blob, in either object format of git.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BlobId {
    bytes: [u8; 32],
    length: u8,
}

impl BlobId {
    /// Reads its 40 or 64 hexadecimal digits.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if !matches!(text.len(), 40 | 64) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self { bytes, length: (text.len() / 2) as u8 })
    }

    /// Reads its 20 or 32 bytes.
    pub fn from_bytes(id: &[u8]) -> Option<Self> {
        if !matches!(id.len(), 20 | 32) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..id.len()].copy_from_slice(id);
        Some(Self { bytes, length: id.len() as u8 })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl std::fmt::Display for BlobId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&capsid_model::hash::hex(self.as_bytes()))
    }
}

impl std::fmt::Debug for BlobId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}
