//! Prints what each log shows: `show_logs FILE...`.

use capsid_rules::diagnosis::DiagnosisReader;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let mut reader = DiagnosisReader::new();
        reader.push(&std::fs::read(&file)?);
        let diagnosis = reader.finish();
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
