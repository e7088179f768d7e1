//! The user's agent without namespaces: the home of its own that it works with, what stays of it, and what is hidden.

use capsid_sandbox::{
    AgentEnd, AgentProfile, AgentRequest, AgentRun, ConfinedTree, Isolation, LimitHit, run_agent_at,
};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A user who has set an agent up, and has secrets.
struct HomeCase {
    folder: tempfile::TempDir,
    profile: AgentProfile,
    env: Vec<(String, String)>,
}

const FILES: &[(&str, &str)] = &[
    (".codex/config.toml", "model = \"m\"\n"),
    (".codex/auth.json", "{\"token\":1}"),
    (".codex/sessions/old.jsonl", "old\n"),
    (".codex/skills/one/SKILL.md", "skill\n"),
    (".claude.json", "{\"projects\":{}}"),
    (".bashrc", "mine\n"),
    (".config/tool/settings", "settings\n"),
    (".config/gh/hosts.yml", "SECRET\n"),
    (".local/share/tool/data", "data\n"),
    (".local/share/capsid/key", "SECRET\n"),
    (".ssh/id", "SECRET\n"),
    (".aws/config", "SECRET\n"),
    ("secret.json", "{\"SECRET\":1}"),
    ("work/notes", "notes\n"),
];

impl HomeCase {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let home = base.join("home");
        for (name, text) in FILES {
            std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            std::fs::write(home.join(name), text).unwrap();
        }
        let login = home.join(".codex/auth.json");
        std::fs::set_permissions(&login, std::fs::Permissions::from_mode(0o600)).unwrap();
        let view = base.join("view");
        std::fs::create_dir(&view).unwrap();
        let profile = AgentProfile {
            tree: ConfinedTree::Folder(view),
            layers: home.join(".local/share/capsid/layers"),
            kept_writes: vec![home.join(".codex/sessions"), home.join("absent")],
            copied_back: vec![login, home.join(".codex/.credentials.json")],
            hidden: vec![home.join(".local/share/capsid")],
            home,
            show: Vec::new(),
            sockets: Vec::new(),
            network: true,
            disk_bytes: 1 << 30,
            processes: 512,
        };
        Self { folder, profile, env: Vec::new() }
    }

    fn home(&self) -> &Path {
        &self.profile.home
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home().join(name)).unwrap()
    }

    fn try_run(&self, argv: &[&str], output: &mut String) -> capsid_model::Result<AgentRun> {
        let real = [("HOME", self.home()), ("H", self.home())];
        let real = real.map(|(name, path)| (name.to_owned(), path.display().to_string()));
        let env: Vec<_> = self.env.iter().cloned().chain(real).collect();
        let request = AgentRequest {
            argv: &argv.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(),
            cwd: self.profile.tree.root(),
            prompt: b"the prompt",
            env: &env,
            timeout: Duration::from_secs(60),
            stop: &AtomicBool::new(false),
            profile: Some(&self.profile),
        };
        let run = run_agent_at(Isolation::Landlock, &request, &mut |bytes| {
            output.push_str(&String::from_utf8_lossy(bytes));
        });
        assert!(!self.profile.layers.join("home").exists(), "the private home is removed");
        run
    }

    /// Runs a shell script as the agent; `~` is its home and `$H` the real one.
    fn run(&self, script: &str) -> (AgentRun, String) {
        let mut output = String::new();
        let run = self.try_run(&["sh", "-c", script], &mut output).unwrap();
        assert_eq!(run.isolation, Isolation::Landlock);
        (run, output)
    }

    /// Every file of the real home with its content, mode and owner, but for Capsid's own.
    fn state(&self) -> BTreeMap<PathBuf, (String, u32, u32, i64)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.home().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let (path, meta) = (entry.path(), entry.metadata().unwrap());
                if meta.is_dir() && !path.ends_with("capsid") {
                    folders.push(path);
                } else if !meta.is_dir() {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    found.insert(path, (text, meta.mode(), meta.uid(), meta.mtime()));
                }
            }
        }
        found
    }
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[test]
fn an_agent_reads_its_settings_and_its_login_and_transcript_stay() {
    let case = HomeCase::new();
    let mut before = case.state();
    let script = "set -e; cat; cd ~; cat .codex/config.toml .codex/skills/one/SKILL.md .bashrc work/notes; \
                  echo x > .codex/x; mkdir .codex/log; echo l > .codex/log/l; echo evil >> .bashrc; echo {} > .claude.json; \
                  rm .codex/skills/one/SKILL.md; echo '{\"token\":2}' > .codex/new; chmod 644 .codex/new; \
                  mv .codex/new .codex/auth.json; echo more >> .codex/sessions/old.jsonl; \
                  mkdir -p .codex/sessions/2026; echo new > .codex/sessions/2026/new.jsonl; mkdir .gemini .cache; \
                  echo c > .cache/c; echo p > .config/new; cat .codex/x";
    let (run, output) = case.run(script);
    assert_eq!(run.end, AgentEnd::Exited(0), "{output}");
    assert_eq!(output, "the promptmodel = \"m\"\nskill\nmine\nnotes\nx\n");
    let home = case.home();
    for (name, text) in [
        (".codex/auth.json", "{\"token\":2}\n"),
        (".codex/sessions/old.jsonl", "old\nmore\n"),
        (".codex/sessions/2026/new.jsonl", "new\n"),
    ] {
        assert_eq!(case.read(name), text);
        let meta = std::fs::metadata(home.join(name)).unwrap();
        assert_eq!(meta.uid(), own_uid(), "{name}");
        before.remove(&home.join(name));
    }
    let mode = std::fs::metadata(home.join(".codex/auth.json")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut after = case.state();
    after.retain(|path, _| !path.ends_with("auth.json") && !path.starts_with(home.join(".codex/sessions")));
    assert_eq!(after, before, "nothing else changed");
    let listed = [
        ".bashrc",
        ".cache/c",
        ".claude.json",
        ".codex/log/l",
        ".codex/skills/one/SKILL.md",
        ".codex/x",
        ".config/new",
    ];
    assert_eq!(run.outside_writes, listed.map(|name| home.join(name)));
    assert_eq!(run.outside_count, listed.len());
}

#[test]
fn an_agent_that_changes_nothing_has_no_outside_writes() {
    let case = HomeCase::new();
    let (run, output) =
        case.run("cd ~; cat .codex/*.* .bashrc > /dev/null; ls -R . > /dev/null; touch $TMPDIR/t");
    assert_eq!((run.outside_count, run.end), (0, AgentEnd::Exited(0)), "{output} {:?}", run.outside_writes);
}

#[test]
fn a_login_that_is_none_is_not_copied_back() {
    for attack in [
        "echo not json > $F",
        "rm $F; ln -s $H/secret.json $F",
        "rm $F; ln $H/secret.json $F",
        "rm $F; mkfifo $F",
        "head -c 70000 /dev/zero | tr '\\0' ' ' > $F; echo '{}' >> $F",
        "rm $F; mkdir $F",
        "mv ~/.codex ~/c; ln -s $H ~/.codex; echo '{\"token\":3}' > ~/c/auth.json",
        "mv ~/.codex ~/c; echo '{\"token\":3}' > ~/c/auth.json; ln -s c ~/.codex",
        "rm -r ~/.codex",
        "rm $F",
    ] {
        let case = HomeCase::new();
        let (_, output) = case.run(&format!("F=~/.codex/auth.json; {attack}"));
        assert_eq!(case.read(".codex/auth.json"), "{\"token\":1}", "{attack}: {output}");
        assert_eq!(case.read("secret.json"), "{\"SECRET\":1}", "{attack}: {output}");
        assert!(!case.home().join(".codex/.credentials.json").exists());
    }
}

#[test]
fn a_login_that_the_user_refreshed_meanwhile_stays() {
    let mut case = HomeCase::new();
    // A kept file stands for the user's own agent, which writes to the real home.
    case.profile.kept_writes.push(case.home().join(".codex/auth.json"));
    let (_, output) = case.run("printf '{\"token\":9}' > $H/.codex/auth.json");
    assert_eq!(case.read(".codex/auth.json"), "{\"token\":9}", "{output}");
    case.profile.kept_writes.pop();
    std::fs::write(case.home().join(".codex/.credentials.json"), "{}").unwrap();
    let (_, output) = case.run("printf '{\"mcp\":1}' > ~/.codex/.credentials.json");
    assert_eq!(case.read(".codex/.credentials.json"), "{\"mcp\":1}", "{output}");
}

#[test]
fn secrets_are_neither_in_the_private_home_nor_behind_a_link() {
    let mut case = HomeCase::new();
    let home = case.home().to_owned();
    for (target, link) in [
        (home.join(".ssh"), "keys"),
        (home.join(".ssh/id"), "key"),
        (home.join(".config"), "settings"),
        (home.join(".ssh/id"), ".codex/key"),
        (PathBuf::from("/etc"), "system"),
        (PathBuf::from("/etc/shadow"), "shadow"),
        (home.join("absent"), "dangling"),
    ] {
        symlink(target, home.join(link)).unwrap();
    }
    let script = "exec 2>/dev/null; for d in ~ $H; do cd $d; cat .ssh/id .aws/config .config/gh/hosts.yml \
                  .local/share/capsid/key keys/id key settings/gh/hosts.yml .codex/key; ls .config/gh; cat system/shadow shadow \
                  && echo SECRET; cat .config/tool/settings .local/share/tool/data settings/tool/settings; done; \
                  ls ~/.ssh ~/.aws ~/.local/share/capsid; cp -rL ~ ~/../tmp/all; grep -r SECRET ~/../tmp/all/.[a-z]*";
    let (_, output) = case.run(script);
    assert_eq!(output, "settings\ndata\nsettings\n".repeat(2));
    case.profile.show = vec![home.join(".aws/config"), home.join(".ssh")];
    let (_, output) = case.run(
        "exec 2>/dev/null; cd ~; ls .aws; cat .aws/config .ssh/id; echo x > .aws/config; echo x > .ssh/id",
    );
    assert_eq!(output, "config\nSECRET\nSECRET\n");
    assert_eq!(case.read(".aws/config") + &case.read(".ssh/id"), "SECRET\nSECRET\n");
}

#[test]
fn settings_that_are_links_are_found_and_written_to_copies() {
    let case = HomeCase::new();
    let home = case.home();
    std::fs::create_dir(home.join("dotfiles")).unwrap();
    std::fs::rename(home.join(".codex/config.toml"), home.join("dotfiles/codex.toml")).unwrap();
    symlink("../dotfiles/codex.toml", home.join(".codex/config.toml")).unwrap();
    symlink("config.toml", home.join(".codex/same.toml")).unwrap();
    std::fs::rename(home.join(".codex"), home.join("dotfiles/codex")).unwrap();
    // As a manager of settings makes it: the folder is a link too, and links in it begin there.
    std::fs::write(home.join("dotfiles/dotfiles"), "").unwrap();
    symlink("dotfiles/codex", home.join(".codex")).unwrap();
    std::fs::remove_file(home.join("dotfiles/codex/config.toml")).unwrap();
    symlink("../codex.toml", home.join("dotfiles/codex/config.toml")).unwrap();
    let script = "cd ~/.codex; cat config.toml same.toml; echo new > same.toml; cat config.toml; \
                  echo '{\"token\":2}' > auth.json; echo t > sessions/t";
    let (run, output) = case.run(script);
    assert_eq!(output, "model = \"m\"\nmodel = \"m\"\nnew\n");
    assert_eq!(case.read("dotfiles/codex.toml"), "model = \"m\"\n");
    assert_eq!(case.read("dotfiles/codex/auth.json"), "{\"token\":2}\n", "{:?}", run.outside_writes);
    assert_eq!(case.read("dotfiles/codex/sessions/t"), "t\n");
}

#[test]
fn variables_that_name_folders_of_the_home_name_those_of_the_private_one() {
    let mut case = HomeCase::new();
    let home = case.home().display().to_string();
    case.env = [
        ("XDG_CONFIG_HOME", format!("{home}/.config")),
        ("XDG_DATA_HOME", format!("{home}/absent/data")),
        ("CODEX_HOME", format!("{home}/.codex")),
        ("NVM_DIR", format!("{home}/work")),
        ("XDG_DATA_DIRS", "/usr/share".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    let (_, output) = case.run(
        "echo \"$XDG_CONFIG_HOME $XDG_DATA_HOME $CODEX_HOME $NVM_DIR $XDG_DATA_DIRS\" | sed \"s:$HOME:PRIVATE:g\"",
    );
    let expected = format!("PRIVATE/.config PRIVATE/absent/data PRIVATE/.codex {home}/work /usr/share\n");
    assert_eq!(output, expected);
}

#[test]
fn settings_in_a_folder_that_a_variable_names_are_copied_too() {
    let mut case = HomeCase::new();
    let home = case.home().to_owned();
    let moved = home.join("work/agents/codex");
    std::fs::create_dir(home.join("work/agents")).unwrap();
    std::fs::rename(home.join(".codex"), &moved).unwrap();
    case.profile.kept_writes = vec![moved.join("sessions")];
    case.profile.copied_back = vec![moved.join("auth.json")];
    case.env = vec![("CODEX_HOME".to_owned(), moved.display().to_string())];
    let script = "set -e; cd $CODEX_HOME; cat config.toml ../../notes; echo x > x; echo '{\"token\":2}' > auth.json; \
                  echo t > sessions/t; ls $H/work/agents";
    let (run, output) = case.run(script);
    assert_eq!(output, "model = \"m\"\nnotes\ncodex\n");
    assert_eq!(case.read("work/agents/codex/auth.json"), "{\"token\":2}\n");
    assert_eq!(case.read("work/agents/codex/sessions/t"), "t\n");
    assert_eq!(run.outside_writes, [moved.join("x")]);
}

#[test]
fn a_folder_in_which_writes_are_kept_is_the_real_one() {
    let mut case = HomeCase::new();
    for name in [".codex", "work", ".cache/mine"] {
        std::fs::create_dir_all(case.home().join(name)).unwrap();
        case.profile.kept_writes.push(case.home().join(name));
    }
    let (run, output) =
        case.run("for d in .codex work .cache/mine; do echo kept > ~/$d/file; done; ls ~/.cache");
    assert_eq!(output, "mine\n");
    for name in [".codex", "work", ".cache/mine"] {
        let path = format!("{name}/file");
        assert_eq!(case.read(&path), "kept\n");
        assert_eq!(std::fs::metadata(case.home().join(path)).unwrap().uid(), own_uid());
    }
    assert_eq!(run.outside_count, 0, "{:?}", run.outside_writes);
}

#[test]
fn large_files_of_the_settings_are_there_and_read_only() {
    let case = HomeCase::new();
    let large = case.home().join(".codex/large.bin");
    std::fs::write(&large, vec![b'x'; (8 << 20) + 1]).unwrap();
    let (_, output) = case.run(
        "exec 2>/dev/null; wc -c < ~/.codex/large.bin; echo y >> ~/.codex/large.bin; test -L ~/.codex/large.bin && echo link",
    );
    assert_eq!(output, "8388609\nlink\n");
    assert_eq!(std::fs::metadata(&large).unwrap().len(), (8 << 20) + 1);
}

/// For an ordinary user the rest of `/proc` would have the names of the user's keys.
#[test]
fn an_agent_sees_its_own_process_and_of_others_at_most_the_command_line() {
    let case = HomeCase::new();
    let held = std::fs::File::open(case.home().join(".ssh/id")).unwrap();
    let script = format!(
        "exec 2>/dev/null; read -r line < /proc/$$/maps && echo maps; read -r line < /proc/self/cgroup && echo cgroup; \
         grep -v ' _ses: ' /proc/keys; cd /proc/{pid} || exit 0; tr '\\0' ' ' < cmdline; echo; \
         for f in environ maps mem auxv; do head -c 1 $f | wc -c; done; \
         ls root cwd; readlink exe cwd root fd/0; cat fd/* cwd/Cargo.toml root/etc/passwd; echo x > comm && echo WRITTEN",
        pid = std::process::id()
    );
    let (_, output) = case.run(&script);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[..2], ["maps", "cgroup"], "{output}");
    let own = std::env::args().next().unwrap();
    match own_uid() {
        0 => assert!(lines[2].starts_with(&own), "{output}"),
        _ => assert_eq!(lines[2], "", "{output}"),
    }
    assert_eq!(lines[3..], ["0"; 4], "{output}");
    drop(held);
}

#[test]
fn a_program_that_cannot_be_reached_is_named_with_the_setting_that_shows_it() {
    let mut case = HomeCase::new();
    let installed = case.folder.path().join("installed");
    std::fs::create_dir(&installed).unwrap();
    let program = installed.join("agent.sh");
    std::fs::write(&program, "#!/bin/sh\necho started\n").unwrap();
    let argv = [program.to_str().unwrap()];
    let problem = case.try_run(&argv, &mut String::new()).unwrap_err();
    assert!(!problem.fix.unwrap().contains("[agent] show"), "it is no program yet");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let problem = case.try_run(&argv, &mut String::new()).unwrap_err();
    assert_eq!(problem.code, capsid_model::Code::AgentFailed);
    let fix = problem.fix.unwrap();
    assert!(fix.contains("`[agent] show`") && fix.contains("landlock") && fix.contains("agent.sh"), "{fix}");
    case.profile.show = vec![installed];
    let mut output = String::new();
    case.try_run(&argv, &mut output).unwrap();
    assert_eq!(output, "started\n");
}

#[test]
fn an_agent_that_fills_its_home_is_stopped() {
    let mut case = HomeCase::new();
    case.profile.disk_bytes = 8 << 20;
    let (run, output) =
        case.run("i=0; while :; do head -c 1000000 /dev/zero > ~/.codex/f$i; i=$((i+1)); sleep 0.01; done");
    assert_eq!(run.limits_hit, [LimitHit::Disk], "{output}");
}

#[test]
fn a_user_without_a_home_gets_an_empty_one() {
    let mut case = HomeCase::new();
    case.profile.home = PathBuf::from("/");
    let (run, output) = case.run("ls -A ~; echo x > ~/x; cat ~/x");
    assert_eq!((run.end, output.as_str()), (AgentEnd::Exited(0), "x\n"));
}
