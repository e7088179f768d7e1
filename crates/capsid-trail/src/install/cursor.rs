//! Cursor: `hooks.json`.

use super::hook_lists::{self, HookLists};
use super::json::{self, Container};
use super::settings_file::SettingsFile;
use super::splice::apply;
use super::{InstallPlaces, Installed, Status, command, finish_removal};
use capsid_model::Result;
use capsid_transcript::Tool;

const LISTS: HookLists = HookLists { tool: Tool::Cursor, events: &["stop", "sessionEnd"], grouped: false };

/// The version that Cursor asks for, which stays if others' hooks come to need it. The white space marks it as ours.
const VERSION_FOR_ALL: &str = "\"version\":  1";
/// The same where others' hooks had done without.
const VERSION_FOR_US: &str = "\"version\":   1";

fn file(places: &InstallPlaces) -> Result<SettingsFile> {
    SettingsFile::read(places.home.join(".cursor").join("hooks.json"))
}

pub(super) fn install(places: &InstallPlaces, words: &[String]) -> Result<Installed> {
    let file = file(places)?;
    let mut installed = Installed::new(vec![file.path.clone()]);
    let text = with_hook(&file, &command::line(words, places.os), &mut installed)?;
    file.write(&text)?;
    installed.registered = true;
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
    let text = LISTS.add(file, line, installed)?;
    with_version(file, &text, installed)
}

pub(super) fn without_hook(file: &SettingsFile, installed: &mut Installed) -> Result<String> {
    let text = match LISTS.status(file)? {
        Status::NotInstalled => file.text().to_owned(),
        // The version was added last, so it goes first.
        _ => without_version(file)?,
    };
    LISTS.remove(file, &text, installed)
}

fn with_version(file: &SettingsFile, text: &str, installed: &mut Installed) -> Result<String> {
    let Some(root) = json::parse(text).map_err(|why| file.invalid(&why))? else { return Ok(text.to_owned()) };
    if hook_lists::member(file, hook_lists::object(file, &root, "it")?, "version")?.is_some() {
        return Ok(text.to_owned());
    }
    installed.tell("version", "added");
    let version = if LISTS.has_foreign(file, text)? { VERSION_FOR_US } else { VERSION_FOR_ALL };
    hook_lists::append(text, &root, &root, &|_| version.to_owned())
}

/// Takes the version out that we added, unless others came to need it.
fn without_version(file: &SettingsFile) -> Result<String> {
    let text = file.text();
    let root = json::parse(text).map_err(|why| file.invalid(&why))?;
    let Some(root) = root.as_ref().and_then(Container::of) else { return Ok(text.to_owned()) };
    let last = root.members.len().saturating_sub(1);
    let goes = match root.members.get(last).map(|member| &text[member.clone()]) {
        Some(VERSION_FOR_US) => true,
        Some(VERSION_FOR_ALL) => !LISTS.has_foreign(file, text)?,
        _ => false,
    };
    if goes { apply(text, json::remove(text, &[(root, last)])) } else { Ok(text.to_owned()) }
}
