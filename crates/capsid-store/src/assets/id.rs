//! The id of an asset as it is kept: the 32 bytes of its hash.

use crate::db::row::{FromColumn, RowReader, unreadable};
use crate::db::tx::Param;
use capsid_model::problem::Result;
use std::fmt;

/// `sha256:` and 64 hexadecimal digits, in 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AssetId(pub [u8; 32]);

impl AssetId {
    /// Reads `sha256:<64 lower-case hexadecimal digits>`; nothing else is an id.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (nibble(*pair.first()?)? << 4) | nibble(*pair.get(1)?)?;
        }
        Some(Self(bytes))
    }
}

impl FromColumn for AssetId {
    fn from_column(row: &RowReader<'_>, index: usize, name: &str) -> Result<Self> {
        let bytes = Vec::<u8>::from_column(row, index, name)?;
        bytes.try_into().map(Self).map_err(|bytes| unreadable(name, &bytes))
    }
}

impl FromColumn for Option<AssetId> {
    fn from_column(row: &RowReader<'_>, index: usize, name: &str) -> Result<Self> {
        let bytes = Option::<Vec<u8>>::from_column(row, index, name)?;
        bytes.is_some().then(|| AssetId::from_column(row, index, name)).transpose()
    }
}

impl<'a> From<&'a AssetId> for Param<'a> {
    fn from(id: &'a AssetId) -> Self {
        Param::Blob(Some(&id.0))
    }
}

impl<'a> From<&'a Option<AssetId>> for Param<'a> {
    fn from(id: &'a Option<AssetId>) -> Self {
        Param::Blob(id.as_ref().map(|id| &id.0[..]))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for AssetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(&capsid_model::hash::hex(&self.0))
    }
}

impl fmt::Debug for AssetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for AssetId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::AssetId;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let text = format!("sha256:{}", "0123456789abcdef".repeat(4));
        assert_eq!(AssetId::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn nothing_else_is_an_id() {
        let digits = "ab".repeat(32);
        for text in [&digits, "", "sha256:", &format!("sha256:{digits}0"), &format!("SHA256:{digits}")] {
            assert_eq!(AssetId::parse(text), None, "{text}");
        }
        assert_eq!(AssetId::parse(&format!("sha256:{}", "AB".repeat(32))), None);
        assert_eq!(AssetId::parse(&format!("sha256:{}é", "a".repeat(62))), None);
    }
}
