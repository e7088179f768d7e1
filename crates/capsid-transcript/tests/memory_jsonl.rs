//! A long transcript is read in little memory. `CAPSID_SOAK=1` makes it 200 MB long.
#![cfg(target_os = "linux")]

use capsid_model::fields;
use capsid_testkit::rounds;
use capsid_transcript::{Tool, TranscriptSource, claude_code, codex};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

const LIMIT_KB: u64 = 64 << 10;
const CHILD: &str = "CAPSID_TEST_TRANSCRIPT";

fn size() -> u64 {
    rounds::size(24 << 20, 200 << 20)
}

/// Text that looks like code: many short lines, quotes and tabs.
fn code(random: &mut fastrand::Rng, length: usize) -> String {
    let mut text = String::with_capacity(length + 80);
    while text.len() < length {
        let (name, number) = (random.alphabetic(), random.u32(..));
        text.push_str(&format!("\\tlet {name}_{number} = call(\\\"{number:x}\\\"); // größer\\n"));
    }
    text
}

struct Writer {
    file: std::io::BufWriter<std::fs::File>,
    written: u64,
}

impl Writer {
    fn new(path: &Path) -> Self {
        Self { file: std::io::BufWriter::new(std::fs::File::create(path).unwrap()), written: 0 }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.file, "{line}").unwrap();
        self.written += line.len() as u64 + 1;
    }
}

fn write_claude_code(path: &Path, size: u64) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut out = Writer::new(path);
    let mut n = 0;
    while out.written < size {
        n += 1;
        let head = "\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2.1.40\",\"timestamp\":\"2026-06-01T10:00:00.000Z\",\"isSidechain\":false";
        out.line(&format!(
            "{{{head},\"type\":\"user\",\"uuid\":\"p{n}\",\"message\":{{\"role\":\"user\",\"content\":\"task {n}\"}}}}"
        ));
        out.line(&format!(
            "{{{head},\"type\":\"assistant\",\"uuid\":\"a{n}\",\"message\":{{\"id\":\"m{n}\",\"model\":\"x\",\"usage\":{{\"input_tokens\":3,\"output_tokens\":{n}}},\"content\":[{{\"type\":\"text\",\"text\":\"I look.\"}},{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/w/f{n}\"}}}}]}}}}"
        ));
        let most = if n % 50 == 0 { 600_000 } else { 20_000 };
        let length = random.usize(100..most);
        let text = code(&mut random, length);
        out.line(&format!(
            "{{{head},\"type\":\"user\",\"uuid\":\"r{n}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"{text}\"}}]}},\"toolUseResult\":{{\"type\":\"text\",\"file\":{{\"filePath\":\"/w/f{n}\",\"content\":\"{text}\",\"numLines\":7}}}}}}"
        ));
        if n == 100 {
            out.line(&format!(
                "{{{head},\"type\":\"attachment\",\"uuid\":\"big\",\"attachment\":{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"{}\"}}}}}}",
                "A".repeat(12 << 20)
            ));
        }
    }
}

fn write_codex(path: &Path, size: u64) {
    let mut random = fastrand::Rng::with_seed(2);
    let mut out = Writer::new(path);
    out.line("{\"timestamp\":\"2026-06-01T10:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/w\"}}");
    let mut n = 0;
    while out.written < size {
        n += 1;
        let mut item = |payload: &str| {
            out.line(&format!("{{\"timestamp\":\"2026-06-01T10:00:00.000Z\",\"type\":\"response_item\",\"payload\":{payload}}}"));
        };
        item(&format!(
            "{{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{{\\\"command\\\":[\\\"cat\\\",\\\"f{n}\\\"]}}\",\"call_id\":\"c{n}\"}}"
        ));
        let most = if n % 50 == 0 { 600_000 } else { 40_000 };
        let length = random.usize(100..most);
        let text = code(&mut random, length);
        item(&format!("{{\"type\":\"function_call_output\",\"call_id\":\"c{n}\",\"output\":\"{text}\"}}"));
        item(&format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":\"seen {n}\"}}]}}"
        ));
        if n == 100 {
            item(&format!(
                "{{\"type\":\"image_generation_call\",\"id\":\"big\",\"result\":\"{}\"}}",
                "A".repeat(12 << 20)
            ));
        }
    }
}

fn read(tool: Tool, path: PathBuf) -> (u64, u64) {
    let session = "s".to_owned();
    let source = TranscriptSource {
        tool,
        session,
        path,
        text_transcript: None,
        authorship: None,
        hook_fields: fields! {},
    };
    let (mut actions, mut tokens) = (0, 0);
    let read = if tool == Tool::Codex { codex::read } else { claude_code::read };
    let report = read(&source, &mut |action| {
        actions += 1;
        tokens += action.usage.get("input_tokens").and_then(|count| count.as_i64()).unwrap_or(0) as u64;
        Ok(())
    })
    .unwrap();
    assert_eq!((report.broken, report.unknown.len()), (0, 0));
    (actions, tokens)
}

/// Runs in a process of its own, so that nothing else counts.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let path = PathBuf::from(path);
    let tool = Tool::named(path.file_stem().unwrap().to_str().unwrap()).unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    let start = Instant::now();
    let (actions, tokens) = read(tool, path);
    let speed = length as f64 / start.elapsed().as_secs_f64() / 1e6;
    eprintln!("{}: {actions} actions, {tokens} tokens, {speed:.0} MB/s", tool.name());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak={}", peak.trim().trim_end_matches(" kB"));
}

fn peak_of(path: &Path) -> u64 {
    let me = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(me);
    command.args(["--exact", "memory_jsonl::child", "--nocapture"]).env(CHILD, path);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{stderr}");
    let peak = text.lines().find_map(|line| Some(line.split_once("peak=")?.1)).unwrap();
    eprintln!("{}peak {peak} kB", stderr.trim_start());
    peak.trim().parse().unwrap()
}

#[test]
fn a_long_claude_code_transcript_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude-code.jsonl");
    write_claude_code(&path, size());
    assert!(peak_of(&path) < LIMIT_KB);
}

#[test]
fn a_long_codex_transcript_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex.jsonl");
    write_codex(&path, size());
    assert!(peak_of(&path) < LIMIT_KB);
}
