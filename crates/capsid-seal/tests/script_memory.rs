//! How much memory the independent script takes for a bundle that is larger than that.

use capsid_model::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const MEGABYTE: u64 = 1_000_000;
/// Read as a whole, so many records would take more than the limit, as bytes and as text.
const LENGTH: u64 = 500;

fn node(args: &[&str], variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new("node");
    command.args(args).envs(variables.iter().copied()).stderr(Stdio::inherit());
    let ran = command.output().expect("Node 18 or later");
    assert!(ran.status.success(), "{args:?}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_independent_script_stays_under_100_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let writer = root.join("tests/peers/long-bundle.mjs");
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    node(&[&path(&writer), &path(folder.path()), &LENGTH.to_string()], &[]);
    let chain = std::fs::metadata(folder.path().join("codex-s.json")).unwrap().len();
    assert!(chain >= 50 * MEGABYTE, "{chain}");
    let program = "const { checkBundle } = await import(process.env.SCRIPT);
        const { level, verified, findings } = checkBundle(process.env.BUNDLE);
        const codes = findings.map(({ code }) => code);
        console.log(JSON.stringify([level, verified, codes, process.resourceUsage().maxRSS]));";
    let script = root.join("docs/verify.mjs");
    let told =
        node(&["--input-type=module", "-e", program], &[("SCRIPT", &script), ("BUNDLE", folder.path())]);
    let told: Value = told.parse().unwrap();
    assert_eq!((&told[0], &told[1]), (&"unverified".into(), &LENGTH.into()), "{told}");
    assert!(told[2].as_array().unwrap().contains(&"unlisted_file".into()), "{told}");
    let peak = told[3].as_u64().unwrap() * 1024;
    println!("{} MB", peak / MEGABYTE);
    assert!(peak < 100 * MEGABYTE, "{peak} bytes");
}
