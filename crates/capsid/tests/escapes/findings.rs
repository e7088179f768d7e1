//! What was once found, each with a test of its name. Two are in other suites, where their parts are:
//! `foreign::archive_import_makes_no_foreign_gene_selectable` of the engine, and `reuse::search` for a hub's capsule that was
//! never promoted here.

use super::table::{Level, User, run_attacks};
use capsid_testkit::kill::wait_until_quiet;
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::program_repo::ProgramRepo;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn desk() -> ProgramRepo {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    desk.fill_with_work();
    desk
}

/// A cycle whose agent says that it is at work, waits for `during`, and goes on.
fn evolve_while(desk: &ProgramRepo, body: &str, during: impl FnOnce()) -> ProgramOutput {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let path = desk.program.home().join("agent.sh");
    let script = format!(
        "#!/bin/bash\ncat > /dev/null\nexec 3<>/dev/tcp/127.0.0.1/{port}\nread -r _ <&3\nexec 3>&-\n{body}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = path.display().to_string();
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--json", "--agent", &agent];
    let program = desk.program.start(&desk.repo, &args);
    let (mut talk, _) = listener.accept().unwrap();
    during();
    talk.write_all(b"go\n").unwrap();
    let ran = ProgramOutput::from_output(program.wait_with_output().unwrap());
    wait_until_quiet(desk.repo.path());
    ran
}

#[test]
fn edits_made_while_an_agent_works_stay_when_the_cycle_fails() {
    let desk = desk();
    let ran = evolve_while(&desk, "echo agent > edited.txt; rm -f mine.txt; echo bad > state.txt", || {
        desk.repo.write("edited.txt", "mine\n");
        desk.repo.write("mine.txt", "mine\n");
    });
    assert_eq!(ran.status, 1, "{ran}");
    assert_eq!(desk.repo.read("edited.txt"), "mine\n");
    assert_eq!(desk.repo.read("mine.txt"), "mine\n");
    assert_eq!(desk.repo.read("state.txt"), "start\n");
}

#[test]
fn solidify_is_refused_while_an_agent_works() {
    let desk = desk();
    let ran = evolve_while(&desk, "echo good > state.txt", || {
        for words in [&["solidify"][..], &["review", "--approve"]] {
            let refused = desk.program.run(&desk.repo, words);
            assert_eq!(refused.code(), "run_busy", "{words:?}: {refused}");
        }
    });
    assert_eq!(ran.status, 0, "{ran}");
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    assert_eq!(capsid_testkit::store::events(&desk.repo).len(), 1, "one run, one event");
}

#[test]
fn an_agent_that_deletes_its_run_state_leaves_no_change() {
    let desk = desk();
    let before = desk.repo.user_files();
    let body = "rm -rf ~/.local/share/capsid .git/capsid; echo bad > state.txt";
    let ran = evolve_while(&desk, body, || {});
    assert_eq!(ran.status, 1, "{ran}");
    assert_eq!(desk.repo.user_files(), before);
    assert_eq!(capsid_testkit::store::events(&desk.repo).len(), 1, "the run is recorded");
}

#[test]
fn a_commit_of_the_agent_takes_no_staged_edit() {
    let desk = desk();
    let (head, index) = (desk.repo.git(&["rev-parse", "HEAD"]), desk.repo.git(&["diff", "--cached"]));
    let ran = evolve_while(&desk, "echo good > state.txt; git add -A; git commit -qm agent", || {});
    assert_eq!(ran.status, 0, "{ran}");
    assert_eq!(desk.repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(desk.repo.git(&["diff", "--cached"]), index);
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    assert!(ran.json()["event"]["meta"].to_string().contains("agent_commits"), "{ran}");
}

#[test]
fn files_that_validation_creates_do_not_stay() {
    let names = [
        "program_in_an_ignored_folder",
        "task_of_an_editor",
        "nested_repository",
        "new_file_of_a_command",
        "nested_repository_with_a_monitor",
    ];
    run_attacks(User::Ordinary, Level::Overlay, "planted", &names);
}

#[test]
fn a_nested_repository_runs_no_code_outside_the_sandbox() {
    run_attacks(
        User::Ordinary,
        Level::Overlay,
        "planted",
        &["nested_repository_with_a_filter", "attributes_with_a_filter"],
    );
}

#[test]
fn proc_sys_is_not_writable_for_root_inside() {
    run_attacks(
        User::Root,
        Level::Overlay,
        "kernel",
        &["proc_sys", "core_pattern", "mounted_again_proc_sys"],
    );
}

#[test]
fn inherited_descriptors_do_not_reach_the_sandbox() {
    let names = ["inherited_folder", "inherited_file", "inherited_socket"];
    run_attacks(User::Ordinary, Level::Overlay, "descriptors", &names);
}

#[test]
fn the_session_keyring_does_not_reach_the_sandbox() {
    run_attacks(User::Ordinary, Level::Overlay, "kernel", &["session_keyring", "user_keyring"]);
}

#[test]
fn processes_and_disk_are_limited() {
    run_attacks(User::Ordinary, Level::Overlay, "limits", &["threads", "forks", "bytes_in_the_repository"]);
}

#[test]
fn npm_by_its_path_does_not_pass_the_gate() {
    run_attacks(User::Ordinary, Level::Overlay, "gate", &["npm_by_its_absolute_path", "npm_by_a_link"]);
}

#[test]
fn changes_in_an_ignored_node_modules_are_not_applied_and_not_unseen() {
    let desk = desk();
    desk.repo.write(".gitignore", "*.cache\nnode_modules/\n");
    desk.repo.write("node_modules/lib/index.js", "module.exports = 1\n");
    let body = "echo attack >> node_modules/lib/index.js; echo good > state.txt";
    let ran = evolve_while(&desk, body, || {});
    assert_eq!(desk.repo.read("node_modules/lib/index.js"), "module.exports = 1\n");
    assert!(ran.json()["event"]["meta"].to_string().contains("node_modules"), "{ran}");
}

#[test]
fn a_private_env_file_is_not_copied_where_others_can_read_it() {
    let desk = desk();
    let secret = "TOKEN=quite-a-rare-text-4711";
    let env = desk.repo.write(".env", secret);
    std::fs::set_permissions(env, std::fs::Permissions::from_mode(0o600)).unwrap();
    let ran = evolve_while(&desk, "echo good > state.txt", || {
        let copies = readable_copies(desk.program.home(), secret);
        assert!(copies.is_empty(), "{copies:?}");
    });
    assert_eq!(ran.status, 0, "{ran}");
    for folder in [desk.program.home(), &desk.repo.file(".git")] {
        let copies = readable_copies(folder, secret);
        assert!(copies.is_empty(), "{copies:?}");
    }
    let all = desk.repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    for line in all.lines().filter(|line| line.contains(" blob ")) {
        let id = line.split(' ').next().unwrap();
        assert!(!desk.repo.git(&["cat-file", "blob", id]).contains(secret), "{id} has it");
    }
}

/// The files with a text that another user could read, folders included.
fn readable_copies(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        let open = meta.permissions().mode() & 0o007 != 0;
        if meta.is_dir() && open {
            found.extend(readable_copies(&path, text));
        } else if meta.is_file()
            && open
            && String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text)
        {
            found.push(path.display().to_string());
        }
    }
    found
}
