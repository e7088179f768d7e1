//! Goal 7: from nothing to help, and from nothing to a printed prompt.

use crate::measure::{interleaved, seconds};
use crate::report::Row;
use crate::{Result, peer};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The line with which the peer hands over its prompt.
const PEER_PROMPT: &str = "sessions_spawn(";

pub fn run() -> Result<Vec<Row>> {
    Ok(vec![help()?, cycle()?])
}

fn help() -> Result<Row> {
    let home = tempfile::tempdir()?;
    let [ours, theirs, floor] = interleaved([
        Box::new(|| seconds(|| printed(program()?.arg("--help"), "evolve"))),
        Box::new(|| seconds(|| printed(evolver(home.path())?.arg("--help"), "solidify"))),
        Box::new(|| seconds(|| printed(&mut Command::new("true"), ""))),
    ])?
    .map(|time| time * 1000.0);
    Ok(Row {
        goal: "7",
        work: "cold start, `--help`".to_owned(),
        ours,
        peer: Some(theirs),
        unit: "ms",
        wanted: "<= 10 ms",
        met: Some(ours <= 10.0),
        note: format!("Starting a program that does nothing takes {floor:.1} ms here. Node: evolver 1.94.0."),
    })
}

fn cycle() -> Result<Row> {
    let [ours, theirs] = interleaved([Box::new(our_cycle), Box::new(peer_cycle)])?;
    Ok(Row {
        goal: "7",
        work: "one offline cycle to the printed prompt".to_owned(),
        ours: ours * 1000.0,
        peer: Some(theirs * 1000.0),
        unit: "ms",
        wanted: "<= 50 ms",
        met: Some(ours <= 0.05),
        note: "A new repository with a failing log each time. Ours runs until it exits; evolver 1.94.0 until its \
               prompt is printed, since it lives on for seconds."
            .to_owned(),
    })
}

fn our_cycle() -> Result<f64> {
    let repository = repository()?;
    let at = |arguments: &[&str]| -> Result<Command> {
        let mut command = program()?;
        command.current_dir(repository.path()).args(arguments);
        Ok(command)
    };
    printed(&mut at(&["init"])?, "")?;
    seconds(|| printed(&mut at(&["evolve", "--log", "failing.log"])?, "signals"))
}

fn peer_cycle() -> Result<f64> {
    let repository = repository()?;
    let mut command = evolver(repository.path())?;
    command.arg("run").stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let lines = child.stdout.take().map(BufReader::new);
    let found = lines
        .into_iter()
        .flat_map(BufRead::lines)
        .map_while(std::io::Result::ok)
        .any(|line| line.contains(PEER_PROMPT));
    let time = start.elapsed().as_secs_f64();
    // A polite signal, which the wrapper passes on; a kill would leave node behind.
    Command::new("kill").arg(child.id().to_string()).status()?;
    child.wait()?;
    match found {
        true => Ok(time),
        false => Err("evolver printed no prompt".into()),
    }
}

/// A git repository with one commit and a log of an error.
fn repository() -> Result<tempfile::TempDir> {
    let dir = tempfile::tempdir()?;
    let log = "[ERROR] TypeError: boom is not a function\n    at main (a.js:1:1)\nError: Command failed\n";
    std::fs::create_dir(dir.path().join("memory"))?;
    std::fs::write(dir.path().join("failing.log"), log)?;
    std::fs::write(dir.path().join("memory/MEMORY.md"), log)?;
    std::fs::write(dir.path().join("a.js"), "boom();\n")?;
    let user = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
    for arguments in [&["init", "-q"][..], &["add", "a.js"], &["commit", "-q", "-m", "Start"]] {
        let mut git = Command::new("git");
        printed(git.current_dir(dir.path()).args(user).args(arguments), "")?;
    }
    Ok(dir)
}

/// The program, built beside this one.
fn program() -> Result<Command> {
    let path: PathBuf = std::env::current_exe()?.with_file_name("capsid");
    Ok(Command::new(path))
}

fn evolver(home: &Path) -> Result<Command> {
    let mut command = peer::node(home)?;
    command.arg(peer::package_file("@evomap/evolver/index.js"));
    Ok(command)
}

/// Runs a command to its end; it must succeed and print a word, so that nothing is measured that did nothing.
fn printed(command: &mut Command, word: &str) -> Result<()> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains(word) {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?} did not print `{word}`: {complaint}").into())
}
