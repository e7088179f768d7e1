//! Whether the scripts that a command names are files of the repository: what the gate cannot see in the text.

use capsid_model::gate::{CommandPolicy, CommandRefusal, CommandRefusalCode, ScriptWord, scripts};
use capsid_model::text::inert_line;
use std::io;
use std::path::Path;

/// The endings that an interpreter adds to a script's name.
const ENDINGS: [&str; 4] = ["", ".js", ".json", ".node"];

/// Checks the scripts of a command that passed the gate, right before it is run. The layers are what the command will
/// see as the repository, the uppermost first: one folder, or those of an overlay.
///
/// A script that is missing passes: its interpreter reports that better than we could.
pub fn check_script(layers: &[&Path], argv: &[String], policy: &CommandPolicy) -> Result<(), CommandRefusal> {
    for script in scripts(argv, policy) {
        let (name, may_be_folder) = match script {
            ScriptWord::File(name) => (name, false),
            ScriptWord::Pattern(name) => (name, true),
        };
        let kind =
            ENDINGS.iter().map(|ending| kind_in(layers, &format!("{name}{ending}"))).find_map(kind_there);
        match kind {
            None | Some(FileKind::Regular) => {}
            Some(FileKind::Folder) if may_be_folder => {}
            Some(kind) => return Err(refusal(name, kind)),
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Regular,
    Folder,
    /// A symbolic link is a part of the path, or the path leads out of the repository.
    Link,
    /// A FIFO, a socket or a device.
    Special,
    Missing,
}

fn kind_there(kind: FileKind) -> Option<FileKind> {
    (kind != FileKind::Missing).then_some(kind)
}

fn kind_in(layers: &[&Path], name: &str) -> FileKind {
    let kinds = layers.iter().map(|layer| kind_below(layer, Path::new(name)));
    kinds.into_iter().find_map(kind_there).unwrap_or(FileKind::Missing)
}

#[cfg(target_os = "linux")]
fn kind_below(root: &Path, name: &Path) -> FileKind {
    use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
    use rustix::io::Errno;

    // A path descriptor opens no FIFO and no device; it only names the file.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let Ok(folder) = open(root, flags | OFlags::DIRECTORY, Mode::empty()) else { return FileKind::Missing };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(&folder, name, flags, Mode::empty(), resolve) {
        Ok(file) => match fstat(&file).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::RegularFile) => FileKind::Regular,
            Ok(FileType::Directory) => FileKind::Folder,
            _ => FileKind::Special,
        },
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => FileKind::Missing,
        // Some sandboxes do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => kind_by_walk(root, name),
        Err(_) => FileKind::Link,
    }
}

#[cfg(not(target_os = "linux"))]
fn kind_below(root: &Path, name: &Path) -> FileKind {
    kind_by_walk(root, name)
}

/// The same without the system call: one component after the other.
fn kind_by_walk(root: &Path, name: &Path) -> FileKind {
    use std::path::Component;
    let mut path = root.to_owned();
    let mut kind = FileKind::Folder;
    for component in name.components() {
        match component {
            Component::CurDir => continue,
            Component::Normal(part) => path.push(part),
            _ => return FileKind::Link,
        }
        kind = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => FileKind::Regular,
            Ok(found) if found.is_dir() => FileKind::Folder,
            Ok(found) if found.is_symlink() => return FileKind::Link,
            Ok(_) => FileKind::Special,
            Err(error) if is_absent(&error) => return FileKind::Missing,
            Err(_) => return FileKind::Link,
        };
    }
    kind
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

fn refusal(name: &str, kind: FileKind) -> CommandRefusal {
    let what = match kind {
        FileKind::Folder => "is a folder; name the file",
        FileKind::Special => "is no regular file",
        _ => "is reached through a link, so it may not be a file of the repository",
    };
    CommandRefusal {
        code: CommandRefusalCode::InlineCode,
        message: format!("`{}` {what}.", inert_line(name)),
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn check_in(root: &Path, command: &str) -> String {
        let policy = CommandPolicy::default();
        let argv = capsid_model::gate::check(command, &policy).unwrap();
        check_script(&[root], &argv, &policy).map_or_else(|refusal| refusal.message, |()| "ok".to_owned())
    }

    fn filled() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src/inner")).unwrap();
        fs::write(at("src/check.js"), "").unwrap();
        symlink("/usr/bin/env", at("tool.js")).unwrap();
        symlink("src", at("link")).unwrap();
        symlink("check.js", at("src/alias.js")).unwrap();
        // Anything that is neither a file nor a folder.
        let _ = std::os::unix::net::UnixListener::bind(at("pipe.js")).unwrap();
        folder
    }

    #[test]
    fn a_script_that_is_a_regular_file_of_the_repository_passes() {
        let folder = filled();
        for command in [
            "node src/check.js x",
            "node ./src/check",
            "node --test src/",
            "node --test 'src/*.js'",
            "node missing.js",
            "npm test",
            "npx tsx src/check.js",
        ] {
            assert_eq!(check_in(folder.path(), command), "ok", "{command}");
        }
    }

    #[test]
    fn a_script_that_is_a_fifo_a_link_or_a_folder_is_refused() {
        let folder = filled();
        for (command, reason) in [
            ("node pipe.js", "no regular file"),
            ("node pipe", "no regular file"),
            ("node tool.js", "through a link"),
            ("node link/check.js", "through a link"),
            ("node src/alias.js", "through a link"),
            ("node --test link/check.js", "through a link"),
            ("npx tsx tool.js", "through a link"),
            ("node src", "a folder"),
            ("node .", "a folder"),
        ] {
            let message = check_in(folder.path(), command);
            assert!(message.contains(reason), "{command}: {message}");
        }
    }

    #[test]
    fn the_walk_sees_what_the_system_call_sees() {
        let folder = filled();
        for name in [
            "src/check.js",
            "src",
            "pipe.js",
            "tool.js",
            "link/check.js",
            "src/alias.js",
            "no",
            "src/check.js/x",
        ] {
            let (root, name) = (folder.path(), Path::new(name));
            assert_eq!(kind_by_walk(root, name), kind_below(root, name), "{}", name.display());
        }
    }

    #[test]
    fn the_uppermost_layer_that_has_the_script_decides() {
        let (upper, lower) = (filled(), tempfile::tempdir().unwrap());
        fs::write(lower.path().join("tool.js"), "").unwrap();
        fs::write(lower.path().join("below.js"), "").unwrap();
        let policy = CommandPolicy::default();
        let check = |name: &str| {
            let argv = ["node".to_owned(), name.to_owned()];
            check_script(&[upper.path(), lower.path()], &argv, &policy).is_ok()
        };
        assert!(!check("tool.js") && check("below.js") && check("src/check.js"));
    }
}
