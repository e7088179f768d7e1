//! Which folders of the user's home validation commands need to read, because their program lives there.

use super::detect::DetectedProject;
use std::path::{Path, PathBuf};

type HintEnv<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A line for `capsid.toml`, if one is needed.
pub fn hints(detected: &DetectedProject, env: HintEnv<'_>) -> Vec<String> {
    let Some(home) = variable(env, "HOME") else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    for command in &detected.commands {
        let program = command.split(' ').next().unwrap_or_default();
        for folder in needed(program, &home, env) {
            if folder.starts_with(&home) && folder.exists() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    if folders.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> =
        folders.iter().map(|folder| format!("{:?}", folder.display().to_string())).collect();
    vec![format!(
        "The tools live in your home, which validation commands cannot see. Under [validation] in capsid.toml: read = [{}]",
        list.join(", ")
    )]
}

/// What a program reads, as narrow as possible: a tool's folder may also hold keys and tokens.
fn needed(program: &str, home: &Path, env: HintEnv<'_>) -> Vec<PathBuf> {
    let folder = |name: &str, usual: &str| variable(env, name).unwrap_or_else(|| home.join(usual));
    match program {
        "cargo" => ["bin", "registry", "git", "config.toml"]
            .iter()
            .map(|part| folder("CARGO_HOME", ".cargo").join(part))
            .chain([folder("RUSTUP_HOME", ".rustup")])
            .collect(),
        "go" => {
            install_folders("go", home, env).into_iter().chain([folder("GOPATH", "go").join("pkg")]).collect()
        }
        "npm" => install_folders("node", home, env),
        other => install_folders(other, home, env),
    }
}

/// The folders a program is installed in: the parent of its `bin`, unless that holds everything else too.
fn install_folders(program: &str, home: &Path, env: HintEnv<'_>) -> Vec<PathBuf> {
    let path = env("PATH").unwrap_or_default();
    let Some(bin) = std::env::split_paths(&path).find(|folder| folder.join(program).is_file()) else {
        return Vec::new();
    };
    match bin.parent() {
        Some(around) if around == home || around == home.join(".local") => {
            vec![around.join("lib"), bin]
        }
        Some(around) if bin.ends_with("bin") => vec![around.to_owned()],
        _ => vec![bin],
    }
}

fn variable(env: HintEnv<'_>, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    fn detected(command: &str) -> DetectedProject {
        DetectedProject { commands: vec![command.to_owned()], programs: Vec::new() }
    }

    #[test]
    fn only_tools_in_the_home_need_a_line() {
        let home = tempfile::tempdir().unwrap();
        let tool = home.path().join(".local/bin");
        std::fs::create_dir_all(&tool).unwrap();
        std::fs::create_dir_all(home.path().join(".cargo/registry")).unwrap();
        std::fs::write(tool.join("pytest"), "").unwrap();
        let env = |name: &str| match name {
            "HOME" => Some(home.path().display().to_string()),
            "PATH" => Some(format!("/nowhere:{}", tool.display())),
            _ => None,
        };
        let line = |folder: &str| format!("read = [{:?}]", home.path().join(folder).display().to_string());
        assert!(hints(&detected("cargo test"), &env)[0].ends_with(&line(".cargo/registry")));
        assert!(hints(&detected("pytest -q"), &env)[0].ends_with(&line(".local/bin")));
        assert!(hints(&detected("make test"), &env).is_empty());
        assert!(hints(&detected("cargo test"), &|_| None).is_empty());
    }
}
