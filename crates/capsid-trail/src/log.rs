//! The log of the hooks. A hook never disturbs its agent, so its problems are written here.

use capsid_disk::files;
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result, Time};
use capsid_seal::TrailHome;
use jiff::{Timestamp, tz::TimeZone};

/// A log beyond this size is moved aside once, to `hook.log.1`.
const LIMIT: u64 = 5 * 1024 * 1024;

/// Adds a line: local time, tool, message.
pub fn append_line(home: &TrailHome, tool: &str, message: &str, now: Time) -> Result<()> {
    home.create()?;
    let path = home.log();
    let too_long = path.metadata().is_ok_and(|meta| meta.len() > LIMIT);
    if too_long {
        let aside = path.with_extension("log.1");
        std::fs::rename(&path, &aside).map_err(|error| Problem::io("move aside", &path, &error))?;
    }
    files::append(&path, &format!("{} [{tool}] {}\n", local(now), inert_line(message)))
}

/// The local time with its offset, to the second, as `2026-06-01T12:00:00+02:00`.
pub fn local(now: Time) -> String {
    let moment = Timestamp::from_millisecond(now.0).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_stay_lines() {
        let folder = tempfile::tempdir().unwrap();
        let home = TrailHome::at(folder.path().join("trail"));
        append_line(&home, "codex", "append session=a +3 total=3", Time(0)).unwrap();
        append_line(&home, "codex", "two\nlines \u{1b}[31m", Time(0)).unwrap();
        let text = std::fs::read_to_string(home.log()).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("[codex] append session=a +3 total=3"));
        assert!(!text.contains('\u{1b}'));
    }

    #[cfg(unix)]
    #[test]
    fn the_home_that_a_log_line_makes_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let home = TrailHome::at(folder.path().join("trail"));
        append_line(&home, "codex", "append", Time(0)).unwrap();
        assert_eq!(std::fs::metadata(home.root()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
