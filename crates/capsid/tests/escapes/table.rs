//! Runs `attacks/drive.py` and shows what came of each attack.

use capsid_model::{Value, json};
use capsid_testkit::disk;
use capsid_testkit::rounds::{is_soak, seed};
use capsid_testkit::store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who starts the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    Root,
    Ordinary,
}

/// How strong the sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Overlay,
    Copy,
    Landlock,
}

impl User {
    fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Ordinary => "ordinary",
        }
    }

    /// Whose id it has; nobody's, where root starts the tests for an ordinary user.
    fn uid(self) -> Option<u32> {
        let own = rustix::process::geteuid().as_raw();
        match self {
            Self::Root => (own == 0).then_some(0),
            Self::Ordinary => Some(if own == 0 { free_uid() } else { own }),
        }
    }
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
            Self::Landlock => "landlock",
        }
    }
}

/// An id that the machine gave to nobody. Another one for each process, because the kernel counts processes and keys by
/// user, and tests run side by side.
pub fn free_uid() -> u32 {
    let known = std::fs::read_to_string("/etc/passwd").unwrap();
    let known: Vec<u32> = known.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).collect();
    let first = 40_000 + std::process::id() % 20_000;
    (first..).find(|uid| !known.contains(uid)).unwrap()
}

/// Runs the attacks of some families, prints the table, and fails unless all of them held.
#[track_caller]
pub fn run_families(user: User, level: Level, families: &[&str]) {
    run(user, level, families, &[]);
}

/// The same with some attacks of one family.
#[track_caller]
pub fn run_attacks(user: User, level: Level, family: &str, names: &[&str]) {
    run(user, level, &[family], names);
}

#[track_caller]
fn run(user: User, level: Level, families: &[&str], names: &[&str]) {
    let Some(uid) = user.uid() else {
        println!("not run: {families:?} as root, because another user started the tests");
        return;
    };
    let (base, outside) = (disk::tempdir(), tempfile::tempdir_in("/var/tmp").unwrap());
    let genes = json!({"version": 1, "genes": [
        store::gene("gene_repair", "repair", &["log_error"], &["node check.js"]),
        store::gene("gene_innovate", "innovate", &["stable_success_plateau"], &["node check.js"]),
    ]});
    let settings = json!({
        "user": user.as_str(),
        "uid": uid,
        "level": level.as_str(),
        "families": families,
        "only": names,
        "binary": reachable_program(base.path()),
        "base": base.path().canonicalize().unwrap().display().to_string(),
        "outside": outside.path().display().to_string(),
        "genes": genes.to_string(),
        "seed": seed() % (1 << 32),
        // They do not depend on the level, and those of whole cycles take their time.
        "controls": level == Level::Overlay && (is_soak() || user == User::Ordinary || families.contains(&"kernel")),
        "soak": is_soak(),
    });
    let drive = attacks().join("drive.py");
    let output = Command::new("/usr/bin/python3").arg(drive).arg(settings.to_string()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{messages}\n{printed}");
    let rows: Vec<Value> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let [family, attack, profile, result] = ["family", "attack", "profile", "result"].map(text);
        let (user, level) = (user.as_str(), level.as_str());
        println!("{family:13} {attack:48} {profile:10} {user:8} {level:8} {result:14} {}", text("note"));
        *counts.entry(result).or_default() += 1;
    }
    println!("{counts:?}");
    let good = ["held", "control", "n/a", "open"];
    let bad: Vec<&Value> =
        rows.iter().filter(|row| !good.contains(&row["result"].as_str().unwrap_or_default())).collect();
    assert!(counts.contains_key("held"), "no attack was tried\n{messages}");
    assert!(bad.is_empty(), "{}\n{messages}", bad.iter().map(|row| format!("{row}\n")).collect::<String>());
}

/// How many attacks each family has.
pub fn count_attacks() -> BTreeMap<String, usize> {
    let drive = attacks().join("drive.py");
    let output = Command::new("/usr/bin/python3").arg(drive).arg("count").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts: Value = String::from_utf8_lossy(&output.stdout).parse().unwrap();
    let counts = counts.as_object().unwrap();
    counts.iter().map(|(family, count)| (family.to_owned(), count.to_string().parse().unwrap())).collect()
}

pub fn attacks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escapes/attacks")
}

/// The program where another user can start it: it may have been built in a folder that is closed to others.
pub fn reachable_program(folder: &Path) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_capsid"));
    let path = folder.join("capsid");
    if std::fs::hard_link(built, &path).is_err() {
        std::fs::copy(built, &path).unwrap();
    }
    path.display().to_string()
}
