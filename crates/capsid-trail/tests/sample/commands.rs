//! The commands of `docs/verify-it-yourself.md`, run on the sample as they stand there.

use super::{docs, seal_into};
use capsid_seal::TrailHome;
use std::path::Path;
use std::process::{Command, Stdio};

/// What is before and behind the output of a block.
const MARK: &str = "@@@ block";

/// A fenced block: its language, its text, and whether it is to be run.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
    is_run: bool,
}

/// The blocks of a page. One behind `<!-- not run: WHY -->` is for other machines.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("\n```") {
        let (language, after) = after.split_once('\n').unwrap();
        let (text, after) = after.split_once("```").unwrap();
        let is_run = !before.trim_end().rsplit('\n').next().unwrap_or_default().starts_with("<!-- not run: ");
        blocks.push(Block { language, text, is_run });
        rest = after;
    }
    blocks
}

fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// A script that prints a mark and the exit status behind each block.
fn script(blocks: &[Block<'_>]) -> String {
    let mut script = "set -u\n".to_owned();
    for block in blocks.iter().filter(|block| block.is_run) {
        match block.language {
            "sh" => script += &format!("{}echo \"{MARK} $?\"\n", block.text),
            "python" => script += &format!("cat > check.py <<'END_OF_CHECK'\n{}END_OF_CHECK\n", block.text),
            _ => {}
        }
    }
    script
}

fn run(folder: &Path, script: &str) -> String {
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).current_dir(folder).stdin(Stdio::null());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_commands_of_verify_it_yourself_give_the_output_that_is_shown() {
    let tools = ["bash", "node", "sqlite3", "openssl", "xxd", "python3"];
    if let Some(absent) = tools.iter().find(|tool| !has(tool)) {
        println!("not run: there is no {absent} here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    seal_into(&TrailHome::at(folder.path()));
    std::fs::create_dir(folder.path().join("sample")).unwrap();
    for (name, text) in super::json_files(&docs().join("sample")) {
        std::fs::write(folder.path().join("sample").join(name), text).unwrap();
    }
    std::fs::copy(docs().join("verify.mjs"), folder.path().join("verify.mjs")).unwrap();
    let page = std::fs::read_to_string(docs().join("verify-it-yourself.md")).unwrap();
    let mut blocks = blocks(&page);
    let has_nacl = Command::new("python3").args(["-c", "import nacl"]).stderr(Stdio::null()).status();
    if !has_nacl.is_ok_and(|status| status.success()) {
        println!("without Python's part: there is no PyNaCl here");
        blocks
            .iter_mut()
            .filter(|block| block.text.contains("check.py"))
            .for_each(|block| block.is_run = false);
    }
    let printed = run(folder.path(), &script(&blocks));
    let mut parts = printed.split(MARK);
    let mut output = parts.next().unwrap();
    let mut checked = 0;
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.is_run && block.language == "sh") {
        let (status, next) = parts.next().unwrap().split_once('\n').unwrap();
        let shown = blocks.get(at + 1).filter(|next| next.language == "text").map(|next| next.text);
        assert_eq!(shown.unwrap_or(output), output, "{}", block.text);
        let is_broken = shown.is_some_and(|shown| shown.contains("[BROKEN]"));
        assert_eq!(status.trim(), if is_broken { "1" } else { "0" }, "{}", block.text);
        checked += u32::from(shown.is_some());
        output = next;
    }
    assert!(checked >= 4, "{checked} outputs are shown");
}
