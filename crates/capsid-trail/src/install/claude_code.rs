//! Claude Code: `settings.json`.

use super::hook_lists::HookLists;
use super::settings_file::SettingsFile;
use super::{InstallPlaces, Installed, Status, command, finish_removal, json};
use capsid_model::Result;
use capsid_transcript::Tool;

const LISTS: HookLists = HookLists { tool: Tool::ClaudeCode, events: &["Stop", "SessionEnd"], grouped: true };

fn file(places: &InstallPlaces) -> Result<SettingsFile> {
    let folder = places.claude_config.clone().unwrap_or_else(|| places.home.join(".claude"));
    SettingsFile::read(folder.join("settings.json"))
}

pub(super) fn install(places: &InstallPlaces, words: &[String]) -> Result<Installed> {
    let file = file(places)?;
    let mut installed = Installed::new(vec![file.path.clone()]);
    let text = with_hook(&file, &command::line(words, places.os), &mut installed)?;
    file.write(&text)?;
    installed.registered = true;
    if disables_hooks(&text) {
        installed.warn("`disableAllHooks` is true in this file, so Claude Code calls no hook at all");
    }
    Ok(installed)
}

pub(super) fn uninstall(places: &InstallPlaces) -> Result<Installed> {
    let file = file(places)?;
    let mut installed = Installed::new(vec![file.path.clone()]);
    let text = without_hook(&file, &mut installed)?;
    finish_removal(&file, &text)?;
    Ok(installed)
}

pub(super) fn status(places: &InstallPlaces) -> Result<Status> {
    LISTS.status(&file(places)?)
}

pub(super) fn with_hook(file: &SettingsFile, line: &str, installed: &mut Installed) -> Result<String> {
    LISTS.add(file, line, installed)
}

pub(super) fn without_hook(file: &SettingsFile, installed: &mut Installed) -> Result<String> {
    LISTS.remove(file, file.text(), installed)
}

fn disables_hooks(text: &str) -> bool {
    let Ok(Some(root)) = json::parse(text) else { return false };
    root.as_object().and_then(|root| root.get_boolean("disableAllHooks")).is_some_and(|off| off.value)
}
