//! Claude Code: `settings.json`.

use super::hook_lists::{HookCall, HookLists};
use super::settings_file::SettingsFile;
use super::{HookStatus, InstallContext, InstallOutcome, command, finish_removal, json};
use capsid_model::Result;
use capsid_transcript::Tool;

pub(super) const SEAL: HookLists = HookLists {
    tool: Tool::ClaudeCode,
    events: &["Stop", "SessionEnd"],
    grouped: true,
    call: HookCall::Seal,
};

pub(super) const RECALL: HookLists =
    HookLists { tool: Tool::ClaudeCode, events: &["SessionStart"], grouped: true, call: HookCall::Recall };

fn file(context: &InstallContext<'_>) -> Result<SettingsFile> {
    let folder = context.claude_config.clone().unwrap_or_else(|| context.home.join(".claude"));
    context.read(folder.join("settings.json"))
}

pub(super) fn install(
    context: &InstallContext<'_>,
    lists: &HookLists,
    words: &[String],
) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let text = lists.add(&file, &command::line(words, context.os), &mut installed)?;
    file.write(&text)?;
    installed.registered = true;
    if disables_hooks(&text) {
        installed.warn("`disableAllHooks` is true in this file, so Claude Code calls no hook at all");
    }
    Ok(installed)
}

pub(super) fn uninstall(context: &InstallContext<'_>, lists: &HookLists) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let text = lists.remove(&file, file.text(), &mut installed)?;
    finish_removal(&file, &text)?;
    Ok(installed)
}

pub(super) fn status(context: &InstallContext<'_>) -> Result<HookStatus> {
    SEAL.status(&file(context)?)
}

fn disables_hooks(text: &str) -> bool {
    let Ok(Some(root)) = json::parse(text) else { return false };
    root.as_object().and_then(|root| root.get_boolean("disableAllHooks")).is_some_and(|off| off.value)
}
