//! The password file of PostgreSQL programs: `host:port:database:user:password`, one line for each place.

use std::path::{Path, PathBuf};

/// What a password is for.
pub struct PasswordScope<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// The password for a place, from the file that `PGPASSFILE` names, else from `~/.pgpass`.
pub fn password(place: &PasswordScope<'_>, env: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let named = env("PGPASSFILE").map(PathBuf::from);
    let own = env("HOME").map(|home| Path::new(&home).join(".pgpass"));
    [named, own].into_iter().flatten().find_map(|path| find(&read(&path)?, place))
}

/// The text of a file that only its owner can read.
fn read(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            tracing::warn!(path = %path.display(), "the password file is ignored: others can read it");
            return None;
        }
    }
    std::fs::read_to_string(path).ok()
}

fn find(text: &str, place: &PasswordScope<'_>) -> Option<String> {
    // Programs look for a socket under the name of this machine.
    let host = if place.host.starts_with('/') { "localhost" } else { place.host };
    let port = place.port.to_string();
    let wanted = [host, &port, place.database, place.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = split(line);
        let [before @ .., password] = fields.as_slice() else { return None };
        let fits = before.len() == wanted.len()
            && before.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then(|| password.clone())
    })
}

/// The five fields of a line. A backslash takes the next character as it is.
fn split(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let taken = match character {
            '\\' => characters.next(),
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            _ => Some(character),
        };
        if let Some(field) = fields.last_mut() {
            field.extend(taken);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        let text = "# comment\ndb:5432:other:me:no\ndb:5432:hub:me:p\\:w\\\\d\n*:*:*:*:any\n";
        let place = |host, database| PasswordScope { host, port: 5432, database, user: "me" };
        assert_eq!(find(text, &place("db", "hub")).as_deref(), Some("p:w\\d"));
        assert_eq!(find(text, &place("db", "third")).as_deref(), Some("any"));
        assert_eq!(find("localhost:*:*:me:here", &place("/run/x", "hub")).as_deref(), Some("here"));
        assert_eq!(find("short:line", &place("db", "hub")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_ignored() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pass");
        capsid_disk::files::replace(&path, b"*:*:*:*:secret\n").unwrap();
        let place = PasswordScope { host: "h", port: 1, database: "d", user: "u" };
        let env = |name: &str| (name == "PGPASSFILE").then(|| path.display().to_string());
        let with_mode = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            password(&place, &env)
        };
        assert_eq!(with_mode(0o644), None);
        assert_eq!(with_mode(0o600).as_deref(), Some("secret"));
    }
}
