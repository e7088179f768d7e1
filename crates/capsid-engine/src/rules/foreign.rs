//! What the confidence of somebody else's asset is worth here. Pure.

/// Applied to every confidence that was not earned in this repository.
pub const CONFIDENCE_FACTOR: f64 = 0.6;

/// The factor that the owner set, if it is a share.
pub fn confidence_factor(set: Option<&str>) -> f64 {
    let set = set.and_then(|text| text.trim().parse().ok());
    set.filter(|factor: &f64| (0.0..=1.0).contains(factor)).unwrap_or(CONFIDENCE_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp)]
    fn what_is_no_share_counts_as_unset() {
        assert_eq!(confidence_factor(Some(" 0.25 ")), 0.25);
        for odd in [None, Some(""), Some("1.5"), Some("-1"), Some("NaN"), Some("much")] {
            assert_eq!(confidence_factor(odd), CONFIDENCE_FACTOR, "{odd:?}");
        }
    }
}
