//! Odd folders, full disks, pipes and terminals.

use super::*;

#[test]
fn outside_a_repository_nothing_runs() {
    let desk = desk();
    let folder = tempfile::tempdir().unwrap();
    for args in [&["evolve", "--json"][..], &["solidify", "--json"]] {
        let ran = ProgramOutput::from_output(desk.program.command(folder.path(), args).output().unwrap());
        assert_status(2, &ran);
        assert_eq!(ran.code(), "not_a_git_repository");
        assert_eq!(ran.json()["error"]["code"], "not_a_git_repository");
        assert!(ran.json()["error"]["fix"].is_string());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn without_a_store_the_fix_names_init() {
    let desk = desk();
    std::fs::remove_dir_all(desk.repo.file("assets")).unwrap();
    let ran = desk.evolve(&[], GOOD);
    assert_status(2, &ran);
    assert_eq!(ran.code(), "not_initialised");
    assert!(ran.stderr.contains("capsid init"));
}

#[test]
fn a_path_with_spaces_and_other_letters_is_as_good_as_any() {
    let desk = ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "mein Projekt ü 日本 'q\"");
    desk.repo.write("naïve file.txt", "mine\n");
    let ran = desk.evolve(&["--json"], "echo good > state.txt; echo x > 'neue Datei é.txt'");
    assert_status(0, &ran);
    assert_eq!(ran.json()["event"]["blast_radius"]["files"], 2);
    let before = desk.repo.user_files();
    assert_status(
        1,
        &desk.evolve(&["--force"], "echo bad > state.txt; rm 'naïve file.txt' 'neue Datei é.txt'"),
    );
    assert_eq!(desk.repo.user_files(), before);
}

#[test]
fn evolve_prints_the_documented_json() {
    let desk = desk();
    let ready = desk.prepare(&["--json"]).json();
    for key in [
        "ok",
        "dry_run",
        "run_id",
        "cycle",
        "signals",
        "signal_key",
        "selector",
        "gene",
        "capsule",
        "mutation",
        "prompt",
    ] {
        assert!(ready.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(ready["selector"]["selected"], "gene_repair");
    assert!(ready["selector"]["reason"].is_array());
    assert!(ready["selector"]["alternatives"].is_array());
}

#[test]
fn nothing_colours_a_pipe_and_no_color_holds_on_a_terminal() {
    let desk = desk();
    let ran = desk.evolve(&[], GOOD);
    assert!(!format!("{ran}").contains('\x1b'), "{ran}");
    let painted = desk.program.run(&desk.repo, &["--color", "always", "solidify"]);
    assert!(painted.stderr.contains('\x1b'), "{painted}");
    let on_a_terminal = |variable: &str| {
        let line = format!("'{}' solidify", env!("CARGO_BIN_EXE_capsid").replace('\'', ""));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(desk.repo.path());
        script.env_remove("NO_COLOR").env("TERM", "xterm");
        script.env(variable, "1").stdin(std::process::Stdio::null());
        script.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    match on_a_terminal("CAPSID_UNUSED") {
        Ok(text) => {
            assert!(text.contains("nothing_pending"), "{text}");
            assert!(text.contains('\x1b'), "a terminal is coloured: {text}");
            let plain = on_a_terminal("NO_COLOR").unwrap();
            assert!(!plain.contains('\x1b'), "{plain}");
        }
        Err(error) => {
            println!("skipped: no terminal to try on, because `script` is not installed ({error})");
        }
    }
}

/// Runs shell lines in which `$CAPSID` is the program, where `assets/gep` is a file system of one megabyte.
fn on_a_small_disk(desk: &ProgramRepo, lines: &str) -> Option<ProgramOutput> {
    let script = format!(
        "set -e
        cp -r assets/gep saved-store
        mount -t tmpfs -o size=1m none assets/gep || exit 99
        cp saved-store/* assets/gep/
        rm -r saved-store
        set +e
        {lines}"
    );
    let mut command = std::process::Command::new("unshare");
    let ran = command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(desk.repo.path())
        .env("CAPSID", env!("CARGO_BIN_EXE_capsid"))
        .env("HOME", desk.program.home())
        .output()
        .map(ProgramOutput::from_output);
    match ran {
        Ok(ran) if ran.status != 99 && !ran.stderr.contains("unshare:") => Some(ran),
        Ok(ran) => {
            println!("skipped: no file system can be mounted here: {}", ran.stderr);
            None
        }
        Err(error) => {
            println!("skipped: `unshare` is not there: {error}");
            None
        }
    }
}

/// In a container the session often began outside, and then the system has no number for it.
#[test]
fn a_session_from_outside_the_pid_namespace_is_no_trouble() {
    let desk = desk();
    let agent = desk.agent(GOOD);
    let words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let ran = ProgramOutput::from_output(
        desk.program.command_under(&words, desk.repo.path(), &args).output().unwrap(),
    );
    if ran.stderr.contains("unshare:") {
        println!("skipped: no PID namespace can be made here: {}", ran.stderr);
        return;
    }
    assert_status(0, &ran);
}

#[test]
fn a_full_disk_is_named_and_the_next_command_finishes_what_it_stopped() {
    let desk = desk();
    let agent = desk.agent("echo better > state.txt");
    let lines = format!(
        "$CAPSID evolve --no-sessions --log app.log > prompt.out 2>&1 || exit 1
        echo good > state.txt; rm prompt.out
        head -c 2000000 /dev/zero > assets/gep/fill 2> /dev/null
        # Room for the lock and for nothing else, so that the cycle is settled and its records cannot be written.
        truncate -s -4096 assets/gep/fill
        cp assets/gep/events.jsonl assets/gep/genes.json \"$HOME\"
        $CAPSID solidify; echo first $?
        cmp assets/gep/events.jsonl \"$HOME/events.jsonl\" && cmp assets/gep/genes.json \"$HOME/genes.json\" && echo nothing lost
        ls -a assets/gep | grep -c capsid-
        rm assets/gep/fill
        $CAPSID solidify; echo second $?
        grep -c EvolutionEvent assets/gep/events.jsonl
        $CAPSID evolve --no-sessions --force --log app.log --agent {agent}; echo third $?
        $CAPSID asset verify assets/gep/*.json assets/gep/events.jsonl; echo verified $?"
    );
    let Some(ran) = on_a_small_disk(&desk, &lines) else {
        return;
    };
    assert!(ran.stdout.contains("first 2"), "{ran}");
    assert!(ran.stderr.contains("error[disk_full]"), "{ran}");
    assert!(ran.stdout.contains("nothing lost\n0\n"), "{ran}");
    assert!(ran.stdout.contains("second 1\n1\n"), "the settled cycle was finished first: {ran}");
    assert!(ran.stderr.contains("error[nothing_pending]"), "{ran}");
    assert!(ran.stdout.contains("third 0"), "{ran}");
    assert!(ran.stdout.contains("verified 0"), "{ran}");
}

#[test]
fn a_store_that_cannot_be_written_is_named_and_left_alone() {
    let desk = desk();
    let lines = "mount -o remount,ro assets/gep || exit 99
        $CAPSID evolve --no-sessions --log app.log; echo ended $?
        test -e memory && echo something was written
        $CAPSID evolve --dry-run --no-sessions --log app.log > /dev/null; echo dry $?";
    let Some(ran) = on_a_small_disk(&desk, lines) else {
        return;
    };
    assert!(ran.stdout.contains("ended 2"), "{ran}");
    assert!(ran.stderr.contains("error[permission_denied]"), "{ran}");
    assert!(ran.stdout.contains("dry 0"), "{ran}");
    assert!(!ran.stdout.contains("something was written"), "{ran}");
}

#[test]
fn nothing_is_written_through_a_link_or_waits_for_a_pipe() {
    let desk = desk();
    let victim = desk.program.home().join("victim");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&victim, "alias x=y").unwrap();
    let log = desk.repo.file("assets/gep/events.jsonl");
    let _ = std::fs::remove_file(&log);
    std::os::unix::fs::symlink(&victim, &log).unwrap();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_eq!(ran.code(), "store_damaged", "{ran}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "alias x=y");
    std::fs::remove_file(&log).unwrap();

    let elsewhere = desk.program.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let _ = std::fs::remove_dir_all(desk.repo.file("memory"));
    std::os::unix::fs::symlink(&elsewhere, desk.repo.file("memory")).unwrap();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_eq!(ran.code(), "store_damaged", "{ran}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    std::fs::remove_file(desk.repo.file("memory")).unwrap();

    assert!(std::process::Command::new("mkfifo").arg(&log).status().unwrap().success());
    let ran = desk.evolve(&["--json"], GOOD);
    assert_eq!(ran.code(), "store_damaged", "{ran}");
    std::fs::remove_file(&log).unwrap();
    assert_status(0, &desk.evolve(&["--json"], GOOD));
}

#[test]
fn a_planted_journal_or_run_is_not_followed() {
    let desk = desk();
    desk.repo.write("memory/evolution/solidify_journal.json", "{\"run_id\":\"run_1\",\"records\":[]}");
    let planted = r#"{"last_run":{"run_id":"run_1","snapshot":{"tree":"x"}}}"#;
    desk.repo.write("memory/evolution/evolution_solidify_state.json", planted);
    let ran = desk.program.run(&desk.repo, &["review", "--reject"]);
    assert_status(1, &ran);
    assert_eq!(ran.code(), "nothing_pending", "{ran}");
    assert_status(0, &desk.evolve(&["--json"], GOOD));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let desk = desk();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = desk.program.command(desk.repo.path(), &["genes", "--json"]);
    let status = command.stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
