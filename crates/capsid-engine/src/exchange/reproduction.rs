//! The reproduction that a capsule carries, and how one is made of a folder.

use super::publication_log::OutgoingBundle;
use capsid_model::asset::stamp;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::inert_line;
use capsid_model::{Code, Object, Problem, Result, Value, json};
use capsid_rules::assets::reproduction::{CapsuleReproduction, MAX_BYTES, MAX_FILES, ReproductionFile};
use std::path::Path;

/// The reproduction of a capsule, if it carries one that can be used.
pub fn read_reproduction(capsule: &Object) -> Option<CapsuleReproduction> {
    CapsuleReproduction::parse(capsule.get("reproduction")?).ok()
}

/// Makes a reproduction of the files of a folder. Nothing else is read, and no link is followed.
fn make_reproduction(folder: &Path, command: &str) -> Result<CapsuleReproduction> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    CapsuleReproduction::new(files, command).map_err(|refusal| {
        Problem::new(
            Code::InputInvalid,
            format!("`{}` cannot be sent as a reproduction: it should be {refusal}.", folder.display()),
        )
        .fix(format!("Leave only what the command needs to fail: at most {MAX_BYTES} bytes of text."))
    })
}

/// Adds a reproduction to the capsule of a bundle that is about to leave, redacted, and computes the ids anew.
pub fn add_to_bundle(bundle: &mut OutgoingBundle, folder: &Path) -> Result<()> {
    let is_kind = |asset: &Object, kind: &str| asset.get("type").and_then(Value::as_str) == Some(kind);
    let gene = bundle.assets.iter().find(|asset| is_kind(asset, "Gene")).cloned();
    let Some(at) = bundle.assets.iter().position(|asset| is_kind(asset, "Capsule")) else { return Ok(()) };
    let command = find_command(&bundle.assets[at], gene.as_ref()).ok_or_else(|| {
        Problem::new(Code::InputInvalid, "Nothing names the command that fails in the reproduction.")
            .fix("Give the gene a validation command, then publish again.")
    })?;
    let mut reproduction = make_reproduction(folder, &command)?;
    for file in &mut reproduction.files {
        let clean = redact(&file.text, RedactProfile::Publish).into_owned();
        if clean != file.text {
            bundle.notes.push(format!("reproduction: `{}` was redacted", inert_line(&file.path)));
            file.text = clean;
        }
    }
    attach(&mut bundle.assets[at], &reproduction);
    stamp(&mut bundle.assets[at]);
    let id = bundle.assets[at].get("asset_id").cloned().unwrap_or_default();
    for event in bundle.assets.iter_mut().filter(|asset| is_kind(asset, "EvolutionEvent")) {
        event.insert("capsule_id".to_owned(), id.clone());
        stamp(event);
    }
    Ok(())
}

/// Adds a reproduction to a capsule.
fn attach(capsule: &mut Object, reproduction: &CapsuleReproduction) {
    let value = json!({"files": reproduction.files, "command": reproduction.command});
    capsule.insert("reproduction".to_owned(), value);
}

/// The command that shows the problem: that of the capsule's own proof, else the first of the gene's validation.
fn find_command(capsule: &Object, gene: Option<&Object>) -> Option<String> {
    let proven = capsule.get("proof").and_then(|proof| proof.get("command")).and_then(Value::as_str);
    let first = || gene?.get("validation")?.as_array()?.first()?.as_str();
    proven.or_else(first).map(str::to_owned)
}

fn collect(folder: &Path, below: &str, files: &mut Vec<ReproductionFile>) -> Result<()> {
    let wrong = |path: &Path, what: &str| {
        Problem::new(Code::InputInvalid, format!("`{}` {what}.", path.display()))
            .fix("Remove it from the folder of the reproduction.")
    };
    let entries = std::fs::read_dir(folder).map_err(|error| Problem::io("read", folder, &error))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|error| Problem::io("read", folder, &error))?.file_name());
    }
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let Some(name) = name.to_str() else { return Err(wrong(&path, "has a name that is no text")) };
        let named = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        let kind = std::fs::symlink_metadata(&path).map_err(|error| Problem::io("read", &path, &error))?;
        if kind.is_dir() {
            collect(&path, &named, files)?;
        } else if kind.is_file() && kind.len() <= MAX_BYTES as u64 {
            let bytes = std::fs::read(&path).map_err(|error| Problem::io("read", &path, &error))?;
            let text = String::from_utf8(bytes).map_err(|_| wrong(&path, "is no text"))?;
            files.push(ReproductionFile { path: named, text });
        } else if kind.is_file() {
            return Err(wrong(&path, "is too large"));
        } else {
            return Err(wrong(&path, "is a link or no file"));
        }
        if files.len() > MAX_FILES {
            return Err(wrong(folder, "holds too many files"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_reproduction_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.js"), "module.exports = 1\n").unwrap();
        std::fs::write(folder.path().join("test.js"), "process.exit(1)\n").unwrap();
        let made = make_reproduction(folder.path(), "node test.js").unwrap();
        let paths: Vec<&str> = made.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["src/a.js", "test.js"]);
        let mut capsule = Object::new();
        attach(&mut capsule, &made);
        assert_eq!(read_reproduction(&capsule), Some(made));
        std::fs::write(folder.path().join("large"), vec![b'x'; MAX_BYTES + 1]).unwrap();
        assert_eq!(make_reproduction(folder.path(), "node test.js").unwrap_err().code, Code::InputInvalid);
    }

    #[test]
    fn binary_files_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), [0xff, 0xfe]).unwrap();
        assert!(make_reproduction(folder.path(), "node a").unwrap_err().message.contains("no text"));
        std::fs::remove_file(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("a")).unwrap();
        assert!(make_reproduction(folder.path(), "node a").unwrap_err().message.contains("link"));
        std::fs::remove_file(folder.path().join("a")).unwrap();
        assert!(make_reproduction(folder.path(), "node a").is_err(), "an empty folder reproduces nothing");
    }

    #[test]
    fn the_command_is_that_of_the_proof() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let proven = object(json!({"proof": {"command": "npm test"}}));
        let gene = object(json!({"validation": ["node a.js"]}));
        assert_eq!(find_command(&proven, Some(&gene)).as_deref(), Some("npm test"));
        assert_eq!(find_command(&Object::new(), Some(&gene)).as_deref(), Some("node a.js"));
        assert_eq!(find_command(&Object::new(), None), None);
    }
}
