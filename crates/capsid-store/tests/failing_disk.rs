//! A disk that fails or is full: what was acknowledged is there, nothing is acknowledged that is not, reads go on.
//!
//! The work is done by a child (`child`, which the other tests start), under strace where system calls are to fail and
//! on a small disk of its own where it is to be full.
#![cfg(target_os = "linux")]

use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::system::meta;
use capsid_store::{Store, StoreOptions, params};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NOW: Time = Time(1_767_225_600_000);
const WRITES: usize = 6;

fn open(folder: &Path) -> Store {
    try_open(folder).unwrap()
}

fn try_open(folder: &Path) -> Result<Store> {
    Store::open(&StoreOptions { readers: 1, ..StoreOptions::new(folder, None) }, NOW)
}

fn write(store: &Store, key: String, value: String) -> Result<String> {
    store.write_now(move |tx| meta::get_or_set(tx, &key, &value))
}

fn keys(store: &Store) -> Vec<String> {
    let read = |tx: &mut dyn Tx| tx.query_all::<String>("SELECT key FROM meta ORDER BY key", params![]);
    store.read_now(read).unwrap()
}

/// What a child does, and the folder that it does it in.
fn start(words: &[&str], work: &str, folder: &Path) -> Output {
    let test = std::env::current_exe().unwrap();
    let mut all: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    all.push(test.display().to_string());
    all.extend(
        ["--exact", "failing_disk::child", "--ignored", "--nocapture", "--test-threads=1"].map(str::to_owned),
    );
    let mut command = Command::new(&all[0]);
    command.args(&all[1..]).env("WORK", work).env("FOLDER", folder).env("RUST_BACKTRACE", "0");
    command.output().unwrap_or_else(|error| panic!("{}: {error}. Run `scripts/setup test`.", all[0]))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "the other tests start it in a process of its own"]
fn child() {
    let folder = PathBuf::from(std::env::var("FOLDER").unwrap());
    match std::env::var("WORK").unwrap().as_str() {
        "write" => write_a_few(&folder),
        "fill" => fill_the_disk(&folder),
        work => panic!("no work `{work}`"),
    }
}

/// Writes a few things and says of each what came of it, in one system call.
fn write_a_few(folder: &Path) {
    let store = match try_open(folder) {
        Ok(store) => store,
        Err(problem) => return eprint_line(&format!("not opened {}\n", problem.code)),
    };
    for n in 0..WRITES {
        match write(&store, format!("key{n}"), "x".repeat(5000)) {
            Ok(_) => eprint_line(&format!("acknowledged key{n}\n")),
            Err(problem) => eprint_line(&format!("refused key{n} {}\n", problem.code)),
        }
    }
    eprint_line(&format!("read {}\n", keys(&store).len()));
}

fn eprint_line(line: &str) {
    use std::io::Write;
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Runs under strace with calls that fail, on a database that is there already.
fn run_failing(inject: &str) -> (tempfile::TempDir, String) {
    let folder = capsid_testkit::disk::tempdir();
    drop(open(folder.path()));
    let trace = folder.path().join("trace").display().to_string();
    let output = start(&["strace", "-f", "-o", &trace, "-e", inject], "write", folder.path());
    let text = said(&output);
    assert!(output.status.success(), "{inject}: {text}");
    (folder, text)
}

fn lines<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_prefix(word)).collect()
}

/// Whatever was acknowledged is there for whoever opens the file next.
#[track_caller]
fn assert_kept(folder: &Path, text: &str) {
    let there = keys(&open(folder));
    for key in lines(text, "acknowledged ") {
        assert!(there.iter().any(|known| known == key), "{key} is lost: {text}");
    }
    let file = rusqlite::Connection::open(folder.join("hub.db")).unwrap();
    let verdict: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

#[test]
fn after_a_failed_sync_nothing_more_is_written_and_reads_go_on() {
    let mut fired = 0;
    for n in 1..=8 {
        let (folder, text) = run_failing(&format!("inject=fsync,fdatasync:error=EIO:when={n}"));
        assert_kept(folder.path(), &text);
        let refused = lines(&text, "refused ");
        let acknowledged = lines(&text, "acknowledged ");
        assert_eq!(refused.len() + acknowledged.len(), WRITES, "{text}");
        assert_eq!(lines(&text, "read ").len(), 1, "reads go on: {text}");
        if let Some(first) = refused.first() {
            fired += 1;
            assert!(first.ends_with("io_error"), "{text}");
            let place = text.find("refused ").unwrap();
            assert!(!text[place..].contains("acknowledged"), "no acknowledgement after it: {text}");
        }
    }
    assert!(fired >= 3, "only {fired} syncs failed");
}

/// Network disks and those that promise more room than they have take a write, and refuse to make it durable.
#[test]
fn a_disk_that_is_full_only_at_a_sync_is_written_again_without_a_restart() {
    let mut refusals = 0;
    for (error, calls) in [("ENOSPC", 1..=6), ("EDQUOT", 4..=5)] {
        for n in calls {
            let (folder, text) = run_failing(&format!("inject=fsync,fdatasync:error={error}:when={n}"));
            assert_kept(folder.path(), &text);
            let refused = lines(&text, "refused ");
            assert!(refused.iter().all(|line| line.ends_with("disk_full")), "{error} {n}: {text}");
            if !text.contains("not opened") {
                assert!(lines(&text, "acknowledged ").len() >= WRITES - 1, "{error} {n}: {text}");
                assert_eq!(lines(&text, "read ").len(), 1, "reads go on: {text}");
            }
            refusals += refused.len();
        }
    }
    assert!(refusals >= 3, "only {refusals} syncs failed");
}

#[test]
fn whichever_write_fails_nothing_is_acknowledged_that_is_not_there() {
    let mut refusals = 0;
    for error in ["EIO", "ENOSPC", "EDQUOT"] {
        // The first ones fail while the file is opened, the others in commits.
        let all = [1, 9, 17, 18, 19, 20, 24, 25, 30, 36];
        // A quota that is used up is met where a full disk is.
        let calls = if error == "EDQUOT" { &all[4..7] } else { &all[..] };
        for n in calls {
            let (folder, text) = run_failing(&format!("inject=pwrite64:error={error}:when={n}"));
            assert_kept(folder.path(), &text);
            refusals += lines(&text, "refused ").len();
            if error != "EIO" && !text.contains("not opened") {
                assert!(lines(&text, "acknowledged ").len() >= WRITES - 1, "a full disk recovers: {text}");
            }
        }
    }
    assert!(refusals > 10, "only {refusals} writes were refused");
}

#[test]
fn every_acknowledgement_follows_the_sync_of_what_it_acknowledges() {
    let folder = capsid_testkit::disk::tempdir();
    drop(open(folder.path()));
    let trace = folder.path().join("trace");
    let calls = "trace=pwrite64,write,fsync,fdatasync";
    let words = ["strace", "-f", "-y", "-s", "64", "-o", &trace.display().to_string(), "-e", calls];
    let output = start(&words, "write", folder.path());
    assert!(output.status.success(), "{}", said(&output));
    let (mut dirty, mut acknowledged) = (false, 0);
    let mut syncing: Vec<String> = Vec::new();
    let mut synced = false;
    for line in std::fs::read_to_string(&trace).unwrap().lines() {
        let thread = line.split_whitespace().next().unwrap_or_default().to_owned();
        let (log, sync) = (line.contains("/hub.db-wal>"), line.contains("sync("));
        if log && line.contains("pwrite64(") {
            (dirty, synced) = (true, false);
        } else if log && sync && line.contains("<unfinished") {
            syncing.push(thread);
        } else if (log && sync && line.ends_with("= 0"))
            || (line.contains("sync resumed") && line.ends_with("= 0") && syncing.contains(&thread))
        {
            syncing.retain(|other| *other != thread);
            synced = true;
        } else if line.contains("\"acknowledged ") && line.contains("write(2") {
            assert!(dirty && synced, "an acknowledgement before its sync: {line}");
            dirty = false;
            acknowledged += 1;
        }
    }
    assert_eq!(acknowledged, WRITES);
}

#[test]
fn a_full_disk_refuses_writes_serves_reads_and_recovers_without_a_restart() {
    let folder = capsid_testkit::disk::tempdir();
    let mount =
        format!("mount -t tmpfs -o size=12m tmpfs '{}' && exec \"$0\" \"$@\"", folder.path().display());
    // A mount in a name space of its own goes away with the child. Who is not root becomes it inside.
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let output = start(&["unshare", flags, "sh", "-c", &mount], "fill", folder.path());
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("recovered"), "{text}");
}

fn fill_the_disk(folder: &Path) {
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![0; 3 << 20]).unwrap();
    let data = folder.join("hub");
    let store = open(&data);
    let mut kept = Vec::new();
    let mut refused = 0;
    for n in 0..2000 {
        let key = format!("key{n:05}");
        match write(&store, key.clone(), "x".repeat(50_000)) {
            Ok(_) => kept.push(key),
            Err(problem) => {
                assert_eq!(problem.code.as_str(), "disk_full", "{problem}");
                assert!(problem.fix.is_some());
                refused += 1;
            }
        }
        if refused == 5 {
            break;
        }
    }
    assert_eq!(refused, 5, "the disk was never full");
    assert!(kept.len() > 10);
    assert_eq!(keys(&store), kept, "reads go on, and show what was acknowledged and nothing else");
    std::fs::remove_file(&ballast).unwrap();
    write(&store, "late".to_owned(), "x".repeat(50_000)).unwrap();
    kept.push("late".to_owned());
    drop(store);
    assert_eq!(keys(&open(&data)), kept);
    eprint_line("recovered\n");
}
