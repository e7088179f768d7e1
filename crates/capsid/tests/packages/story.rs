//! One package, broken and repaired twice, as its developers see it.

use super::page::{StablePrint, compare_section};
use capsid_model::Value;
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::store;
use capsid_testkit::test_repo::TestRepo;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package, and how it is broken and repaired.
pub struct PackageCase {
    /// Its name in the registry and on the page.
    pub name: &'static str,
    /// Its files: the path in the repository, and where the file is installed.
    pub files: Vec<(&'static str, PathBuf)>,
    /// What the story adds: tests where the archive has none, and settings.
    pub added: Vec<(&'static str, String)>,
    /// Variables that its tools need.
    pub environment: Vec<(&'static str, OsString)>,
    /// What the owner changes in `capsid.toml` after `capsid init`.
    pub policy: &'static [(&'static str, &'static str)],
    /// All of its tests.
    pub suite: &'static str,
    /// The tests as their developers run them, in the first repository and in the clone.
    pub tests: [&'static str; 2],
    /// The file with the mistake, the right line and the wrong one.
    pub mistake: (&'static str, &'static str, &'static str),
    /// A line of the same file, and what an unrelated edit in the clone makes of it: more lines.
    pub unrelated: (&'static str, &'static str),
    /// The agent: the expression for sed that repairs the line, and its note.
    pub repair: &'static str,
    pub note: &'static str,
    /// What the engine reads from the log.
    pub problem: &'static str,
    /// How close the second problem is to the first.
    pub level: &'static str,
}

impl PackageCase {
    fn title(&self) -> &'static str {
        self.note.lines().next().unwrap()
    }
}

/// Runs the whole story and compares what it prints with the page.
pub fn repair_twice(case: &PackageCase) {
    let mut story = PackageStory::begin(case);
    story.repair_with_an_agent();
    story.repair_without_an_agent();
    compare_section(case.name, &story.print.text);
}

struct PackageStory<'a> {
    case: &'a PackageCase,
    program: TestProgram,
    first: TestRepo,
    clone: TestRepo,
    print: StablePrint,
}

impl<'a> PackageStory<'a> {
    /// A repository with the package, its tests and a store. The tests pass.
    fn begin(case: &'a PackageCase) -> Self {
        let program = TestProgram::at(env!("CARGO_BIN_EXE_capsid"));
        let first = TestRepo::named(case.name);
        let clone = TestRepo::named(&format!("{}-clone", case.name));
        let print = StablePrint::new(&[
            (program.home(), "~"),
            (first.path(), &format!("~/{}", case.name)),
            (clone.path(), &format!("~/{}-clone", case.name)),
        ]);
        for (name, source) in &case.files {
            let content = std::fs::read(source).unwrap_or_else(|error| {
                panic!("{}: {error}; `scripts/setup test` installs it", source.display())
            });
            first.write(name, content);
        }
        for (name, content) in &case.added {
            first.write(name, content);
        }
        let story = Self { case, program, first, clone, print };
        assert_status(0, &story.run_capsid(&story.first, &["init"]));
        let mut policy = story.first.read("capsid.toml");
        for (from, to) in case.policy {
            policy = replace_once(&policy, from, to);
        }
        story.first.write("capsid.toml", policy);
        assert_status(0, &story.run_tests(&story.first, case.suite));
        story.first.commit("Begin");
        story
    }

    fn repair_with_an_agent(&mut self) {
        let case = self.case;
        self.write_agent(
            "fix.sh",
            &format!(
                "sed -i \"{}\" {}\ncat > \"$CAPSID_NOTE_FILE\" <<'END'\n{}\nEND",
                case.repair, case.mistake.0, case.note
            ),
        );
        self.make_mistake(&self.first);
        self.show_mistake();
        let ran = self.evolve(true, "fix.sh");
        assert_status(0, &ran);
        assert!(ran.stdout.contains(&format!("title       {}\n", case.title())), "{ran}");
        assert!(ran.stdout.contains("proof       proven here: "), "{ran}");
        self.assert_repaired(&self.first);
        let event = store::events(&self.first).pop().unwrap();
        assert_eq!(event["source_type"], "generated");
        self.first.commit(case.title());
    }

    fn repair_without_an_agent(&mut self) {
        let case = self.case;
        let (file, ..) = case.mistake;
        self.write_agent("no-agent.sh", "echo 'this agent must not be called'\nexit 1");
        let first = self.first.path().to_str().unwrap();
        self.clone.git(&["pull", "-q", first, "main"]);
        self.clone.write(file, replace_once(&self.clone.read(file), case.unrelated.0, case.unrelated.1));
        self.clone.commit("Explain a line");
        self.make_mistake(&self.clone);
        self.print
            .add_text("In a clone, where other lines of the file have moved, the mistake comes back:\n");
        let ran = self.evolve(false, "no-agent.sh");
        assert_status(0, &ran);
        assert!(ran.stdout.contains("(proven once before); no agent was needed\n"), "{ran}");
        assert!(!ran.stdout.contains("must not be called"), "{ran}");
        self.assert_repaired(&self.clone);
        self.assert_records();
        self.print.add_text("What a person finds afterwards:\n");
        for args in [&["events"][..], &["capsules"], &["status"], &["events", "verify"]] {
            let ran = self.run_capsid(&self.clone, args);
            assert_status(0, &ran);
            assert!(args == ["events", "verify"] || ran.stdout.contains(case.title()), "{ran}");
            self.print.add_command(&format!("capsid {}", args.join(" ")), &ran.stdout);
        }
        self.print.end_block();
    }

    /// The event log and the only capsule say what happened, in words.
    fn assert_records(&self) {
        let case = self.case;
        let listed = self.program.expect(0, &self.clone, &["events", "--json"]).json();
        let events = listed["events"].as_array().unwrap();
        assert_eq!(events.len(), 2, "{listed:#}");
        let capsules = store::list(&self.clone, "capsules");
        assert_eq!(capsules.len(), 1, "{capsules:#?}");
        let capsule = &capsules[0];
        store::assert_verifies(capsule);
        for event in events {
            let meta = &event["meta"];
            assert_eq!(event["outcome"]["status"], "success");
            assert_eq!(event["capsule_id"], capsule["id"]);
            assert_eq!(meta["title"], case.title());
            assert_eq!(meta["problem"]["text"], case.problem);
            assert_eq!(meta["proof"]["grade"], "fail_to_pass_reverts");
            assert_eq!(meta["applied"], true);
        }
        assert_eq!(events[1]["source_type"], "reused");
        assert_eq!(events[1]["parent"], events[0]["id"]);
        let offer: &Value = &events[1]["meta"]["offers"][0];
        assert_eq!((&offer["level"], &offer["outcome"]), (&case.level.into(), &"reused".into()));
        assert_eq!(capsule["title"], case.title());
        assert!(case.note.ends_with(capsule["explanation"].as_str().unwrap()), "{capsule:#?}");
        assert_eq!(capsule["problem"]["text"], case.problem);
        assert_eq!(capsule["proof"]["grade"], "fail_to_pass_reverts");
        assert_eq!(capsule["success_streak"], 2);
    }

    /// Breaks the package.
    fn make_mistake(&self, repo: &TestRepo) {
        let (file, right, wrong) = self.case.mistake;
        repo.write(file, replace_once(&repo.read(file), right, wrong));
        repo.commit("Simplify");
    }

    fn assert_repaired(&self, repo: &TestRepo) {
        let (file, right, wrong) = self.case.mistake;
        let text = repo.read(file);
        assert!(text.contains(right) && !text.contains(wrong), "{file} is not repaired");
    }

    fn show_mistake(&mut self) {
        let (file, right, wrong) = self.case.mistake;
        self.print.add_text(&format!("The mistake, in `{file}`:\n\n```diff\n-{right}\n+{wrong}\n```\n"));
    }

    /// Runs the failing tests and a cycle on their log.
    fn evolve(&mut self, is_first: bool, agent: &str) -> ProgramOutput {
        let repo = if is_first { &self.first } else { &self.clone };
        let tests = self.case.tests[usize::from(!is_first)];
        let failed = self.run_tests(repo, tests);
        assert_ne!(failed.status, 0, "{failed}");
        let script = self.program.home().join(agent).display().to_string();
        let args = ["evolve", "--log", "build.log", "--agent", &script];
        let ran = self.run_capsid(repo, &args);
        self.print.add_command(&format!("{tests} > build.log 2>&1"), "");
        self.print.add_command(&args.join(" ").replacen("evolve", "capsid evolve", 1), &ran.stdout);
        self.print.end_block();
        ran
    }

    /// Both streams as a terminal shows them, in `stdout`.
    fn run_capsid(&self, repo: &TestRepo, args: &[&str]) -> ProgramOutput {
        let words = ["sh", "-c", "exec \"$0\" \"$@\" 2>&1"];
        let mut command = self.program.command_under(&words, repo.path(), args);
        ProgramOutput::from_output(command.envs(self.environment()).output().unwrap())
    }

    fn run_tests(&self, repo: &TestRepo, tests: &str) -> ProgramOutput {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{tests} > build.log 2>&1")]).current_dir(repo.path()).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.program.home());
        let mut ran = ProgramOutput::from_output(shell.envs(self.environment()).output().unwrap());
        ran.stdout = repo.read("build.log");
        ran
    }

    fn environment(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        self.case.environment.iter().cloned()
    }

    fn write_agent(&self, name: &str, body: &str) {
        write_script(&self.program.home().join(name), body);
    }
}

fn write_script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\ncat > /dev/null\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Panics unless the text holds what is to be replaced, once.
fn replace_once(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}
