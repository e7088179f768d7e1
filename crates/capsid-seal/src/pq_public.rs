//! The public half of the own post-quantum key, which can be shown also where nothing signs with it.

use crate::hash::hex;
use capsid_disk::files;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// The bytes of a public key.
pub const PUBLIC_BYTES: usize = 1952;

/// The path of a home's public key.
pub fn public_path(home: &Path) -> PathBuf {
    home.join("key.ml.pub")
}

/// The public key in hex; nothing when there is none, or when the file cannot hold one.
pub fn public_hex(home: &Path) -> Result<Option<String>> {
    let bytes = files::read_bytes(&public_path(home))?;
    Ok(bytes.filter(|bytes| bytes.len() == PUBLIC_BYTES).map(|bytes| hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_told_if_it_is_there_and_whole() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(public_hex(home.path()).unwrap(), None);
        files::replace(&public_path(home.path()), &[0xab; PUBLIC_BYTES]).unwrap();
        assert_eq!(public_hex(home.path()).unwrap(), Some("ab".repeat(PUBLIC_BYTES)));
        files::replace(&public_path(home.path()), &[0xab; 32]).unwrap();
        assert_eq!(public_hex(home.path()).unwrap(), None);
    }
}
