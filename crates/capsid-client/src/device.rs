//! The machine's name for a hub: it shows that a node which lost its secret still runs on the same machine.

use capsid_model::hash::sha256_hex;
use std::path::Path;

/// Where systems keep an id of their own.
const MACHINE_IDS: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// Whether a text can be the id of a device: 16 to 64 lowercase hexadecimal digits.
pub(crate) fn is_valid(id: &str) -> bool {
    (16..=64).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The id that this machine has, where its system has one.
pub(crate) fn detect_device_id() -> Option<String> {
    MACHINE_IDS.iter().find_map(|path| {
        let text = capsid_disk::files::read_optional(Path::new(path)).ok()??;
        hash_machine_id(&text)
    })
}

/// The id is a hash: the system's own should not leave the machine.
fn hash_machine_id(text: &str) -> Option<String> {
    let id = text.trim();
    // Images come with a placeholder in it.
    if id.is_empty() || id == "uninitialized" {
        return None;
    }
    let mut hash = sha256_hex(format!("evomap:{id}").as_bytes());
    hash.truncate(32);
    Some(hash)
}

/// The device's name towards one hub. A hub takes it as a sign that a node is the one it was, so no hub may learn what
/// another one goes by.
pub(crate) fn towards(device_id: &str, hub: &str) -> String {
    let mut name = sha256_hex(format!("{device_id}|{hub}").as_bytes());
    name.truncate(32);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hub_knows_a_device_by_another_name() {
        let [here, there] =
            ["https://a.example", "https://b.example"].map(|hub| towards("0123456789abcdef", hub));
        assert!(is_valid(&here) && here != there && here != "0123456789abcdef");
        assert_eq!(here, towards("0123456789abcdef", "https://a.example"));
    }

    #[test]
    fn a_device_is_named_by_a_hash_of_its_machines_id() {
        // printf 'evomap:0123456789abcdef0123456789abcdef' | sha256sum
        let id = hash_machine_id("0123456789abcdef0123456789abcdef\n").unwrap();
        assert!(is_valid(&id) && id.len() == 32);
        assert_eq!(id, sha256_hex(b"evomap:0123456789abcdef0123456789abcdef")[..32]);
        assert_eq!(hash_machine_id(" \n"), None);
        assert_eq!(hash_machine_id("uninitialized\n"), None);
        for bad in ["", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdeg", &"a".repeat(65)] {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
