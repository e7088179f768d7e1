//! Names of files in JSON: a text, or a list of bytes where a name is no UTF-8.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Read {
    Text(String),
    Bytes(Vec<u8>),
}

fn written(bytes: &[u8]) -> Written<'_> {
    std::str::from_utf8(bytes).map_or(Written::Bytes(bytes), Written::Text)
}

impl From<Read> for Vec<u8> {
    fn from(read: Read) -> Self {
        match read {
            Read::Text(text) => text.into_bytes(),
            Read::Bytes(bytes) => bytes,
        }
    }
}

/// Writes one name.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    written(bytes).serialize(serializer)
}

/// Reads one name.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Read::deserialize(deserializer).map(Vec::from)
}

/// Lists of names.
pub mod list {
    use super::{Deserialize, Deserializer, Read, Serializer, written};

    /// Writes the names in their order.
    pub fn serialize<'a, S: Serializer, L>(names: &'a L, serializer: S) -> Result<S::Ok, S::Error>
    where
        &'a L: IntoIterator<Item = &'a Vec<u8>>,
    {
        serializer.collect_seq(names.into_iter().map(|name| written(name)))
    }

    /// Reads the names.
    pub fn deserialize<'de, D: Deserializer<'de>, L: FromIterator<Vec<u8>>>(
        deserializer: D,
    ) -> Result<L, D::Error> {
        let names = Vec::<Read>::deserialize(deserializer)?;
        Ok(names.into_iter().map(Vec::from).collect())
    }
}

/// Pairs of a name and the bytes that belong to it.
pub mod pairs {
    use super::{Deserialize, Deserializer, Read, Serializer, written};
    use std::collections::BTreeMap;

    /// Writes the pairs in the order of their names.
    pub fn serialize<S: Serializer>(
        pairs: &BTreeMap<Vec<u8>, Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pairs.iter().map(|(name, bytes)| (written(name), written(bytes))))
    }

    /// Reads the pairs.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, D::Error> {
        let pairs = Vec::<(Read, Read)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(name, bytes)| (name.into(), bytes.into())).collect())
    }
}
