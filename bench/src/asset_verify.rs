//! Goal 4: parse, canonical form and SHA-256 of assets of 1.4 KB.

use crate::measure::{Side, interleaved, seconds};
use crate::report::Row;
use crate::{Result, peer};
use capsid_model::{Object, Value, asset, json};

/// Assets per pass, and passes per round.
const ASSETS: usize = 2_000;
const PASSES: usize = 5;

pub fn run() -> Result<Vec<Row>> {
    let home = tempfile::tempdir()?;
    let file = home.path().join("assets.jsonl");
    let lines = assets();
    std::fs::write(&file, lines.join("\n"))?;
    let path = file.to_string_lossy().into_owned();
    let passes = PASSES.to_string();

    let sides: [Side<'_>; 2] = [
        Box::new(|| seconds(|| verify_all(&lines))),
        Box::new(|| {
            let result = peer::script("verify.mjs", home.path(), &[&path, &passes])?;
            check_count(peer::number(&result, "verified")? as usize)?;
            peer::number(&result, "seconds")
        }),
    ];
    verify_all(&lines)?;
    let [ours, theirs] = interleaved(sides)?.map(|time| (ASSETS * PASSES) as f64 / time);
    Ok(vec![Row {
        goal: "4",
        work: "verify assets of 1.4 KB, in process, one core".to_owned(),
        ours,
        peer: Some(theirs),
        unit: "/s",
        wanted: ">= 2.5x (stretch 4x)",
        met: Some(ours / theirs >= 2.5),
        note: "Node: JSON.parse and verifyAssetId of gep-sdk, in a loop, after a warm pass.".to_owned(),
    }])
}

fn verify_all(lines: &[String]) -> Result<()> {
    let mut verified = 0;
    for _ in 0..PASSES {
        for line in lines {
            verified += usize::from(asset::verify_text(line)?.holds());
        }
    }
    check_count(verified)
}

fn check_count(verified: usize) -> Result<()> {
    match verified == ASSETS * PASSES {
        true => Ok(()),
        false => Err(format!("only {verified} of {} assets verified", ASSETS * PASSES).into()),
    }
}

/// Capsules like those in real stores, each different, stamped.
fn assets() -> Vec<String> {
    (0..ASSETS).map(|at| Value::Object(capsule(at)).to_string()).collect()
}

fn capsule(at: usize) -> Object {
    let error = format!("errsig:TypeError: cannot read property 'x{at}' of undefined at <path>");
    let value = json!({
        "type": "Capsule",
        "schema_version": "1.5.0",
        "id": format!("capsule_{}", 1_770_477_654_236_u64 + at as u64),
        "trigger": ["log_error", error, "perf_bottleneck", "windows_shell_incompatible"],
        "gene": "gene_gep_repair_from_errors",
        "summary": format!("固化：修复了第 {at} 个错误，变更 2 文件 / 44 行。 Guarded the lookup and added a test."),
        "confidence": 0.795,
        "blast_radius": {"files": 2, "lines": 44},
        "outcome": {"status": "success", "score": 0.85},
        "success_streak": at % 7,
        "env_fingerprint": {
            "node_version": "rust-1.95", "platform": "linux", "arch": "x64", "os_release": "6.1.0",
            "evolver_version": "capsid-0.1.0", "cwd": ".", "captured_at": "2026-02-07T15:20:54.155Z",
        },
        "a2a": {"eligible_to_broadcast": at.is_multiple_of(2)},
        "strategy": ["Read the failing log", "Make the smallest change that fixes it", "Run the tests"],
        "diff": "--- a/src/lookup.js\n+++ b/src/lookup.js\n@@ -10,3 +10,4 @@\n-  return table[key].x;\n+  return table[key]?.x;\n".repeat(4),
    });
    let mut object = value.as_object().cloned().unwrap_or_default();
    asset::stamp(&mut object);
    object
}
