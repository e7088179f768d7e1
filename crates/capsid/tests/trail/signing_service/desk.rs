//! A machine with a signing service: a user with a trail, the account of the service, and root, all in one folder.

use crate::escapes::table::free_uid;
use capsid_model::Value;
use capsid_testkit::program::{ProgramOutput, assert_status};
use capsid_testkit::transcript;
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Who runs a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Who {
    /// The account that the agent owns.
    User,
    Root,
}

pub struct SigningDesk {
    folder: tempfile::TempDir,
    pub user: u32,
    service: u32,
    served: Option<Child>,
}

impl SigningDesk {
    /// Nothing where another user than root started the tests: it takes two ids.
    pub fn open() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("not run: it takes root, because the service and the agent have two user ids");
            return None;
        }
        let folder = capsid_testkit::disk::tempdir();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let user = free_uid();
        let desk = Self { folder, user, service: user + 1, served: None };
        let owned_by = |path: PathBuf, owner: u32| {
            fs::create_dir_all(&path).unwrap();
            chown(&path, Some(owner), Some(owner)).unwrap();
        };
        owned_by(desk.account(), user);
        owned_by(desk.signer().join("state"), desk.service);
        fs::create_dir(desk.signer().join("lib")).unwrap();
        crate::escapes::table::reachable_program(&desk.signer().join("lib"));
        Some(desk)
    }

    /// The same with a service that is installed and runs.
    pub fn installed() -> Option<Self> {
        let mut desk = Self::open()?;
        desk.install();
        desk.serve();
        Some(desk)
    }

    pub fn install(&self) {
        let user = self.user.to_string();
        self.expect(0, Who::Root, &["signer", "install", "--user", &user]);
    }

    /// The folder that stands for `/etc`, `/run` and `/var/lib`.
    pub fn signer(&self) -> PathBuf {
        self.folder.path().join("signer")
    }

    /// The home folder of the account.
    pub fn account(&self) -> PathBuf {
        self.folder.path().join("ada")
    }

    /// The trail's folder.
    pub fn home(&self) -> PathBuf {
        self.account().join(".local/share/capsid/trail")
    }

    pub fn chain(&self, session: &str) -> PathBuf {
        self.home().join("chains/claude-code").join(format!("{session}.db"))
    }

    pub fn journal(&self) -> PathBuf {
        self.signer().join("state").join(self.user.to_string()).join("journal")
    }

    /// Starts the service as systemd would: under its own id, with the socket as its standard input.
    pub fn serve(&mut self) {
        let socket = self.signer().join("sock");
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
        let mut command = self.plain_command(&["signer", "serve"]);
        command.uid(self.service).gid(self.service).stdin(Stdio::from(OwnedFd::from(listener)));
        self.served = Some(command.spawn().unwrap());
    }

    /// Kills it, as a crash would.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.served.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn plain_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.signer().join("lib/capsid"));
        command.arg("trail").arg("--signer-dir").arg(self.signer()).args(words).current_dir("/").env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.account());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A command of the trail. Root names the home, for it is another user's.
    pub fn command(&self, who: Who, words: &[&str]) -> Command {
        let mut command = self.plain_command(words);
        match who {
            Who::User => command.uid(self.user).gid(self.user),
            Who::Root => command.arg("--home").arg(self.home()).env("HOME", "/nonexistent"),
        };
        command
    }

    #[track_caller]
    pub fn expect(&self, status: i32, who: Who, words: &[&str]) -> ProgramOutput {
        let output = ProgramOutput::from_output(self.command(who, words).output().unwrap());
        assert_status(status, &output);
        output
    }

    /// Writes a transcript of so many turns, three records each, and seals it.
    #[track_caller]
    pub fn seal(&self, session: &str, turns: usize) -> ProgramOutput {
        self.write_transcript(session, &transcript::claude_code(session, turns));
        self.expect(0, Who::User, &seal_words(session))
    }

    pub fn write_transcript(&self, session: &str, text: &str) {
        let path = self.transcript(session);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        for made in path.ancestors().take_while(|made| *made != self.account()) {
            chown(made, Some(self.user), Some(self.user)).unwrap();
        }
    }

    pub fn transcript(&self, session: &str) -> PathBuf {
        self.account().join(".claude/projects/-home-ada-shop").join(format!("{session}.jsonl"))
    }

    /// What the tool calls at the end of a turn. It never fails.
    #[track_caller]
    pub fn hook(&self, session: &str, turns: usize) {
        self.write_transcript(session, &transcript::claude_code(session, turns));
        let payload = capsid_model::json!({
            "session_id": session, "transcript_path": self.transcript(session), "cwd": "/home/ada/shop",
            "hook_event_name": "Stop",
        });
        let mut command = self.command(Who::User, &["hook", "claude-code"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = ProgramOutput::from_output(child.wait_with_output().unwrap());
        assert_status(0, &output);
    }

    /// What root finds with the program that root owns: the exit status and the codes of the findings.
    #[track_caller]
    pub fn verify(&self) -> (i32, Vec<String>, Value) {
        let output = self.command(Who::Root, &["verify", "--json"]).output().unwrap();
        let output = ProgramOutput::from_output(output);
        let report = output.json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let code = |finding: &Value| finding["code"].as_str().unwrap_or_default().to_owned();
        (output.status, findings.iter().map(code).collect(), report)
    }

    /// Keeps a copy of the home, and later puts it back.
    pub fn copy_home(&self) -> PathBuf {
        let copy = self.folder.path().join("copy");
        copy_tree(&self.home(), &copy);
        copy
    }

    pub fn put_back(&self, copy: &Path) {
        let _ = fs::remove_dir_all(self.home());
        copy_tree(copy, &self.home());
    }
}

impl Drop for SigningDesk {
    fn drop(&mut self) {
        self.stop();
    }
}

pub fn seal_words(session: &str) -> [&str; 6] {
    ["seal", "--tool", "claude-code", "--session", session, "--finalize"]
}

fn copy_tree(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}
