//! What an older version put into the settings of coding agents.

use super::{User, tree, versions};
use std::path::PathBuf;

const AGENTS: [&str; 8] =
    ["--agent", "claude-code", "--agent", "codex", "--agent", "cursor", "--agent", "cline"];

#[test]
fn what_was_put_into_agents_settings_is_found_and_removed_to_the_byte() {
    for version in versions() {
        let user = User::restore(&version, "agents");
        let before = user.folder.path().join("before");
        tree::restore(&version.join("agents/before"), &before);
        let installed = tree::files(&user.home());
        assert!(installed.len() > tree::files(&before).len());
        user.expect(0, &[&["init"], &AGENTS[..], &["--remove"]].concat());
        assert_eq!(as_texts(tree::files(&user.home())), as_texts(tree::files(&before)));
        for name in [".mcp.json", ".cursor/mcp.json"] {
            assert!(!user.repo.join(name).exists(), "{name}");
        }
        assert!(user.repo.join("capsid.toml").exists());
    }
}

#[test]
fn setting_agents_up_again_adds_nothing_twice() {
    for version in versions() {
        let user = User::restore(&version, "agents");
        let before = as_texts(tree::files(&user.home()));
        user.expect(0, &[&["init"], &AGENTS[..]].concat());
        let after = as_texts(tree::files(&user.home()));
        let names =
            |files: &[(PathBuf, String)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&before), names(&after));
        for ((name, before), (_, after)) in before.iter().zip(&after) {
            let count = |text: &str| text.matches("trail hook").count() + text.matches("recall").count();
            assert_eq!(count(before), count(after), "{}\n{after}", name.display());
        }
    }
}

fn as_texts(files: Vec<(PathBuf, Vec<u8>)>) -> Vec<(PathBuf, String)> {
    files.into_iter().map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned())).collect()
}
