//! Runs the `console` blocks of a page as its reader would: in one shell, in a home that holds nothing of this machine's
//! user, with the built program first on the PATH.

use super::page::{Block, Step, blocks, matches};
use super::{is_update, read, root};
use capsid_testkit::{trail_user, transcript};
use regex::Regex;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a page calls the reader's home, and the hub's address.
const HOME: &str = "/home/ada";
const HUB: &str = "127.0.0.1:4000";
/// Stands behind the output of each command, with its exit status.
const MARK: &str = "@@@ status";

/// Functions and traps of the shell. A command that serves runs beside the others and ends with the page.
const PRELUDE: &str = r#"exec 2>&1
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
serve() {
  local last=$1
  shift
  : >"$HOME/.served"
  "$@" >"$HOME/.served" 2>&1 &
  for _ in $(seq 300); do
    grep -q "$last" "$HOME/.served" && cat "$HOME/.served" && return 0
    kill -0 $! 2>/dev/null || break
    sleep 0.1
  done
  cat "$HOME/.served"
  return 1
}
"#;

/// Commands that go on until they are stopped, and the last words that each prints once it serves.
const SERVING: [(&str, &str); 4] = [
    ("capsid up", "Ctrl-C"),
    ("capsid trail explore", "Ctrl-C"),
    ("capsid hub serve", "listening on"),
    ("capsid mcp --http", "http://"),
];

/// Runs a page and panics at the first command that does something else than the page says. With `CAPSID_UPDATE_DOCS`
/// other outputs are written into the page.
pub fn run(page: &str) {
    let text = read(page);
    let blocks: Vec<Block> = blocks(&text).into_iter().filter(Block::is_console).collect();
    assert!(!blocks.is_empty(), "{page} has no `console` block: every page shows a command that works");
    let steps: Vec<Step> = blocks.iter().flat_map(Block::steps).collect();
    let scratch = capsid_testkit::disk::tempdir();
    let port = free_port();
    let home = scratch.path().join("home");
    let setup = setup_of(&text);
    let start = prepare(&home, &setup);
    let printed = run_shell(&home, &start, port, &script(&steps, port));
    let outputs = split_outputs(&printed, &home, port);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut is_changed = false;
    for (at, step) in steps.iter().enumerate().rev() {
        let (output, status) = outputs.get(at).unwrap_or_else(|| {
            panic!("{page}: the shell ended before `{}`\n{printed}", step.command);
        });
        assert_eq!(*status, step.status, "{page}: `{}` printed\n{output}", step.command);
        let output_lines: Vec<&str> = output.trim_end_matches('\n').lines().collect();
        if step.output.is_empty() || matches(&step.output, &output_lines) {
            continue;
        }
        // The sample is the same everywhere, so its hashes are shown.
        let found =
            if setup == ["sample"] { output.trim_end_matches('\n').to_owned() } else { stable(output) };
        assert!(
            is_update(),
            "{page}: `{}` does not print what the page shows. It printed\n{found}\nRun CAPSID_UPDATE_DOCS=1 cargo \
             nextest run --workspace -E 'test(/^docs::/)' to write that into the page.",
            step.command
        );
        lines.splice(step.shown.clone(), found.lines().map(str::to_owned));
        is_changed = true;
    }
    if is_changed {
        std::fs::write(root().join(page), lines.join("\n") + "\n").unwrap();
    }
}

/// The names after `<!-- setup:` in a page.
fn setup_of(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("<!-- setup: ")?.strip_suffix(" -->"));
    names.flat_map(|names| names.split(' ').map(str::to_owned)).collect()
}

/// Fills the reader's home, and gives the folder where the page begins.
fn prepare(home: &Path, setup: &[String]) -> std::path::PathBuf {
    let bin = home.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_capsid"), bin.join("capsid")).unwrap();
    let mut start = home.to_path_buf();
    for name in setup {
        match name.as_str() {
            // Sessions of the agents that the reader used before.
            "transcripts" => {
                let folder = home.join(".claude/projects/-home-ada-shop");
                std::fs::create_dir_all(&folder).unwrap();
                let session = trail_user::SESSION;
                std::fs::write(folder.join(format!("{session}.jsonl")), transcript::claude_code(session, 2))
                    .unwrap();
            }
            "sample" => {
                let docs = root().join("docs");
                copy_folder(&docs.join("sample"), &home.join("docs/sample"));
                std::fs::create_dir_all(home.join("docs/reference")).unwrap();
                for file in ["verify.mjs", "reference/record.json"] {
                    std::fs::copy(docs.join(file), home.join("docs").join(file)).unwrap();
                }
            }
            name => {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs/setup").join(name);
                start = home.join(name);
                copy_folder(&folder, &start);
                let script = "if [ -d bin ]; then cp bin/* ../bin && rm -r bin; fi; git init -q -b main . && git add -A && \
                              git commit -qm 'A first version'";
                let mut command = shell(home, &start, 0);
                assert!(command.arg("-c").arg(script).status().unwrap().success(), "{name}");
            }
        }
    }
    start
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// The steps as one script.
fn script(steps: &[Step], port: u16) -> String {
    let mut script = PRELUDE.to_owned();
    for step in steps {
        let command = step.command.replace(HUB, &format!("127.0.0.1:{port}"));
        let serving = SERVING.iter().find(|(serving, _)| command.starts_with(serving));
        let serve = serving.map(|(_, last)| format!("serve '{last}' ")).unwrap_or_default();
        script += &format!("{serve}{command}\nprintf '\\n{MARK} %s\\n' $?\n");
    }
    script
}

/// A shell that sees the reader's home and nothing of this machine's user.
fn shell(home: &Path, folder: &Path, port: u16) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    for (name, value) in [
        ("PATH", format!("{}:{path}", home.join("bin").display())),
        ("HOME", home.display().to_string()),
        ("USER", "ada".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("CAPSID_HUB_LISTEN", format!("127.0.0.1:{port}")),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_AUTHOR_NAME", "Ada".to_owned()),
        ("GIT_AUTHOR_EMAIL", "ada@example.org".to_owned()),
        ("GIT_COMMITTER_NAME", "Ada".to_owned()),
        ("GIT_COMMITTER_EMAIL", "ada@example.org".to_owned()),
    ] {
        command.env(name, value);
    }
    command
}

fn run_shell(home: &Path, folder: &Path, port: u16, script: &str) -> String {
    let file = home.join(".page.sh");
    std::fs::write(&file, script).unwrap();
    let output = shell(home, folder, port).arg(&file).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What each command printed, and its status.
fn split_outputs(printed: &str, home: &Path, port: u16) -> Vec<(String, i32)> {
    let shown = printed.replace(&home.display().to_string(), HOME).replace(&format!("127.0.0.1:{port}"), HUB);
    let mut outputs = Vec::new();
    let mut rest = shown.as_str();
    while let Some((output, after)) = rest.split_once(&format!("\n{MARK} ")) {
        let (status, after) = after.split_once('\n').unwrap_or((after, ""));
        outputs.push((output.to_owned(), status.parse().unwrap_or(-1)));
        rest = after;
    }
    outputs
}

/// An output with wildcards in place of what differs from run to run.
fn stable(output: &str) -> String {
    let mut text = output.trim_end_matches('\n').to_owned();
    for (pattern, word) in [
        (r"\b(run|evt|capsule|vr|node|task|bounty)_[0-9a-f]{8,}\b", "${1}_[..]"),
        (r"\b[0-9a-f]{12,}\b", "[..]"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "[..]"),
        (r"\d{4}-\d\d-\d\d", "[..]"),
        (r"\b\d+(\.\d+)? m?s\b", "[..]"),
        (r"\b\d+ bytes\b", "[..] bytes"),
        (r"127\.0\.0\.1:\d+/explorer", "127.0.0.1:[..]/explorer"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
    }
    text
}
