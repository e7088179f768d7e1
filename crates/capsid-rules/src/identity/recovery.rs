//! When a lost secret may be replaced without anybody's help, and when a silent keyless node moves.

use super::secrets::{KeylessPin, SecretStage};

/// What decides about the recovery of a lost secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryFacts {
    /// Whether an account owns the node: its owner resets the secret then.
    pub claimed: bool,
    /// Whether the request comes from the network that the secret was issued to.
    pub same_network: bool,
    /// Whether it comes from the machine that the node registered from.
    pub same_device: bool,
    /// How long nobody has shown the secret.
    pub unused_ms: i64,
    /// How long nobody may have shown it; 0 for never.
    pub quiet_ms: i64,
}

/// Whether a lost secret may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretRecovery {
    /// Not in this way.
    Impossible,
    /// Once nobody has shown the secret for so much longer.
    After {
        wait_ms: i64,
    },
    Possible,
}

/// Whether a lost secret may be replaced now. A node that is active cannot be taken over so.
pub fn recover_secret(facts: RecoveryFacts) -> SecretRecovery {
    let RecoveryFacts { claimed, same_network, same_device, unused_ms, quiet_ms } = facts;
    if claimed || !same_network || !same_device || quiet_ms <= 0 {
        return SecretRecovery::Impossible;
    }
    match quiet_ms - unused_ms {
        wait_ms if wait_ms > 0 => SecretRecovery::After { wait_ms },
        _ => SecretRecovery::Possible,
    }
}

/// Whether the network of a hello becomes the network of a keyless node that was silent for a while.
pub fn moves_network(stage: SecretStage, pin: KeylessPin, silent_ms: i64, repin_ms: i64) -> bool {
    stage.is_keyless() && pin == KeylessPin::Network && silent_ms >= repin_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_lost_secret_is_replaced_after_a_day_of_silence() {
        let facts = RecoveryFacts {
            claimed: false,
            same_network: true,
            same_device: true,
            unused_ms: 24 * HOUR,
            quiet_ms: 24 * HOUR,
        };
        assert_eq!(recover_secret(facts), SecretRecovery::Possible);
        let early = RecoveryFacts { unused_ms: 23 * HOUR, ..facts };
        assert_eq!(recover_secret(early), SecretRecovery::After { wait_ms: HOUR });
        for never in [
            RecoveryFacts { claimed: true, ..facts },
            RecoveryFacts { same_network: false, ..facts },
            RecoveryFacts { same_device: false, ..facts },
            RecoveryFacts { quiet_ms: 0, ..facts },
        ] {
            assert_eq!(recover_secret(never), SecretRecovery::Impossible, "{never:?}");
        }
    }

    #[test]
    fn only_a_silent_keyless_node_moves() {
        for stage in SecretStage::ALL {
            let keyless = matches!(stage, SecretStage::None | SecretStage::Issued);
            assert_eq!(moves_network(stage, KeylessPin::Network, 24 * HOUR, 24 * HOUR), keyless);
            assert!(!moves_network(stage, KeylessPin::Network, 24 * HOUR - 1, 24 * HOUR));
            assert!(!moves_network(stage, KeylessPin::Off, 48 * HOUR, 24 * HOUR));
        }
    }
}
