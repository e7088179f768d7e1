//! A script of a command: a file of the repository, and no program that starts others.

use super::{CommandPolicy, GateVerdict, check_arguments, inline_code, npm, program_names};

/// A script is named by a path that starts in the repository and stays there. One of an installed package must be of a
/// package that `npx` may start, with arguments that it may have.
pub fn check(script: &str, args: &[String], policy: &CommandPolicy) -> GateVerdict {
    if !stays_inside(script) {
        return Err(inline_code(script));
    }
    let mut parts = script.split(SEPARATORS).filter(|part| !matches!(*part, "" | "."));
    if parts.clone().next_back().is_some_and(is_package_manager) {
        return Err(inline_code(script));
    }
    while let Some(part) = parts.next() {
        // Some file systems do not tell the cases apart.
        if part.eq_ignore_ascii_case("node_modules") {
            let name = package_name(&mut parts).ok_or_else(|| inline_code(script))?;
            check_package(&name.to_ascii_lowercase(), args, policy)?;
        }
    }
    Ok(())
}

/// Windows takes both for a separator, and a path that is harmless everywhere is the same on each system.
const SEPARATORS: [char; 2] = ['/', '\\'];

fn stays_inside(script: &str) -> bool {
    let has_drive = script.as_bytes().get(1) == Some(&b':');
    let climbs = script.split(SEPARATORS).any(|part| part == "..");
    !script.is_empty() && !script.starts_with(SEPARATORS) && !has_drive && !climbs
}

/// The files by which package managers are started, wherever a copy of them is: repositories commit some.
fn is_package_manager(file: &str) -> bool {
    const MANAGERS: &[&str] =
        &["corepack", "npm", "npm-cli", "npx", "npx-cli", "pnpm", "pnpx", "yarn", "yarnpkg"];
    let name = without_ending(file).to_ascii_lowercase();
    let is_release = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    MANAGERS.contains(&name.as_str()) || name.strip_prefix("yarn-").is_some_and(is_release)
}

/// The package, or the program in `.bin`, that a path behind `node_modules` leads into.
fn package_name<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let first = parts.next()?;
    match first {
        ".bin" => parts.next().map(without_ending),
        scope if scope.starts_with('@') => Some(format!("{scope}/{}", parts.next()?)),
        name => Some(without_ending(name)),
    }
}

/// A file beside the packages is named like the package without its ending.
fn without_ending(name: &str) -> String {
    let endings = [".js", ".cjs", ".mjs", ".cmd", ".ps1", ".exe"];
    let lower = name.to_ascii_lowercase();
    let ending = endings.iter().find(|ending| lower.ends_with(**ending)).map_or(0, |ending| ending.len());
    name[..name.len() - ending].to_owned()
}

/// npm itself may be started as `npm`, where its arguments are known, but not by the path of its files.
fn check_package(name: &str, args: &[String], policy: &CommandPolicy) -> GateVerdict {
    if matches!(name, "npm" | "npx") || program_names::is_launcher(name) {
        return Err(inline_code(name));
    }
    npm::check_package(name, policy)?;
    check_arguments(name, args, policy)
}
