//! Cline: one script for each event, in a folder of scripts.

use super::settings_file::SettingsFile;
use super::{InstallPlaces, Installed, Os, Status, command};
use capsid_model::Result;
use std::path::PathBuf;

const EVENTS: [&str; 3] = ["TaskComplete", "TaskCancel", "TaskStart"];

/// Tells our scripts from others.
const MARK: &str = "# Added by capsid: seal each task";

const POWERSHELL: &str = ".ps1";

/// Cline takes one or the other, by the system.
fn names() -> impl Iterator<Item = String> {
    EVENTS.into_iter().flat_map(|event| [event.to_owned(), format!("{event}{POWERSHELL}")])
}

fn path(places: &InstallPlaces, name: &str) -> PathBuf {
    places.home.join("Documents").join("Cline").join("Hooks").join(name)
}

fn all(places: &InstallPlaces) -> Result<Vec<(String, SettingsFile)>> {
    names().map(|name| Ok((name.clone(), SettingsFile::read(path(places, &name))?))).collect()
}

pub(super) fn install(places: &InstallPlaces, words: &[String]) -> Result<Installed> {
    let scripts = all(places)?;
    let mut installed = Installed::new(scripts.iter().map(|(_, file)| file.path.clone()).collect());
    installed.registered = true;
    for (name, file) in &scripts {
        if file.exists() && !is_ours(file) {
            installed.registered &= !counts(name, places.os);
            installed.warn(foreign(name, file, words));
            continue;
        }
        let text = if name.ends_with(POWERSHELL) { powershell(words) } else { shell(words) };
        let written = file.write(&text)?;
        if !file.is_executable() {
            file.make_executable()?;
        }
        installed.tell(
            name,
            match (written, file.exists()) {
                (false, _) => "already registered",
                (true, true) => "updated",
                (true, false) => "added",
            },
        );
    }
    Ok(installed)
}

pub(super) fn uninstall(places: &InstallPlaces) -> Result<Installed> {
    let scripts = all(places)?;
    let mut installed = Installed::new(scripts.iter().map(|(_, file)| file.path.clone()).collect());
    for (name, file) in &scripts {
        if !file.exists() {
            installed.tell(name, "not registered");
        } else if is_ours(file) {
            file.remove()?;
            installed.tell(name, "removed");
        } else {
            installed.tell(name, "left, for it is not ours");
        }
    }
    Ok(installed)
}

pub(super) fn status(places: &InstallPlaces) -> Result<Status> {
    let scripts = all(places)?;
    let missing = scripts.iter().filter(|(name, file)| counts(name, places.os) && !is_ours(file));
    let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
    Ok(Status::of_missing(missing.len(), EVENTS.len(), || missing.clone()))
}

/// Whether Cline runs the script on this system.
fn counts(name: &str, os: Os) -> bool {
    name.ends_with(POWERSHELL) == (os == Os::Windows)
}

fn is_ours(file: &SettingsFile) -> bool {
    file.text().lines().any(|line| line.trim_end() == MARK)
}

fn foreign(name: &str, file: &SettingsFile, words: &[String]) -> String {
    let lines = || file.text().lines();
    if lines().any(command::is_reference) {
        return format!(
            "{name}: left, for it is agent-capsule's; remove one of the two, or both would seal each task"
        );
    }
    format!("{name}: left, for it is not ours; call `{}` in it", command::line(words, Os::Unix))
}

fn shell(words: &[String]) -> String {
    format!("#!/bin/sh\n{MARK}\nexec {}\n", command::line(words, Os::Unix))
}

fn powershell(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| command::quote_powershell(word)).collect();
    format!("{MARK}\n& {}\n", quoted.join(" "))
}
