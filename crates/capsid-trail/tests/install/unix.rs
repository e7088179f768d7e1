//! Links, modes, and scripts that really run.

use super::home::{Home, command};
use capsid_model::Code;
use capsid_trail::install::install;
use capsid_transcript::Tool;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn scripts_run_the_program_whatever_its_path_is_like() {
    let home = Home::new();
    let program = home.folder.path().join("it's a $HOME; place").join("capsid");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\ncat\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for tool in [Tool::Cline, Tool::ClaudeCode, Tool::Cursor] {
        install(tool, &home.paths, &command(program.to_str().unwrap(), tool)).unwrap();
        let mut run = match tool {
            Tool::Cline => Command::new(home.path(tool)),
            _ => {
                let value: serde_json::Value = serde_json::from_str(&home.text(tool)).unwrap();
                let line =
                    value.pointer("/hooks/Stop/0/hooks/0/command").or(value.pointer("/hooks/stop/0/command"));
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(line.unwrap().as_str().unwrap());
                shell
            }
        };
        let output = run.stdin(Stdio::null()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("trail|hook|{}|", tool.name()));
    }
    assert_eq!(mode(&home.path(Tool::Cline)), 0o755);
    fs::set_permissions(home.path(Tool::Cline), fs::Permissions::from_mode(0o644)).unwrap();
    install(Tool::Cline, &home.paths, &command(program.to_str().unwrap(), Tool::Cline)).unwrap();
    assert_eq!(mode(&home.path(Tool::Cline)), 0o755, "a script that lost its mode gets it back");
}

#[test]
fn links_stay_links_and_modes_stay() {
    let home = Home::new();
    let dotfiles = home.folder.path().join("dotfiles");
    fs::create_dir_all(&dotfiles).unwrap();
    let target = dotfiles.join("claude.json");
    fs::write(&target, "{\"a\": 1}\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    let link = home.path(Tool::ClaudeCode);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../dotfiles/middle.json", &link).unwrap();
    symlink("claude.json", dotfiles.join("middle.json")).unwrap();
    home.install(Tool::ClaudeCode);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("trail hook claude-code"));
    assert_eq!(mode(&target), 0o600);
    home.uninstall(Tool::ClaudeCode);
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\"a\": 1}\n");
    fs::remove_file(&target).unwrap();
    home.install(Tool::ClaudeCode);
    assert!(target.is_file(), "a link to nothing is written through");
    home.uninstall(Tool::ClaudeCode);
    assert!(!target.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn links_in_a_circle_and_folders_are_refused() {
    let home = Home::new();
    let link = home.path(Tool::Codex);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("config.toml", &link).unwrap();
    let refused = install(Tool::Codex, &home.paths, &command("capsid", Tool::Codex)).unwrap_err();
    assert_eq!(refused.code, Code::HookFileInvalid);
    fs::create_dir_all(home.path(Tool::Cursor)).unwrap();
    assert!(install(Tool::Cursor, &home.paths, &command("capsid", Tool::Cursor)).is_err());
    assert!(home.path(Tool::Cursor).is_dir());
}
