//! Messages in a shared folder: each is taken once, whatever happens in between, and nobody's file is touched.

use capsid_client::{FileTransport, envelope};
use capsid_model::{Code, Time, Value, json};
use proptest::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};

fn message(id: &str) -> Value {
    envelope::message("publish", id, "node_a", Time(0), json!({"text": "ü \n \u{2028}"}))
}

fn inbox(folder: &Path, name: &str) -> PathBuf {
    std::fs::create_dir_all(folder.join("inbox")).unwrap();
    folder.join("inbox").join(name)
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn line(id: &str) -> String {
    format!("{}\n", message(id))
}

fn ids(messages: &[capsid_model::Object]) -> Vec<String> {
    messages.iter().map(|message| message["message_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_one_sends_the_other_takes_once() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (FileTransport::new(from.path()), FileTransport::new(to.path()));
    assert_eq!(a.list().unwrap(), Vec::<String>::new());
    let path = a.send(&message("msg_1")).unwrap();
    a.send(&envelope::message("hello", "msg_2", "node_a", Time(0), json!({}))).unwrap();
    a.send(&message("msg_3")).unwrap();
    assert_eq!(a.list().unwrap(), ["hello.jsonl", "publish.jsonl"]);
    assert_eq!(path, from.path().join("outbox/publish.jsonl"));
    for name in a.list().unwrap() {
        std::fs::copy(from.path().join("outbox").join(&name), inbox(to.path(), &name)).unwrap();
    }
    let received = b.receive().unwrap();
    assert_eq!(ids(&received.messages), ["msg_2", "msg_1", "msg_3"]);
    assert_eq!(Value::from(received.messages[1].clone()), message("msg_1"));
    assert!(received.problems.is_empty());
    assert!(b.receive().unwrap().messages.is_empty());
    assert!(
        FileTransport::new(to.path()).receive().unwrap().messages.is_empty(),
        "another process knows it too"
    );
}

#[test]
fn the_folder_is_where_the_environment_says() {
    let env = |name: &str| (name == "A2A_DIR").then(|| "/else/where".to_owned());
    assert_eq!(FileTransport::resolve(Path::new("/assets"), &env).folder(), Path::new("/else/where"));
    assert_eq!(FileTransport::resolve(Path::new("/assets"), &|_| None).folder(), Path::new("/assets/a2a"));
}

#[test]
fn what_is_no_message_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    let mut escaping = message("msg_1");
    escaping["message_type"] = "../../evil".into();
    for bad in [json!({}), json!([]), escaping] {
        assert_eq!(transport.send(&bad).unwrap_err().code, Code::InputInvalid);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn messages_that_were_not_done_come_again_and_done_ones_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    append(&inbox(folder.path(), "a.jsonl"), (line("msg_1") + &line("msg_2")).as_bytes());
    // As if the process had been killed before it had acted on them.
    drop(transport.read_batch().unwrap());
    let batch = transport.read_batch().unwrap();
    assert_eq!(ids(&batch.messages), ["msg_1", "msg_2"]);
    assert_eq!(
        FileTransport::new(folder.path()).read_batch().map(|_| ()).unwrap_err().code,
        Code::StoreLocked,
        "one takes at a time"
    );
    batch.done().unwrap();
    assert!(transport.read_batch().unwrap().messages.is_empty());
}

#[test]
fn a_torn_line_waits_until_it_is_whole() {
    let line_2 = line("msg_2");
    // Every place where a writer can be killed; the bytes of one character are torn apart as well.
    for cut in 0..=line_2.len() {
        let folder = tempfile::tempdir().unwrap();
        let transport = FileTransport::new(folder.path());
        let path = inbox(folder.path(), "a.jsonl");
        append(&path, line("msg_1").as_bytes());
        append(&path, &line_2.as_bytes()[..cut]);
        let first = transport.receive().unwrap();
        append(&path, &line_2.as_bytes()[cut..]);
        append(&path, line("msg_3").as_bytes());
        let second = transport.receive().unwrap();
        assert!(first.problems.is_empty() && second.problems.is_empty(), "cut at {cut}");
        let all = [ids(&first.messages), ids(&second.messages)].concat();
        assert_eq!(all, ["msg_1", "msg_2", "msg_3"], "cut at {cut}");
    }
}

#[test]
fn lines_that_are_no_messages_are_told_once_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    let path = inbox(folder.path(), "a.jsonl");
    let mut other = message("msg_9");
    other["protocol"] = "smtp".into();
    let deep = "[".repeat(10_000);
    for bad in ["not json", "\u{1b}[2J", "{}", "7", "", "  ", &other.to_string(), &deep] {
        append(&path, format!("{bad}\n").as_bytes());
    }
    append(&path, b"\xff\xfe\n");
    append(&path, line("msg_1").as_bytes());
    let before = std::fs::read(&path).unwrap();
    let received = transport.receive().unwrap();
    assert_eq!(ids(&received.messages), ["msg_1"]);
    assert_eq!(received.problems.len(), 7);
    assert!(
        received.problems[0].message.contains("`a.jsonl`") && received.problems[0].message.contains("byte 0")
    );
    assert!(received.problems.iter().all(|problem| !problem.message.contains('\u{1b}')));
    assert!(transport.receive().unwrap().problems.is_empty(), "once is enough");
    assert_eq!(std::fs::read(&path).unwrap(), before, "the inbox is its owner's");
}

#[test]
fn a_flood_is_taken_in_parts_and_told_in_short() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    let path = inbox(folder.path(), "a.jsonl");
    let good: String = (0..1500).map(|n| line(&format!("msg_{n}"))).collect();
    append(&path, (good + &"x\n".repeat(5000)).as_bytes());
    let long = [vec![b'{'; (4 << 20) + 10], vec![b'\n']].concat();
    append(&path, &long);
    append(&path, line("msg_last").as_bytes());
    let first = transport.receive().unwrap();
    assert!(first.more && first.messages.len() == 1000);
    let second = transport.receive().unwrap();
    assert!(!second.more && second.messages.len() == 501);
    assert_eq!(second.problems.len(), 51);
    assert!(second.problems[50].message.starts_with("4951 more"), "{}", second.problems[50]);
}

#[test]
fn a_file_that_is_replaced_or_sent_twice_brings_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    let path = inbox(folder.path(), "a.jsonl");
    append(&path, (line("msg_1") + &line("msg_2")).as_bytes());
    assert_eq!(transport.receive().unwrap().messages.len(), 2);
    append(&inbox(folder.path(), "b.jsonl"), (line("msg_1") + &line("msg_4")).as_bytes());
    assert_eq!(ids(&transport.receive().unwrap().messages), ["msg_4"]);
    // Shorter, longer, and as long as before.
    for (content, new) in [
        (line("msg_5"), "msg_5"),
        (line("msg_6") + &line("msg_5") + &line("msg_2"), "msg_6"),
        (line("msg_7") + &line("msg_5") + &line("msg_1"), "msg_7"),
    ] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(ids(&transport.receive().unwrap().messages), [new]);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(transport.receive().unwrap().messages.is_empty());
    append(&path, (line("msg_7") + &line("msg_8")).as_bytes());
    assert_eq!(ids(&transport.receive().unwrap().messages), ["msg_8"]);
}

#[test]
fn a_state_that_cannot_be_read_is_told_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(folder.path());
    append(&inbox(folder.path(), "a.jsonl"), line("msg_1").as_bytes());
    transport.receive().unwrap();
    let path = folder.path().join("inbox-state.json");
    std::fs::write(&path, "{\"files\":").unwrap();
    assert_eq!(transport.receive().unwrap_err().code, Code::StoreDamaged);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "{\"files\":");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out() {
    use std::os::unix::fs::symlink;
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret.jsonl");
    append(&secret, line("msg_1").as_bytes());
    let transport = FileTransport::new(folder.path());
    symlink(&secret, inbox(folder.path(), "a.jsonl")).unwrap();
    append(&inbox(folder.path(), "b.jsonl"), line("msg_2").as_bytes());
    let received = transport.receive().unwrap();
    assert_eq!(ids(&received.messages), ["msg_2"]);
    assert_eq!(received.problems.len(), 1);
    assert!(transport.receive().unwrap().problems.is_empty(), "told once");
    for name in ["outbox", "inbox-state.json", ".outbox.lock", ".inbox.lock"] {
        let other = tempfile::tempdir().unwrap();
        symlink(outside.path().join("secret.jsonl"), other.path().join(name)).unwrap();
        append(&inbox(other.path(), "b.jsonl"), line("msg_2").as_bytes());
        let transport = FileTransport::new(other.path());
        let problem =
            transport.send(&message("msg_3")).and_then(|_| transport.receive().map(|_| ())).unwrap_err();
        assert_eq!(problem.code, Code::InputInvalid, "{name}");
    }
    let other = tempfile::tempdir().unwrap();
    symlink(outside.path(), other.path().join("outbox")).unwrap();
    symlink(outside.path(), other.path().join("inbox")).unwrap();
    let transport = FileTransport::new(other.path());
    assert!(
        transport.send(&message("msg_3")).is_err()
            && transport.receive().is_err()
            && transport.list().is_err()
    );
    let linked = outside.path().join("linked");
    symlink(folder.path(), &linked).unwrap();
    assert!(FileTransport::new(&linked).send(&message("msg_4")).is_err());
    assert_eq!(std::fs::read_to_string(secret).unwrap(), line("msg_1"), "nothing outside was written");
}

#[test]
fn many_senders_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for sender in 0..4 {
            let transport = FileTransport::new(folder.path());
            scope.spawn(move || {
                for n in 0..10 {
                    transport.send(&message(&format!("msg_{sender}_{n}"))).unwrap();
                }
            });
        }
    });
    std::fs::rename(folder.path().join("outbox"), folder.path().join("inbox")).unwrap();
    assert_eq!(FileTransport::new(folder.path()).receive().unwrap().messages.len(), 40);
}

/// What may happen in an inbox.
#[derive(Debug, Clone)]
enum Step {
    /// A line is written in so many pieces, with takes between them; some of them are not finished.
    Write { file: u8, id: u8, cut: usize },
    /// Something that is no message.
    Garbage { file: u8, bytes: Vec<u8> },
    /// A take that ends before it is done.
    Killed,
    /// One that is done.
    Taken,
    /// A file goes away.
    Removed { file: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8, 0..12_u8, 0..400_usize).prop_map(|(file, id, cut)| Step::Write { file, id, cut }),
        1 => (0..3_u8, proptest::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..30))
            .prop_map(|(file, bytes)| Step::Garbage { file, bytes }),
        1 => Just(Step::Killed),
        2 => Just(Step::Taken),
        1 => (0..3_u8).prop_map(|file| Step::Removed { file }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens: every message that was complete when a take was done came exactly once.
    #[test]
    fn each_message_is_consumed_once(steps in proptest::collection::vec(step(), 1..25)) {
        let folder = tempfile::tempdir().unwrap();
        let transport = FileTransport::new(folder.path());
        let name = |file: u8| inbox(folder.path(), &format!("{file}.jsonl"));
        let mut consumed: Vec<String> = Vec::new();
        let (mut written, mut taken_since) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        let mut take = |written: &std::collections::BTreeSet<String>| {
            let batch = transport.read_batch().unwrap();
            consumed.extend(ids(&batch.done().unwrap()));
            let mut sorted = consumed.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), consumed.len(), "twice: {consumed:?}");
            for id in written {
                assert!(sorted.contains(id), "{id} was lost");
            }
        };
        for step in steps {
            match step {
                Step::Write { file, id, cut } => {
                    let id = format!("msg_{id}");
                    let text = line(&id);
                    let cut = cut.min(text.len());
                    append(&name(file), &text.as_bytes()[..cut]);
                    take(&taken_since);
                    append(&name(file), &text.as_bytes()[cut..]);
                    written.insert(id);
                }
                Step::Garbage { file, mut bytes } => {
                    bytes.push(b'\n');
                    append(&name(file), &bytes);
                }
                Step::Killed => drop(transport.read_batch().unwrap()),
                Step::Taken => {
                    take(&written);
                    taken_since.clone_from(&written);
                }
                Step::Removed { file } => {
                    take(&written);
                    taken_since.clone_from(&written);
                    let _ = std::fs::remove_file(name(file));
                }
            }
        }
        take(&written);
    }
}
