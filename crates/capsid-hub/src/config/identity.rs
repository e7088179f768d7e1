//! How nodes prove who they are.

use capsid_rules::identity::display_name::RESERVED_NAMES;
use capsid_rules::identity::secret_clients::SecretClient;
use capsid_rules::identity::secrets::KeylessPin;
use capsid_store::evaluation::rewards::held_rewards::KeylessPay;

const HOUR_MS: i64 = 3_600_000;

/// How nodes prove who they are.
#[derive(Debug, Clone)]
pub struct IdentityConfig {
    /// How long after its first hello a node may still get the same secret, and call without it.
    pub issue_window_ms: i64,
    /// Clients that are known to store their secret.
    pub secret_clients: Vec<SecretClient>,
    /// From where a keyless node may be used.
    pub pin_keyless: KeylessPin,
    /// After how much silence a keyless node may come from another network.
    pub keyless_repin_ms: i64,
    /// Whether reports of keyless nodes count.
    pub count_keyless_reports: bool,
    /// Whether keyless nodes are paid what they earn before they are bound or claimed.
    pub pay_keyless: bool,
    /// How long nobody may have used a secret that is replaced because it was lost; 0 for never.
    pub recovery_quiet_ms: i64,
    /// How long a node can refuse to be claimed; 0 for never.
    pub claim_grace_ms: i64,
    /// Names that no node may have, nor any that look like them.
    pub reserved_names: Vec<String>,
    /// Whether a hello without `sender_id` gets an id.
    pub assign_ids: bool,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        let clients = ["@evomap/evolver>=1.29.4", "evolver>=1.29.4", "capsid"];
        Self {
            issue_window_ms: 60_000,
            secret_clients: clients.iter().filter_map(|client| SecretClient::parse(client)).collect(),
            pin_keyless: KeylessPin::Off,
            keyless_repin_ms: 24 * HOUR_MS,
            count_keyless_reports: true,
            pay_keyless: true,
            recovery_quiet_ms: 24 * HOUR_MS,
            claim_grace_ms: 0,
            reserved_names: RESERVED_NAMES.map(str::to_owned).to_vec(),
            assign_ids: false,
        }
    }
}

impl IdentityConfig {
    /// When what keyless nodes earn is paid.
    pub fn keyless_pay(&self) -> KeylessPay {
        if self.pay_keyless { KeylessPay::AtOnce } else { KeylessPay::WhenKnown }
    }

    /// The defaults of a hub that strangers use.
    pub(super) fn public() -> Self {
        Self {
            pin_keyless: KeylessPin::Network,
            count_keyless_reports: false,
            pay_keyless: false,
            recovery_quiet_ms: 0,
            claim_grace_ms: 72 * HOUR_MS,
            ..Self::default()
        }
    }
}
