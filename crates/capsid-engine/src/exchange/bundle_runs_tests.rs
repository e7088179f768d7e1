use super::*;
use capsid_rules::evaluation::runner_job::RunnerFile;

fn new_file(path: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
        lines.len()
    )
}

fn job(diff: &str, command: &str) -> RunnerJob {
    RunnerJob {
        job_id: "run_1".to_owned(),
        asset_id: String::new(),
        diff: diff.to_owned(),
        commands: vec![command.to_owned()],
        programs: Vec::new(),
        files: Vec::new(),
        command_seconds: 30,
    }
}

fn outcome(diff: &str, command: &str) -> RunnerOutcome {
    run_bundle(&job(diff, command)).unwrap().outcome
}

const SOURCE: &[&str] = &["module.exports = 2"];

#[test]
fn one_bundle_for_each_row_of_the_table() {
    let source = new_file("a.js", SOURCE);
    let real = new_file("test.js", &["if (require('./a') !== 2) process.exit(1)"]);
    assert_eq!(outcome(&format!("{source}{real}"), "node test.js"), RunnerOutcome::Reproduced);
    assert_eq!(outcome(&source, "npm test --if-present"), RunnerOutcome::VacuousEmpty);
    let blind = new_file("test.js", &["require('./a')"]);
    assert_eq!(outcome(&format!("{source}{blind}"), "node test.js"), RunnerOutcome::VacuousBase);
    let failing = new_file("test.js", &["if (require('./a') !== 3) process.exit(1)"]);
    assert_eq!(outcome(&format!("{source}{failing}"), "node test.js"), RunnerOutcome::Failed);
    let flaky = new_file(
        "test.js",
        &["if (require('./a') !== 2) process.exit(1)", "console.log('x'.repeat(process.hrtime()[1] % 97))"],
    );
    assert_eq!(outcome(&format!("{source}{flaky}"), "node test.js"), RunnerOutcome::Flaky);
    assert_eq!(outcome(&source, "node test.js"), RunnerOutcome::Inconclusive);
    let changed = "--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-1\n+2\n";
    assert_eq!(outcome(changed, "node test.js"), RunnerOutcome::Inconclusive);
    assert_eq!(outcome(&format!("{source}{real}"), "rm -rf /"), RunnerOutcome::Inconclusive);
}

#[test]
fn a_change_to_existing_files_is_run_in_the_project_that_the_bundle_brings() {
    let change = "--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-module.exports = 1\n+module.exports = 2\n";
    let file = |path: &str, text: &str| RunnerFile { path: path.to_owned(), text: text.to_owned() };
    let mut job = job(change, "node test.js");
    job.files = vec![
        file("a.js", "module.exports = 1\n"),
        file("test.js", "if (require('./a') !== 2) process.exit(1)\n"),
    ];
    assert_eq!(run_bundle(&job).unwrap().outcome, RunnerOutcome::Reproduced);
    job.files[1].text = "process.exit(0)\n".to_owned();
    assert_eq!(run_bundle(&job).unwrap().outcome, RunnerOutcome::VacuousBase);
    job.files[0].text = "module.exports = 9\n".to_owned();
    job.files[1].text = "if (require('./a') !== 2) process.exit(1)\n".to_owned();
    assert_eq!(run_bundle(&job).unwrap().outcome, RunnerOutcome::Inconclusive);
    job.files[0].path = "../a.js".to_owned();
    assert_eq!(run_bundle(&job).unwrap().outcome, RunnerOutcome::Inconclusive);
}
