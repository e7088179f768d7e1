//! How much an owner may publish, and which assets wait for a moderator.

use toml::Value as Toml;

pub(super) const KIB: i64 = 1024;
pub(super) const MIB: i64 = 1024 * KIB;

/// How much an owner may publish. Lists are by the owner's level: 0, 1, and 2 or higher; one value holds for all, and no
/// value is no limit.
#[derive(Debug, Clone)]
pub struct QuotasConfig {
    /// Bytes on one day.
    pub publish_bytes: Vec<i64>,
    /// Bundles on one day.
    pub publish_bundles: Vec<i64>,
    /// Bytes of one asset.
    pub asset_bytes: i64,
}

/// Which assets wait for a moderator before anybody gets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HoldWarned {
    #[default]
    Off,
    /// Those with a warning, of owners of level 0.
    Level0,
}

impl HoldWarned {
    /// Reads a setting.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Off, Self::Level0].into_iter().find(|hold| hold.as_str() == text)
    }

    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Level0 => "level0",
        }
    }
}

impl Default for QuotasConfig {
    fn default() -> Self {
        Self { publish_bytes: vec![64 * MIB], publish_bundles: Vec::new(), asset_bytes: 256 * KIB }
    }
}

/// Up to three values, for owners of level 0, 1 and 2.
pub(super) fn by_level(value: &Toml, read: fn(&Toml) -> Option<i64>) -> Option<Vec<i64>> {
    let list = value.as_array().filter(|list| list.len() <= 3)?;
    list.iter().map(read).collect()
}

/// A whole number, also where everything is text.
pub(super) fn whole(value: &Toml) -> Option<i64> {
    let number = value.as_integer().or_else(|| value.as_str()?.trim().parse().ok())?;
    (0..=1_000_000_000).contains(&number).then_some(number)
}

const SIZES: [(&str, i64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Reads `64 MiB`, or a number of bytes.
pub(super) fn size(value: &Toml) -> Option<i64> {
    let Some(text) = value.as_str().map(str::trim) else { return whole(value) };
    let (number, unit) =
        SIZES.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1));
    let number = number.trim().parse::<i64>().ok().filter(|number| *number >= 0)?;
    number.checked_mul(unit).filter(|bytes| *bytes <= 1 << 40)
}

/// Writes `64 MiB`.
pub(super) fn shown_size(bytes: i64) -> String {
    match SIZES.iter().find(|(_, unit)| bytes > 0 && bytes % unit == 0) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => bytes.to_string(),
    }
}

pub(super) fn shown_sizes(sizes: &[i64]) -> Vec<String> {
    sizes.iter().map(|bytes| shown_size(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written_in_the_units_of_the_sample() {
        let text = |text: &str| size(&Toml::String(text.to_owned()));
        assert_eq!(text("64 MiB"), Some(64 * MIB));
        assert_eq!(
            (text("16KiB"), text("100"), size(&Toml::Integer(7))),
            (Some(16 * KIB), Some(100), Some(7))
        );
        for bad in ["64 MB", "-1 MiB", "MiB", "1.5 MiB", "9999999999999 GiB"] {
            assert_eq!(text(bad), None, "{bad}");
        }
        for shown in ["64 MiB", "256 KiB", "100", "3 GiB"] {
            assert_eq!(text(shown).map(shown_size).as_deref(), Some(shown));
        }
    }
}
