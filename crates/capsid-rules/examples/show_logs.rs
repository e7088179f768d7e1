//! Prints what each log shows: `show_logs [--json] FILE...`.

use capsid_rules::diagnosis::DiagnosisReader;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument == "--json");
    for file in files {
        let mut reader = DiagnosisReader::new();
        reader.push(&std::fs::read(&file)?);
        let diagnosis = reader.finish();
        if !options.is_empty() {
            let errsig = diagnosis.problem.as_ref().map(|found| found.errsig());
            let problem = diagnosis.to_record();
            println!("{}", serde_json::json!({"file": file, "problem": problem, "errsig": errsig}));
            continue;
        }
        match &diagnosis.problem {
            Some(found) => println!(
                "{file}:{}: {} {:?} {} {:?} test={:?} frame={:?} place={:?} command={:?}\n    {}",
                found.first_line,
                found.tool,
                found.code,
                found.class.as_str(),
                found.role,
                found.test,
                found.frame,
                found.place,
                diagnosis.command,
                found.errsig()
            ),
            None => println!(
                "{file}: no problem ({} lines, {} warnings, passed: {})",
                diagnosis.lines, diagnosis.warnings, diagnosis.passed
            ),
        }
    }
    Ok(())
}
