//! A git repository with many small files, committed and clean.

use crate::Result;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How many files a folder has.
const PER_FOLDER: usize = 100;

/// A repository, and beside it a home for the programs that work on it.
pub struct GeneratedRepo {
    folder: tempfile::TempDir,
    pub files: usize,
}

impl GeneratedRepo {
    /// Makes a repository with this many files and a store of the engine in it.
    pub fn create(files: usize) -> Result<Self> {
        let repo = Self { folder: tempfile::tempdir()?, files };
        for folder in [repo.root(), repo.home(), repo.data()] {
            std::fs::create_dir(folder)?;
        }
        std::fs::write(repo.log(), "[ERROR] TypeError: boom is not a function\n    at main (a.js:1:1)\n")?;
        repo.git(&["init", "--quiet"])?;
        repo.import()?;
        repo.git(&["reset", "--quiet", "--hard", "main"])?;
        succeed(repo.program()?.arg("init"))?;
        // Without an overlay there is nothing to measure here, and a copy would take its place silently.
        let policy = repo.root().join("capsid.toml");
        let text = std::fs::read_to_string(&policy)?;
        check(text.contains("view = \"auto\""), "the policy does not name the level")?;
        std::fs::write(&policy, text.replace("view = \"auto\"", "view = \"overlay\""))?;
        repo.git(&["add", "--all"])?;
        repo.git(&["commit", "--quiet", "--message", "Add a store"])?;
        Ok(repo)
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The data directory of the program.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A log with an error, outside of the repository.
    pub fn log(&self) -> PathBuf {
        self.folder.path().join("failing.log")
    }

    /// The path of a file, by its number.
    pub fn file(at: usize) -> String {
        format!("src/part{}/file{at}.js", at / PER_FOLDER)
    }

    /// The program, built beside this one, in the repository.
    pub fn program(&self) -> Result<Command> {
        let path = std::env::current_exe()?.with_file_name("capsid");
        let mut command = self.command(path.as_os_str());
        command.env("CAPSID_HOME", self.data());
        Ok(command)
    }

    /// A program in the repository, without the settings of whoever runs the bench.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear().env("HOME", self.home());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let user = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
        succeed(self.command("git").args(user).args(arguments))
    }

    /// Fills a branch in one stream: `git add` would take a process for every step, and minutes.
    fn import(&self) -> Result<()> {
        let mut import = self.command("git");
        let mut child = import.args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
        let mut stream = BufWriter::new(child.stdin.take().ok_or("git has no input")?);
        stream.write_all(
            b"commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1770000000 +0000\n",
        )?;
        write_data(&mut stream, "Start\n")?;
        for at in 0..self.files {
            writeln!(stream, "M 100644 inline {}", Self::file(at))?;
            write_data(&mut stream, &content(at))?;
        }
        drop(stream.into_inner()?);
        check(child.wait()?.success(), "git did not import the files")
    }
}

/// About 200 bytes, different for each file.
fn content(at: usize) -> String {
    (0..5).map(|line| format!("exports.value{line} = value => value * {at} + {line};\n")).collect()
}

fn write_data(stream: &mut impl Write, text: &str) -> Result<()> {
    write!(stream, "data {}\n{text}\n", text.len())?;
    Ok(())
}

/// Runs a command to its end; it must succeed.
pub fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    check(output.status.success(), &format!("{command:?}: {complaint}"))
}

/// An error with this message, unless it holds.
pub fn check(holds: bool, message: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(message.into()),
    }
}
