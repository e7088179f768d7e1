//! What is taken out before sealing, and how it is proved later.

use super::*;

fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

fn with_a_secret(args: &[&str]) -> TrailUser {
    let desk = desk();
    let path = desk.transcript(SESSION, 1);
    let text =
        std::fs::read_to_string(&path).unwrap().replace("make test", &format!("push --token {}", token()));
    std::fs::write(&path, text).unwrap();
    let seal = ["trail", "seal", "--tool", "claude-code", "--session", SESSION];
    desk.expect(0, &[&seal[..], args].concat());
    desk
}

fn everything_on_disk(desk: &TrailUser) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut open = vec![desk.trail()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { bytes.extend(std::fs::read(path).unwrap()) }
        }
    }
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn no_secret_reaches_the_disk_unless_asked() {
    assert!(!holds(&everything_on_disk(&with_a_secret(&[])), &token()));
    assert!(holds(&everything_on_disk(&with_a_secret(&["--no-redact"])), &token()));
}

#[test]
fn a_disclosed_value_is_proved_to_somebody_who_has_the_bundle_alone() {
    let author = with_a_secret(&[]);
    let places = author.expect(0, &["trail", "disclose", SESSION, "--seq", "0", "--json"]).json();
    assert_eq!(places["places"][0], "/execution/tool_calls/0/arguments/command");
    let ask = ["trail", "disclose", SESSION, "--seq", "0", "--value", "-", "--json"];
    let wrong = author.run_with_input(&ask, "ghp_something_else");
    assert_status(1, &wrong);
    assert_eq!(wrong.code(), "disclosure_mismatch");
    let proof = author.run_with_input(&ask, &format!("{}\n", token()));
    assert_status(0, &proof);
    author.expect(0, &["key", "rotate"]);
    assert_status(0, &author.run_with_input(&ask, &token()));

    let bundle = author.home().join("bundle");
    author.expect(0, &["trail", "export", "--out", bundle.to_str().unwrap()]);
    let reader = desk();
    std::fs::write(reader.home().join("proof.json"), &proof.stdout).unwrap();
    let chain = bundle.join(format!("claude-code-{SESSION}.json"));
    let check = ["trail", "disclose", chain.to_str().unwrap(), "--seq", "0", "--check", "proof.json"];
    reader.expect(0, &check);
    let forged = proof.stdout.replace(&token(), "ghp_forged");
    std::fs::write(reader.home().join("proof.json"), forged).unwrap();
    reader.expect(1, &check);
}
