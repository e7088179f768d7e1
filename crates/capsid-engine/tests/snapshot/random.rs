//! Random work in progress, random cycles.

use super::help::*;
use capsid_testkit::test_repo::TestRepo;
/// A random edit, of the kind that people and agents make; some fail because of what is there, and that is fine.
fn edit(repo: &TestRepo, random: &mut fastrand::Rng) {
    let names = ["a", "b", "a/x", "a/y/z", "b/x", "ü n", "c/d/e", "c/d", "c", "f\"g"];
    let mut name = || repo.file(names[random.usize(..names.len())]);
    let (path, other) = (name(), name());
    let kind = random.u8(..10);
    let text: String = (0..random.usize(..40)).map(|_| ['x', '\n'][random.usize(..2)]).collect();
    let folder = path.parent().unwrap();
    match kind {
        0..4 => drop(std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text))),
        4 => drop(std::fs::remove_file(&path)),
        5 => drop(std::fs::remove_dir_all(&path)),
        6 => drop(std::fs::rename(&path, &other)),
        7 => drop(std::os::unix::fs::symlink("/tmp", &path)),
        8 => drop(std::fs::create_dir_all(&path)),
        _ if path.is_file() && !path.is_symlink() => {
            use std::os::unix::fs::PermissionsExt;
            let mode = [0o644, 0o755, 0o600, 0o777][random.usize(..4)];
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        _ => {}
    }
}

#[test]
fn any_cycle_on_any_work_in_progress_is_undone() {
    for round in 0..40 {
        let seed = 7_000 + round;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let repo = TestRepo::new();
        for _ in 0..random.usize(..12) {
            edit(&repo, &mut random);
        }
        if random.bool() {
            repo.commit("first");
        }
        for _ in 0..random.usize(..8) {
            edit(&repo, &mut random);
        }
        if random.bool() {
            repo.git(&["add", "-A"]);
        }
        for _ in 0..random.usize(..8) {
            edit(&repo, &mut random);
        }
        let report = assert_undone(&repo, |repo| {
            for _ in 0..random.usize(1..20) {
                edit(repo, &mut random);
            }
            if random.bool() {
                repo.git(&["add", "-A"]);
            }
        });
        assert!(report.is_complete(), "{report:?}");
    }
}
