//! The audit log during a cycle.

use capsid_engine::snapshot::Audit;
use capsid_engine::snapshot::audit::Tampering;
use std::fs;
use std::path::PathBuf;

struct Desk {
    _dir: tempfile::TempDir,
    log: PathBuf,
    mirror: PathBuf,
}

fn desk(content: &str) -> Desk {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("events.jsonl");
    fs::write(&log, content).unwrap();
    Desk { log, mirror: dir.path().join("private/events.mirror"), _dir: dir }
}

impl Desk {
    fn start(&self) -> Audit {
        let audit = Audit::start(&self.log, &self.mirror).unwrap();
        Audit::read(&audit.to_value()).unwrap()
    }

    fn check(&self, audit: &Audit) -> Option<Tampering> {
        audit.check(&self.log, &self.mirror).unwrap()
    }

    fn append(&self, text: &str) {
        use std::io::Write;
        let mut file = fs::File::options().append(true).open(&self.log).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

#[test]
fn an_untouched_log_is_fine_and_so_is_one_that_was_only_touched() {
    let desk = desk("{\"a\":1}\n");
    let audit = desk.start();
    assert_eq!(desk.check(&audit), None);
    let file = fs::File::options().write(true).open(&desk.log).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(desk.check(&audit), None);
    assert_eq!(audit.restore(&desk.log, &desk.mirror, 5).unwrap(), None);
}

#[test]
fn defect_7_foreign_lines_are_moved_aside_and_the_log_is_whole_again() {
    for (tamper, kind) in [
        ("old\nforeign\n", Tampering::Appended),
        ("OLD\n", Tampering::Rewritten),
        ("", Tampering::Rewritten),
        ("OLD\nforeign\n", Tampering::Rewritten),
    ] {
        let desk = desk("old\n");
        let audit = desk.start();
        fs::write(&desk.log, tamper).unwrap();
        assert_eq!(desk.check(&audit), Some(kind), "{tamper:?}");
        let aside = audit.restore(&desk.log, &desk.mirror, 5).unwrap().unwrap();
        assert!(aside.ends_with("events.jsonl.foreign-5"));
        assert_eq!(fs::read_to_string(aside).unwrap(), tamper);
        assert_eq!(fs::read_to_string(&desk.log).unwrap(), "old\n");
        assert_eq!(desk.check(&audit), None);
    }
}

#[test]
fn a_deleted_or_replaced_log_comes_back() {
    let desk = desk("old\n");
    let audit = desk.start();
    fs::remove_file(&desk.log).unwrap();
    assert_eq!(desk.check(&audit), Some(Tampering::Rewritten));
    assert_eq!(audit.restore(&desk.log, &desk.mirror, 5).unwrap(), None);
    assert_eq!(fs::read_to_string(&desk.log).unwrap(), "old\n");
    fs::remove_file(&desk.log).unwrap();
    fs::create_dir(&desk.log).unwrap();
    assert!(audit.restore(&desk.log, &desk.mirror, 6).unwrap().is_some());
    assert_eq!(fs::read_to_string(&desk.log).unwrap(), "old\n");
}

#[test]
fn a_log_that_the_cycle_made_up_is_moved_aside() {
    let desk = desk("");
    fs::remove_file(&desk.log).unwrap();
    let audit = desk.start();
    assert_eq!(desk.check(&audit), None);
    fs::write(&desk.log, "forged\n").unwrap();
    assert_eq!(desk.check(&audit), Some(Tampering::Appended));
    assert!(audit.restore(&desk.log, &desk.mirror, 5).unwrap().is_some());
    assert!(!desk.log.exists());
}

#[test]
fn the_mirror_follows_the_log_and_starts_over_with_another_one() {
    let long = "line\n".repeat(40_000);
    let desk = desk(&long);
    desk.start();
    desk.append("own\n");
    let audit = desk.start();
    assert_eq!(desk.check(&audit), None);
    assert_eq!(fs::read(&desk.mirror).unwrap(), fs::read(&desk.log).unwrap());
    fs::write(&desk.log, "another branch\n").unwrap();
    let audit = desk.start();
    assert_eq!(fs::read(&desk.mirror).unwrap(), fs::read(&desk.log).unwrap());
    desk.append("foreign\n");
    assert_eq!(desk.check(&audit), Some(Tampering::Appended));
}
