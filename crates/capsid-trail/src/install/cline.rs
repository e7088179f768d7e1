//! Cline: one script for each event, in a folder of scripts.

use super::settings_file::SettingsFile;
use super::{CommandSyntax, HookStatus, InstallContext, InstallOutcome, InstallPaths, command};
use capsid_model::Result;
use capsid_transcript::Tool;
use std::path::PathBuf;

const EVENTS: [&str; 3] = ["TaskComplete", "TaskCancel", "TaskStart"];

/// Distinguishes our scripts from others.
const MARK: &str = "# Added by capsid: seal each task";

/// Marks a script that also recalls.
const START_MARK: &str = "# Added by capsid: recall what is proven";

/// The event at which a task begins: the one at which Cline takes something to read.
const START: &str = "TaskStart";

const POWERSHELL: &str = ".ps1";

/// Cline takes one or the other, by the system.
fn names() -> impl Iterator<Item = String> {
    EVENTS.into_iter().flat_map(|event| [event.to_owned(), format!("{event}{POWERSHELL}")])
}

fn path(paths: &InstallPaths, name: &str) -> PathBuf {
    paths.home.join("Documents").join("Cline").join("Hooks").join(name)
}

fn all(context: &InstallContext<'_>) -> Result<Vec<(String, SettingsFile)>> {
    names().map(|name| Ok((name.clone(), context.read(path(context, &name))?))).collect()
}

/// Writes the scripts. With `start` the one at a task's beginning also recalls; one that did so before goes on to.
pub(super) fn install(context: &InstallContext<'_>, words: &[String], start: bool) -> Result<InstallOutcome> {
    let scripts = all(context)?;
    let mut installed = InstallOutcome::new(scripts.iter().map(|(_, file)| file.path.clone()).collect());
    installed.registered = true;
    for (name, file) in &scripts {
        if file.exists() && !is_ours(file) {
            installed.registered &= !counts(name, context.os);
            installed.warn(foreign(name, file, words));
            continue;
        }
        let start = name.starts_with(START) && (start || recalls(file));
        let text = if name.ends_with(POWERSHELL) { powershell(words, start) } else { shell(words, start) };
        let written = file.write(&text)?;
        if !file.is_executable() {
            file.make_executable()?;
        }
        installed.record(
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

pub(super) fn uninstall(context: &InstallContext<'_>) -> Result<InstallOutcome> {
    let scripts = all(context)?;
    let mut installed = InstallOutcome::new(scripts.iter().map(|(_, file)| file.path.clone()).collect());
    for (name, file) in &scripts {
        if !file.exists() {
            installed.record(name, "not registered");
        } else if is_ours(file) {
            file.remove()?;
            installed.record(name, "removed");
        } else {
            installed.record(name, "left, for it is not ours");
        }
    }
    Ok(installed)
}

pub(super) fn status(context: &InstallContext<'_>) -> Result<HookStatus> {
    let scripts = all(context)?;
    let missing = scripts.iter().filter(|(name, file)| counts(name, context.os) && !is_ours(file));
    let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
    Ok(HookStatus::for_missing(missing.len(), EVENTS.len(), || missing.clone()))
}

/// Whether Cline runs the script on this system.
fn counts(name: &str, os: CommandSyntax) -> bool {
    name.ends_with(POWERSHELL) == (os == CommandSyntax::Windows)
}

fn is_ours(file: &SettingsFile) -> bool {
    has_line(file, MARK)
}

fn recalls(file: &SettingsFile) -> bool {
    has_line(file, START_MARK)
}

fn has_line(file: &SettingsFile, mark: &str) -> bool {
    file.text().lines().any(|line| line.trim_end() == mark)
}

fn foreign(name: &str, file: &SettingsFile, words: &[String]) -> String {
    let lines = || file.text().lines();
    if lines().any(command::is_reference) {
        return format!(
            "{name}: left, for it is agent-capsule's; remove one of the two, or both would seal each task"
        );
    }
    format!("{name}: left, for it is not ours; call `{}` in it", command::line(words, CommandSyntax::Unix))
}

/// Cline reads one answer, so only one of the two commands speaks.
fn shell(words: &[String], start: bool) -> String {
    let seal = command::line(words, CommandSyntax::Unix);
    if !start {
        return format!("#!/bin/sh\n{MARK}\nexec {seal}\n");
    }
    let recall = command::line(&recall_words(words), CommandSyntax::Unix);
    format!(
        "#!/bin/sh\n{MARK}\n{START_MARK}\npayload=$(cat)\n\
         printf '%s' \"$payload\" | {recall}\nprintf '%s' \"$payload\" | {seal} > /dev/null\n"
    )
}

fn powershell(words: &[String], start: bool) -> String {
    let line = |words: &[String]| -> String {
        words.iter().map(|word| command::quote_powershell(word)).collect::<Vec<_>>().join(" ")
    };
    let seal = line(words);
    if !start {
        return format!("{MARK}\n& {seal}\n");
    }
    let recall = line(&recall_words(words));
    format!(
        "{MARK}\n{START_MARK}\n$payload = [Console]::In.ReadToEnd()\n\
         $payload | & {recall}\n$payload | & {seal} | Out-Null\n"
    )
}

fn recall_words(words: &[String]) -> Vec<String> {
    let program = words.first().cloned().unwrap_or_default();
    [program, "recall".to_owned(), "--hook".to_owned(), Tool::Cline.name().to_owned()].to_vec()
}
