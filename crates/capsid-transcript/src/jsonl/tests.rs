#![allow(clippy::disallowed_methods)]

use super::*;

struct Held {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn held(bytes: &[u8]) -> Held {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, bytes).unwrap();
    Held { _folder: folder, path }
}

fn all(mut lines: LineReader) -> Vec<(u64, u64, String, bool)> {
    let mut read = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        let text = String::from_utf8_lossy(line.bytes).into_owned();
        read.push((line.number, line.position.offset, text, line.ended));
    }
    read
}

#[test]
fn lines_have_their_place_and_blank_ones_count() {
    let file = held(b"{}\n\n \r\n[1]\nhalf");
    let expected = [(0, 0, "{}", true), (3, 7, "[1]", true), (4, 11, "half", false)];
    let lines = all(LineReader::open(&file.path).unwrap());
    assert_eq!(lines, expected.map(|(n, o, text, ended)| (n, o, text.to_owned(), ended)));
    assert!(all(LineReader::open(&held(b"").path).unwrap()).is_empty());
}

#[test]
fn random_lines_come_back_whatever_the_size_of_the_pieces() {
    for seed in 0..20 {
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let texts: Vec<String> = (0..random.usize(1..60))
            .map(|_| {
                let top = if random.u8(..) < 10 { 3 * CHUNK } else { 2000 };
                "x".repeat(random.usize(1..top))
            })
            .collect();
        let file = held(texts.join("\n").as_bytes());
        let lines: Vec<String> =
            all(LineReader::open(&file.path).unwrap()).into_iter().map(|(_, _, text, _)| text).collect();
        assert!(lines == texts, "seed {seed}");
    }
}

#[test]
fn a_line_that_is_too_long_costs_itself_only() {
    let mut bytes = b"1\n".to_vec();
    bytes.extend(vec![b'y'; LINE_MAX + 3 * CHUNK]);
    bytes.extend(b"\n2\n");
    bytes.extend(vec![b'z'; LINE_MAX]);
    bytes.extend(b"\n3\n");
    let file = held(&bytes);
    let mut lines = LineReader::open(&file.path).unwrap();
    let mut seen = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        seen.push((line.number, line.is_too_long(), line.bytes.len(), line.position.length));
    }
    let long = (LINE_MAX + 3 * CHUNK) as u64;
    let longest = LINE_MAX as u64;
    let expected = [
        (0, false, 1, 1),
        (1, true, 0, long),
        (2, false, 1, 1),
        (3, false, LINE_MAX, longest),
        (4, false, 1, 1),
    ];
    assert_eq!(seen, expected);
    bytes.truncate(LINE_MAX + CHUNK);
    assert!(LineReader::open(&held(&bytes).path).unwrap().next().unwrap().is_some());
}

#[test]
fn what_is_written_meanwhile_is_left_for_the_next_time() {
    let file = held(b"{\"a\":1}\n{\"b\"");
    let mut first = LineReader::open(&file.path).unwrap();
    assert!(first.next().unwrap().is_some());
    std::fs::write(&file.path, b"{\"a\":1}\n{\"b\":2}\n").unwrap();
    assert_eq!(all(first.reread().unwrap()).last().unwrap().2, "{\"b\"");
    assert_eq!(all(LineReader::open(&file.path).unwrap()).last().unwrap().2, "{\"b\":2}");
}

#[test]
fn a_line_is_read_again_from_its_place() {
    let file = held(b"{\"a\":1}\n{\"b\":\"\\ud800\"}\n");
    let mut again = LineRereader::open(&file.path).unwrap();
    assert_eq!(
        again.at(BytePosition { offset: 8, length: 14 }).and_then(|line| line.text("b")),
        Some("\u{fffd}")
    );
    assert_eq!(again.at(BytePosition { offset: 0, length: 7 }).and_then(|l| l.get("a")?.as_i64()), Some(1));
    assert_eq!(again.at(BytePosition { offset: 1, length: 5 }), None);
    assert_eq!(again.at(BytePosition { offset: 900, length: 5 }), None);
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Seen {
    name: LooseValue<IgnoredValue>,
    inner: LooseValue<Inner>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Inner {
    id: LooseValue<IgnoredValue>,
}

impl PeekLine for Seen {}

#[test]
fn a_look_into_a_line_takes_any_type_and_any_text() {
    let seen = |text: &str| Seen::peek(text.as_bytes());
    assert_eq!(seen(r#"{"name":"n","inner":{"id":"i"}}"#).unwrap().inner.one().unwrap().id.text(), "i");
    assert_eq!(seen(r#"{"inner":[{"id":"i"},7,"x",null]}"#).unwrap().inner.list().len(), 4);
    for odd in ["1", "1.5", "-1", "{}", "[]", "123456789012345678901234567890"] {
        let seen = seen(&format!("{{\"name\":{odd}}}")).unwrap();
        assert!(seen.name.is_there() && seen.name.text().is_empty(), "{odd}");
    }
    assert!(!seen(r#"{"name":null}"#).unwrap().name.is_there());
    assert_eq!(seen(r#"{"name":"\ud800","inner":{"id":"i"}}"#).unwrap().name.text(), "\u{fffd}");
    assert_eq!(seen(r#"{"name":"a","name":"b"}"#).unwrap().name.text(), "b");
    let deep = format!("{{\"other\":{}{},\"name\":\"n\"}}", "[".repeat(900), "]".repeat(900));
    assert_eq!(seen(&deep).unwrap().name.text(), "n");
    assert!(Seen::peek(b"{\"name\":\"\xff\"}").unwrap().name.is_there());
    for no in ["", "[]", "7", "{\"name\":", "{\"name\":\"n\"} x"] {
        assert!(seen(no).is_none(), "{no}");
    }
}
