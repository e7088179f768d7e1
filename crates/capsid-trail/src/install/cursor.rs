//! Cursor: `hooks.json`.

use super::hook_lists::{self, HookCall, HookLists};
use super::json::{self, JsonContainer};
use super::settings_file::SettingsFile;
use super::splice::apply;
use super::{HookStatus, InstallContext, InstallOutcome, command, finish_removal};
use capsid_model::Result;
use capsid_transcript::Tool;

pub(super) const SEAL: HookLists =
    HookLists { tool: Tool::Cursor, events: &["stop", "sessionEnd"], grouped: false, call: HookCall::Seal };

pub(super) const RECALL: HookLists =
    HookLists { tool: Tool::Cursor, events: &["sessionStart"], grouped: false, call: HookCall::Recall };

/// The version that Cursor asks for, which stays if others' hooks come to need it. The white space marks it as ours.
const VERSION_FOR_ALL: &str = "\"version\":  1";
/// The same where others' hooks had done without.
const VERSION_FOR_US: &str = "\"version\":   1";

fn file(context: &InstallContext<'_>) -> Result<SettingsFile> {
    context.read(context.home.join(".cursor").join("hooks.json"))
}

pub(super) fn install(
    context: &InstallContext<'_>,
    lists: &HookLists,
    words: &[String],
) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let text = with_hook(lists, &file, &command::line(words, context.os), &mut installed)?;
    file.write(&text)?;
    installed.registered = true;
    Ok(installed)
}

pub(super) fn uninstall(context: &InstallContext<'_>, lists: &HookLists) -> Result<InstallOutcome> {
    let file = file(context)?;
    let mut installed = InstallOutcome::new(vec![file.path.clone()]);
    let text = without_hook(lists, &file, &mut installed)?;
    finish_removal(&file, &text)?;
    Ok(installed)
}

pub(super) fn status(context: &InstallContext<'_>) -> Result<HookStatus> {
    SEAL.status(&file(context)?)
}

pub(super) fn with_hook(
    lists: &HookLists,
    file: &SettingsFile,
    line: &str,
    installed: &mut InstallOutcome,
) -> Result<String> {
    let text = lists.add(file, line, installed)?;
    with_version(lists, file, &text, installed)
}

pub(super) fn without_hook(
    lists: &HookLists,
    file: &SettingsFile,
    installed: &mut InstallOutcome,
) -> Result<String> {
    let text = match lists.status(file)? {
        HookStatus::NotInstalled => file.text().to_owned(),
        // The version was added last, so it goes first.
        _ => without_version(lists, file)?,
    };
    lists.remove(file, &text, installed)
}

fn with_version(
    lists: &HookLists,
    file: &SettingsFile,
    text: &str,
    installed: &mut InstallOutcome,
) -> Result<String> {
    let Some(root) = json::parse(text).map_err(|reason| file.invalid(&reason))? else {
        return Ok(text.to_owned());
    };
    if hook_lists::member(file, hook_lists::object(file, &root, "it")?, "version")?.is_some() {
        return Ok(text.to_owned());
    }
    installed.record("version", "added");
    let version = if lists.has_foreign(file, text)? { VERSION_FOR_US } else { VERSION_FOR_ALL };
    hook_lists::append(text, &root, &root, &|_| version.to_owned())
}

/// Takes the version out that we added, unless others came to need it.
fn without_version(lists: &HookLists, file: &SettingsFile) -> Result<String> {
    let text = file.text();
    let root = json::parse(text).map_err(|reason| file.invalid(&reason))?;
    let Some(root) = root.as_ref().and_then(JsonContainer::from_value) else { return Ok(text.to_owned()) };
    let last = root.members.len().saturating_sub(1);
    let goes = match root.members.get(last).map(|member| &text[member.clone()]) {
        Some(VERSION_FOR_US) => true,
        Some(VERSION_FOR_ALL) => !lists.has_foreign(file, text)?,
        _ => false,
    };
    if goes { apply(text, json::remove(text, &[(root, last)])) } else { Ok(text.to_owned()) }
}
