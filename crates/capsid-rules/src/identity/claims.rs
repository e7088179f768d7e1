//! Which claim codes stay valid, and how long a claim can be refused.

/// Whether a code stays valid when its node becomes bound. It was returned with the secret, so it belongs to the network
/// that the secret was issued to, or to the one that showed it.
pub fn survives_binding(code: Option<&str>, issued_to: Option<&str>, shown_from: &str) -> bool {
    code.is_some_and(|network| Some(network) == issued_to || network == shown_from)
}

/// Until when a claim can be refused, where it can. Until then the owner can neither reset the secret nor spend.
pub fn grace_ends(claimed_at: Option<i64>, grace_ms: i64) -> Option<i64> {
    claimed_at.filter(|_| grace_ms > 0).map(|at| at.saturating_add(grace_ms))
}

/// Whether a claim can still be refused.
pub fn is_in_grace(claimed_at: Option<i64>, grace_ms: i64, now: i64) -> bool {
    grace_ends(claimed_at, grace_ms).is_some_and(|end| now < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binding_ends_the_codes_of_strangers() {
        assert!(survives_binding(Some("a"), Some("a"), "a"));
        assert!(survives_binding(Some("a"), Some("a"), "b"));
        assert!(survives_binding(Some("b"), Some("a"), "b"));
        assert!(!survives_binding(Some("c"), Some("a"), "b"));
        assert!(!survives_binding(None, Some("a"), "a"));
        assert!(!survives_binding(None, None, "a"));
    }

    #[test]
    fn a_claim_can_be_refused_until_its_grace_ends() {
        assert!(is_in_grace(Some(1000), 10, 1009));
        assert!(!is_in_grace(Some(1000), 10, 1010));
        assert!(!is_in_grace(Some(1000), 0, 1000));
        assert!(!is_in_grace(None, 10, 1000));
    }
}
