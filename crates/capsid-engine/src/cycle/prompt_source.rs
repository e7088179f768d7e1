//! Source around the places that a problem names. Only regular files inside the repository are read, never protected ones.

use crate::prompt::SourceExcerpt;
use crate::rules::constraints::paths::{PathSet, contains_part};
use crate::run::base;
use crate::tree::names;
use crate::workspace::Workspace;
use capsid_model::redact::{RedactProfile, redact};
use capsid_rules::diagnosis::{Diagnosis, Diagnostic};
use capsid_sandbox::git::Git;
use regex::Regex;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

/// Lines on each side of a place.
const AROUND: usize = 4;
/// Lines on each side that are searched for secrets.
const READ_AROUND: usize = 60;
/// The most of a file that is read.
const MAX_BYTES: u64 = 4 << 20;
/// The longest line that is shown.
const MAX_LINE: usize = 200;
/// Places that are shown.
const MAX_PLACES: usize = 3;
/// Lines of a problem that are searched for places.
const MAX_SEARCHED: usize = 200;

/// A file with a line, as compilers, test runners and stack traces write it.
static MENTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"([\w./\\@+\[\]~-]+\.[A-Za-z]\w{0,9})(?::|\(|", line | line |:line )(\d{1,7})"#).ok()
});

/// Parts of paths that are not the user's own code.
const FOREIGN_PARTS: [&str; 9] = [
    "node_modules",
    "site-packages",
    "dist-packages",
    ".cargo",
    "rustc",
    "vendor",
    "gems",
    "lib64",
    "go-build",
];

/// A line of a file, as a log names it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedPlace {
    file: String,
    line: usize,
}

/// What the repository has about a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProblemSource {
    /// The file of the problem.
    pub path: Option<String>,
    pub excerpts: Vec<SourceExcerpt>,
}

/// Reads the source around the places of a problem. What cannot be read is left out.
pub(super) fn read_problem_source(workspace: &Workspace, diagnosis: &Diagnosis) -> ProblemSource {
    let Some(problem) = &diagnosis.problem else { return ProblemSource::default() };
    let root = &workspace.repository.root;
    let mentions = find_mentions(problem, diagnosis);
    let own = problem.place.as_ref().map(|place| NamedPlace {
        file: find_folder(place, problem.line, &mentions).unwrap_or_else(|| place.clone()),
        line: problem.line.unwrap_or_default() as usize,
    });
    if own.is_none() && mentions.is_empty() {
        return ProblemSource::default();
    }
    let files = list_files(root);
    let resolve = |place: &NamedPlace| resolve_file(&place.file, &files, root);
    let path = own.as_ref().and_then(resolve);
    let also = diagnosis.also.iter().filter(|also| also.ids().template == problem.ids().template);
    let also = also.filter_map(|also| {
        Some(NamedPlace { file: also.place.clone()?, line: also.line.unwrap_or_default() as usize })
    });
    let mut excerpts: Vec<SourceExcerpt> = Vec::new();
    for place in own.iter().cloned().chain(mentions.iter().cloned()).chain(also) {
        if excerpts.len() == MAX_PLACES {
            break;
        }
        let Some(file) = resolve(&place) else { continue };
        let is_shown = excerpts.iter().any(|known| {
            known.path == file && (known.first_line + known.focus).abs_diff(place.line) <= 2 * AROUND
        });
        if !is_shown && is_open(workspace, &file) {
            excerpts.extend(read_excerpt(root, &file, place.line));
        }
    }
    ProblemSource { path, excerpts }
}

/// The places that the lines of the problem name, in the user's own code.
fn find_mentions(problem: &Diagnostic, diagnosis: &Diagnosis) -> Vec<NamedPlace> {
    let Some(mention) = MENTION.as_ref() else { return Vec::new() };
    let lines = diagnosis.windows.iter().flat_map(|window| {
        let numbered = (window.first_line..).zip(&window.lines);
        numbered.filter(|(at, _)| (problem.first_line..=problem.last_line).contains(at))
    });
    let mut places: Vec<NamedPlace> = Vec::new();
    for (_, line) in lines.take(MAX_SEARCHED) {
        let line: String = line.chars().take(2_000).collect();
        for found in mention.captures_iter(&line) {
            let file = found.get(1).map_or("", |part| part.as_str()).replace('\\', "/");
            let number = found.get(2).and_then(|part| part.as_str().parse().ok()).unwrap_or_default();
            let place = NamedPlace { file, line: number };
            let is_foreign = FOREIGN_PARTS.iter().any(|part| contains_part(&place.file, part));
            if number > 0 && !is_foreign && !places.contains(&place) && places.len() < 20 {
                places.push(place);
            }
        }
    }
    places
}

/// The place with the folders that the log shows somewhere.
fn find_folder(place: &str, line: Option<u32>, mentions: &[NamedPlace]) -> Option<String> {
    let is_named = |mention: &&NamedPlace| mention.file.rsplit('/').next() == Some(place);
    let same_line = |mention: &&NamedPlace| Some(mention.line) == line.map(|line| line as usize);
    let mut named = mentions.iter().filter(is_named);
    named.clone().find(same_line).or_else(|| named.next()).map(|mention| mention.file.clone())
}

/// The files of the repository that git knows or would add.
fn list_files(root: &Path) -> Vec<String> {
    let listed = Git::at(root).run(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = listed.unwrap_or_default();
    names::split(&listed).filter_map(|name| std::str::from_utf8(name).ok()).map(str::to_owned).collect()
}

/// The one file that a name can mean: the longest end of the name that is the end of a path decides.
fn resolve_file(name: &str, files: &[String], root: &Path) -> Option<String> {
    let name = name.replace('\\', "/");
    let inside = root.to_str().and_then(|root| name.strip_prefix(root)).unwrap_or(&name);
    let parts: Vec<&str> =
        inside.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..").collect();
    for from in 0..parts.len() {
        let end = parts[from..].join("/");
        if from == 0 && files.contains(&end) {
            return Some(end);
        }
        let is_end = |file: &&String| {
            file.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let mut found = files.iter().filter(is_end);
        if let Some(first) = found.next() {
            return found.next().is_none().then(|| first.clone());
        }
    }
    None
}

/// Whether a file may be shown: not protected, not a file of secrets, not the engine's own.
fn is_open(workspace: &Workspace, file: &str) -> bool {
    let own: Vec<String> = workspace.paths.own().iter().map(|path| path.display().to_string()).collect();
    let is_secret = |part: &str| part.starts_with(".env") || part == ".git";
    !PathSet::new(&base::protected(workspace)).contains(file)
        && !PathSet::new(&own).contains(file)
        && !file.to_lowercase().split('/').any(is_secret)
}

/// Lines of a file around one of them, without secrets.
fn read_excerpt(root: &Path, file: &str, line: usize) -> Option<SourceExcerpt> {
    let path = root.join(file);
    if line == 0 || !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    if !path.canonicalize().ok()?.starts_with(root.canonicalize().ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(&path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let all: Vec<&str> = text.lines().collect();
    let focus = line - 1;
    if focus >= all.len() {
        return None;
    }
    let from = focus.saturating_sub(READ_AROUND);
    let near = all.get(from..(focus + READ_AROUND).min(all.len())).unwrap_or_default();
    let clean = redact(&near.join("\n"), RedactProfile::Secrets).into_owned();
    let clean: Vec<&str> = clean.split('\n').collect();
    // Where a secret of several lines was removed, the numbers are no longer those of the file.
    if clean.len() != near.len() {
        return None;
    }
    let first = focus.saturating_sub(AROUND);
    let lines = clean.get(first - from..(focus + AROUND + 1 - from).min(clean.len())).unwrap_or_default();
    let cut = |line: &&str| line.chars().take(MAX_LINE).collect::<String>();
    Some(SourceExcerpt {
        path: file.to_owned(),
        first_line: first + 1,
        focus: focus - first,
        lines: lines.iter().map(cut).collect(),
    })
}

#[cfg(test)]
#[path = "prompt_source_tests.rs"]
mod tests;
