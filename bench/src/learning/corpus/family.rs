//! Reading the files of a family.

use super::corpus_folder;
use super::edit::FileTree;
use crate::Result;
use serde_json::Value;
use std::path::Path;

/// One bug family: the base tree, and what its files say about bugs, variants and cheats.
pub struct BugFamily {
    pub name: String,
    pub language: String,
    pub(super) base: FileTree,
    /// `families/NAME.toml`.
    pub(super) settings: Value,
    /// `templates/T.toml`.
    pub(super) template: Value,
}

impl BugFamily {
    fn load(folder: &Path, name: &str) -> Result<Self> {
        let settings = read_toml(&folder.join(format!("families/{name}.toml")))?;
        let text = |key: &str| settings[key].as_str().map(str::to_owned).ok_or(format!("{name}: no {key}"));
        let template = text("template")?;
        let mut base = FileTree::new();
        read_files(&folder.join("templates").join(&template), "", &mut base)?;
        let files = settings["files"].as_object().ok_or(format!("{name}: no files"))?;
        for (path, content) in files {
            base.insert(path.clone(), content.as_str().unwrap_or_default().to_owned());
        }
        Ok(Self {
            name: text("name")?,
            language: text("language")?,
            base,
            template: read_toml(&folder.join(format!("templates/{template}.toml")))?,
            settings,
        })
    }
}

/// Every family, by name.
pub fn load_families() -> Result<Vec<BugFamily>> {
    let folder = corpus_folder();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.join("families"))? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    names.iter().map(|name| BugFamily::load(&folder, name)).collect()
}

fn read_toml(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn read_files(folder: &Path, prefix: &str, tree: &mut FileTree) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            read_files(&entry.path(), &format!("{path}/"), tree)?;
        } else {
            tree.insert(path, std::fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}
