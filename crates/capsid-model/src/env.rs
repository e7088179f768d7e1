//! The environment fingerprint: where a record was made, without telling who made it.

use crate::hash::sha256_hex;
use crate::{Object, Time, Value};

/// What a record says of the machine it was made on. The working directory is always `.`: a path would name its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFingerprint {
    /// The runtime, in the field that other engines use for theirs.
    pub node_version: String,
    /// `linux`, `darwin`, `win32`.
    pub platform: String,
    /// `x64`, `arm64`.
    pub arch: String,
    /// The kernel's release.
    pub os_release: String,
    /// The engine and its version.
    pub evolver_version: String,
    /// When it was taken.
    pub captured_at: Time,
}

impl EnvFingerprint {
    /// This build on this kind of machine, with the kernel release told from outside.
    pub fn new(os_release: impl Into<String>, captured_at: Time) -> Self {
        Self {
            node_version: concat!("rust-", env!("CARGO_PKG_RUST_VERSION")).to_owned(),
            platform: platform().to_owned(),
            arch: arch().to_owned(),
            os_release: os_release.into(),
            evolver_version: concat!("capsid-", env!("CARGO_PKG_VERSION")).to_owned(),
            captured_at,
        }
    }

    /// The members in the order of the protocol.
    pub fn to_object(&self) -> Object {
        let mut object = Object::new();
        let mut put = |key: &str, value: &str| object.insert(key.to_owned(), Value::from(value));
        put("node_version", &self.node_version);
        put("platform", &self.platform);
        put("arch", &self.arch);
        put("os_release", &self.os_release);
        put("evolver_version", &self.evolver_version);
        put("cwd", ".");
        put("captured_at", &self.captured_at.iso());
        object
    }

    /// The short key under which results of like environments are grouped.
    pub fn key(&self) -> String {
        key_of(&self.to_object())
    }

    /// The context of an epigenetic mark: `linux/x64/rust-1.95`.
    pub fn context(&self) -> String {
        format!("{}/{}/{}", self.platform, self.arch, self.node_version)
    }
}

/// The key of any stored fingerprint. Fingerprints with only the protocol's fields use its recipe; those of later
/// engines, which name a device, use theirs.
pub fn key_of(print: &Object) -> String {
    let part = |name: &str| print.get(name).and_then(Value::as_str).unwrap_or_default();
    let either = |name: &str| match part(name) {
        "" => part("evolver_version"),
        found => found,
    };
    let parts = if print.contains_key("device_id") {
        vec![
            part("device_id"),
            part("node_version"),
            part("platform"),
            part("arch"),
            part("hostname"),
            either("client"),
            either("client_version"),
        ]
    } else {
        vec![part("node_version"), part("platform"), part("arch"), part("evolver_version")]
    };
    sha256_hex(parts.join("|").as_bytes()).chars().take(16).collect()
}

/// Whether something proven where `print` was taken can be expected to hold on `platform`.
///
/// Only a named other platform rules it out; an absent fingerprint says nothing.
pub fn is_compatible(print: &Value, platform: &str) -> bool {
    print.get("platform").and_then(Value::as_str).is_none_or(|theirs| theirs.is_empty() || theirs == platform)
}

/// This machine's platform under the name that existing records use.
pub fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// The kind of processor, as other engines name it.
pub fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_seeds_report_comes_out() {
        let print: Object = serde_json::from_str(
            r#"{"node_version":"v22.22.0","platform":"linux","arch":"x64","evolver_version":"1.7.0"}"#,
        )
        .unwrap();
        assert_eq!(key_of(&print), "b98472b2ef785976");
    }

    #[test]
    fn only_a_named_other_platform_is_incompatible() {
        assert!(is_compatible(&serde_json::json!({"platform": "linux"}), "linux"));
        assert!(is_compatible(&Value::Null, "linux"));
        assert!(!is_compatible(&serde_json::json!({"platform": "win32"}), "linux"));
    }
}
