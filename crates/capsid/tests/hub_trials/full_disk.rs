//! A hub on a small disk of its own that fills up, with and without its log on it. Writes are refused in words, reads go on,
//! nothing that was acknowledged is lost, and it writes again once there is room, without a restart.

use super::kill::message;
use crate::common::bundle::Bundle;
use crate::common::program;
use capsid_testkit::hub::ask;
use capsid_testkit::postgres::TestPostgres;
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::rounds::{rounds, seeded_rng, size};
use capsid_testkit::wait;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// A hub whose folder is a small disk. Both go with this value.
struct SmallDisk {
    child: Child,
    address: String,
    /// The disk, as it is seen from outside of the hub's mounts.
    root: PathBuf,
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn start(program: &TestProgram, settings: &str, log_on_disk: bool) -> Self {
        let folder = capsid_testkit::disk::tempdir();
        let disk = folder.path().display();
        let log = if log_on_disk { format!("{disk}/log") } else { "/dev/null".to_owned() };
        let megabytes = size(24, 200);
        let script = format!(
            "mount -t tmpfs -o size={megabytes}m tmpfs '{disk}' && mkdir '{disk}/hub' && \
             printf '%b' '{settings}' > '{disk}/hub/hub.toml' && exec \"$0\" \"$@\" 2>>'{log}'"
        );
        // A mount in a name space of its own goes away with the hub. Who is not root becomes it inside.
        let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
        let data = folder.path().join("hub");
        let words = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let mut command =
            program.command_under(&["unshare", flags, "sh", "-c", &script], Path::new("/"), &words);
        let mut child = command.env("CAPSID_LOG", "info").spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}"));
        let root = PathBuf::from(format!("/proc/{}/root{disk}", child.id()));
        Self { address: address.to_owned(), child, root, folder }
    }

    fn publish(&self, n: u64) -> (u16, String) {
        let message = message("node_a", &format!("msg_{n}"), &Bundle::new(n));
        ask(&self.address, "POST", "/a2a/publish", Some(&message)).expect("the hub answers")
    }

    fn get(&self, path: &str) -> (u16, String) {
        ask(&self.address, "GET", path, None).expect("the hub answers")
    }

    fn fill(&self) {
        let mut ballast = File::create(self.root.join("ballast")).unwrap();
        let some = vec![7; 1 << 20];
        // The last part may be written in part, so it goes on until nothing more is taken.
        while ballast.write(&some).is_ok_and(|written| written > 0) {}
    }

    /// Looks at everything, beside the hub and among its mounts.
    fn fsck(&self, program: &TestProgram) -> ProgramOutput {
        let process = self.child.id().to_string();
        let mut words = vec!["nsenter", "-t", &process, "-m"];
        if !rustix::process::geteuid().is_root() {
            words.extend(["-U", "--preserve-credentials"]);
        }
        words.push("--");
        let data = self.folder.path().join("hub");
        let arguments = ["hub", "fsck", "--data", data.to_str().unwrap()];
        ProgramOutput::from_output(
            program.command_under(&words, Path::new("/"), &arguments).output().unwrap(),
        )
    }

    fn free(&self) {
        std::fs::remove_file(self.root.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn fill_and_free(settings: &str, log_on_disk: bool) {
    let (rounds, mut rng) = (rounds(2, 20), seeded_rng());
    let program = program();
    let hub = SmallDisk::start(&program, settings, log_on_disk);
    let (mut next, mut acknowledged) = (0, Vec::new());
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for round in 0..rounds {
        for _ in 0..rng.u64(1..20) {
            next += 1;
            assert_eq!(hub.publish(next).0, 200);
            acknowledged.push(next);
        }
        hub.fill();
        let mut refused = 0;
        for _ in 0..300 {
            next += 1;
            let (status, body) = hub.publish(next);
            *statuses.entry(status).or_default() += 1;
            match status {
                200 => acknowledged.push(next),
                507 => {
                    assert!(body.contains("storage_full"), "{body}");
                    refused += 1;
                }
                _ => panic!("round {round}: {status} {body}"),
            }
            let known = Bundle::new(acknowledged[0]);
            assert_eq!(hub.get(&format!("/a2a/assets/{}", known.capsule_id())).0, 200, "reads go on");
            if refused == 5 {
                break;
            }
        }
        assert_eq!(refused, 5, "the disk was never full: {statuses:?}");
        if log_on_disk {
            // The last page of the log takes some more lines.
            wait::until("lines of the log are dropped", Duration::from_secs(30), || {
                assert_eq!(hub.get("/a2a/stats").0, 200);
                hub.get("/health").1.contains(r#""log":"degraded""#)
            });
        }
        hub.free();
        wait::until("the hub writes again", Duration::from_secs(30), || {
            next += 1;
            let written = hub.publish(next).0 == 200;
            if written {
                acknowledged.push(next);
            }
            written
        });
    }
    for n in &acknowledged {
        let path = format!("/a2a/assets/{}", Bundle::new(*n).capsule_id());
        assert_eq!(hub.get(&path).0, 200, "the acknowledged bundle {n} is gone");
    }
    wait::until("the hub is well", Duration::from_secs(30), || hub.get("/health").0 == 200);
    if log_on_disk {
        wait::until("the log is written again", Duration::from_secs(30), || {
            hub.get("/health").1.contains(r#""log":"ok""#)
        });
    }
    println!("{rounds} rounds, {} bundles acknowledged, {statuses:?}", acknowledged.len());
    assert_status(0, &hub.fsck(&program));
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    fill_and_free("[limits]\\nmin_free_bytes = 0\\n", false);
}

#[test]
fn writes_are_taken_again_after_a_full_disk_that_also_held_the_log() {
    fill_and_free("[limits]\\nmin_free_bytes = 0\\n", true);
}

#[test]
fn a_disk_that_is_nearly_full_keeps_what_is_left() {
    fill_and_free("[limits]\\nmin_free_bytes = 4000000\\n", true);
}

/// The database is elsewhere, so nothing has to be refused: only lines of the log are dropped.
#[test]
fn a_full_disk_that_holds_the_log_refuses_nothing_where_the_database_is_postgresql() {
    let database = TestPostgres::empty_database();
    let settings = format!("[database]\\nurl = \"{}\"\\n[limits]\\nmin_free_bytes = 0\\n", database.url);
    let program = program();
    let hub = SmallDisk::start(&program, &settings, true);
    let mut acknowledged = 0;
    let mut publish = |some: u64| {
        for _ in 0..some {
            acknowledged += 1;
            let (status, body) = hub.publish(acknowledged);
            assert_eq!(status, 200, "{body}");
        }
    };
    for _ in 0..rounds(2, 20) {
        publish(5);
        hub.fill();
        wait::until("lines of the log are dropped", Duration::from_secs(30), || {
            publish(1);
            hub.get("/health").1.contains(r#""log":"degraded""#)
        });
        publish(10);
        hub.free();
        wait::until("the log is written again", Duration::from_secs(30), || {
            publish(1);
            hub.get("/health").1.contains(r#""log":"ok""#)
        });
    }
    for n in 1..=acknowledged {
        let path = format!("/a2a/assets/{}", Bundle::new(n).capsule_id());
        assert_eq!(hub.get(&path).0, 200, "the acknowledged bundle {n} is gone");
    }
    assert_status(0, &hub.fsck(&program));
}
