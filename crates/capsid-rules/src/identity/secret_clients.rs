//! Which clients are known to store the secret that a hello returns.

/// One entry of the list, such as `capsid` or `evolver>=1.29.4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretClient {
    name: String,
    least: Option<[u64; 3]>,
}

impl SecretClient {
    /// Reads an entry.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, least) = match text.split_once(">=") {
            Some((name, version)) => (name.trim(), Some(read_version(version.trim())?)),
            None => (text.trim(), None),
        };
        let sound = !name.is_empty()
            && name.len() <= 100
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"@/._-".contains(&b));
        sound.then(|| Self { name: name.to_owned(), least })
    }

    /// Whether a client that calls itself so is this one.
    pub fn matches(&self, client: &str, version: Option<&str>) -> bool {
        let is_recent = |least| version.and_then(read_version).is_some_and(|version| version >= least);
        self.name == client && self.least.is_none_or(is_recent)
    }
}

impl std::fmt::Display for SecretClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.least {
            Some([major, minor, patch]) => write!(f, "{}>={major}.{minor}.{patch}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Reads `1.29.4`. What comes before a release, such as `1.29.4-beta.1`, is not known to be like it.
fn read_version(text: &str) -> Option<[u64; 3]> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let text = text.split_once('+').map_or(text, |(version, _)| version);
    let mut parts = text.split('.').map(|part| part.parse().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

/// Whether a client stores secrets: it says so itself, or the list names it.
pub fn keeps_secrets(
    list: &[SecretClient],
    declared: bool,
    client: Option<&str>,
    version: Option<&str>,
) -> bool {
    declared || client.is_some_and(|client| list.iter().any(|entry| entry.matches(client, version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_are_told_apart_by_name_and_version() {
        let list = ["@evomap/evolver>=1.29.4", "evolver>=1.29.4", "capsid"]
            .map(|text| SecretClient::parse(text).unwrap());
        for (client, version, keeps) in [
            (Some("@evomap/evolver"), Some("1.94.0"), true),
            (Some("@evomap/evolver"), Some("1.29.4"), true),
            (Some("evolver"), Some("1.29.8"), true),
            (Some("evolver"), Some("v2.0.0"), true),
            (Some("evolver"), Some("1.20.4"), false),
            (Some("evolver"), Some("1.29.3"), false),
            (Some("evolver"), Some("1.29.4-beta.1"), false),
            (Some("evolver"), Some("unknown"), false),
            (Some("evolver"), None, false),
            (Some("capsid"), None, true),
            (Some("capsid"), Some("0.1.0"), true),
            (Some("my-app"), Some("3.2.1"), false),
            (None, None, false),
            (None, Some("1.94.0"), false),
        ] {
            assert_eq!(keeps_secrets(&list, false, client, version), keeps, "{client:?} {version:?}");
        }
        assert!(keeps_secrets(&[], true, None, None));
    }

    #[test]
    fn an_entry_is_read_and_written() {
        for text in ["capsid", "evolver>=1.29.4", "@evomap/evolver>=1.29.4"] {
            assert_eq!(SecretClient::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", ">=1.0.0", "evolver>=", "evolver>=1", "evolver>=1.2.3.4", "a b", "x>1"] {
            assert_eq!(SecretClient::parse(bad), None, "{bad}");
        }
    }
}
