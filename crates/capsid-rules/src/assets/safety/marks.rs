//! Marks of text that is unsafe to follow: it runs what it downloads, hides what it does, or reaches for credentials.

use super::{SafetyKind, SafetyMatch};

/// What each of these weighs: enough for a warning, never for a quarantine.
pub(super) const WARNING: f64 = 0.5;
/// The longest encoded text that is ordinary: an icon, a key, a small fixture.
const BLOB_BYTES: usize = 2048;

const DOWNLOADERS: [&str; 6] = ["curl", "wget", "iwr", "irm", "invoke-webrequest", "invoke-restmethod"];
const SHELLS: [&str; 14] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "iex",
    "pwsh",
    "invoke-expression",
];

/// A command that runs what it downloads: `curl … | sh`, `bash <(curl …)`, `eval "$(wget …)"`.
pub(super) fn download_and_run(text: &str, found: &mut SafetyMatch<'_>) {
    // A command may go on over lines that end with a backslash.
    let whole = text.replace("\\\n", " ");
    if whole.lines().any(|line| pipes_into_shell(line) || substitutes_download(line)) {
        found(SafetyKind::DownloadAndRun, WARNING, "It runs what it downloads.".to_owned());
    }
}

/// The names of the programs of a command, without folders and marks around them.
fn words(command: &str) -> impl Iterator<Item = String> {
    let outside = |c: char| c.is_whitespace() || "`'\"();{}".contains(c);
    command
        .split(outside)
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase())
}

fn downloads(command: &str) -> bool {
    words(command).any(|word| DOWNLOADERS.contains(&word.as_str()))
}

fn pipes_into_shell(line: &str) -> bool {
    let mut parts = line.split('|');
    let mut has_download = parts.next().is_some_and(downloads);
    for part in parts {
        let runs =
            words(part).find(|word| !matches!(word.as_str(), "sudo" | "env" | "-e" | "exec" | "command"));
        if has_download && runs.is_some_and(|word| SHELLS.contains(&word.as_str())) {
            return true;
        }
        has_download |= downloads(part);
    }
    false
}

/// Whether the output of a download is run: within `$(…)`, `<(…)` or backticks after a shell or `eval`.
fn substitutes_download(line: &str) -> bool {
    ["$(", "<(", "`"].iter().any(|open| {
        line.match_indices(open).any(|(at, open)| {
            let before = line.get(..at).unwrap_or_default();
            let inside = line.get(at + open.len()..).unwrap_or_default();
            let last: Vec<String> = words(before).collect();
            let runs =
                last.iter().rev().take(3).any(|word| {
                    SHELLS.contains(&word.as_str()) || matches!(word.as_str(), "eval" | "source")
                });
            runs && words(inside).next().is_some_and(|word| DOWNLOADERS.contains(&word.as_str()))
        })
    })
}

/// A run of base64 or of hexadecimal escapes that is longer than anything a reader could check. Line ends within it do not
/// end it.
pub(super) fn encoded_blob(text: &str, found: &mut SafetyMatch<'_>) {
    if text.len() <= BLOB_BYTES {
        return;
    }
    let (mut run, mut longest) = (0_usize, 0_usize);
    for line in text.lines() {
        // A diff marks each of its lines; words of prose are short, and spaces part them.
        let line = line
            .trim_start_matches(['+', '-', ' ', '\t', '"', '\''])
            .trim_end_matches(['"', '\'', ',', ' ', '+', '\\']);
        let longest_word = line.split(char::is_whitespace).map(encoded_len).max().unwrap_or(0);
        let is_whole = !line.is_empty() && encoded_len(line) == line.len() && line.len() >= 32;
        run = if is_whole { run + line.len() } else { 0 };
        longest = longest.max(longest_word).max(run);
    }
    if longest > BLOB_BYTES {
        let text = format!("It holds {longest} bytes of encoded text, which nobody can read.");
        found(SafetyKind::EncodedBlob, WARNING, text);
    }
}

/// The longest run of characters of base64, base64url or hexadecimal escapes.
fn encoded_len(word: &str) -> usize {
    let is_code = |b: u8| b.is_ascii_alphanumeric() || b"+/=_-\\".contains(&b);
    word.as_bytes().split(|b| !is_code(*b)).map(<[u8]>::len).max().unwrap_or(0)
}

/// Files in which programs keep credentials.
const PLACES: [&str; 14] = [
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".aws/",
    ".git-credentials",
    ".docker/config.json",
    ".kube/config",
    ".gnupg",
    "/etc/shadow",
    "aws_secret_access_key",
    ".config/gh/hosts",
];
const READING: [&str; 9] = ["cat", "print", "send", "upload", "post", "copy", "paste", "echo", "attach"];

/// A step that sends its reader to where credentials are kept.
pub(super) fn credential_step(text: &str, found: &mut SafetyMatch<'_>) {
    let lower = text.to_ascii_lowercase();
    let names_place = PLACES.iter().any(|place| lower.contains(place));
    let mut said = lower.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_'));
    let reads_env = said.clone().any(|word| word.trim_end_matches('.') == ".env")
        && said.any(|word| READING.contains(&word.trim_matches('.')));
    if names_place || reads_env {
        found(
            SafetyKind::CredentialStep,
            WARNING,
            "A step names a place where credentials are kept.".to_owned(),
        );
    }
}
